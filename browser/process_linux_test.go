package browser

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// script writes an executable shell script that stands in for Chrome.
func script(t *testing.T, body string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "chrome")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+body+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// fifo makes a named pipe. A process that holds it open for writing lives;
// reading it to the end waits until none does.
func fifo(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "alive")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// watchFifo returns a channel that gives the first line once it was written,
// and one that closes when nobody holds the pipe any more.
func watchFifo(t *testing.T, path string) (line <-chan string, gone <-chan struct{}) {
	t.Helper()
	// Reading and writing does not block while nobody else is there yet.
	hold, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	r, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(); hold.Close() })
	lines, end := make(chan string, 1), make(chan struct{})
	go func() {
		br := bufio.NewReader(r)
		text, _ := br.ReadString('\n')
		hold.Close()
		lines <- strings.TrimSpace(text)
		io.Copy(io.Discard, br)
		close(end)
	}()
	return lines, end
}

// stubborn is a Chrome that ignores its pipe and every polite signal.
const stubborn = `trap "" TERM INT HUP
exec 9>"$1"
echo started >&9
while :; do sleep 60; done`

func TestProcessStop(t *testing.T) {
	alive := fifo(t)
	line, gone := watchFifo(t, alive)
	profile, remove, err := makeProfile(Options{TempDir: t.TempDir()})
	if err != nil || !remove {
		t.Fatal(err, remove)
	}
	p, err := startProcess(script(t, stubborn), []string{alive}, profile, remove)
	if err != nil {
		t.Fatal(err)
	}
	if got := within(t, line, "start"); got != "started" {
		t.Fatal(got)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := p.stop(ctx); err != nil {
		t.Fatal(err)
	}
	within(t, gone, "end of Chrome and its children") // sleep is a child in its group
	if _, err := os.Stat(profile); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the profile is left: %v", err)
	}
	if err := p.stop(ctx); err != nil {
		t.Errorf("stopping again: %v", err)
	}
}

// A Chrome that ends when its pipe closes needs no killing, and a profile that
// was named by the user stays.
func TestProcessEndsByItself(t *testing.T) {
	profile, remove, err := makeProfile(Options{ProfileDir: filepath.Join(t.TempDir(), "mine")})
	if err != nil || remove {
		t.Fatal(err, remove)
	}
	p, err := startProcess(script(t, `IFS= read -r line <&3; printf 'got %s' "$line" >&4`), nil, profile, remove)
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(p.in, "hello\n")
	if b, err := io.ReadAll(p.out); err != nil || string(b) != "got hello" {
		t.Errorf("over the pipe: %q, %v", b, err)
	}
	if err := p.stop(testContext(t)); err != nil || p.err != nil {
		t.Errorf("stop: %v; it ended: %v", err, p.err)
	}
	if _, err := os.Stat(filepath.Join(profile, "Default", "Preferences")); err != nil {
		t.Error(err)
	}
}

func TestProcessDoesNotStart(t *testing.T) {
	_, err := startProcess(filepath.Join(t.TempDir(), "none"), nil, "", false)
	if !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "starting ") {
		t.Errorf("got %v", err)
	}
}

// governorProcess names the environment variable that makes this test binary a
// governor which starts its Chrome and then waits to be killed.
const governorProcess = "BROWSER_TEST_GOVERNOR_PROCESS"

func TestGovernorProcess(t *testing.T) {
	args := os.Getenv(governorProcess)
	if args == "" {
		return // not a test of its own, see TestChromeEndsWithGovernor
	}
	path, alive, _ := strings.Cut(args, "|")
	profile, remove, err := makeProfile(Options{TempDir: os.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := startProcess(path, []string{alive}, profile, remove); err != nil {
		t.Fatal(err)
	}
	fmt.Printf("profile %s\n", profile)
	select {} // until it is killed
}

// A governor that is killed takes its Chrome along, even one that ignores its
// pipe, and the next governor removes the profile it left.
func TestChromeEndsWithGovernor(t *testing.T) {
	alive := fifo(t)
	line, gone := watchFifo(t, alive)
	temp := t.TempDir()
	// Without a child: the death signal is for Chrome itself, whose children
	// end with their channel to it.
	chrome := script(t, `trap "" TERM INT HUP
exec 9>"$1"
echo started >&9
exec sleep 600`)
	cmd := exec.Command(os.Args[0], "-test.run=^TestGovernorProcess$", "-test.count=1")
	cmd.Env = append(os.Environ(), governorProcess+"="+chrome+"|"+alive, "TMPDIR="+temp)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	said, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	profile := strings.TrimSpace(strings.TrimPrefix(said, "profile "))
	if got := within(t, line, "start"); got != "started" {
		t.Fatal(got)
	}
	select {
	case <-gone:
		t.Fatal("Chrome ended before its governor")
	default:
	}
	if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	within(t, gone, "end of Chrome after its governor")
	cmd.Wait()
	if _, err := os.Stat(profile); err != nil || !strings.HasPrefix(filepath.Base(profile), profilePrefix+strconv.Itoa(cmd.Process.Pid)+"-") {
		t.Fatalf("profile %s: %v", profile, err)
	}
	sweepProfiles(temp)
	if _, err := os.Stat(profile); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the orphan is left: %v", err)
	}
}

func TestSweepProfiles(t *testing.T) {
	ended := exec.Command("true")
	if err := ended.Run(); err != nil {
		t.Fatal(err)
	}
	base := t.TempDir()
	dirs := map[string]bool{ // stays
		profilePrefix + strconv.Itoa(ended.Process.Pid) + "-1": false,
		profilePrefix + strconv.Itoa(os.Getpid()) + "-1":       true, // another browser of this process
		profilePrefix + strconv.Itoa(os.Getppid()) + "-1":      true,
		profilePrefix + "message-1":                            true,
		profilePrefix + "12":                                   true,
		"something-else":                                       true,
	}
	for dir := range dirs {
		if err := os.MkdirAll(filepath.Join(base, dir, "Default"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	dir, _, err := makeProfile(Options{TempDir: base})
	if err != nil {
		t.Fatal(err)
	}
	dirs[filepath.Base(dir)] = true
	for name, stays := range dirs {
		if _, err := os.Stat(filepath.Join(base, name)); (err == nil) != stays {
			t.Errorf("%s: %v, want it to stay: %v", name, err, stays)
		}
	}
}

func TestPreferences(t *testing.T) {
	for _, tt := range []struct{ old, want, problem string }{
		{"", `{"net":{"network_prediction_options":2}}`, ""},
		{"null", `{"net":{"network_prediction_options":2}}`, ""},
		{`{"net":7}`, `{"net":{"network_prediction_options":2}}`, ""},
		{`{"big":12345678901234567890,"net":{"a":1,"network_prediction_options":0}}`, `{"big":12345678901234567890,"net":{"a":1,"network_prediction_options":2}}`, ""},
		{`{"net":`, "", "Preferences"},
	} {
		dir := t.TempDir()
		file := filepath.Join(dir, "Default", "Preferences")
		if tt.old != "" {
			if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(tt.old), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		_, _, err := makeProfile(Options{ProfileDir: dir})
		if tt.problem != "" {
			if err == nil || !strings.Contains(err.Error(), tt.problem) {
				t.Errorf("%s: %v", tt.old, err)
			}
			continue
		}
		if got, rerr := os.ReadFile(file); err != nil || rerr != nil || string(got) != tt.want {
			t.Errorf("%s became %s, %v, %v; want %s", tt.old, got, err, rerr, tt.want)
		}
	}
	if _, _, err := makeProfile(Options{TempDir: filepath.Join(t.TempDir(), "gone")}); err == nil || !strings.Contains(err.Error(), "profile") {
		t.Errorf("no temp folder: %v", err)
	}
}

func TestTailBuffer(t *testing.T) {
	var b tailBuffer
	for i := range 5000 {
		fmt.Fprintf(&b, "line %d\n", i)
	}
	if s := b.String(); len(s) != 16<<10 || !strings.HasSuffix(s, "line 4999\n") {
		t.Errorf("%d bytes, ends %q", len(s), s[max(0, len(s)-20):])
	}
	b.Write(make([]byte, 40<<10))
	if n := len(b.String()); n != 16<<10 {
		t.Errorf("%d bytes", n)
	}
}

func TestFindChrome(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	if _, err := FindChrome(""); !errors.Is(err, ErrNoChrome) || !strings.Contains(err.Error(), "--chrome") {
		t.Errorf("none installed: %v", err)
	}
	missing := filepath.Join(dir, "missing")
	if _, err := FindChrome(missing); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), missing) {
		t.Errorf("none at the path: %v", err)
	}
	if err := os.WriteFile(missing, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := FindChrome(missing); !errors.Is(err, os.ErrPermission) {
		t.Errorf("not executable: %v", err)
	}
	for _, name := range []string{"google-chrome", "chromium"} { // the better one later
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		if got, err := FindChrome(""); err != nil || got != filepath.Join(dir, name) {
			t.Errorf("found %q, %v; want %s", got, err, name)
		}
	}
}

func TestChromeUserAgent(t *testing.T) {
	ctx := testContext(t)
	path := script(t, `echo "Chromium 156.0.8078.114 built on Debian"`)
	for headless, want := range map[bool]string{
		true:  "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/156.0.0.0 Safari/537.36",
		false: "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36",
	} {
		if got, err := chromeUserAgent(ctx, path, headless); err != nil || got != want {
			t.Errorf("headless %v: %q, %v", headless, got, err)
		}
	}
	if _, err := chromeUserAgent(ctx, script(t, `echo hello`), true); err == nil || !strings.Contains(err.Error(), `"hello"`) {
		t.Errorf("no version: %v", err)
	}
	if _, err := chromeUserAgent(ctx, script(t, `exit 3`), true); err == nil || !strings.Contains(err.Error(), "exit status 3") {
		t.Errorf("no answer: %v", err)
	}
}

// A Chrome that dies at once says why, in its own words.
func TestProcessDiesAtOnce(t *testing.T) {
	for _, tt := range []struct {
		body string
		want []string
		hint bool
	}{
		{`echo "[1:1:ERROR] Running as root without --no-sandbox is not supported." >&2; exit 1`,
			[]string{"(exit status 1)", "Running as root without --no-sandbox"}, true},
		{`echo "No usable sandbox! Update your kernel" >&2; kill -TRAP $$`,
			[]string{"trap", "No usable sandbox!"}, true},
		{`echo "libnss3.so: cannot open shared object file" >&2; exit 127`,
			[]string{"(exit status 127)", "libnss3.so"}, false},
		{`exit 0`, []string{"(exit status 0)", "it printed no error"}, false},
	} {
		p, err := startProcess(script(t, tt.body), nil, t.TempDir(), false)
		if err != nil {
			t.Fatal(err)
		}
		if b, err := io.ReadAll(p.out); err != nil || len(b) > 0 { // as the pipe's reader learns of it
			t.Errorf("%s: read %q, %v", tt.body, b, err)
		}
		err = p.diedAtStart(patience)
		if err == nil {
			t.Fatalf("%s: no failure", tt.body)
		}
		for _, want := range tt.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: error lacks %q:\n%v", tt.body, want, err)
			}
		}
		if strings.Contains(err.Error(), "pass --no-sandbox if you know") != tt.hint {
			t.Errorf("%s: hint about the sandbox, want it %v:\n%v", tt.body, tt.hint, err)
		}
		if err := p.stop(testContext(t)); err != nil {
			t.Error(err)
		}
	}
}

func TestProcessStillAlive(t *testing.T) {
	p, err := startProcess(script(t, `exec sleep 600`), nil, t.TempDir(), false)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.diedAtStart(time.Millisecond); err != nil {
		t.Errorf("a running Chrome: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := p.stop(ctx); err != nil {
		t.Error(err)
	}
}
