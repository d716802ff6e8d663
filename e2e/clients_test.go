package e2e

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"browsergovernor/governor"
)

// everyday is a site with everything a client does on a page.
func everyday(t *testing.T) *site {
	return newSite(t, map[string]http.HandlerFunc{
		"/": html(`<h1>front</h1><a id=next href=/next>next</a><a id=blank target=_blank href=/popup>popup</a>
			<form action=/form><input id=q name=q><select id=s name=s><option value=1>1<option value=2>2</select><button id=go>go</button></form>
			<button id=ask onclick="document.title = confirm('sure?') ? 'yes' : 'no'">ask</button>
			<input id=file type=file onchange="document.title = 'file ' + this.files[0].name">
			<a id=dl href=/file.bin download>download</a>
			<iframe name=f src=/frame></iframe>`),
		"/frame": html(`<p id=inside>in the frame</p>`),
		"/file.bin": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/octet-stream")
			w.Header().Set("Content-Disposition", `attachment; filename="file.bin"`)
			w.Write(make([]byte, 4096))
		},
	})
}

// TestClientsWorkGoverned: what clients do every day works as without us.
func TestClientsWorkGoverned(t *testing.T) {
	upload := filepath.Join(t.TempDir(), "up.txt")
	if err := os.WriteFile(upload, []byte("hello"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, client := range drivers {
		t.Run(client, func(t *testing.T) {
			s := everyday(t)
			w := newWorld(t, s, testPolicy())
			got := drive(t, client, w.endpoint(),
				step{"do": "goto", "url": "http://a.test/"},
				step{"do": "click", "selector": "#next", "wait": true},
				step{"do": "back"},
				step{"do": "forward"},
				step{"do": "reload"},
				step{"do": "goto", "url": "http://a.test/"},
				step{"do": "type", "selector": "#q", "text": "words"},
				step{"do": "select", "selector": "#s", "value": "2"},
				step{"do": "press", "selector": "#q", "key": "Enter", "wait": true},
				step{"do": "goto", "url": "http://a.test/"},
				step{"do": "dialog", "selector": "#ask"},
				step{"do": "upload", "selector": "#file", "file": upload},
				step{"do": "frame", "selector": "iframe", "inner": "#inside"},
				step{"do": "download", "selector": "#dl"},
				step{"do": "popup", "selector": "#blank"},
				step{"do": "close"},
				step{"do": "newtab", "url": "http://b.test/tab"},
				step{"do": "screenshot"},
				step{"do": "close"},
				step{"do": "context", "url": "http://c.test/context"},
				step{"do": "route-block", "pattern": "blocked"},
				step{"do": "eval", "expr": "fetch('/blocked').then(r => 'answered', e => 'blocked')"},
				step{"do": "ua"},
			)
			allOK(t, got)
			title := func(i int, want string) {
				t.Helper()
				if got[i].Title != want {
					t.Errorf("step %d %s: title %q, want %q", i, got[i].Do, got[i].Title, want)
				}
			}
			title(2, "/next")
			title(3, "/")
			title(4, "/next")
			title(9, "/form")
			title(11, "yes")
			title(12, "file up.txt")
			title(15, "/popup")
			title(17, "/tab")
			title(20, "/context")
			if got[13].Value != "in the frame" {
				t.Errorf("frame text %v", got[13].Value)
			}
			if got[22].Value != "blocked" || s.count("/blocked") != 0 {
				t.Errorf("the client's own interception: %v, %d reached the server", got[22].Value, s.count("/blocked"))
			}
			if !strings.HasSuffix(got[9].URL, "?q=words&s=2") {
				t.Errorf("the form went to %s", got[9].URL)
			}
			if ua, _ := got[23].Value.(string); !strings.Contains(ua, "ResearchBot/1.0 (+https://example.com/bot)") {
				t.Errorf("navigator.userAgent is %v", got[23].Value)
			}
			w.agree()
		})
	}
}

// TestClientsReadRefusals: a refused goto throws the sentence at once, and a
// refused click's page says it in title, status text and heading.
func TestClientsReadRefusals(t *testing.T) {
	for _, client := range drivers {
		t.Run(client, func(t *testing.T) {
			s := newSite(t, map[string]http.HandlerFunc{
				"/":       html(`<a id=private href=/private/a>p</a>`),
				"/closed": status(429, map[string]string{"Retry-After": "3600"}),
			})
			s.setRobots("a.test", "User-agent: *\nDisallow: /private\n")
			p := testPolicy()
			p.Caps.HostInteractions = 6
			w := newWorld(t, s, p)
			got := drive(t, client, w.endpoint(),
				step{"do": "goto", "url": "http://a.test/private/typed"},
				step{"do": "goto", "url": "http://a.test/"},
				step{"do": "click", "selector": "#private", "wait": true},
				step{"do": "text", "selector": "h1"},
				step{"do": "goto", "url": "http://b.test/closed"},
				step{"do": "goto", "url": "http://b.test/"},
				step{"do": "goto", "url": "http://a.test/1"},
				step{"do": "goto", "url": "http://a.test/2"},
				step{"do": "goto", "url": "http://a.test/3"},
				step{"do": "goto", "url": "http://a.test/4"},
				step{"do": "goto", "url": "http://a.test/5"},
			)
			refusedAt := func(i int, reason governor.Reason, words string) {
				t.Helper()
				r := got[i]
				if r.OK || !strings.Contains(r.Error, "refused by browser-governor: ") || !strings.Contains(r.Error, words) {
					t.Errorf("step %d: ok %v, error %q; want the sentence with %q", i, r.OK, r.Error, words)
				}
				if r.MS > 3000 {
					t.Errorf("step %d: the refusal took %v ms", i, r.MS)
				}
				for _, ev := range w.refusals() {
					if ev.Reason == reason {
						return
					}
				}
				t.Errorf("step %d: no refusal %s in the log", i, reason)
			}
			refusedAt(1, governor.RobotsDisallowed, "do not retry")
			const start = "refused by browser-governor: "
			click := got[3]
			if click.Status != 403 || !strings.HasPrefix(click.StatusText, start) || !strings.HasPrefix(click.Title, start) {
				t.Errorf("the refused click: status %d %q, title %q", click.Status, click.StatusText, click.Title)
			}
			if h1, _ := got[4].Value.(string); !strings.HasPrefix(h1, start) || !strings.Contains(h1, "do not retry") {
				t.Errorf("h1 %q", h1)
			}
			if got[5].Status != 429 {
				t.Errorf("an hour's Retry-After: status %d, want the server's 429", got[5].Status)
			}
			refusedAt(6, governor.RetryAfter, "retry after")
			refusedAt(11, governor.HostDailyCap, "refused")
			w.agree()
		})
	}
}

// TestClientsSeeRetries: a goto ends with the good page, waited for inside the
// browser.
func TestClientsSeeRetries(t *testing.T) {
	for _, client := range drivers {
		t.Run(client, func(t *testing.T) {
			s := newSite(t, map[string]http.HandlerFunc{"/wait": failing(1, 429, map[string]string{"Retry-After": "1"})})
			w := newWorld(t, s, testPolicy())
			got := drive(t, client, w.endpoint(), step{"do": "goto", "url": "http://a.test/wait"})
			allOK(t, got)
			if got[1].Status != 200 || got[1].MS < 980 {
				t.Errorf("status %d after %v ms; want 200 not before 1 s", got[1].Status, got[1].MS)
			}
			w.agree()
		})
	}
}

// TestTwoClientsAtOnce: two clients share one Chrome and one budget, and neither
// notices the other.
func TestTwoClientsAtOnce(t *testing.T) {
	s := newSite(t, nil)
	p := testPolicy()
	p.Interactions = governor.Bucket{Rate: 5, Burst: 1}
	w := newWorld(t, s, p)
	url := w.endpoint()
	var wg sync.WaitGroup
	for _, client := range drivers {
		wg.Go(func() {
			var steps []step
			for range 4 {
				steps = append(steps, step{"do": "newtab", "url": "http://a.test/" + client})
			}
			got := drive(t, client, url, steps...)
			allOK(t, got)
			for _, r := range got[1:] {
				if r.Title != "/"+client {
					t.Errorf("%s sees %q", client, r.Title)
				}
			}
		})
	}
	wg.Wait()
	hits := s.received()
	if len(hits) != 8 {
		t.Fatalf("the server received %d pages, want 8", len(hits))
	}
	// Seven gaps of one shared pace; two budgets would take half as long.
	if span := hits[7].at.Sub(hits[0].at); span < 1200*time.Millisecond {
		t.Errorf("8 pages within %v: the shared pace is one in 200 ms", span)
	}
	w.agree()
}
