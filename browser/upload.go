package browser

import (
	"slices"

	"browsergovernor/actions"
)

// uploadDenied reports whether a command gives files to a page although the
// policy denies uploads.
func (c *conn) uploadDenied(method string, params []byte) bool {
	return actions.Uploads(method, params) && slices.Contains(c.b.policy.Deny, string(actions.Upload))
}

// refuseUpload answers a command that would give files to a page. Chrome never
// learns their names, so that no page can read them. The names stay out of the
// log: they say something about this machine.
func (c *conn) refuseUpload(env Envelope, s *session) {
	a := actions.Action{Kind: actions.Upload, URL: "about:blank", Detail: env.Method}
	c.describe(&a, s)
	if s.tab != nil {
		if url := s.tab.currentURL(); url != "" {
			a.URL = url
		}
	}
	c.b.spawn(func() {
		d := c.b.gov.Admit(c.ctx, a)
		if d.Allowed() {
			// Governor and browser share one policy; should they ever not, the
			// stricter one counts.
			c.refuseCommand(env, s, env.Method+" gives files to a page")
			return
		}
		c.b.refusals.add(d.Refusal)
		c.refuse(env, cdpRefused, d.Refusal.Sentence, d.Refusal)
	})
}
