//go:build unix && !linux

package browser

import (
	"os/exec"
	"syscall"
)

// setDeathSignal has no kernel help outside Linux: Chrome ends when its pipe
// closes, and the egress guard, which ends with us, keeps what it asks for in
// between from leaving.
func setDeathSignal(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}
