package robots

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/temoto/robotstxt"
)

// plainMatch is the matching of RFC 9309 2.2.2–2.2.3 as a table of prefixes:
// another way than the package's own, slow and obvious.
func plainMatch(pattern string, end bool, path string) bool {
	reach := make([]bool, len(path)+1) // path[:i] can be matched by the pattern so far
	reach[0] = true
	for _, c := range []byte(pattern) {
		next := make([]bool, len(path)+1)
		for i := range reach {
			switch {
			case c == '*':
				next[i] = reach[i] || i > 0 && next[i-1]
			case i > 0:
				next[i] = reach[i-1] && path[i-1] == c
			}
		}
		reach = next
	}
	if end {
		return reach[len(path)]
	}
	for _, r := range reach {
		if r {
			return true
		}
	}
	return false
}

// plainDecide is the longest match, allow winning ties.
func plainDecide(rules []rule, path string) bool {
	allow, weight := true, int32(0)
	for _, r := range rules {
		if plainMatch(r.pattern, r.end, path) && (r.weight > weight || r.weight == weight && r.allow) {
			allow, weight = r.allow, r.weight
		}
	}
	return allow
}

// engineAlone shows the engine all rules, those that do not fit as well. That
// is what the code of engine.go promises to stand; only files without a $
// inside a rule, whose weight it sees differently, can be compared.
func engineAlone(rules []rule, path string) (allow, comparable bool) {
	var b strings.Builder
	b.WriteString("User-agent: *\n")
	for _, allow := range []bool{true, false} {
		for i := range rules {
			if rules[i].weight != rules[i].length {
				return false, false
			}
			if rules[i].allow == allow {
				encodeRule(&b, map[bool]string{true: "Allow: ", false: "Disallow: "}[allow], &rules[i])
			}
		}
	}
	data, err := robotstxt.FromString(b.String())
	if err != nil {
		return false, true
	}
	return data.TestAgent(encodePath(path), "any"), true
}

// checkAnswer compares three ways to the answer.
func checkAnswer(t *testing.T, body []byte, path string) {
	t.Helper()
	r := Parse(body).For("ResearchBot")
	tgt, err := splitURL("/" + strings.TrimLeft(path, "/"))
	if err != nil {
		t.Fatal(err)
	}
	a := r.ask(tgt)
	if tgt.isRobotsFile() {
		if !a.Allow {
			t.Fatalf("robots.txt itself is refused: %+v", a)
		}
		return
	}
	if strings.HasPrefix(a.Cause, "too much work") {
		if a.Allow {
			t.Fatalf("allowed without an answer: %+v", a)
		}
		return
	}
	if want := plainDecide(r.rules, tgt.path); a.Allow != want || a.Cause != "" {
		t.Fatalf("%q of %q: %+v, want allow %t", tgt.path, body, a, want)
	}
	if alone, ok := engineAlone(r.rules, tgt.path); ok && alone != a.Allow {
		t.Fatalf("%q of %q: the engine alone says %t, want %t", tgt.path, body, alone, a.Allow)
	}
}

func FuzzAsk(f *testing.F) {
	for _, c := range readCases(f) {
		if body := c.body(f); len(body) < 2000 && len(c.URL) < 200 {
			path := strings.TrimPrefix(c.URL, "https://shop.example")
			f.Add(body, path)
		}
	}
	f.Fuzz(func(t *testing.T, body []byte, path string) {
		if len(body) > 4000 || len(path) > 400 {
			return
		}
		checkAnswer(t, body, path)
	})
}

// TestGeneratedRules compares the three ways on rules of few letters and many
// wildcards, where precedence and overlap matter most.
func TestGeneratedRules(t *testing.T) {
	rnd := rand.New(rand.NewPCG(9309, 1))
	word := func(letters []string, n int) string {
		var b strings.Builder
		for range rnd.IntN(n) {
			b.WriteString(letters[rnd.IntN(len(letters))])
		}
		return b.String()
	}
	inRule := []string{"a", "b", "/", "*", "*", "**", "$", "%24", "%2A", "%2a", "é", "?", "'", "%27", "%", "%4"}
	inPath := []string{"a", "b", "/", "$", "*", "%24", "é", "%C3%A9", "?", "'", "%", "%4", "%41"}
	for range 5000 {
		var b strings.Builder
		b.WriteString("User-agent: *\n")
		for range 1 + rnd.IntN(6) {
			b.WriteString([]string{"Allow: ", "Disallow: "}[rnd.IntN(2)])
			b.WriteString([]string{"/", "/", "*"}[rnd.IntN(3)] + word(inRule, 6))
			b.WriteString([]string{"", "", "$", "*"}[rnd.IntN(4)] + "\n")
		}
		checkAnswer(t, []byte(b.String()), word(inPath, 9))
	}
}

func FuzzParse(f *testing.F) {
	for _, c := range readCases(f) {
		if body := c.body(f); len(body) < 4000 {
			f.Add(body, c.URL)
		}
	}
	f.Add([]byte("\xff\xfe\x00"), "http://[")
	f.Fuzz(func(t *testing.T, body []byte, url string) {
		file := Parse(body)
		for _, w := range file.Warnings() {
			if strings.ContainsAny(w.String(), "\r\n\x00\x1b") {
				t.Fatalf("warning is not one clean line: %q", w)
			}
		}
		a := file.Ask("ResearchBot", url)
		if a.Delay < 0 || a.HasDelay == false && a.Delay != 0 {
			t.Fatalf("delay %v", a.Delay)
		}
		if (a.Rule == "") != (a.Line == 0) || strings.ContainsAny(a.Rule, "\r\n\x00") {
			t.Fatalf("rule %q in line %d", a.Rule, a.Line)
		}
		if !a.Allow && a.Rule == "" && a.Cause == "" {
			t.Fatalf("refused without a reason: %+v", a)
		}
		// The canonical form of a canonical form is itself; stray % may not be.
		if tgt, err := splitURL(url); err == nil && tgt.path != "" && !strings.Contains(url, "%") {
			if again := pathOf(tgt.path); again != tgt.path {
				t.Fatalf("path %q becomes %q", tgt.path, again)
			}
		}
		_ = Token(url)
	})
}
