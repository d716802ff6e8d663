//go:build linux || darwin || freebsd

package audit

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
)

// childFill writes with a limit on the size of files, which is a full disk that
// needs no disk: the kernel writes a part and then refuses.
func childFill(dir string) {
	signal.Ignore(syscall.SIGXFSZ)
	l := childOpen(dir)
	limit := syscall.Rlimit{Cur: 10_000, Max: 1 << 30}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	written := 0
	var err error
	for err == nil {
		ev := note(fmt.Sprint(written))
		if err = l.Record(&ev); err == nil {
			written++
		}
	}
	if !errors.Is(err, syscall.EFBIG) {
		fmt.Println("error:", err)
		os.Exit(1)
	}
	if _, err := Verify(dir, ""); err != nil {
		fmt.Println("while full:", err)
		os.Exit(1)
	}
	limit.Cur = limit.Max
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	ev := note("room again")
	if err := errors.Join(l.Record(&ev), l.Close()); err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
	fmt.Println("written", written)
	os.Exit(0)
}

func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	c := startChild(t, "fill", dir)
	c.out.Scan()
	if got := c.out.Text(); !strings.HasPrefix(got, "written ") {
		t.Fatal(got)
	}
	if err := c.Wait(); err != nil {
		t.Fatal(err)
	}
	evs := replay(t, dir)
	if rep := verified(t, dir); rep.Torn != 0 || fmt.Sprintf("written %d", len(evs)-2) != c.out.Text() {
		t.Errorf("%s, but %+v", c.out.Text(), rep)
	}
	if n := evs[len(evs)-2]; n.Note != "lines_lost" || !strings.Contains(n.Text, "1 events") {
		t.Errorf("%+v", n)
	}
}
