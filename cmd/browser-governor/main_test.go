package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// call runs the program in this process.
func call(t *testing.T, stdin string, environ []string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, errOut bytes.Buffer
	code = run(context.Background(), args, strings.NewReader(stdin), &out, &errOut, environ)
	return out.String(), errOut.String(), code
}

func write(t *testing.T, name, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestCommandLine: what a person types, what comes back, and the exit code that
// a program reads.
func TestCommandLine(t *testing.T) {
	robotsFile := write(t, "robots.txt", "User-agent: *\nDisallow: /private\nCrawl-delay: 2.5\n")
	badPolicy := write(t, "bad.yaml", "version: 1\ninteractions:\n  rate: fast\n")
	for _, c := range []struct {
		name   string
		stdin  string
		args   []string
		code   int
		stdout string // must be in it
		stderr string
	}{
		{"nothing", "", nil, exitUsage, "", "Usage:"},
		{"help", "", []string{"help"}, exitOK, "Exit codes:", ""},
		{"help of a command", "", []string{"serve", "--help"}, exitOK, "", "-listen"},
		{"unknown command", "", []string{"sreve"}, exitUsage, "", `unknown command "sreve"`},
		{"unknown flag", "", []string{"check", "--nonsense"}, exitUsage, "", "nonsense"},
		{"version", "", []string{"version", "--json"}, exitOK, `"version"`, ""},
		{"robots allowed", "", []string{"robots", robotsFile, "--agent", "Bot", "http://a.example/x"}, exitOK, "crawl-delay 2.5 s", ""},
		{"robots denied", "", []string{"robots", "--agent", "Bot", robotsFile, "http://a.example/private/x"}, exitNo, `"Disallow: /private" in line 2`, ""},
		{"robots without agent", "", []string{"robots", robotsFile, "http://a.example/"}, exitUsage, "", "--agent"},
		{"robots bad token", "", []string{"robots", robotsFile, "--agent", "Bot/1.0", "http://a.example/"}, exitUsage, "", "--agent"},
		{"robots no file", "", []string{"robots", robotsFile + ".none", "--agent", "Bot", "http://a.example/"}, exitFailed, "", "robots.txt.none"},
		{"robots cases", `{"id":"1","body":"User-agent: *\nDisallow: /a","agent":"Bot","url":"http://h.example/a"}`, []string{"robots", "--jsonl"}, exitOK,
			`{"id":"1","allow":false,"crawl_delay":null,"rule":"Disallow: /a","line":2}`, ""},
		{"robots broken case", "{\"id\":\"1\"}\n{", []string{"robots", "--jsonl"}, exitUsage, "", "line 2"},
		{"policy bad", "", []string{"policy", "check", badPolicy}, exitUsage, "", badPolicy + ":3:"},
		{"policy unknown preset", "", []string{"policy", "init", "--preset", "rude"}, exitUsage, "", "rude"},
		{"policy what", "", []string{"policy"}, exitUsage, "", "init or check"},
		{"two bases", "", []string{"check", "--policy", badPolicy, "--preset", "polite", "http://a.example/"}, exitUsage, "", "exclude each other"},
		{"check no URL", "", []string{"check"}, exitUsage, "", "no URL"},
		{"check not a URL", "", []string{"check", "--log", t.TempDir(), "mailto:x@y.example"}, exitUsage, "", "mailto:"},
		{"check without contact", "", []string{"check", "--log", t.TempDir(), "http://a.example/"}, exitNo, "contact", ""},
		{"run nothing", "", []string{"run"}, exitUsage, "", "no command"},
		{"audit what", "", []string{"audit"}, exitUsage, "", "show, summary or verify"},
		{"audit no log", "", []string{"audit", "verify", t.TempDir()}, exitNo, "", "holds no log"},
		{"audit bad time", "", []string{"audit", "show", "--since", "yesterday", t.TempDir()}, exitUsage, "", "yesterday"},
		{"bad host rules", "", []string{"check", "--host-rules", "MOP a b", "--log", t.TempDir(), "http://a.example/"}, exitUsage, "", "MOP"},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, errOut, code := call(t, c.stdin, nil, c.args...)
			if code != c.code || !strings.Contains(out, c.stdout) || !strings.Contains(errOut, c.stderr) {
				t.Errorf("exit code %d, want %d\nstdout %q, want %q in it\nstderr %q, want %q in it", code, c.code, out, c.stdout, errOut, c.stderr)
			}
		})
	}
}

// TestPrecedence: the file, then the environment, then flags.
func TestPrecedence(t *testing.T) {
	file := write(t, "policy.yaml", "version: 1\ncaps:\n  interactions: 1\n  total: 10\nmax_queue: 5\n")
	environ := []string{"BROWSER_GOVERNOR_CAPS_INTERACTIONS=2", "BROWSER_GOVERNOR_CAPS_TOTAL=20"}
	c := config{policyFile: file, sets: []string{"caps.interactions=3"}}
	p, err := c.policy(environ)
	if err != nil {
		t.Fatal(err)
	}
	if p.Caps.Interactions != 3 || p.Caps.Total != 20 || p.MaxQueue != 5 {
		t.Errorf("interactions %d, total %d, queue %d; want 3 from the flag, 20 from the environment, 5 from the file",
			p.Caps.Interactions, p.Caps.Total, p.MaxQueue)
	}
}

// TestPolicyInit: a preset's file is valid and complete.
func TestPolicyInit(t *testing.T) {
	for _, preset := range []string{"polite", "careful", "harness"} {
		out, errOut, code := call(t, "", nil, "policy", "init", "--preset", preset)
		if code != exitOK {
			t.Fatalf("%s: %d %s", preset, code, errOut)
		}
		if _, errOut, code := call(t, "", nil, "policy", "check", write(t, "p.yaml", out)); code != exitOK {
			t.Errorf("%s: its own file is refused: %s", preset, errOut)
		}
	}
}

func TestRunEnvironment(t *testing.T) {
	if got := joinNoProxy([]string{"A=b", "NO_PROXY=corp.example"}); got != "127.0.0.1,localhost,::1,corp.example" {
		t.Errorf("got %q", got)
	}
	var v map[string]string
	out, _, _ := call(t, "", nil, "version", "--json")
	if err := json.Unmarshal([]byte(out), &v); err != nil || v["platform"] == "" {
		t.Errorf("%q: %v", out, err)
	}
}
