package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"browsergovernor/governor"
)

// TestNavigationCommands: each way to navigate by command, allowed and refused,
// is counted once, and what asks nobody is free.
func TestNavigationCommands(t *testing.T) {
	s := newSite(t, map[string]http.HandlerFunc{
		"/nothing": status(http.StatusNoContent, nil),
		"/file": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Disposition", "attachment; filename=f.bin")
			fmt.Fprint(w, "data")
		},
		"/frames": html(`<iframe id=f src=/inner></iframe>`),
		"/form":   html(`<form method=post action=/hop><input name=q value=1><button id=b>b</button></form>`),
		"/hop":    redirect("/posted", http.StatusTemporaryRedirect),
		"/pushes": html(`<script>history.pushState(0, "", "/private/pushed")</script>`),
		"/cut": func(w http.ResponseWriter, r *http.Request) {
			c, _, err := http.NewResponseController(w).Hijack()
			if err == nil {
				c.Close()
			}
		},
	})
	s.setRobots("a.test", "User-agent: *\nDisallow: /private\n")
	w := newWorld(t, s, testPolicy())
	c := dialRaw(t, w.endpoint())
	target, page := c.page()
	spent := func() int { return w.gov.Status().Interactions }
	// free runs something that must cost nothing in the end.
	free := func(what string, do func()) {
		t.Helper()
		before, hits := spent(), len(s.received())
		do()
		waitFor(t, what+" to be credited", func() bool { return spent() == before })
		if n := len(s.received()); n != hits {
			t.Errorf("%s asked the server", what)
		}
	}
	once := func(path string) {
		t.Helper()
		waitFor(t, path+" to be asked for", func() bool { return s.count(path) >= 1 })
		if n := s.count(path); n != 1 {
			t.Errorf("%s was asked for %d times", path, n)
		}
	}
	tabs := func() int {
		var res struct{ TargetInfos []struct{ Type string } }
		c.must("", "Target.getTargets", nil, &res)
		return len(res.TargetInfos)
	}

	c.must("", "Target.createTarget", args{"url": "http://a.test/tab"}, nil)
	once("/tab")
	before := tabs()
	if m := c.ask("", "Target.createTarget", args{"url": "http://a.test/private/tab"}); !m.Error.refused() {
		t.Errorf("createTarget of a forbidden page: %s %v", m.Result, m.Error)
	}
	if n := tabs(); n != before {
		t.Errorf("a refused createTarget made a tab: %d of %d", n, before)
	}
	free("createTarget in no context", func() {
		if m := c.ask("", "Target.createTarget", args{"url": "http://a.test/lost", "browserContextId": "F00"}); m.Error == nil {
			t.Error("a tab in a context of nobody")
		}
	})

	c.visit(page, "http://a.test/doc")
	free("#hash", func() { c.must(page, "Page.navigate", args{"url": "http://a.test/doc#hash"}, nil) })
	free("data:", func() { c.must(page, "Page.navigate", args{"url": "data:text/html,hello"}, nil) })
	free("about:blank", func() { c.must(page, "Page.navigate", args{"url": "about:blank"}, nil) })
	free("an address that is none", func() { c.ask(page, "Page.navigate", args{"url": "http://a b/"}) })
	free("javascript:", func() { c.ask(page, "Page.navigate", args{"url": "javascript:1"}) })

	var nav struct{ ErrorText string }
	c.must(page, "Page.navigate", args{"url": "http://a.test/nothing"}, &nav)
	once("/nothing")
	c.must(page, "Page.navigate", args{"url": "http://a.test/file"}, &nav)
	once("/file")
	c.must(page, "Page.navigate", args{"url": "http://cut.test/cut"}, &nav)
	if nav.ErrorText == "" {
		t.Error("a connection that was cut is no error")
	}

	// An iframe's navigation is a part of its page; robots.txt does not rule it,
	// and it is counted as such.
	c.visit(page, "http://a.test/frames")
	var tree struct {
		FrameTree struct {
			ChildFrames []struct{ Frame struct{ ID string } }
		}
	}
	c.must(page, "Page.getFrameTree", nil, &tree)
	interactions := spent()
	c.must(page, "Page.navigate", args{"url": "http://a.test/inner2", "frameId": tree.FrameTree.ChildFrames[0].Frame.ID}, nil)
	once("/inner2")
	if n := spent(); n != interactions {
		t.Errorf("an iframe's navigation cost %d interactions", n-interactions)
	}
	// The tab's own frame by name is the tab.
	if m := c.ask(page, "Page.navigate", args{"url": "http://a.test/private/frame", "frameId": target}); !m.Error.refused() {
		t.Errorf("the main frame by name: %s %v", m.Result, m.Error)
	}

	// A form that is posted on by 307: two requests, two lines, both POST; its
	// reload posts again.
	c.visit(page, "http://a.test/form")
	c.eval(page, `document.forms[0].requestSubmit()`)
	waitFor(t, "the post", func() bool { return s.count("/posted") == 1 })
	c.complete(page)
	c.must(page, "Page.reload", nil, nil)
	waitFor(t, "the second post", func() bool { return s.count("/posted") == 2 })
	c.complete(page)

	// A page may write any address into its history: going there is judged.
	c.visit(page, "http://a.test/pushes")
	if m := c.ask(page, "Page.reload", nil); !m.Error.refused() {
		t.Errorf("reload under a forbidden address: %s %v", m.Result, m.Error)
	}
	c.visit(page, "http://a.test/next")
	var history struct {
		Entries []struct {
			ID  int
			URL string
		}
	}
	c.must(page, "Page.getNavigationHistory", nil, &history)
	for _, e := range history.Entries {
		if strings.HasSuffix(e.URL, "/private/pushed") {
			if m := c.ask(page, "Page.navigateToHistoryEntry", args{"entryId": e.ID}); !m.Error.refused() {
				t.Errorf("a forbidden entry of the history: %s %v", m.Result, m.Error)
			}
		}
	}
	free("an entry that is not there", func() { c.ask(page, "Page.navigateToHistoryEntry", args{"entryId": 424242}) })
	c.eval(page, `history.back(); 0`)
	waitFor(t, "the refusal page", func() bool {
		m := c.ask(page, "Runtime.evaluate", args{"expression": "document.title"})
		return strings.Contains(string(m.Result), "refused by browser-governor")
	})

	for _, h := range s.all() {
		if strings.HasPrefix(h.path, "/private") {
			t.Errorf("reached the server: %s", h)
		}
	}
	w.agree()
}

// TestNavigationsAtTheCap: reload and history ask servers as well.
func TestNavigationsAtTheCap(t *testing.T) {
	s := newSite(t, nil)
	p := testPolicy()
	p.Caps.Interactions = 2
	w := newWorld(t, s, p)
	c := dialRaw(t, w.endpoint())
	_, page := c.page()
	c.visit(page, "http://a.test/1")
	c.visit(page, "http://a.test/2")
	var history struct{ Entries []struct{ ID int } }
	c.must(page, "Page.getNavigationHistory", nil, &history)
	for method, params := range map[string]args{
		"Page.reload":                      nil,
		"Page.navigateToHistoryEntry":      {"entryId": history.Entries[1].ID},
		"Page.navigate":                    {"url": "http://a.test/3"},
		"Target.createTarget":              {"url": "http://a.test/4"},
		"Input.synthesizeTapGesture":       {"x": 1, "y": 1},
		"Input.dispatchKeyEvent":           {"type": "keyDown", "key": "Enter", "code": "Enter", "text": "\r", "windowsVirtualKeyCode": 13},
		"Input.insertText":                 {"text": "\n"},
		"Input.dispatchMouseEvent":         {"type": "mousePressed", "x": 1, "y": 1, "button": "left", "clickCount": 1},
		"Input.dispatchTouchEvent":         {"type": "touchStart", "touchPoints": []any{args{"x": 1, "y": 1}}},
		"Input.emulateTouchFromMouseEvent": {"type": "mousePressed", "x": 1, "y": 1, "button": "left", "clickCount": 1},
	} {
		session := page
		if strings.HasPrefix(method, "Target.") {
			session = ""
		}
		m := c.ask(session, method, params)
		if !m.Error.refused() {
			t.Errorf("%s at the cap: %s %v", method, m.Result, m.Error)
			continue
		}
		var data struct{ Reason governor.Reason }
		if err := json.Unmarshal([]byte(m.Error.Data), &data); err != nil || data.Reason != governor.DailyCap {
			t.Errorf("%s: %v, data %q", method, err, m.Error.Data)
		}
	}
	c.eval(page, `location.reload(); 0`)
	waitFor(t, "the refusal page", func() bool {
		m := c.ask(page, "Runtime.evaluate", args{"expression": "document.title"})
		return strings.Contains(string(m.Result), "refused by browser-governor")
	})
	if n := len(s.received()); n != 2 {
		t.Errorf("the server received %v, the cap is 2", s.received())
	}
	w.agree()
}
