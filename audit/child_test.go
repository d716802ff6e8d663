package audit

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"browsergovernor/governor"
)

// The tests that need a second process start this test binary again; TestMain
// turns it into one of the children.
const (
	childVar = "AUDIT_TEST_CHILD"
	dirVar   = "AUDIT_TEST_DIR"
)

func TestMain(m *testing.M) {
	switch os.Getenv(childVar) {
	case "":
		os.Exit(m.Run())
	case "hold":
		childHold(os.Getenv(dirVar))
	case "write":
		childWrite(os.Getenv(dirVar))
	case "fill":
		childFill(os.Getenv(dirVar))
	}
	os.Exit(2)
}

func childOpen(dir string) *Log {
	l, err := Open(Config{Dir: dir})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	return l
}

// childHold opens the log until its standard input ends.
func childHold(dir string) {
	l := childOpen(dir)
	fmt.Println("open")
	io.Copy(io.Discard, os.Stdin)
	if l.Close() != nil {
		os.Exit(1)
	}
	os.Exit(0)
}

// childWrite writes from four goroutines until it is killed, and says of each
// line when Record has returned.
func childWrite(dir string) {
	l := childOpen(dir)
	for w := range 4 {
		go func() {
			for i := 0; ; i++ {
				ev := governor.Event{
					Type: governor.EventAction, ID: fmt.Sprintf("p%d-%d-%d", os.Getpid(), w, i), Sent: true,
					URL: "http://host/" + strings.Repeat("x", i%700),
				}
				if err := l.Record(&ev); err != nil {
					fmt.Println("error:", err)
					os.Exit(1)
				}
				fmt.Println(ev.ID) // one write(2)
			}
		}()
	}
	select {}
}

type child struct {
	*exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

func startChild(t *testing.T, what, dir string) *child {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), childVar+"="+what, dirVar+"="+dir)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	return &child{cmd, in, bufio.NewScanner(out)}
}

// Whatever Record said was written is there after SIGKILL, and the log holds
// before and after it is opened again.
func TestKill(t *testing.T) {
	dir := t.TempDir()
	said := map[string]bool{}
	for round := range 20 {
		c := startChild(t, "write", dir)
		for n := 0; c.out.Scan(); n++ {
			if id := c.out.Text(); strings.HasPrefix(id, "p") {
				said[id] = true
			} else {
				t.Fatal(id)
			}
			if n == 20+37*round {
				c.Process.Kill() // what it still said is read to the end
			}
		}
		c.Wait()
		verified(t, dir)
	}
	if len(said) < 20*20 {
		t.Fatalf("the children said only %d lines", len(said))
	}
	closeLog(t, openLog(t, Config{Dir: dir, Now: nil}))
	rep := verified(t, dir)
	for ev := range Replay(dir) {
		delete(said, ev.ID)
	}
	if len(said) != 0 {
		t.Errorf("%d lines are lost of %d", len(said), rep.Lines)
	}
}

func TestSecondWriter(t *testing.T) {
	dir := t.TempDir()
	c := startChild(t, "hold", dir)
	if !c.out.Scan() || c.out.Text() != "open" {
		t.Fatalf("child says %q", c.out.Text())
	}
	_, err := Open(Config{Dir: dir})
	locked, ok := err.(*LockedError)
	if !ok || locked.PID != c.Process.Pid || locked.Started.IsZero() {
		t.Fatalf("second writer: %#v", err)
	}
	for _, want := range []string{fmt.Sprintf("process %d (since 2", c.Process.Pid), dir, "browser-governor serve", "shared store"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not say %q", err, want)
		}
	}
	c.in.Close()
	if err := c.Wait(); err != nil {
		t.Fatal(err)
	}
	l := openLog(t, Config{Dir: dir})
	if _, err := Open(Config{Dir: dir}); err == nil || !strings.Contains(err.Error(), "this process") {
		t.Errorf("second writer in one process: %v", err)
	}
	closeLog(t, l)
	closeLog(t, openLog(t, Config{Dir: dir}))
}
