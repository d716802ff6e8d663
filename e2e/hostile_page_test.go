package e2e

import (
	"fmt"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"browsergovernor/governor"
)

// TestFloodOfRequests: a page that asks for 10 000 things at once gets what the
// policy allows and refusals for the rest; memory stays bounded and the page
// lives on.
func TestFloodOfRequests(t *testing.T) {
	s := newSite(t, nil)
	p := testPolicy()
	p.Subresources = governor.Bucket{Rate: 100, Burst: 100}
	p.Hold.Subresource = time.Second
	w := newWorld(t, s, p)
	c := dialRaw(t, w.endpoint())
	_, page := c.page()
	c.visit(page, "http://a.test/")
	before := rss(t)
	got := c.eval(page, `Promise.all(Array.from({length: 10000}, (_, i) =>
		fetch("/f" + i).then(r => r.status, e => "error"))).then(all => {
			const n = {}; for (const s of all) n[s] = (n[s] || 0) + 1; return n })`).(map[string]any)
	grown := rss(t) - before
	t.Logf("answers %v, memory grew by %d MB", got, grown>>20)
	ok, _ := got["200"].(float64)
	refused, _ := got["403"].(float64)
	errors, _ := got["error"].(float64) // Chrome has no room for so many (ERR_INSUFFICIENT_RESOURCES)
	if ok < 100 || ok+refused+errors != 10_000 {
		t.Errorf("answers %v", got)
	}
	if grown > 200<<20 { // some 80 MB with the race detector, next to nothing without
		t.Errorf("memory grew by %d MB", grown>>20)
	}
	for _, ev := range w.refusals() {
		if ev.Reason != governor.QueueFull && ev.Reason != governor.Rate {
			t.Fatalf("refused for %s: %+v", ev.Reason, ev)
		}
	}
	c.visit(page, "http://a.test/after")
	lines := map[string]int{}
	for _, line := range w.sent() {
		lines[line]++
	}
	for _, h := range s.all() {
		if lines[h.String()]--; lines[h.String()] < 0 {
			t.Errorf("reached the server without a line: %s", h)
		}
	}
	// What Chrome dropped after it was let go has its line all the same.
	if n := len(w.sent()) - len(s.all()); n > int(errors) {
		t.Errorf("%d lines more than requests; Chrome dropped %v", n, errors)
	}
	for _, h := range w.gov.Status().Hosts {
		if h.Waiting+h.SubWaiting > 0 {
			t.Errorf("%s: %d are still held", h.Host, h.Waiting+h.SubWaiting)
		}
	}
}

// TestFloodElsewhere: a flood that fills every place for decisions touches no
// other tab's navigation, nor an answer on its way; and what a page asked for and
// gave up while it was held is no request.
func TestFloodElsewhere(t *testing.T) {
	gate := make(chan struct{})
	s := newSite(t, map[string]http.HandlerFunc{"b.test/late": func(w http.ResponseWriter, r *http.Request) {
		<-gate
		html(`late`)(w, r)
	}})
	p := testPolicy()
	p.MaxQueue = 100_000
	p.Hold.Subresource = time.Minute
	p.Hosts = []governor.HostRule{{Match: "a.test", Subresources: &governor.Bucket{Rate: 100, Burst: 1}}}
	w := newWorld(t, s, p)
	endpoint := w.endpoint()
	c, other := dialRaw(t, endpoint), dialRaw(t, endpoint)
	_, page := c.page()
	_, late := other.page()
	_, quick := other.page()
	c.visit(page, "http://a.test/")
	id := other.send(late, "Page.navigate", args{"url": "http://b.test/late"})
	waitFor(t, "the slow page to be asked for", func() bool { return s.count("/late") == 1 })
	c.eval(page, `for (let i = 0; i < 5000; i++) fetch("/f" + i).catch(() => 0); 0`)
	full := func() int {
		n := 0
		for _, ev := range w.refusals() {
			if ev.Reason == governor.QueueFull {
				n++
			}
		}
		return n
	}
	waitFor(t, "every place to be taken", func() bool { return full() > 100 })
	close(gate)
	if m := other.answer(late, id); m.Error != nil {
		t.Error(m.Error)
	}
	other.complete(late)
	if got := other.eval(late, "document.body.innerText"); got != "late" {
		t.Errorf("the answer that came in the flood shows %q", got)
	}
	other.visit(quick, "http://b.test/quick")
	if got := other.eval(quick, "document.title"); got != "/quick" {
		t.Errorf("another tab's page has the title %q", got)
	}
}

// TestGivenUpWhileHeld: what a page asked for and gave up while it was held is no
// request.
func TestGivenUpWhileHeld(t *testing.T) {
	s := newSite(t, map[string]http.HandlerFunc{"/loop": html(`<script>setTimeout(() => location = "/held", 10)</script>`)})
	p := testPolicy()
	p.Hosts = []governor.HostRule{{Match: "slow.test", Subresources: &governor.Bucket{Rate: 10, Burst: 1}, Interactions: &governor.Bucket{Rate: 1, Burst: 1}}}
	w := newWorld(t, s, p)
	c := dialRaw(t, w.endpoint())
	_, page := c.page()
	c.visit(page, "http://slow.test/")
	c.eval(page, `for (let i = 0; i < 20; i++) fetch("/f" + i).catch(() => 0); 0`)
	waitFor(t, "some to be asked for", func() bool { return s.count("/f1") == 1 })
	c.visit(page, "http://a.test/away")
	c.must(page, "Page.navigate", args{"url": "http://slow.test/loop"}, nil)
	waitFor(t, "the page's own navigation to be held", func() bool {
		for _, h := range w.gov.Status().Hosts {
			if h.Host == "slow.test" && h.Waiting > 0 {
				return true
			}
		}
		return false
	})
	c.must(page, "Page.stopLoading", nil, nil)
	waitFor(t, "what was held to be settled", func() bool {
		for _, h := range w.gov.Status().Hosts {
			if h.Host == "slow.test" && h.Waiting+h.SubWaiting > 0 {
				return false
			}
		}
		return true
	})
	// A request that is let go in the very moment in which its page gives it up may
	// be dropped by Chrome after the governor counted it. That side is the safe one;
	// nothing may be received without its line.
	lines := map[string]int{}
	for _, line := range w.sent() {
		lines[line]++
	}
	for _, h := range s.all() {
		if lines[h.String()]--; lines[h.String()] < 0 {
			t.Errorf("received without a line: %s", h)
		}
	}
	if extra := len(w.sent()) - len(s.all()); extra > 2 {
		t.Errorf("%d lines of requests that were never made", extra)
	}
}

// rss is this process's memory in bytes: the governor runs in it.
func rss(t testing.TB) int {
	t.Helper()
	runtime.GC()
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if v, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kb, err := strconv.Atoi(strings.Fields(v)[0])
			if err != nil {
				t.Fatal(err)
			}
			return kb << 10
		}
	}
	t.Fatal("no VmRSS")
	return 0
}

// TestSubresourcePace: the rate that the policy gives is the rate at which the
// server is asked.
func TestSubresourcePace(t *testing.T) {
	s := newSite(t, nil)
	p := testPolicy()
	p.Subresources = governor.Bucket{Rate: 20, Burst: 10}
	w := newWorld(t, s, p)
	c := dialRaw(t, w.endpoint())
	_, page := c.page()
	c.visit(page, "http://a.test/")
	c.eval(page, `Promise.all(Array.from({length: 60}, (_, i) => fetch("/p" + i).then(r => r.text())))`)
	var at []time.Time
	for _, h := range s.received() {
		if strings.HasPrefix(h.path, "/p") {
			at = append(at, h.at)
		}
	}
	if len(at) != 60 {
		t.Fatalf("the server received %d of 60", len(at))
	}
	// Ten at once, the other fifty at 20 a second.
	if d := at[59].Sub(at[0]); d < 2*time.Second || d > 10*time.Second {
		t.Errorf("60 requests took %v, want 2.5 s", d)
	}
	// Within any second, by the clock that releases them: a busy machine delays some
	// and then delivers them at once.
	at = at[:0]
	for _, ev := range w.events() {
		if ev.Type == governor.EventAction && ev.Sent && strings.Contains(ev.URL, "/p") {
			at = append(at, ev.Time)
		}
	}
	for i := range at {
		n := 0
		for j := i; j < len(at) && at[j].Sub(at[i]) < time.Second; j++ {
			n++
		}
		if n > 10+20+2 {
			t.Fatalf("%d requests within a second of the %dth; 10 at once and 20 a second were allowed", n, i+1)
		}
	}
	w.agree()
}

// TestFloodOfPopups: two hundred popups are two hundred navigations.
func TestFloodOfPopups(t *testing.T) {
	s := newSite(t, nil)
	s.setRobots("a.test", "User-agent: *\nDisallow: /private\n")
	p := testPolicy()
	p.Caps.Interactions = 31
	w := newWorld(t, s, p)
	c := dialRaw(t, w.endpoint())
	_, page := c.page()
	c.visit(page, "http://a.test/")
	c.eval(page, `for (let i = 0; i < 200; i++) {
		window.open(i % 5 == 4 ? "/private/" + i : "/pop" + i, "", i % 2 ? "noopener" : "");
	} 0`)
	waitFor(t, "every popup to be judged", func() bool { return len(w.sent())+len(w.refusals()) >= 202 })
	pops := 0
	for _, h := range s.all() {
		if strings.HasPrefix(h.path, "/pop") {
			pops++
		}
		if strings.HasPrefix(h.path, "/private") {
			t.Errorf("reached the server: %s", h)
		}
	}
	if pops != 30 {
		t.Errorf("%d popups reached the server, the cap leaves 30", pops)
	}
	w.agree()
}

// TestServiceWorkers: refused unless the policy allows them.
func TestServiceWorkers(t *testing.T) {
	for _, mode := range []governor.ServiceWorkers{governor.RefuseServiceWorkers, governor.AllowServiceWorkers} {
		t.Run(string(mode), func(t *testing.T) {
			s := newSite(t, map[string]http.HandlerFunc{
				"/sw.js": func(w http.ResponseWriter, r *http.Request) {
					script(`self.addEventListener("install", e => e.waitUntil(fetch("/from-worker")))`)(w, r)
				},
			})
			p := testPolicy()
			p.ServiceWorkers = mode
			w := newWorld(t, s, p)
			c := dialRaw(t, w.endpoint())
			_, page := c.page()
			// Service workers need a secure origin, which loopback is.
			base := "http://" + s.addr()
			c.visit(page, base+"/")
			got := c.eval(page, `navigator.serviceWorker.register("/sw.js").then(r => navigator.serviceWorker.ready).then(() => "ready", e => "refused: " + e.message)`).(string)
			want := 0
			if mode == governor.AllowServiceWorkers {
				want = 1
			}
			if (got == "ready") != (want == 1) {
				t.Errorf("register says %q", got)
			}
			if s.count("/sw.js") != want || s.count("/from-worker") != want {
				t.Errorf("the server received %v", s.received())
			}
			w.agreeOnLoopback()
		})
	}
}

// agreeOnLoopback is agree for a site that was visited by its address: its list
// has no ports.
func (w *world) agreeOnLoopback() {
	w.t.Helper()
	var got []string
	for _, h := range w.site.all() {
		got = append(got, h.String())
	}
	sent := strings.ReplaceAll(multiset(w.sent()), w.site.addr(), "127.0.0.1")
	if sent != multiset(got) {
		w.t.Errorf("the log and the site disagree\nlog says sent:\n%s\n\nsite received:\n%s", sent, multiset(got))
	}
}

// TestHiddenRequests: features that ask behind the page's back, in a context of
// the client's own, reach nobody without a line in the log.
func TestHiddenRequests(t *testing.T) {
	s := newSite(t, map[string]http.HandlerFunc{
		"/": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Reporting-Endpoints", `default="/report"`)
			w.Header().Set("Content-Security-Policy", "img-src 'none'; report-to default")
			html(`<script type=speculationrules>{"prefetch":[{"source":"list","urls":["/prefetched"],"eagerness":"immediate"}],
				"prerender":[{"source":"list","urls":["/prerendered"],"eagerness":"immediate"}]}</script>
				<link rel=prefetch href=/linked><link rel=preconnect href=http://b.test><link rel=dns-prefetch href=http://c.test>
				<img src=/blocked.png><a id=a ping=/ping href=#x>x</a>`)(w, r)
		},
	})
	w := newWorld(t, s, testPolicy())
	c := dialRaw(t, w.endpoint())
	for _, where := range []string{"", c.context()} {
		_, page := c.pageIn(where)
		c.visit(page, fmt.Sprintf("http://%s/", s.addr()))
		c.eval(page, `document.getElementById("a").click();
			navigator.sendBeacon("/beacon", "x");
			fetch("/kept", {method: "POST", keepalive: true, body: "x"});
			new Promise(r => setTimeout(r, 1500))`)
		c.must(page, "Page.navigate", args{"url": "about:blank"}, nil)
	}
	w.agreeOnLoopback()
}
