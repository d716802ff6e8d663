package robots

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"
	"time"
)

// robotsCase is a line of testdata/robots.jsonl: a file, an agent, a URL and
// the right answer with its source. Every answer was checked against Google's
// own parser; google_allow is set where RFC 9309 says otherwise than Google.
type robotsCase struct {
	ID         string   `json:"id"`
	Body       string   `json:"body"`
	BodyB64    string   `json:"body_b64"`
	BodyParts  [][2]any `json:"body_parts"` // text and count, to be repeated and joined
	Agent      string   `json:"agent"`
	URL        string   `json:"url"`
	Allow      bool     `json:"allow"`
	CrawlDelay *float64 `json:"crawl_delay"`
	Why        string   `json:"why"`
}

func (c robotsCase) body(t testing.TB) []byte {
	if c.BodyB64 != "" {
		b, err := base64.StdEncoding.DecodeString(c.BodyB64)
		if err != nil {
			t.Fatalf("%s: %v", c.ID, err)
		}
		return b
	}
	if c.BodyParts == nil {
		return []byte(c.Body)
	}
	var b strings.Builder
	for _, p := range c.BodyParts {
		b.WriteString(strings.Repeat(p[0].(string), int(p[1].(float64))))
	}
	return []byte(b.String())
}

func readCases(t testing.TB) []robotsCase {
	f, err := os.Open("testdata/robots.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var cases []robotsCase
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var c robotsCase
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatalf("testdata/robots.jsonl: line %d: %v", len(cases)+1, err)
		}
		cases = append(cases, c)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return cases
}

func TestCases(t *testing.T) {
	cases := readCases(t)
	if len(cases) != 584 {
		t.Fatalf("%d cases, want 584", len(cases))
	}
	right := 0
	for _, c := range cases {
		body := c.body(t)
		a := Parse(body).Ask(c.Agent, c.URL)
		ok := a.Allow == c.Allow
		if !ok {
			t.Errorf("%s: allow = %t, want %t: %s (rule %q, line %d, group %q, cause %q)", c.ID, a.Allow, c.Allow, c.Why, a.Rule, a.Line, a.Group, a.Cause)
		}
		if a.Cause != "" {
			ok = false
			t.Errorf("%s: cause %q", c.ID, a.Cause)
		}
		if a.HasDelay != (c.CrawlDelay != nil) {
			ok = false
			t.Errorf("%s: has delay = %t, want %t: %s", c.ID, a.HasDelay, !a.HasDelay, c.Why)
		}
		if a.HasDelay && c.CrawlDelay != nil {
			want := time.Duration(math.MaxInt64)
			if ns := *c.CrawlDelay * 1e9; ns < math.MaxInt64 {
				want = time.Duration(ns)
			}
			if a.DelaySeconds != *c.CrawlDelay {
				ok = false
				t.Errorf("%s: delay = %v s, want %v s: %s", c.ID, a.DelaySeconds, *c.CrawlDelay, c.Why)
			}
			if a.Delay != want {
				ok = false
				t.Errorf("%s: delay = %v, want %v: %s", c.ID, a.Delay, want, c.Why)
			}
		}
		if ok {
			right++
		}
	}
	t.Logf("%d of %d cases right", right, len(cases))
}
