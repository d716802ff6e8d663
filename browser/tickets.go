package browser

import (
	"sync"
	"time"

	"browsergovernor/actions"
)

// ticketLife is how long an admitted navigation command may take to become a
// request. Chrome starts the request within milliseconds; a page that holds
// beforeunload open is the slow case.
const ticketLife = 15 * time.Second

// ticket says that a navigation command was admitted and charged, so that the
// request it becomes is not charged again.
type ticket struct {
	id      string // the admitted action
	tab     string // target id; "" for a tab that does not exist yet
	url     string
	conn    *conn
	started time.Time
	timer   *time.Timer
}

// tickets are waiting to be redeemed. It is safe for concurrent use.
type tickets struct {
	mu sync.Mutex
	m  []*ticket
}

// add leaves a ticket; expired is called if nobody redeems it in time.
func (ts *tickets) add(t *ticket, expired func(*ticket)) {
	t.timer = time.AfterFunc(ticketLife, func() {
		if ts.take(t) {
			expired(t)
		}
	})
	ts.mu.Lock()
	ts.m = append(ts.m, t)
	ts.mu.Unlock()
}

// take removes t and reports whether it was still there.
func (ts *tickets) take(t *ticket) bool {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	for i, have := range ts.m {
		if have == t {
			ts.m = append(ts.m[:i], ts.m[i+1:]...)
			t.timer.Stop()
			return true
		}
	}
	return false
}

// redeem returns the ticket that pays for a top-level request of tab for url.
// stale are tickets of the same tab for other requests: the command went
// elsewhere than announced, and its charge is to be given back. Commands are
// taken for a GET; a reload that posts again, or a client that rewrites the
// method, asks for something else.
func (ts *tickets) redeem(tab, method, url string) (found *ticket, stale []*ticket) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	keep := ts.m[:0]
	for _, t := range ts.m {
		switch {
		case found == nil && method == "GET" && (t.tab == tab || t.tab == "") && actions.SameURL(t.url, url):
			found = t
			t.timer.Stop()
		case t.tab == tab:
			stale = append(stale, t)
			t.timer.Stop()
		default:
			keep = append(keep, t)
		}
	}
	ts.m = keep
	return found, stale
}
