package e2e

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCheckCommand: what would happen, without doing it.
func TestCheckCommand(t *testing.T) {
	s := newSite(t, nil)
	s.setRobots("a.test", "User-agent: *\nDisallow: /private\n")
	base := []string{"check", "--json", "--log", filepath.Join(t.TempDir(), "log"), "--host-rules", s.hostRules(),
		"--agent", "ResearchBot/1.0", "--contact", "https://example.com/bot"}
	out, errOut, code := output(t, nil, append(base, "http://a.test/ok", "http://a.test/private/x")...)
	if code != 3 {
		t.Errorf("exit code %d, want 3\n%s", code, errOut)
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if len(lines) != 2 || !strings.Contains(lines[0], `"allow":true`) || !strings.Contains(lines[1], `"reason":"robots_disallowed"`) {
		t.Errorf("got %s", out)
	}
	for _, h := range s.all() {
		if h.path != "/robots.txt" {
			t.Errorf("check visited %s", h)
		}
	}
}

// TestRobotsCommand: the 584 cases, one answer a line.
func TestRobotsCommand(t *testing.T) {
	cases, err := os.ReadFile("../governor/robots/testdata/robots.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	out, errOut, code := output(t, bytes.NewReader(cases), "robots", "--jsonl")
	if code != 0 {
		t.Fatalf("exit code %d\n%s", code, errOut)
	}
	type answer struct {
		ID         string   `json:"id"`
		Allow      bool     `json:"allow"`
		CrawlDelay *float64 `json:"crawl_delay"`
	}
	decode := func(text string) map[string]answer {
		m := map[string]answer{}
		for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
			var a answer
			if err := json.Unmarshal([]byte(line), &a); err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			m[a.ID] = a
		}
		return m
	}
	want, got := decode(string(cases)), decode(out)
	right := 0
	for id, w := range want {
		g := got[id]
		same := g.ID == id && g.Allow == w.Allow && (g.CrawlDelay == nil) == (w.CrawlDelay == nil)
		if same && w.CrawlDelay != nil {
			same = *g.CrawlDelay == *w.CrawlDelay
		}
		if !same {
			t.Errorf("%s: got %+v, want %+v", id, g, w)
			continue
		}
		right++
	}
	t.Logf("%d of %d cases right", right, len(want))
	if right < 584 {
		t.Errorf("only %d of 584", right)
	}
}

// TestPolicyCommands: what init writes, check accepts.
func TestPolicyCommands(t *testing.T) {
	file := filepath.Join(t.TempDir(), "policy.yaml")
	if _, errOut, code := output(t, nil, "policy", "init", file); code != 0 {
		t.Fatalf("init: %d %s", code, errOut)
	}
	if _, errOut, code := output(t, nil, "policy", "init", file); code != 2 || !strings.Contains(errOut, "not overwritten") {
		t.Errorf("init over a file: %d %s", code, errOut)
	}
	if out, errOut, code := output(t, nil, "policy", "check", file); code != 0 {
		t.Errorf("check: %d %s%s", code, out, errOut)
	}
	bad := filepath.Join(t.TempDir(), "bad.yaml")
	if err := os.WriteFile(bad, []byte("version: 1\ncaps:\n  totl: 5\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, errOut, code := output(t, nil, "policy", "check", bad); code != 2 || !strings.Contains(errOut, bad+":3:3:") {
		t.Errorf("check of a wrong key: %d %q", code, errOut)
	}
}
