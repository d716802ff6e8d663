package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"browsergovernor/audit"
	"browsergovernor/browser"
	"browsergovernor/governor"
)

// governed is a governor with its log, ready to admit.
type governed struct {
	gov *governor.Governor
	log *audit.Log
}

// openGovernor opens the log, rebuilds today's budgets from it and returns the
// governor. If the log cannot be written nothing starts.
func openGovernor(c *config, p governor.Policy, log *slog.Logger) (*governed, error) {
	rules, err := c.rules()
	if err != nil {
		return nil, err
	}
	l, err := audit.Open(audit.Config{Dir: p.Log.Dir, Fsync: audit.Policy(p.Log.Fsync), Version: version})
	if err != nil {
		return nil, err
	}
	seq, _ := l.Head()
	g, err := governor.New(governor.Config{
		Policy:          p,
		Recorder:        l,
		RobotsTransport: robotsTransport(rules),
		Logger:          log,
		IDStart:         seq, // every ID stands in a line, so no older one is higher
	})
	if err != nil {
		l.Close()
		return nil, err
	}
	// Two days cover any time zone's today.
	since := time.Now().UTC().AddDate(0, 0, -2).Format(time.DateOnly)
	if err := g.Restore(audit.ReplaySince(p.Log.Dir, since)); err != nil {
		g.Close()
		l.Close()
		return nil, fmt.Errorf("rebuilding today's budgets from %s: %w", p.Log.Dir, err)
	}
	return &governed{gov: g, log: l}, nil
}

func (g *governed) close() error {
	g.gov.Close()
	return g.log.Close()
}

// robotsTransport asks for robots.txt where Chrome would ask for pages.
func robotsTransport(rules browser.HostRules) http.RoundTripper {
	d := &net.Dialer{Timeout: 5 * time.Second}
	return &http.Transport{
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			return rules.DialWith(ctx, d, network, addr)
		},
		TLSHandshakeTimeout: 5 * time.Second,
		MaxIdleConns:        16,
		IdleConnTimeout:     30 * time.Second,
		ForceAttemptHTTP2:   true,
	}
}

// chromeError gives errors of Chrome's start their exit code.
func chromeError(err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	return coded{exitChrome, err}
}
