package browser

import (
	"encoding/json"
	"net/http"
	"time"

	"browsergovernor/actions"
	"browsergovernor/governor"
)

// The request with which Chrome repeats one that was answered with 401 does not
// pause. Where a client gives the login, its command stands for that request.

// maxLogins is how many logins a client may leave unanswered on one session.
const maxLogins = 1024

// loginsOnly switches on a browser session what a client needs to answer logins,
// and keeps the rest of the interception, which could rewrite requests behind the
// governor, from it. Chrome asks for logins only of requests that the session
// pauses, so the governor lets those go on by itself.
func (c *conn) loginsOnly(s *session, m *Message, env Envelope) error {
	m.Release()
	on := env.Method == "Fetch.enable"
	var params any
	if on {
		params = map[string]bool{"handleAuthRequests": true}
	}
	s.loginsOnly.Store(on)
	msg, err := encodeCommand(env.ID, s.id, env.Method, params)
	if err != nil {
		return err
	}
	return c.b.wire.writeBytes(msg)
}

// passPause lets a request go on that paused on a session for logins only. It
// runs on the goroutine that reads the pipe.
func (s *session) passPause(body []byte) {
	id, _, ok := quotedAfter(body, `"requestId":"`)
	if !ok {
		return
	}
	params := json.RawMessage(`{"requestId":"` + string(id) + `"}`)
	s.conn.b.spawn(func() { s.conn.tell(s, "Fetch.continueRequest", params) })
}

// loginAsked remembers what a login is asked for. It runs on the goroutine that
// reads the pipe.
func (s *session) loginAsked(body []byte) {
	p, err := parsePaused(body)
	if err != nil {
		return // its login will be unknown and refused
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.logins == nil || len(s.logins) >= maxLogins {
		s.logins = map[string]*actions.Paused{}
	}
	s.logins[p.RequestID] = p
}

// authAnswer is Fetch.continueWithAuth's parameters. The command is written anew
// from it, so that Chrome reads nothing else in it than was judged.
type authAnswer struct {
	RequestID string `json:"requestId"`
	Response  struct {
		Response string `json:"response"`
		Username string `json:"username,omitempty"`
		Password string `json:"password,omitempty"`
	} `json:"authChallengeResponse"`
}

// answerLogin takes a client's answer to a login. One with a name and password
// makes Chrome ask again.
func (c *conn) answerLogin(s *session, m *Message, env Envelope, params []byte) error {
	m.Release()
	var answer authAnswer
	if err := json.Unmarshal(params, &answer); err != nil {
		c.refuse(env, -32602, "Invalid parameters: "+err.Error(), nil)
		return nil
	}
	s.mu.Lock()
	p := s.logins[answer.RequestID]
	delete(s.logins, answer.RequestID)
	s.mu.Unlock()
	if p == nil {
		c.refuse(env, -32602, "Invalid InterceptionId.", nil)
		return nil
	}
	pass := func() error {
		msg, err := encodeCommand(env.ID, s.id, env.Method, answer)
		if err != nil {
			return err
		}
		return c.b.wire.writeBytes(msg)
	}
	if answer.Response.Response != "ProvideCredentials" {
		return pass()
	}
	if !c.b.spawn(func() { c.admitLogin(s, env, answer, p, pass) }) {
		return errWireClosed
	}
	return nil
}

func (c *conn) admitLogin(s *session, env Envelope, answer authAnswer, p *actions.Paused, pass func() error) {
	b := c.b
	a, ok := actions.FromPaused(p, b.isTop(p))
	if !ok {
		pass()
		return
	}
	b.describeRequest(&a, p)
	a.Client, a.Session, a.Detail = c.clientName(), s.id, "with a login"
	if a.Kind == actions.Navigation {
		a.Hold = c.holdFor()
	}
	d := b.gov.Admit(c.ctx, a)
	if d.Allowed() {
		b.pass.Admit(a.URL)
		b.loggedIn(p, a, d.ID)
		if at, ok := b.loginPlace(p); ok {
			b.known.learn(at, answer.Response.Username, answer.Response.Password)
		}
		pass()
		return
	}
	b.refusals.add(d.Refusal)
	if d.Refusal.Reason == governor.Abandoned {
		return
	}
	c.refuse(env, cdpRefused, d.Refusal.Sentence, d.Refusal)
	// Without an answer the page would wait for ever; so it gets the server's 401.
	answer.Response.Response, answer.Response.Username, answer.Response.Password = "CancelAuth", "", ""
	c.tell(s, env.Method, answer)
}

// loggedIn closes the request that was answered with 401; what comes now is the
// answer to the one with the login.
func (b *Browser) loggedIn(p *actions.Paused, a actions.Action, id string) {
	refused := governor.Outcome{Status: http.StatusUnauthorized}
	now := time.Now()
	if a.Kind == actions.Navigation {
		if old := b.hops.again(p.FrameID, p.URL, id, now); old != "" {
			b.gov.Settle(old, refused)
		}
		return
	}
	if old := b.requests.takeURL(p.URL); old != nil {
		b.gov.Settle(old.id, refused)
	}
	b.requests.wait(&request{id: id, url: p.URL, tab: a.Tab, started: now})
}
