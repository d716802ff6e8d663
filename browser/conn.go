package browser

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"sync"
	"time"

	"browsergovernor/governor"
)

// maxUnread is how much a client may leave unread before it is cut off: one
// client that does not read must not fill the memory of all.
const maxUnread = 256 << 20

// conn is one client's conversation with Chrome. Bytes pass as they are; only
// commands that are actions, and those that would walk around the governor, are
// looked at. It is safe for concurrent use.
type conn struct {
	b         *Browser
	rootID    string // session that messages without a sessionId belong to
	targetID  string // of a page connection; "" for a browser connection
	inProcess bool   // a chromedp program in this process: it waits as long as its context

	ctx    context.Context // ends with the conversation
	cancel context.CancelFunc

	mu      sync.Mutex
	name    string // client name for the log
	known   bool   // name came from the User-Agent, not from a guess
	queue   []*Message
	unread  int64
	ready   chan struct{} // has room for one wake-up
	ended   error         // what recv returns when the queue is empty
	replies map[replyKey]func(body []byte)
	own     int // answers still to come to commands that are not the client's
}

// replyKey names a command whose answer the governor wants to see on its way.
type replyKey struct {
	session string
	id      int64
}

// connect opens a conversation: with the browser, or with one page if
// info.targetID is set.
func (b *Browser) connect(ctx context.Context, info connInfo) (clientConn, error) {
	c, err := b.open(ctx, info)
	if err != nil {
		return nil, err
	}
	return c, nil
}

func (b *Browser) open(ctx context.Context, info connInfo) (*conn, error) {
	var res struct {
		SessionID string `json:"sessionId"`
	}
	c := &conn{b: b, targetID: info.targetID, inProcess: info.inProcess, ready: make(chan struct{}, 1), replies: map[replyKey]func([]byte){}}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	c.name, c.known = clientName(info.userAgent)
	kind := "browser"
	var err error
	if info.targetID == "" {
		err = b.root.call(ctx, "", "Target.attachToBrowserTarget", nil, &res)
	} else {
		kind = "page"
		if err := b.mayOpen(ctx, info.targetID); err != nil {
			c.cancel()
			return nil, err
		}
		err = b.root.call(ctx, "", "Target.attachToTarget", map[string]any{"targetId": info.targetID, "flatten": true}, &res)
	}
	if err != nil {
		c.cancel()
		return nil, fmt.Errorf("opening a session for the client: %w", err)
	}
	c.rootID = res.SessionID
	s := &session{id: c.rootID, conn: c, targetID: info.targetID, kind: kind}
	if info.targetID != "" {
		s.tab = b.tabs.get(info.targetID)
		if s.tab != nil {
			s.kind = s.tab.kind
			s.tab.lastConn.CompareAndSwap(nil, c)
		}
	}
	b.mu.Lock()
	if b.conns == nil {
		b.mu.Unlock()
		c.cancel()
		return nil, errWireClosed
	}
	b.conns[c] = struct{}{}
	b.mu.Unlock()
	b.sessions.add(s)
	b.gov.Note("client_connected", fmt.Sprintf("client %s at %s", c.label(), info.remoteAddr))
	return c, nil
}

// mayOpen returns an error for a target that is no page, frame or worker. The
// browser is a target, too; as a page its session would pass for one that may
// intercept requests.
func (b *Browser) mayOpen(ctx context.Context, target string) error {
	var res struct {
		TargetInfo cdpTarget `json:"targetInfo"`
	}
	if err := b.root.call(ctx, "", "Target.getTargetInfo", map[string]any{"targetId": target}, &res); err != nil {
		return err
	}
	if hidden(res.TargetInfo.Type) {
		return fmt.Errorf("opening %s: %w", target, &CDPError{Code: -32602, Message: "No target with given id found"})
	}
	return nil
}

// label is the client's name for people.
func (c *conn) label() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.name == "" {
		return "unknown"
	}
	return c.name
}

func (c *conn) clientName() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.name
}

// deliver queues a message for the client. It never waits.
func (c *conn) deliver(m *Message) {
	c.mu.Lock()
	if c.ended != nil {
		c.mu.Unlock()
		m.Release()
		return
	}
	if _, inMemory := m.Bytes(); inMemory {
		c.unread += m.Len()
	}
	c.queue = append(c.queue, m)
	over := c.unread > maxUnread
	c.mu.Unlock()
	c.wake()
	if over {
		go c.close("the client does not read: too much is waiting for it")
	}
}

func (c *conn) wake() {
	select {
	case c.ready <- struct{}{}:
	default:
	}
}

// recv returns the next message for the client, io.EOF when Chrome is gone.
func (c *conn) recv(ctx context.Context) (*Message, error) {
	for {
		c.mu.Lock()
		if len(c.queue) > 0 {
			m := c.queue[0]
			c.queue[0] = nil
			c.queue = c.queue[1:]
			if _, inMemory := m.Bytes(); inMemory {
				c.unread -= m.Len()
			}
			c.mu.Unlock()
			return m, nil
		}
		c.queue = nil
		err := c.ended
		c.mu.Unlock()
		if err != nil {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-c.ready:
		}
	}
}

// chromeGone ends the conversation because Chrome did.
func (c *conn) chromeGone() { c.finish(io.EOF) }

func (c *conn) finish(err error) bool {
	c.mu.Lock()
	if c.ended != nil {
		c.mu.Unlock()
		return false
	}
	c.ended = err
	c.mu.Unlock()
	c.cancel() // held commands are dropped, never released later
	c.wake()
	return true
}

// close ends the conversation from the client's side and detaches its sessions.
func (c *conn) close(reason string) {
	if !c.finish(errors.New(reason)) {
		return
	}
	c.forget(reason)
	params, _ := json.Marshal(map[string]string{"sessionId": c.rootID})
	c.b.root.tell("Target.detachFromTarget", params)
}

func (c *conn) forget(reason string) {
	b := c.b
	b.mu.Lock()
	delete(b.conns, c)
	b.mu.Unlock()
	b.sessions.removeConn(c)
	b.gov.Note("client_gone", fmt.Sprintf("client %s: %s", c.label(), reason))
}

// pageGone ends the conversation because the page that it was with was closed.
// Chrome says so and hangs up.
func (c *conn) pageGone() {
	c.deliver(NewMessage([]byte(`{"method":"Inspector.detached","params":{"reason":"target_closed"}}`)))
	if c.finish(io.EOF) {
		c.b.offWire(func() { c.forget("its page was closed") })
	}
}

// whenReplied calls f with the answer of a command before the client sees it.
// f runs on the goroutine that reads the pipe and must not wait.
func (c *conn) whenReplied(session string, id int64, f func(body []byte)) {
	c.mu.Lock()
	c.replies[replyKey{session, id}] = f
	c.mu.Unlock()
}

// ownID is the id of commands that the governor sends on a client's session: the
// largest there is.
const ownID = 1<<31 - 1

// tell sends a command of the governor's own on a client's session. Its answer
// does not matter, and the client does not see it.
func (c *conn) tell(s *session, method string, params any) error {
	b, err := encodeCommand(ownID, s.id, method, params)
	if err != nil {
		return err
	}
	c.mu.Lock()
	c.own++
	c.mu.Unlock()
	return c.b.wire.writeBytes(b)
}

// watchReply shows an answer to who waits for it. It reports whether the answer
// is the governor's own.
func (c *conn) watchReply(s *session, m *Message) (ours bool) {
	c.mu.Lock()
	if len(c.replies) == 0 && c.own == 0 {
		c.mu.Unlock()
		return false
	}
	id, ok := replyID(m.Head())
	if !ok {
		c.mu.Unlock()
		return false
	}
	if id == ownID && c.own > 0 {
		c.own--
		c.mu.Unlock()
		return true
	}
	key := replyKey{s.id, id}
	f := c.replies[key]
	delete(c.replies, key)
	c.mu.Unlock()
	if f != nil {
		body, _ := m.Bytes()
		f(body)
	}
	return false
}

// replyID reads the id Chrome writes first in an answer.
func replyID(head []byte) (int64, bool) {
	const prefix = `{"id":`
	if len(head) < len(prefix) || string(head[:len(prefix)]) != prefix {
		return 0, false
	}
	var n int64
	i := len(prefix)
	for ; i < len(head) && head[i] >= '0' && head[i] <= '9'; i++ {
		n = n*10 + int64(head[i]-'0')
	}
	return n, i > len(prefix)
}

// refuse answers a command with an error instead of sending it to Chrome.
func (c *conn) refuse(env Envelope, code int, message string, r *governor.Refusal) {
	b := make([]byte, 0, 512)
	b = append(b, `{"id":`...)
	b = strconv.AppendInt(b, env.ID, 10)
	b = append(b, `,"error":{"code":`...)
	b = strconv.AppendInt(b, int64(code), 10)
	b = append(b, `,"message":`...)
	text, _ := json.Marshal(message)
	b = append(b, text...)
	if r != nil {
		// Clients show the message; programs read the data.
		data, err := json.Marshal(refusalData(r))
		if err == nil {
			quoted, _ := json.Marshal(string(data))
			b = append(b, `,"data":`...)
			b = append(b, quoted...)
		}
	}
	b = append(b, '}')
	if env.SessionID != "" {
		b = append(b, `,"sessionId":`...)
		quoted, _ := json.Marshal(env.SessionID)
		b = append(b, quoted...)
	}
	b = append(b, '}')
	c.deliver(NewMessage(b))
}

// refusalData is a refusal as programs read it, beside its sentence.
func refusalData(r *governor.Refusal) map[string]any {
	d := map[string]any{"id": r.ID, "reason": r.Reason, "retryable": r.Retryable}
	if r.Rule != "" {
		d["rule"] = r.Rule
	}
	if r.URL != "" {
		d["url"] = r.URL
	}
	if r.RetryAfter > 0 {
		d["retry_after_s"] = r.RetryAfter.Seconds()
	}
	return d
}

// holdFor is how long this client's navigations may be held. A chromedp program
// in this process has no time-out that a transport could see, so it is bounded
// by the longest wait the policy retries after.
func (c *conn) holdFor() time.Duration {
	if c.inProcess {
		return c.b.policy.Backoff.Max
	}
	return navigationHold(c.b.policy, c.clientName())
}

// patientClients wait at least 30 s for a navigation by default; their
// navigations may be held longer than those of others.
var patientClients = []string{"playwright", "puppeteer", "browser-use"}

func navigationHold(p governor.Policy, client string) time.Duration {
	if slices.Contains(patientClients, client) {
		return p.Hold.KnownClient
	}
	return p.Hold.Navigation
}
