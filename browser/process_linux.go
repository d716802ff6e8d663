package browser

import (
	"os/exec"
	"syscall"
)

// setDeathSignal makes the kernel kill Chrome when this process ends, also by
// kill -9: a Chrome without its governor would let every held request through.
// The process group of its own keeps a Ctrl-C in the terminal for us alone.
func setDeathSignal(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
