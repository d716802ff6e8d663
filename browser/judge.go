package browser

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"browsergovernor/actions"
	"browsergovernor/governor"
)

// cdpRefused is the code of every refused command. It is Chrome's own code for
// a command that failed; clients know no better one (chromedriver renames the
// others, browser-use ignores -32001).
const cdpRefused = -32000

// send takes a command from the client: refuses it, holds it, or passes it on.
func (c *conn) send(ctx context.Context, m *Message) error {
	env, err := m.Envelope()
	if m.Len() > commandMax {
		m.Release()
		c.refuse(env, -32600, fmt.Sprintf("browser-governor: the command is larger than Chrome reads (%d bytes)", commandMax), nil)
		return nil
	}
	if err != nil {
		m.Release()
		c.refuse(env, -32700, "browser-governor: "+err.Error(), nil)
		return nil
	}
	s := c.sessionOf(env)
	if s == nil {
		m.Release()
		c.refuse(env, -32001, "Session with given id not found.", nil)
		return nil
	}
	if s.tab != nil {
		s.tab.lastConn.Store(c)
	}
	c.guessName(env.Method)
	if !interesting(env.Method) {
		return c.forward(s, m, env)
	}
	params := m.params(env)
	if env.Method == "Fetch.continueWithAuth" {
		return c.answerLogin(s, m, env, params)
	}
	if !s.page() && (actions.RootFetchAuth(env.Method, params) || env.Method == "Fetch.disable" && s.loginsOnly.Load()) {
		return c.loginsOnly(s, m, env)
	}
	if why, denied := actions.Denied(env.Method, params, s.page()); denied {
		m.Release()
		c.refuseCommand(env, s, why)
		return nil
	}
	if c.uploadDenied(env.Method, params) {
		m.Release()
		c.refuseUpload(env, s)
		return nil
	}
	if strings.HasPrefix(env.Method, "Input.") {
		c.sendInput(s, m, env, params)
		return nil
	}
	s.mu.Lock()
	a, isAction := s.classify.Command(env.Method, params)
	s.mu.Unlock()
	if !isAction {
		if address, opens := actions.Opens(env.Method, params); opens && !c.b.policy.AllowsScheme(address) {
			m.Release()
			c.refuseScheme(env, s, address)
			return nil
		}
		return c.forward(s, m, env)
	}
	// A navigation is held here, before Chrome knows of it: a request held in
	// Chrome freezes the page's session. Everything else of the client flows on.
	if !c.b.spawn(func() { c.navigate(s, m, env, params, a) }) {
		m.Release()
		return errWireClosed
	}
	return nil
}

// interesting reports whether a command may need a look. Most do not.
func interesting(method string) bool {
	domain, _, _ := strings.Cut(method, ".")
	switch domain {
	case "Page", "Target", "Input", "Fetch", "Network", "Browser", "Tethering", "Extensions":
		return true
	}
	return method == "DOM.setFileInputFiles"
}

func (c *conn) sessionOf(env Envelope) *session {
	id := env.SessionID
	if id == "" {
		id = c.rootID
	}
	s := c.b.sessions.get(id)
	if s == nil || s.conn != c {
		return nil
	}
	return s
}

// forward passes a command to Chrome as it is, with the client's own session
// put in where the client names none.
func (c *conn) forward(s *session, m *Message, env Envelope) error {
	if env.SessionID == "" {
		m = SpliceSession(m, s.id)
	}
	return c.b.wire.write(m)
}

func (c *conn) refuseCommand(env Envelope, s *session, why string) {
	r := c.b.gov.RefuseCommand(env.Method, c.clientName(), s.targetID, why)
	c.refuse(env, cdpRefused, r.Sentence, r)
}

// refuseScheme answers a command that would open an address of a scheme the
// policy does not name, like a file of this machine.
func (c *conn) refuseScheme(env Envelope, s *session, address string) {
	a := actions.Action{Kind: actions.Navigation, Method: "GET", URL: address}
	c.describe(&a, s)
	c.b.spawn(func() {
		d := c.b.gov.Admit(c.ctx, a)
		c.b.refusals.add(d.Refusal)
		c.refuse(env, cdpRefused, d.Refusal.Sentence, d.Refusal)
	})
}

// navigate admits a navigation command and sends it on, or answers it.
func (c *conn) navigate(s *session, m *Message, env Envelope, params []byte, a actions.Action) {
	b := c.b
	c.describe(&a, s)
	if a.Frame != "" && a.Tab != "" && a.Frame != a.Tab {
		// A navigation of an iframe: its request is judged as what it is, a
		// part of the page.
		c.forwardOrDrop(s, m, env)
		return
	}
	if a.URL == "" {
		a.URL = b.destination(c.ctx, s, env.Method, params)
	}
	if !governed(a.URL) {
		c.forwardOrDrop(s, m, env)
		return
	}
	a.Hold = c.holdFor()
	started := time.Now()
	d := b.gov.Admit(c.ctx, a)
	if !d.Allowed() {
		m.Release()
		b.refusals.add(d.Refusal)
		if d.Refusal.Reason != governor.Abandoned {
			c.refuse(env, cdpRefused, d.Refusal.Sentence, d.Refusal)
		}
		return
	}
	b.pass.Admit(a.URL)
	t := &ticket{id: d.ID, tab: a.Tab, url: a.URL, conn: c, started: started}
	if env.Method == "Target.createTarget" {
		t.tab = "" // the tab does not exist yet
	}
	if c.ctx.Err() != nil {
		m.Release()
		b.gov.Settle(d.ID, governor.Outcome{Credit: true, Err: "the client went away"})
		return
	}
	if s.tab != nil {
		s.tab.lastAction.Store(&d.ID)
	}
	b.tickets.add(t, b.ticketExpired)
	c.whenReplied(s.id, env.ID, func(body []byte) { b.navigateReplied(t, env.Method, body) })
	c.forwardOrDrop(s, m, env)
}

// forwardOrDrop forwards unless the client has gone: a command whose client
// gave up must not happen later.
func (c *conn) forwardOrDrop(s *session, m *Message, env Envelope) {
	if c.ctx.Err() != nil {
		m.Release()
		return
	}
	if err := c.forward(s, m, env); err != nil {
		c.b.log.Debug("command not sent", "method", env.Method, "err", err)
	}
}

// ticketExpired gives back the charge of a navigation that made no request:
// answered by a service worker, stopped by the page, or a download of nothing.
func (b *Browser) ticketExpired(t *ticket) {
	b.gov.Settle(t.id, governor.Outcome{Credit: true, Err: "no request was made"})
}

// navigateReplied gives the charge back when Chrome's answer shows that no
// request will come: the command failed, or the navigation stayed inside the
// document. Page.navigate is answered when its document is there, so a ticket
// that is still there then was not needed: the client's own interception or a
// service worker had the answer.
func (b *Browser) navigateReplied(t *ticket, method string, body []byte) {
	var reply struct {
		Result struct {
			LoaderID  string `json:"loaderId"`
			ErrorText string `json:"errorText"`
		} `json:"result"`
		Error *CDPError `json:"error"`
	}
	if json.Unmarshal(body, &reply) != nil {
		return
	}
	why := "no request was made"
	switch {
	case reply.Error != nil:
		why = reply.Error.Message
	case method != "Page.navigate":
		return // answered before anything happens
	case reply.Result.ErrorText != "":
		why = reply.Result.ErrorText
	case reply.Result.LoaderID == "":
		why = "same document"
	}
	if b.tickets.take(t) {
		b.offWire(func() { b.gov.Settle(t.id, governor.Outcome{Credit: true, Err: why}) })
	}
}

// describe fills in who asks and where.
func (c *conn) describe(a *actions.Action, s *session) {
	a.Client, a.Session = c.clientName(), s.id
	if s.tab != nil {
		a.Tab = s.tab.id
	}
}

// destination finds out where a reload or a step in the history leads.
func (b *Browser) destination(ctx context.Context, s *session, method string, params []byte) string {
	if s.tab == nil {
		return ""
	}
	if method == "Page.reload" {
		return s.tab.currentURL()
	}
	url, err := b.historyURL(ctx, s.tab.id, params)
	if err != nil {
		b.log.Debug("history entry unknown", "err", err)
	}
	return url
}

// historyURL looks a history entry up on a session of the governor's own, so
// that the client's session sees nothing of it.
func (b *Browser) historyURL(ctx context.Context, tab string, params []byte) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	want, ok := actions.HistoryEntry(params)
	if !ok {
		return "", errors.New("the command names no history entry")
	}
	var attached struct {
		SessionID string `json:"sessionId"`
	}
	if err := b.root.call(ctx, "", "Target.attachToTarget", map[string]any{"targetId": tab, "flatten": true}, &attached); err != nil {
		return "", err
	}
	defer func() {
		p, _ := json.Marshal(attached)
		b.root.tell("Target.detachFromTarget", p)
	}()
	var history struct {
		Entries []struct {
			ID  int    `json:"id"`
			URL string `json:"url"`
		} `json:"entries"`
	}
	b.sessions.own(attached.SessionID)
	defer b.sessions.disown(attached.SessionID)
	if err := b.root.call(ctx, attached.SessionID, "Page.getNavigationHistory", nil, &history); err != nil {
		return "", err
	}
	for _, e := range history.Entries {
		if e.ID == want {
			return e.URL, nil
		}
	}
	return "", fmt.Errorf("no history entry %d", want)
}

// governed reports whether a URL leads to a request at all.
func governed(url string) bool {
	scheme, _, ok := strings.Cut(url, ":")
	if !ok {
		return false
	}
	switch strings.ToLower(scheme) {
	case "http", "https":
		return true
	}
	return false
}
