package browser

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"sync"
	"time"

	"browsergovernor/governor"
)

// settleLate is how long the outcome of a request is waited for before it is
// written down as not observed. Outcomes of sub-resources come from Network
// events that flow to a client; without a client that listens there are none.
const settleLate = 60 * time.Second

// request is an admitted request whose outcome is not known yet.
type request struct {
	id      string // action
	url     string
	tab     string
	started time.Time
	status  int // known from the response stage; 0 when not
	latency time.Duration
}

// requests keeps admitted requests until their outcome is seen. It is safe for
// concurrent use. The network id of a pause is not the one of Network events on
// other sessions, so the two are joined by URL, first in first out: counts stay
// right even when two answers of one URL are taken for each other.
type requests struct {
	mu      sync.Mutex
	byURL   map[string][]*request
	seen    map[string]struct{} // network request ids already used, so that two sessions do not settle twice
	seenOld map[string]struct{}
}

func (rs *requests) init() {
	rs.byURL = map[string][]*request{}
	rs.seen = map[string]struct{}{}
}

// wait keeps r until its outcome is seen.
func (rs *requests) wait(r *request) {
	rs.mu.Lock()
	rs.byURL[r.url] = append(rs.byURL[r.url], r)
	rs.mu.Unlock()
}

// late takes out what has waited too long.
func (rs *requests) late(now time.Time) []*request {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	return rs.takeLocked(func(r *request) bool {
		limit := settleLate
		if r.status != 0 {
			limit = 2 * time.Second // the answer is known, only the cache mark is waited for
		}
		return now.Sub(r.started) > limit+r.latency
	})
}

func (rs *requests) takeLocked(match func(*request) bool) []*request {
	var out []*request
	for url, list := range rs.byURL {
		keep := list[:0]
		for _, r := range list {
			if match(r) {
				out = append(out, r)
			} else {
				keep = append(keep, r)
			}
		}
		if len(keep) == 0 {
			delete(rs.byURL, url)
		} else {
			rs.byURL[url] = keep
		}
	}
	return out
}

// sweep writes down, once a second, what has waited too long for its outcome,
// until Chrome ends; then everything.
func (b *Browser) sweep() {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case now := <-tick.C:
			settleUnseen(b, b.requests.late(now))
			settleHops(b, b.hops.late(now, false))
		case <-b.life.Done():
			b.requests.end(b)
			settleHops(b, b.hops.late(time.Time{}, true))
			return
		}
	}
}

func settleHops(b *Browser, hs []*hop) {
	for _, h := range hs {
		if !h.answered {
			b.gov.Settle(h.id, governor.Outcome{Err: "answer not observed"})
		}
	}
}

// tabGone settles what a closed tab was still waiting for.
func (rs *requests) tabGone(b *Browser, tab string) {
	rs.mu.Lock()
	gone := rs.takeLocked(func(r *request) bool { return r.tab == tab })
	rs.mu.Unlock()
	if len(gone) > 0 {
		b.offWire(func() { settleUnseen(b, gone) })
	}
}

// end settles everything, since Chrome is gone.
func (rs *requests) end(b *Browser) {
	rs.mu.Lock()
	all := rs.takeLocked(func(*request) bool { return true })
	rs.mu.Unlock()
	settleUnseen(b, all)
}

func settleUnseen(b *Browser, rs []*request) {
	for _, r := range rs {
		o := governor.Outcome{Status: r.status, Latency: r.latency}
		if r.status == 0 {
			o.Err = "answer not observed"
		}
		b.gov.Settle(r.id, o)
	}
}

// sawResponse settles a request from a Network.responseReceived event. It runs
// on the goroutine that reads the pipe.
func (rs *requests) sawResponse(b *Browser, s *session, body []byte) {
	ev, ok := parseResponseReceived(body)
	if !ok {
		return
	}
	rs.mu.Lock()
	r := rs.matchLocked(ev)
	rs.mu.Unlock()
	if r == nil {
		return
	}
	o := governor.Outcome{Status: ev.status, Latency: time.Since(r.started), FromCache: ev.cached}
	if r.latency > 0 {
		o.Latency = r.latency
	}
	if ev.status == 429 || ev.status == 503 {
		o.Header = responseHeaders(body)
	}
	b.offWire(func() { b.gov.Settle(r.id, o) })
}

func (rs *requests) matchLocked(ev responseSeen) *request {
	if _, dup := rs.seen[ev.requestID]; dup {
		return nil
	}
	if _, dup := rs.seenOld[ev.requestID]; dup {
		return nil
	}
	if len(rs.byURL[ev.url]) == 0 {
		return nil
	}
	if len(rs.seen) >= 4096 {
		rs.seenOld, rs.seen = rs.seen, map[string]struct{}{}
	}
	rs.seen[ev.requestID] = struct{}{}
	return rs.takeURLLocked(ev.url)
}

// drop forgets the request for url with the action id.
func (rs *requests) drop(url, id string) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	list := rs.byURL[url]
	list = slices.DeleteFunc(list, func(r *request) bool { return r.id == id })
	if len(list) == 0 {
		delete(rs.byURL, url)
	} else {
		rs.byURL[url] = list
	}
}

// takeURL takes out the oldest request for url, nil when there is none.
func (rs *requests) takeURL(url string) *request {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	return rs.takeURLLocked(url)
}

func (rs *requests) takeURLLocked(url string) *request {
	list := rs.byURL[url]
	if len(list) == 0 {
		return nil
	}
	r := list[0]
	if len(list) == 1 {
		delete(rs.byURL, url)
	} else {
		rs.byURL[url] = list[1:]
	}
	return r
}

type responseSeen struct {
	requestID string
	url       string
	status    int
	cached    bool
}

// parseResponseReceived reads the four fields that matter without decoding the
// whole event, which carries headers and security details: it runs for every
// sub-resource of every page.
func parseResponseReceived(b []byte) (responseSeen, bool) {
	var ev responseSeen
	id, rest, ok := quotedAfter(b, `"requestId":"`)
	if !ok {
		return ev, false
	}
	i := bytes.Index(rest, []byte(`"response":{`))
	if i < 0 {
		return ev, false
	}
	rest = rest[i:]
	url, rest, ok := quotedAfter(rest, `"url":"`)
	if !ok {
		return ev, false
	}
	status, ok := bytes.CutPrefix(rest, []byte(`,"status":`))
	if !ok {
		return ev, false
	}
	n := 0
	for n < len(status) && status[n] >= '0' && status[n] <= '9' {
		n++
	}
	ev.status, _ = strconv.Atoi(string(status[:n]))
	ev.requestID, ev.url = string(id), string(url)
	if bytes.IndexByte(url, '\\') >= 0 {
		if json.Unmarshal([]byte(`"`+ev.url+`"`), &ev.url) != nil {
			return ev, false
		}
	}
	tail := status[n:]
	ev.cached = bytes.Contains(tail, []byte(`"fromDiskCache":true`)) ||
		bytes.Contains(tail, []byte(`"fromPrefetchCache":true`))
	return ev, true
}

// quotedAfter returns the JSON string that follows key, still escaped, and what
// follows its closing quote.
func quotedAfter(b []byte, key string) (value, rest []byte, ok bool) {
	i := bytes.Index(b, []byte(key))
	if i < 0 {
		return nil, nil, false
	}
	b = b[i+len(key):]
	for j := 0; j < len(b); j++ {
		switch b[j] {
		case '\\':
			j++
		case '"':
			return b[:j], b[j+1:], true
		}
	}
	return nil, nil, false
}

func responseHeaders(body []byte) map[string][]string {
	var ev struct {
		Params struct {
			Response struct {
				Headers map[string]string `json:"headers"`
			} `json:"response"`
		} `json:"params"`
	}
	if json.Unmarshal(body, &ev) != nil {
		return nil
	}
	return canonicalHeaders(ev.Params.Response.Headers)
}
