package browser

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"
)

// profilePrefix starts the name of every profile folder this program makes; the
// owner's process id follows, so that a later start can tell an orphan.
const profilePrefix = "browser-governor-"

// process is a running Chrome and the two ends of its pipe.
type process struct {
	cmd     *exec.Cmd
	in      io.WriteCloser // commands to Chrome
	out     io.ReadCloser  // replies and events from Chrome
	profile string
	remove  bool // the profile is ours to remove
	stderr  *tailBuffer

	exited chan struct{} // closed when Chrome has ended
	err    error         // how it ended; valid after exited
}

// startProcess starts Chrome. It ends when this process ends, however that
// happens: see setDeathSignal.
func startProcess(path string, args []string, profile string, remove bool) (*process, error) {
	childR, parentW, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("making Chrome's command pipe: %w", err)
	}
	parentR, childW, err := os.Pipe()
	if err != nil {
		closeAll(childR, parentW)
		return nil, fmt.Errorf("making Chrome's answer pipe: %w", err)
	}
	p := &process{
		in: parentW, out: parentR, profile: profile, remove: remove,
		stderr: &tailBuffer{}, exited: make(chan struct{}),
	}
	p.cmd = exec.Command(path, args...)
	p.cmd.ExtraFiles = []*os.File{childR, childW} // Chrome reads 3 and writes 4
	p.cmd.Stderr = p.stderr
	p.cmd.WaitDelay = 2 * time.Second // a child of Chrome may hold stderr open
	setDeathSignal(p.cmd)

	started := make(chan error, 1)
	go func() {
		// The death signal is tied to the thread that starts Chrome, so the
		// thread must live as long as Chrome does.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		if err := p.cmd.Start(); err != nil {
			started <- err
			return
		}
		started <- nil
		p.err = p.cmd.Wait()
		close(p.exited)
	}()
	err = <-started
	closeAll(childR, childW)
	if err != nil {
		closeAll(parentW, parentR)
		return nil, fmt.Errorf("starting %s: %w", path, err)
	}
	return p, nil
}

// stop waits for Chrome to end by itself until ctx ends, then kills it, and
// removes the profile.
func (p *process) stop(ctx context.Context) error {
	select {
	case <-p.exited:
	case <-ctx.Done():
		killGroup(p.cmd)
		<-p.exited
	}
	closeAll(p.in, p.out)
	if !p.remove {
		return nil
	}
	return removeProfile(p.profile)
}

// diedAtStart is startFailure for a caller whose pipe has broken: the pipe closes
// a moment before the process has ended and its last words are read, so it waits
// that long. It is nil when Chrome still runs then.
func (p *process) diedAtStart(wait time.Duration) error {
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-p.exited:
		return p.startFailure()
	case <-t.C:
		return nil
	}
}

// startFailure explains why Chrome ended before it answered.
func (p *process) startFailure() error {
	text := p.stderr.String()
	hint := ""
	if strings.Contains(text, "no-sandbox") || strings.Contains(text, "No usable sandbox") {
		hint = "\nChrome could not use its sandbox (it never can as root). Run as an ordinary user, or pass --no-sandbox if you know what that gives up."
	}
	how := "exit status 0"
	if p.err != nil {
		how = p.err.Error()
	}
	if text = strings.TrimSpace(text); text == "" {
		text = "it printed no error"
	}
	return fmt.Errorf("chrome ended before it answered (%s):\n%s%s", how, text, hint)
}

// makeProfile prepares a profile folder with network prediction off, since
// speculation rules would otherwise prefetch and prerender without a pause, and
// with Basic as the only login, see [knownLogins].
func makeProfile(o Options) (dir string, remove bool, err error) {
	dir = o.ProfileDir
	if dir == "" {
		base := o.TempDir
		if base == "" {
			base = os.TempDir()
		}
		sweepProfiles(base)
		dir, err = os.MkdirTemp(base, profilePrefix+strconv.Itoa(os.Getpid())+"-")
		if err != nil {
			return "", false, fmt.Errorf("making a profile folder: %w", err)
		}
		remove = true
	}
	err = errors.Join(
		writePreference(filepath.Join(dir, "Default", "Preferences"), "net", "network_prediction_options", 2), // never
		writePreference(filepath.Join(dir, "Local State"), "auth", "schemes", "basic"))
	if err != nil {
		if remove {
			os.RemoveAll(dir)
		}
		return "", false, err
	}
	return dir, remove, nil
}

// writePreference sets one of Chrome's preferences in a file of the profile, and
// keeps the rest of it.
func writePreference(file, group, name string, value any) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return fmt.Errorf("making the profile: %w", err)
	}
	prefs := map[string]any{}
	if old, err := os.ReadFile(file); err == nil {
		dec := json.NewDecoder(bytes.NewReader(old))
		dec.UseNumber() // Chrome's numbers may have more digits than a float keeps
		if err := dec.Decode(&prefs); err != nil {
			return fmt.Errorf("reading %s: %w", file, err)
		}
		if prefs == nil { // the file says null
			prefs = map[string]any{}
		}
	}
	in, _ := prefs[group].(map[string]any)
	if in == nil {
		in = map[string]any{}
	}
	in[name] = value
	prefs[group] = in
	data, err := json.Marshal(prefs)
	if err != nil {
		return fmt.Errorf("writing %s: %w", file, err)
	}
	if err := os.WriteFile(file, data, 0o600); err != nil {
		return fmt.Errorf("writing the profile: %w", err)
	}
	return nil
}

// sweepProfiles removes profiles whose owner was killed before it could.
func sweepProfiles(base string) {
	dirs, _ := filepath.Glob(filepath.Join(base, profilePrefix+"*"))
	for _, dir := range dirs {
		pid, _, ok := strings.Cut(strings.TrimPrefix(filepath.Base(dir), profilePrefix), "-")
		n, err := strconv.Atoi(pid)
		if !ok || err != nil || n == os.Getpid() || processAlive(n) {
			continue
		}
		os.RemoveAll(dir)
	}
}

// removeProfile tries for a while: Chrome's children may still write into the
// folder just after their parent ended.
func removeProfile(dir string) error {
	deadline := time.Now().Add(5 * time.Second)
	for {
		err := os.RemoveAll(dir)
		if err == nil {
			if _, statErr := os.Stat(dir); errors.Is(statErr, os.ErrNotExist) {
				return nil
			}
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("removing the profile: %w", err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func closeAll(cs ...io.Closer) {
	for _, c := range cs {
		c.Close()
	}
}

// tailBuffer keeps the last 16 KiB written to it.
type tailBuffer struct {
	mu sync.Mutex
	b  []byte
}

func (t *tailBuffer) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b = append(t.b, p...)
	if over := len(t.b) - 16<<10; over > 0 {
		t.b = append(t.b[:0], t.b[over:]...)
	}
	return len(p), nil
}

func (t *tailBuffer) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.b)
}
