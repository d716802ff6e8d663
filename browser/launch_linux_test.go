package browser

import (
	"context"
	"strings"
	"testing"

	"browsergovernor/actions"
	"browsergovernor/governor"
)

// idleGovernor is never asked anything: Chrome does not start.
type idleGovernor struct{}

func (idleGovernor) Admit(context.Context, actions.Action) governor.Decision {
	return governor.Decision{}
}
func (idleGovernor) Settle(string, governor.Outcome) governor.Retry { return governor.Retry{} }
func (idleGovernor) Refuse(actions.Action, governor.Reason, string) governor.Decision {
	return governor.Decision{}
}
func (idleGovernor) RefuseCommand(string, string, string, string) *governor.Refusal {
	return &governor.Refusal{}
}
func (idleGovernor) Note(string, string) error { return nil }
func (idleGovernor) Policy() governor.Policy   { return governor.DefaultPolicy() }
func (idleGovernor) SetUserAgent(string)       {}

// A Chrome that dies at once says why, in its own words.
func TestLaunchReportsDeath(t *testing.T) {
	const version = `[ "$1" = --version ] && { echo "Chromium 156.0.1.2"; exit 0; }` + "\n"
	for _, tt := range []struct {
		name, body string
		want       []string
	}{
		{"no sandbox", `echo "[1:1:ERROR] Running as root without --no-sandbox is not supported." >&2; exit 1`,
			[]string{"exit status 1", "Running as root without --no-sandbox", "pass --no-sandbox if you know"}},
		{"missing library", `echo "libnss3.so: cannot open shared object file" >&2; exit 127`,
			[]string{"exit status 127", "libnss3.so"}},
		{"no word", `exit 0`, []string{"exit status 0", "it printed no error"}},
		{"crash", `kill -SEGV $$`, []string{"segmentation fault"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			temp := t.TempDir()
			_, err := Launch(testContext(t), idleGovernor{}, Options{ChromePath: script(t, version+tt.body), TempDir: temp, StartTimeout: patience})
			if err == nil {
				t.Fatal("launched")
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error lacks %q:\n%v", want, err)
				}
			}
			if strings.Contains(err.Error(), "pass --no-sandbox") != (tt.name == "no sandbox") {
				t.Errorf("hint about the sandbox in the wrong place:\n%v", err)
			}
			emptyDir(t, temp)
		})
	}
}
