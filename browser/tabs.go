package browser

import (
	"sync"
	"sync/atomic"
)

// tab is what is known of one Chrome target that can hold a page.
type tab struct {
	id      string
	kind    string // Chrome's target type: "page", "iframe", "worker", …
	context string // browser context id
	opener  string // target id of the opener, "" when none

	mu    sync.Mutex
	url   string
	title string

	// lastConn is the client that last sent this tab a command: what the page
	// does next is most likely its doing.
	lastConn atomic.Pointer[conn]
	// lastAction is the ID of the last interaction on the tab, the probable
	// cause of the requests that follow.
	lastAction atomic.Pointer[string]
}

func (t *tab) setInfo(info cdpTarget) {
	t.mu.Lock()
	t.url, t.title = info.URL, info.Title
	t.mu.Unlock()
}

func (t *tab) currentURL() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.url
}

// cause returns the ID of the tab's last interaction, or "".
func (t *tab) cause() string {
	if t == nil {
		return ""
	}
	if id := t.lastAction.Load(); id != nil {
		return *id
	}
	return ""
}

// tabs holds every target by id. It is safe for concurrent use.
type tabs struct {
	mu sync.RWMutex
	m  map[string]*tab
}

func newTabs() *tabs { return &tabs{m: map[string]*tab{}} }

func (ts *tabs) get(id string) *tab {
	ts.mu.RLock()
	defer ts.mu.RUnlock()
	return ts.m[id]
}

// learn adds or updates a target.
func (ts *tabs) learn(info cdpTarget) *tab {
	ts.mu.Lock()
	t := ts.m[info.ID]
	if t == nil {
		t = &tab{id: info.ID, kind: info.Type, context: info.BrowserContextID, opener: info.OpenerID}
		if o := ts.m[info.OpenerID]; o != nil {
			// A popup belongs to whoever drives the page that opened it.
			t.lastConn.Store(o.lastConn.Load())
			t.lastAction.Store(o.lastAction.Load())
		}
		ts.m[info.ID] = t
	}
	ts.mu.Unlock()
	t.setInfo(info)
	return t
}

func (ts *tabs) forget(id string) *tab {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	t := ts.m[id]
	delete(ts.m, id)
	return t
}
