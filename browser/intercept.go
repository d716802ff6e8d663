package browser

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"browsergovernor/actions"
	"browsergovernor/governor"
)

// hop is what is remembered of an admitted request for the redirect, retry or
// answer that may follow it.
type hop struct {
	id       string // action
	action   actions.Action
	started  time.Time     // when Chrome was told to go on
	first    time.Time     // when the first request of the chain paused
	hold     time.Duration // what the whole chain may be held
	answered bool          // the server's answer was seen
	retrying bool          // the answer was turned into a retry of the same URL
}

// hops are navigations on their way, by Fetch request id.
type hops struct {
	mu sync.Mutex
	m  map[string]*hop
}

func (h *hops) put(requestID string, v *hop) {
	h.mu.Lock()
	if h.m == nil {
		h.m = map[string]*hop{}
	}
	h.m[requestID] = v
	h.mu.Unlock()
}

func (h *hops) get(requestID string) *hop {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.m[requestID]
}

func (h *hops) take(requestID string) *hop {
	h.mu.Lock()
	defer h.mu.Unlock()
	v := h.m[requestID]
	delete(h.m, requestID)
	return v
}

// again makes id the action of the navigation of frame to url that is on its
// way, and returns the one it was, "" when there is none.
func (h *hops) again(frame, url, id string, now time.Time) (old string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, v := range h.m {
		if v.action.Frame == frame && !v.answered && actions.SameURL(v.action.URL, url) {
			old, v.id, v.started = v.id, id, now
			return old
		}
	}
	return ""
}

// pausedEvent handles Fetch.requestPaused. It runs on the goroutine that reads
// the pipe, so the judging happens elsewhere. Every pause gets exactly one
// answer.
func (b *Browser) pausedEvent(body []byte) {
	p, err := parsePaused(body)
	if err != nil {
		b.log.Error("a pause could not be read; its request fails", "err", err)
		if id, _, ok := quotedAfter(body, `"requestId":"`); ok {
			b.root.tell("Fetch.failRequest", []byte(`{"requestId":"`+string(id)+`","errorReason":"BlockedByClient"}`))
		}
		return
	}
	if test := b.probe.Load(); test != nil {
		if p.URL == selfTestURL {
			signal(test.paused)
		}
		b.goOn(p, false)
		return
	}
	if p.ResponseStage() || b.isTab(p) {
		// There are no more of these than there are tabs. A flood elsewhere must
		// not touch them, least of all an answer that has come already.
		b.spawn(func() { b.judgePause(p) })
		return
	}
	select {
	case b.slots <- struct{}{}:
	default:
		// Refusing the excess bounds memory under a page that asks for
		// thousands of things at once.
		b.spawn(func() { b.overload(p) })
		return
	}
	ok := b.spawn(func() {
		defer func() { <-b.slots }()
		b.judgePause(p)
	})
	if !ok {
		<-b.slots
	}
}

// isTab reports whether the request is for the document of a tab that is known.
func (b *Browser) isTab(p *actions.Paused) bool {
	if p.ResourceType != "Document" {
		return false
	}
	t := b.tabs.get(p.FrameID)
	return t != nil && t.kind == "page"
}

// parsePaused reads the parameters of the event where they lie.
func parsePaused(body []byte) (*actions.Paused, error) {
	env, err := Scan(body)
	if err != nil {
		return nil, err
	}
	p, err := actions.ParsePaused(env.ParamsOf(body))
	return &p, err
}

// answerLate is how long the answer to a navigation is waited for before its
// outcome is written down as not observed.
const answerLate = 5 * time.Minute

// late takes out what has waited too long; all takes out everything.
func (h *hops) late(now time.Time, all bool) []*hop {
	h.mu.Lock()
	defer h.mu.Unlock()
	var out []*hop
	for id, v := range h.m {
		if all || now.Sub(v.started) > answerLate {
			delete(h.m, id)
			out = append(out, v)
		}
	}
	return out
}

func (b *Browser) judgePause(p *actions.Paused) {
	if p.ResponseStage() {
		b.answered(p)
		return
	}
	top := b.isTop(p)
	a, governed := actions.FromPaused(p, top)
	if !governed {
		b.openLocal(p, top)
		return
	}
	b.describeRequest(&a, p)
	if p.ServiceWorkerScript() && b.policy.ServiceWorkers != governor.AllowServiceWorkers {
		d := b.gov.Refuse(a, governor.PolicyDenied, "service_workers: refuse (their preload and update requests cannot be held)")
		b.refuseRequest(p, a, d.Refusal)
		return
	}
	h := &hop{action: a, first: time.Now(), hold: b.holdOf(a)}
	if prev := b.previous(p); prev != nil {
		b.insideRedirect(prev)
		h.follow(prev)
	} else if top && p.RedirectedRequestID == "" && b.redeem(p, h) {
		b.release(p, h)
		return
	}
	h.action.Hold = h.remaining()
	d := b.gov.Admit(b.contextOf(h.action), h.action)
	if !d.Allowed() {
		b.refuseRequest(p, h.action, d.Refusal)
		return
	}
	h.id = d.ID
	b.release(p, h)
}

// openLocal lets a request go that asks no server, unless the policy does not
// name its scheme: Chrome pauses file: like everything else.
func (b *Browser) openLocal(p *actions.Paused, top bool) {
	if b.policy.AllowsScheme(p.URL) {
		b.goOn(p, false)
		return
	}
	a := actions.Action{Kind: actions.Subresource, Method: p.Method, URL: p.URL, Resource: p.ResourceType}
	if top {
		a.Kind = actions.Navigation
	}
	b.describeRequest(&a, p)
	b.refuseRequest(p, a, b.gov.Admit(b.life, a).Refusal)
}

// isTop reports whether the request is for the document of a tab. Chrome gives
// a tab's main frame the id of its target.
func (b *Browser) isTop(p *actions.Paused) bool {
	if p.ResourceType != "Document" || p.FrameID == "" {
		return false
	}
	if t := b.tabs.get(p.FrameID); t != nil {
		return t.kind == "page" || t.kind == "tab"
	}
	// A frame that is no known target: an iframe, or a popup whose creation
	// was not announced yet. Chrome knows.
	ctx, cancel := context.WithTimeout(b.life, 5*time.Second)
	defer cancel()
	var res struct {
		TargetInfo cdpTarget `json:"targetInfo"`
	}
	if err := b.root.call(ctx, "", "Target.getTargetInfo", map[string]any{"targetId": p.FrameID}, &res); err != nil {
		// No such target: a frame inside a page. No answer: the stricter judgement.
		var cdp *CDPError
		return !errors.As(err, &cdp)
	}
	return res.TargetInfo.Type == "page"
}

// describeRequest fills in who asks: the client that drives the tab.
func (b *Browser) describeRequest(a *actions.Action, p *actions.Paused) {
	a.Frame = p.FrameID
	t := b.tabs.get(p.FrameID)
	if t == nil {
		return
	}
	a.Tab = t.id
	a.Cause = t.cause()
	if c := t.lastConn.Load(); c != nil {
		a.Client = c.clientName()
	}
}

func (b *Browser) holdOf(a actions.Action) time.Duration {
	if a.Kind != actions.Navigation {
		return b.policy.Hold.Subresource
	}
	if t := b.tabs.get(a.Tab); t != nil {
		if c := t.lastConn.Load(); c != nil {
			return c.holdFor()
		}
	}
	return b.policy.Hold.Navigation
}

// contextOf returns what ends a hold: the client that drives the tab going
// away, or the browser ending.
func (b *Browser) contextOf(a actions.Action) context.Context {
	if a.Kind == actions.Navigation {
		if t := b.tabs.get(a.Tab); t != nil {
			if c := t.lastConn.Load(); c != nil && c.ctx.Err() == nil {
				return c.ctx
			}
		}
	}
	return b.life
}

// previous is the request whose redirect led to p.
func (b *Browser) previous(p *actions.Paused) *hop {
	if p.RedirectedRequestID == "" {
		return nil
	}
	return b.hops.take(p.RedirectedRequestID)
}

// insideRedirect gives back the charge of a navigation that Chrome redirected by
// itself, without asking: an http URL of a host that wants https (HSTS).
func (b *Browser) insideRedirect(prev *hop) {
	if !prev.answered {
		b.gov.Settle(prev.id, governor.Outcome{Credit: true, Err: "redirected inside the browser"})
	}
}

// follow continues a chain: the next redirect hop, or the retry of the same.
func (h *hop) follow(prev *hop) {
	h.first, h.hold = prev.first, prev.hold
	h.action.Cause = prev.id
	if prev.retrying {
		h.action.Attempt, h.action.Hop = prev.action.Attempt+1, prev.action.Hop
		return
	}
	h.action.Attempt, h.action.Hop = prev.action.Attempt, prev.action.Hop+1
}

// remaining is the rest of the chain's hold.
func (h *hop) remaining() time.Duration {
	return max(h.hold-time.Since(h.first), time.Millisecond)
}

// redeem lets a request go for which a navigation command already paid.
func (b *Browser) redeem(p *actions.Paused, h *hop) bool {
	t, stale := b.tickets.redeem(p.FrameID, p.Method, p.URL)
	for _, old := range stale {
		b.gov.Settle(old.id, governor.Outcome{Credit: true, Err: "the navigation went elsewhere"})
	}
	if t == nil {
		return false
	}
	h.id = t.id
	if t.conn != nil {
		h.action.Client = t.conn.clientName()
		h.hold = t.conn.holdFor()
		if tab := b.tabs.get(p.FrameID); tab != nil {
			tab.lastConn.Store(t.conn)
			tab.lastAction.Store(&t.id)
		}
	}
	h.first = t.started
	return true
}

// release lets an admitted request go to the network.
func (b *Browser) release(p *actions.Paused, h *hop) {
	b.pass.Admit(p.URL)
	h.started = time.Now()
	document := h.action.Kind == actions.Navigation
	if document {
		b.hops.put(p.RequestID, h)
		if t := b.tabs.get(h.action.Tab); t != nil {
			id := h.id
			t.lastAction.Store(&id)
		}
	} else {
		b.requests.wait(&request{id: h.id, url: p.URL, tab: h.action.Tab, started: h.started})
	}
	b.goOnOr(p, document || b.mayDownload(p), func() { b.offWire(func() { b.gaveUp(p, h) }) })
}

// gaveUp gives the charge of a request back that its page did not want any more
// when it was let go: Chrome does not know it then, and has asked nobody.
func (b *Browser) gaveUp(p *actions.Paused, h *hop) {
	if h.action.Kind == actions.Navigation {
		b.hops.take(p.RequestID)
	} else {
		b.requests.drop(p.URL, h.id)
	}
	b.gov.Settle(h.id, governor.Outcome{Credit: true, Err: "given up while it was held"})
}

// goOn continues a paused request with the governor's identity on it.
func (b *Browser) goOn(p *actions.Paused, wantResponse bool) { b.goOnOr(p, wantResponse, nil) }

// goOnOr is goOn that calls failed when Chrome does not know the request any more.
func (b *Browser) goOnOr(p *actions.Paused, wantResponse bool, failed func()) {
	params := make([]byte, 0, 128)
	params = append(params, `{"requestId":`...)
	params = appendJSON(params, p.RequestID)
	if wantResponse {
		params = append(params, `,"interceptResponse":true`...)
	}
	url, login := b.authorize(p)
	if url != "" {
		params = append(params, `,"url":`...)
		params = appendJSON(params, url)
	}
	headers := b.identify(p)
	if login != "" {
		if headers == nil {
			headers = p.Headers
		}
		headers = append(slices.Clip(headers), actions.Header{Name: "Authorization", Value: login})
	}
	if headers != nil {
		params = append(params, `,"headers":`...)
		params = appendJSON(params, headers)
	}
	params = append(params, '}')
	b.root.tellOr("Fetch.continueRequest", params, failed)
}

// identify returns the request's headers with the honest User-Agent when a
// client has put another there, and nil when it stands already.
func (b *Browser) identify(p *actions.Paused) []actions.Header {
	if b.policy.Identity == governor.Off {
		return nil
	}
	have := p.Header("User-Agent")
	if have == b.userAgent || have == "" {
		return nil
	}
	out := make([]actions.Header, len(p.Headers))
	for i, h := range p.Headers {
		if strings.EqualFold(h.Name, "User-Agent") {
			h.Value = b.userAgent
		}
		out[i] = h
	}
	return out
}

func appendJSON(b []byte, v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		return append(b, "null"...)
	}
	return append(b, text...)
}

// overload refuses what is too much to judge.
func (b *Browser) overload(p *actions.Paused) {
	a, governed := actions.FromPaused(p, false)
	if !governed {
		b.goOn(p, false)
		return
	}
	b.describeRequest(&a, p)
	d := b.gov.Refuse(a, governor.QueueFull, "too many requests of the page wait for their decision")
	b.refuseRequest(p, a, d.Refusal)
}
