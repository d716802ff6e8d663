package e2e

import (
	"os/exec"
	"strings"
	"testing"
	"time"
)

// TestGoExamples: the examples that a Go reader starts with do what they say.
// politeagent checks itself against its server and fails if they differ.
func TestGoExamples(t *testing.T) {
	for _, c := range []struct {
		name string
		want []string
	}{
		{"politeagent", []string{
			"REFUSED  /private/inbox", "Retry-After: 2 s", "backing off", "retry 1", "daily_cap",
			"checked: the server received 9 requests, the same that the log has as sent",
			"checked: the log's hash chain holds",
			"checked: 8 pages, never two within",
			"checked: /profile/3 was asked for again", "checked: /busy was asked for again",
			"checked: /private never left the machine; the cap was reached in the middle of a retry",
			"checked: every request names",
		}},
		{"chromedp-script/after", []string{"/item shop /item", "/checkout refused by browser-governor", "0 /checkout"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, err := exec.CommandContext(testContext(t, 3*time.Minute), "go", "run", "browsergovernor/examples/"+c.name).CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			for _, want := range c.want {
				if !strings.Contains(string(out), want) {
					t.Errorf("no %q in\n%s", want, out)
				}
			}
		})
	}
}
