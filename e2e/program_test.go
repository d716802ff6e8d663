package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// program builds the command once for all tests.
var program = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "browser-governor-e2e-")
	if err != nil {
		return "", err
	}
	bin := filepath.Join(dir, "browser-governor")
	out, err := exec.Command("go", "build", "-o", bin, "browsergovernor/cmd/browser-governor").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("building the command: %w\n%s", err, out)
	}
	return bin, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if bin, err := program(); err == nil {
		os.RemoveAll(filepath.Dir(bin))
	}
	os.Exit(code)
}

// syncBuffer is a buffer that a process writes while a test reads.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// serve is a running `browser-governor serve`.
type serve struct {
	t        testing.TB
	cmd      *exec.Cmd
	endpoint string
	tmp      string // its TMPDIR
	stderr   *syncBuffer
	waited   chan struct{}
	err      error
}

// quick are the flags of a policy that does not slow a test down.
func quick() []string {
	return []string{"--agent", "ResearchBot/1.0", "--contact", "https://example.com/bot",
		"--set", "interactions.rate=6000/minute", "--set", "interactions.burst=100",
		"--set", "jitter.min=0s", "--set", "jitter.max=0s", "--set", "max_denials=0"}
}

func sandboxFlag() []string {
	if os.Getuid() == 0 {
		return []string{"--no-sandbox"}
	}
	return nil
}

func command(t testing.TB, args ...string) *exec.Cmd {
	t.Helper()
	bin, err := program()
	if err != nil {
		t.Fatal(err)
	}
	return exec.Command(bin, args...)
}

// output runs the program and returns what it printed and its exit code.
func output(t testing.TB, stdin io.Reader, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	cmd := command(t, args...)
	var out, errOut bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, &out, &errOut
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return out.String(), errOut.String(), cmd.ProcessState.ExitCode()
}

func startServe(t testing.TB, s *site, log string, extra ...string) *serve {
	t.Helper()
	args := append([]string{"serve", "--json", "--listen", "127.0.0.1:0", "--log", log, "--host-rules", s.hostRules()}, sandboxFlag()...)
	args = append(append(args, quick()...), extra...)
	v := &serve{t: t, cmd: command(t, args...), tmp: scratch(t), stderr: &syncBuffer{}, waited: make(chan struct{})}
	v.cmd.Env = append(os.Environ(), "TMPDIR="+v.tmp)
	v.cmd.Stderr = v.stderr
	stdout, err := v.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := v.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	go func() {
		v.err = v.cmd.Wait()
		close(v.waited)
	}()
	t.Cleanup(func() {
		v.cmd.Process.Kill()
		<-v.waited
	})
	var ready struct {
		Endpoint string `json:"endpoint"`
	}
	if err != nil || json.Unmarshal([]byte(line), &ready) != nil || ready.Endpoint == "" {
		t.Fatalf("serve printed %q, %v\n%s", line, err, v.stderr)
	}
	v.endpoint = ready.Endpoint
	return v
}

// scratch is a folder that is removed in the end, however long the children of a
// killed Chrome still write into it.
func scratch(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "browser-governor-e2e-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		waitFor(t, "the folder of a killed Chrome to be removed", func() bool { return os.RemoveAll(dir) == nil })
	})
	return dir
}

// end waits for the process.
func (v *serve) end(d time.Duration) int {
	v.t.Helper()
	select {
	case <-v.waited:
	case <-time.After(d):
		v.t.Fatalf("serve does not end\n%s", v.stderr)
	}
	return v.cmd.ProcessState.ExitCode()
}

// chromes returns the processes whose command line names the folder.
func chromes(dir string) []int {
	var pids []int
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		line, err := os.ReadFile("/proc/" + e.Name() + "/cmdline")
		if err == nil && strings.Contains(string(line), "--user-data-dir="+dir) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// TestCtrlC: no Chrome, no folder, a closed log.
func TestCtrlC(t *testing.T) {
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		t.Run(fmt.Sprint(sig), func(t *testing.T) {
			s := newSite(t, nil)
			log := filepath.Join(t.TempDir(), "log")
			v := startServe(t, s, log)
			allOK(t, drive(t, "playwright", v.endpoint, step{"do": "goto", "url": "http://a.test/"}))
			if len(chromes(v.tmp)) == 0 {
				t.Fatal("no Chrome is running: the test proves nothing")
			}
			v.cmd.Process.Signal(sig)
			if code := v.end(15 * time.Second); code != 0 {
				t.Errorf("exit code %d\n%s", code, v.stderr)
			}
			if left := chromes(v.tmp); len(left) > 0 {
				t.Errorf("Chrome is still running: %v", left)
			}
			if left, _ := os.ReadDir(v.tmp); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
			if out, errOut, code := output(t, nil, "audit", "verify", log); code != 0 {
				t.Errorf("audit verify: %d\n%s%s", code, out, errOut)
			}
		})
	}
}

// TestPortTaken, no Chrome, a locked log and an unwritable one: each is said
// clearly, with its exit code, and nothing is left running.
func TestStartFailures(t *testing.T) {
	s := newSite(t, nil)
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	locked := filepath.Join(t.TempDir(), "log")
	startServe(t, s, locked)
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		args []string
		code int
		want string
	}{
		{"port taken", []string{"--listen", busy.Addr().String()}, 1, "cannot listen on"},
		{"not loopback", []string{"--listen", "0.0.0.0:0"}, 1, "token"},
		{"no Chrome", []string{"--chrome", "/nonexistent/chrome"}, 4, "/nonexistent/chrome"},
		{"log locked", []string{"--log", locked}, 1, "browser-governor serve"},
		{"log unwritable", []string{"--log", filepath.Join(file, "log")}, 1, file},
		{"unknown key", []string{"--set", "caps.totl=3"}, 2, "totl"},
		{"bad rate", []string{"--set", "interactions.rate=fast"}, 2, "fast"},
		{"unknown flag", []string{"--nonsense"}, 2, "nonsense"},
		{"guarded flag", []string{"--chrome-flag", "--proxy-server=x"}, 4, "proxy-server"},
	} {
		t.Run(c.name, func(t *testing.T) {
			args := append([]string{"serve", "--listen", "127.0.0.1:0", "--log", filepath.Join(t.TempDir(), "log")}, sandboxFlag()...)
			out, errOut, code := output(t, nil, append(args, c.args...)...)
			if code != c.code || !strings.Contains(errOut, c.want) {
				t.Errorf("exit code %d, want %d; stderr %q, want %q in it; stdout %q", code, c.code, errOut, c.want, out)
			}
		})
	}
}

// TestNoContact: without a contact only loopback may be visited.
func TestNoContact(t *testing.T) {
	s := newSite(t, nil)
	v := startServe(t, s, filepath.Join(t.TempDir(), "log"), "--contact", "", "--set", "agent.contact=")
	got := drive(t, "playwright", v.endpoint,
		step{"do": "goto", "url": "http://a.test/"},
		step{"do": "goto", "url": "http://" + s.addr() + "/"})
	if got[1].OK || !strings.Contains(got[1].Error, "contact") {
		t.Errorf("a.test without a contact: ok %v, %q", got[1].OK, got[1].Error)
	}
	if !got[2].OK {
		t.Errorf("loopback without a contact: %q", got[2].Error)
	}
}

// TestStatusAndRun: status reads a running governor; run hands the endpoint to a
// command, sums up and exits with its code.
func TestStatus(t *testing.T) {
	s := newSite(t, nil)
	v := startServe(t, s, filepath.Join(t.TempDir(), "log"))
	allOK(t, drive(t, "puppeteer", v.endpoint, step{"do": "goto", "url": "http://a.test/"}))
	out, errOut, code := output(t, nil, "status", "--endpoint", v.endpoint)
	if code != 0 || !strings.Contains(out, "a.test") {
		t.Errorf("status: %d\n%s%s", code, out, errOut)
	}
	out, _, code = output(t, nil, "status", "--json", "--endpoint", v.endpoint)
	var st struct {
		Interactions int `json:"interactions"`
	}
	if code != 0 || json.Unmarshal([]byte(out), &st) != nil || st.Interactions != 1 {
		t.Errorf("status --json: %d %q", code, out)
	}
	if _, errOut, code = output(t, nil, "status", "--endpoint", "http://127.0.0.1:9"); code != 1 || !strings.Contains(errOut, "no governor answers") {
		t.Errorf("status of nobody: %d %q", code, errOut)
	}
}

func TestRun(t *testing.T) {
	s := newSite(t, nil)
	base := append([]string{"run", "--log", filepath.Join(t.TempDir(), "log"), "--host-rules", s.hostRules()}, sandboxFlag()...)
	base = append(base, quick()...)
	script := `[{"do":"goto","url":"http://a.test/ran"}]`
	driver, err := filepath.Abs("clients/driver-playwright.mjs")
	if err != nil {
		t.Fatal(err)
	}
	out, errOut, code := output(t, strings.NewReader(script), append(base, "--", "node", driver)...)
	if code != 0 || !strings.Contains(out, `"title":"/ran"`) || !strings.Contains(errOut, "a.test") {
		t.Errorf("run: %d\n%s\n%s", code, out, errOut)
	}
	if _, errOut, code = output(t, nil, append(base, "--", "sh", "-c", "exit 7")...); code != 7 {
		t.Errorf("run gave %d for a command that exits with 7\n%s", code, errOut)
	}
	if s.count("/ran") != 1 {
		t.Errorf("the site received %v", s.received())
	}
}

// httpGet asks the endpoint as curl would.
func httpGet(t testing.TB, url string) (int, string) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(body)
}
