package browser

import (
	"browsergovernor/actions"
	"browsergovernor/governor"
)

// inputQueue keeps the input of one session in order: when a press is held,
// the release behind it must not overtake it (clients send both at once).
type inputQueue struct {
	busy bool
	list []inputItem
}

// maxInput is how much input of one session may wait. Clients wait for each answer;
// one that does not must not fill memory.
const maxInput = 4096

type inputItem struct {
	m      *Message
	env    Envelope
	action actions.Action
	judge  bool
}

// sendInput passes input on at once when nothing is held, else in order.
func (c *conn) sendInput(s *session, m *Message, env Envelope, params []byte) {
	s.mu.Lock()
	a, isAction := s.classify.Command(env.Method, params)
	item := inputItem{m: m, env: env, action: a, judge: isAction}
	if s.input.busy && len(s.input.list) >= maxInput {
		s.mu.Unlock()
		m.Release()
		c.refuse(env, cdpRefused, "browser-governor: too much input waits on this session; wait for the answers", nil)
		return
	}
	if s.input.busy {
		s.input.list = append(s.input.list, item)
		s.mu.Unlock()
		return
	}
	if !isAction {
		s.mu.Unlock()
		c.forwardOrDrop(s, m, env)
		return
	}
	s.input.busy = true
	s.mu.Unlock()
	if !c.b.spawn(func() { c.drainInput(s, item) }) {
		m.Release()
	}
}

// drainInput handles item and everything that queued up behind it.
func (c *conn) drainInput(s *session, item inputItem) {
	for {
		c.handleInput(s, item)
		s.mu.Lock()
		if len(s.input.list) == 0 {
			s.input.busy = false
			s.input.list = nil
			s.mu.Unlock()
			return
		}
		item = s.input.list[0]
		s.input.list = s.input.list[1:]
		s.mu.Unlock()
	}
}

func (c *conn) handleInput(s *session, item inputItem) {
	if !item.judge {
		c.forwardOrDrop(s, item.m, item.env)
		return
	}
	a := item.action
	c.describe(&a, s)
	if s.tab != nil {
		a.URL = s.tab.currentURL()
	}
	if !governed(a.URL) {
		// A click on about:blank or a local page costs nobody anything; the
		// request it may cause is judged.
		c.forwardOrDrop(s, item.m, item.env)
		return
	}
	d := c.b.gov.Admit(c.ctx, a)
	if !d.Allowed() {
		item.m.Release()
		s.mu.Lock()
		s.classify.Refused()
		s.mu.Unlock()
		c.b.refusals.add(d.Refusal)
		if d.Refusal.Reason != governor.Abandoned {
			c.refuse(item.env, cdpRefused, d.Refusal.Sentence, d.Refusal)
		}
		return
	}
	if s.tab != nil {
		s.tab.lastAction.Store(&d.ID)
	}
	c.forwardOrDrop(s, item.m, item.env)
	c.b.gov.Settle(d.ID, governor.Outcome{})
}
