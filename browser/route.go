package browser

import (
	"bytes"
	"encoding/json"
	"sync"
	"sync/atomic"

	"browsergovernor/actions"
)

// session is one CDP session that a client has: its own root, or one below it.
type session struct {
	id       string
	conn     *conn
	targetID string
	kind     string // target type; "browser" for a client's root
	tab      *tab   // nil for browser sessions

	// loginsOnly is set on a browser session whose client answers logins there:
	// of its interception the client sees nothing else.
	loginsOnly atomic.Bool

	mu       sync.Mutex
	classify actions.Classifier
	input    inputQueue
	logins   map[string]*actions.Paused // what the client was asked a login for, by Fetch request id
}

// page reports whether the session speaks to a page, frame or worker, and not
// to the browser as a whole.
func (s *session) page() bool { return s.kind != "browser" && s.kind != "" }

// sessions finds the session of a message. It is safe for concurrent use.
type sessions struct {
	mu   sync.RWMutex
	m    map[string]*session
	ours map[string]struct{} // the governor's own, unknown to any client
}

func (ss *sessions) init() {
	ss.m = map[string]*session{}
	ss.ours = map[string]struct{}{}
}

func (ss *sessions) own(id string) {
	ss.mu.Lock()
	ss.ours[id] = struct{}{}
	ss.mu.Unlock()
}

func (ss *sessions) disown(id string) {
	ss.mu.Lock()
	delete(ss.ours, id)
	ss.mu.Unlock()
}

func (ss *sessions) isOurs(id string) bool {
	ss.mu.RLock()
	defer ss.mu.RUnlock()
	_, ok := ss.ours[id]
	return ok
}

func (ss *sessions) get(id string) *session {
	ss.mu.RLock()
	defer ss.mu.RUnlock()
	return ss.m[id]
}

func (ss *sessions) add(s *session) {
	ss.mu.Lock()
	ss.m[s.id] = s
	ss.mu.Unlock()
}

func (ss *sessions) remove(id string) *session {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	s := ss.m[id]
	delete(ss.m, id)
	return s
}

func (ss *sessions) removeConn(c *conn) {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	for id, s := range ss.m {
		if s.conn == c {
			delete(ss.m, id)
		}
	}
}

var eventPrefix = []byte(`{"method":"`)

// eventName returns the method of a message that Chrome wrote as an event.
// Chrome writes the method first.
func eventName(head []byte) string {
	rest, ok := bytes.CutPrefix(head, eventPrefix)
	if !ok {
		return ""
	}
	i := bytes.IndexByte(rest, '"')
	if i < 0 {
		return ""
	}
	return string(rest[:i])
}

// route hands a message from Chrome to whom it belongs. It runs on the one
// goroutine that reads the pipe, so it never waits.
func (b *Browser) route(m *Message) {
	id, ok := SessionOfTail(m.Tail())
	if !ok {
		b.routeRoot(m)
		return
	}
	s := b.sessions.get(id)
	if s == nil {
		if b.sessions.isOurs(id) {
			b.routeRoot(m)
			return
		}
		m.Release() // of a session that was closed a moment ago
		return
	}
	head := m.Head()
	if name := eventName(head); name != "" {
		if b.watch(s, name, m) {
			m.Release()
			return
		}
	} else if s.conn.watchReply(s, m) {
		m.Release()
		return
	}
	if s.id == s.conn.rootID {
		m = StripSession(m)
	}
	s.conn.deliver(m)
}

// routeRoot handles answers to the governor's own commands and events of its
// root session.
func (b *Browser) routeRoot(m *Message) {
	body, ok := m.Bytes()
	if !ok {
		m.Release() // nothing that large is ever asked for here
		return
	}
	defer m.Release()
	name := eventName(body)
	switch name {
	case "":
		var head struct {
			ID int64 `json:"id"`
		}
		if json.Unmarshal(body, &head) == nil && head.ID != 0 {
			b.root.answer(head.ID, body)
		}
	case "Fetch.requestPaused":
		b.pausedEvent(body)
	case "Target.targetCreated", "Target.targetInfoChanged":
		var ev struct {
			Params struct {
				TargetInfo cdpTarget `json:"targetInfo"`
			} `json:"params"`
		}
		if json.Unmarshal(body, &ev) == nil {
			b.tabs.learn(ev.Params.TargetInfo)
		}
	case "Target.detachedFromTarget":
		var ev struct {
			Params struct {
				SessionID string `json:"sessionId"`
			} `json:"params"`
		}
		if json.Unmarshal(body, &ev) == nil {
			if s := b.sessions.get(ev.Params.SessionID); s != nil && s.id == s.conn.rootID {
				s.conn.pageGone()
			}
		}
	case "Target.targetDestroyed":
		var ev struct {
			Params struct {
				TargetID string `json:"targetId"`
			} `json:"params"`
		}
		if json.Unmarshal(body, &ev) == nil {
			b.tabs.forget(ev.Params.TargetID)
			b.requests.tabGone(b, ev.Params.TargetID)
		}
	}
}

// cdpTarget is Chrome's Target.TargetInfo.
type cdpTarget struct {
	ID               string `json:"targetId"`
	Type             string `json:"type"`
	Title            string `json:"title"`
	URL              string `json:"url"`
	Attached         bool   `json:"attached"`
	OpenerID         string `json:"openerId"`
	BrowserContextID string `json:"browserContextId"`
}

// watch reads the few events on their way to a client that the governor needs.
// It reports whether the event was the governor's alone.
func (b *Browser) watch(s *session, name string, m *Message) (ours bool) {
	switch name {
	case "Target.attachedToTarget":
		body, ok := m.Bytes()
		if !ok {
			return false
		}
		var ev struct {
			Params struct {
				SessionID  string    `json:"sessionId"`
				TargetInfo cdpTarget `json:"targetInfo"`
			} `json:"params"`
		}
		if json.Unmarshal(body, &ev) != nil || ev.Params.SessionID == "" {
			return false
		}
		info := ev.Params.TargetInfo
		child := &session{id: ev.Params.SessionID, conn: s.conn, targetID: info.ID, kind: info.Type}
		if info.Type != "browser" {
			child.tab = b.tabs.learn(info)
			child.tab.lastConn.CompareAndSwap(nil, s.conn)
		}
		b.sessions.add(child)
	case "Target.detachedFromTarget":
		body, ok := m.Bytes()
		if !ok {
			return false
		}
		var ev struct {
			Params struct {
				SessionID string `json:"sessionId"`
			} `json:"params"`
		}
		if json.Unmarshal(body, &ev) == nil {
			b.sessions.remove(ev.Params.SessionID)
		}
	case "Network.responseReceived":
		if body, ok := m.Bytes(); ok {
			b.requests.sawResponse(b, s, body)
		}
	case "Fetch.authRequired":
		if body, ok := m.Bytes(); ok {
			s.loginAsked(body)
		}
	case "Fetch.requestPaused":
		if s.loginsOnly.Load() {
			body, _ := m.Bytes()
			s.passPause(body)
			return true
		}
	}
	return false
}
