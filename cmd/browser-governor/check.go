package main

import (
	"context"
	"fmt"
	"time"

	"browsergovernor/actions"
	"browsergovernor/audit"
	"browsergovernor/governor"
)

// checked is one answer of check.
type checked struct {
	URL        string          `json:"url"`
	Allow      bool            `json:"allow"`
	WaitS      float64         `json:"wait_s"`
	Reason     governor.Reason `json:"reason,omitempty"`
	Message    string          `json:"message,omitempty"`
	Rule       string          `json:"rule,omitempty"`
	Retryable  bool            `json:"retryable,omitempty"`
	RetryAfter float64         `json:"retry_after_s,omitempty"`
	Left       governor.Left   `json:"left"`
}

func cmdCheck(ctx context.Context, e env, args []string) error {
	var c config
	fs := newFlags(e, "check", "[flags] URL…")
	c.policyFlags(fs)
	if err := parse(fs, args); err != nil {
		return err
	}
	if fs.NArg() == 0 {
		return usageError("check: no URL")
	}
	g, err := c.dryGovernor(e)
	if err != nil {
		return err
	}
	defer g.Close()
	refused := false
	for _, url := range fs.Args() {
		if actions.Host(url) == "" {
			return usageError("check: %q is no absolute http or https URL", url)
		}
		ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
		d := g.Check(ctx, actions.Action{Kind: actions.Navigation, Method: "GET", URL: url})
		cancel()
		ans := answer(url, d)
		refused = refused || !ans.Allow
		if c.json {
			if err := writeJSON(e.stdout, ans); err != nil {
				return err
			}
			continue
		}
		ans.print(e)
	}
	if refused {
		return coded{exitNo, nil}
	}
	return nil
}

// dryGovernor knows today's budgets from the log but writes nothing, so that it
// can be asked while another process governs.
func (c *config) dryGovernor(e env) (*governor.Governor, error) {
	p, err := c.policy(e.environ)
	if err != nil {
		return nil, err
	}
	rules, err := c.rules()
	if err != nil {
		return nil, err
	}
	g, err := governor.New(governor.Config{
		Policy: p, Recorder: governor.Discard, RobotsTransport: robotsTransport(rules), Logger: c.logger(e),
	})
	if err != nil {
		return nil, err
	}
	since := time.Now().UTC().AddDate(0, 0, -2).Format(time.DateOnly)
	if err := g.Restore(audit.ReplaySince(p.Log.Dir, since)); err != nil {
		g.Close()
		return nil, fmt.Errorf("reading today's budgets from %s: %w", p.Log.Dir, err)
	}
	return g, nil
}

func answer(url string, d governor.Decision) checked {
	a := checked{URL: url, Allow: d.Allowed(), WaitS: d.Waited.Seconds(), Left: d.Left}
	if r := d.Refusal; r != nil {
		a.Reason, a.Message, a.Rule = r.Reason, r.Sentence, r.Rule
		a.Retryable, a.RetryAfter = r.Retryable, r.RetryAfter.Seconds()
	}
	return a
}

func (a checked) print(e env) {
	if !a.Allow {
		fmt.Fprintf(e.stdout, "refused  %s\n         %s\n", a.URL, a.Message)
		if a.Rule != "" {
			fmt.Fprintf(e.stdout, "         rule: %s\n", a.Rule)
		}
		return
	}
	wait := "at once"
	if a.WaitS > 0 {
		wait = fmt.Sprintf("after %.1f s", a.WaitS)
	}
	fmt.Fprintf(e.stdout, "allowed  %s  %s\n", a.URL, wait)
}
