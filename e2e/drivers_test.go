package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"browsergovernor/browser"
)

// drivers are the outside clients that the tests drive, by the script of the
// same steps.
var drivers = []string{"playwright", "puppeteer"}

// step is one line of a driver's script.
type step map[string]any

// result is what a driver saw of one step.
type result struct {
	Step       int     `json:"step"`
	Do         string  `json:"do"`
	OK         bool    `json:"ok"`
	Value      any     `json:"value"`
	Status     int     `json:"status"`
	StatusText string  `json:"statusText"`
	URL        string  `json:"url"`
	Title      string  `json:"title"`
	Error      string  `json:"error"`
	MS         float64 `json:"ms"`
}

// endpoint serves a governed Chrome to outside clients and returns its URL.
func (w *world) endpoint() string {
	w.t.Helper()
	return w.endpointWith(w.options())
}

func (w *world) endpointWith(o browser.Options) string {
	w.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	sup, err := browser.Supervise(ctx, w.gov, o)
	if err != nil {
		cancel()
		w.t.Fatal(err)
	}
	ln, err := browser.Listen("127.0.0.1:0", "")
	if err != nil {
		w.t.Fatal(err)
	}
	ep := browser.NewEndpoint(sup, browser.EndpointConfig{})
	ended := make(chan error, 1)
	go func() { ended <- ep.Serve(ctx, ln) }()
	w.t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			w.t.Error(err)
		}
		if err := sup.Close(); err != nil {
			w.t.Error(err)
		}
	})
	return "http://" + ln.Addr().String()
}

// drive runs a script of steps with one client. The first result is the
// connection.
func drive(t testing.TB, client, endpoint string, steps ...step) []result {
	t.Helper()
	script, err := json.Marshal(steps)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := filepath.Abs("clients")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(testContext(t, 3*time.Minute), "node", filepath.Join(dir, "driver-"+client+".mjs"))
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "BROWSER_GOVERNOR_CDP_URL="+endpoint)
	cmd.Stdin = bytes.NewReader(script)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s\n%s", client, err, out, stderr.String())
	}
	var results []result
	in := bufio.NewScanner(bytes.NewReader(out))
	in.Buffer(nil, 64<<20)
	for in.Scan() {
		var r result
		if err := json.Unmarshal(in.Bytes(), &r); err != nil {
			t.Fatalf("%s printed %q: %v", client, in.Text(), err)
		}
		results = append(results, r)
	}
	if len(results) != len(steps)+1 {
		t.Fatalf("%s answered %d of %d steps\n%s", client, len(results), len(steps)+1, stderr.String())
	}
	return results
}

// allOK fails for every step that did.
func allOK(t testing.TB, results []result) {
	t.Helper()
	for _, r := range results {
		if !r.OK {
			t.Errorf("step %d %s: %s (url %s, title %q)", r.Step, r.Do, r.Error, r.URL, r.Title)
		}
	}
}
