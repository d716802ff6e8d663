package governor

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"browsergovernor/actions"
	"browsergovernor/governor/robots"
)

// memory is a log in memory.
type memory struct {
	mu     sync.Mutex
	events []Event
	broken bool
}

var errDisk = errors.New("no space left on device")

func (m *memory) Record(ev *Event) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.broken {
		return errDisk
	}
	e := *ev
	if ev.Left != nil {
		left := *ev.Left
		e.Left = &left
	}
	m.events = append(m.events, e)
	return nil
}

func (m *memory) breakDown(yes bool) {
	m.mu.Lock()
	m.broken = yes
	m.mu.Unlock()
}

func (m *memory) all() []Event {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]Event(nil), m.events...)
}

// replay yields what was written, as a log does.
func (m *memory) replay(yield func(Event, error) bool) {
	for _, ev := range m.all() {
		if !yield(ev, nil) {
			return
		}
	}
}

// sent returns the actions that were let through.
func (m *memory) sent() (evs []Event) {
	for _, ev := range m.all() {
		if ev.Type == EventAction && ev.Sent {
			evs = append(evs, ev)
		}
	}
	return evs
}

// site answers requests for robots.txt.
type site func(req *http.Request) (status int, header http.Header, body string)

func (s site) RoundTrip(req *http.Request) (*http.Response, error) {
	status, header, body := s(req)
	if header == nil {
		header = http.Header{}
	}
	return &http.Response{
		StatusCode: status, Header: header, Body: io.NopCloser(strings.NewReader(body)),
		Request: req, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, ContentLength: int64(len(body)),
	}, nil
}

func serving(body string) site {
	return func(*http.Request) (int, http.Header, string) { return 200, nil, body }
}

// fixedRules is a robots.txt cache that knows everything already.
type fixedRules map[string]robots.Verdict

func (f fixedRules) Cached(url string) (robots.Verdict, bool) {
	for prefix, v := range f {
		if strings.HasPrefix(url, prefix) {
			return v, true
		}
	}
	return robots.Verdict{Allow: true}, true
}

func (f fixedRules) Check(_ context.Context, url string) robots.Verdict {
	v, _ := f.Cached(url)
	return v
}

// plainPolicy has no jitter and reads no robots.txt.
func plainPolicy() Policy {
	p := DefaultPolicy()
	p.Agent = Agent{Name: "TestBot/1.0", Contact: "bot@example.com"}
	p.Jitter = Jitter{}
	p.Robots.Mode = RobotsOff
	p.AcceptedRisks = append(p.AcceptedRisks, "robots_off")
	return p
}

func half() float64 { return 0.5 }

func open(t testing.TB, p Policy, more ...func(*Config)) (*Governor, *memory) {
	t.Helper()
	m := new(memory)
	c := Config{Policy: p, Recorder: m, Rand: half}
	for _, f := range more {
		f(&c)
	}
	g, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return g, m
}

func nav(url string) actions.Action {
	return actions.Action{Kind: actions.Navigation, Method: "GET", URL: url, Hold: -1}
}

func click(url string) actions.Action { return actions.Action{Kind: actions.Click, URL: url} }

func sub(url string) actions.Action {
	return actions.Action{Kind: actions.Subresource, Method: "GET", URL: url, Resource: "Image"}
}

func allow(t testing.TB, g *Governor, a actions.Action) Decision {
	t.Helper()
	d := g.Admit(t.Context(), a)
	if !d.Allowed() {
		t.Fatalf("%s %s: %v", a.Kind, a.URL, d.Refusal)
	}
	return d
}

func refused(t testing.TB, g *Governor, a actions.Action, want Reason) *Refusal {
	t.Helper()
	d := g.Admit(t.Context(), a)
	if d.Allowed() {
		t.Fatalf("%s %s: allowed, want %s", a.Kind, a.URL, want)
	}
	if d.Refusal.Reason != want {
		t.Fatalf("%s %s: %v (%s), want %s", a.Kind, a.URL, d.Refusal, d.Refusal.Reason, want)
	}
	return d.Refusal
}

func near(t testing.TB, what string, got, want time.Duration) {
	t.Helper()
	if d := got - want; d < -time.Millisecond || d > time.Millisecond {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}
