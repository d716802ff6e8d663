package browser

import (
	"os"
	"os/exec"
)

func setDeathSignal(*exec.Cmd) {}

func killGroup(cmd *exec.Cmd) {
	if cmd.Process != nil {
		cmd.Process.Kill()
	}
}

func processAlive(pid int) bool {
	_, err := os.FindProcess(pid)
	return err == nil
}
