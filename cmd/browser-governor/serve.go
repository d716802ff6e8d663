package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"strings"

	"browsergovernor/browser"
)

// served is a running endpoint with everything behind it.
type served struct {
	*governed
	sup      *browser.Supervisor
	listener net.Listener
	url      string
	ended    chan error
}

type serveFlags struct {
	config
	listen string
	token  string
	hosts  []string
}

func (f *serveFlags) endpointFlags(fs interface {
	StringVar(*string, string, string, string)
	Func(string, string, func(string) error)
}, listen string) {
	fs.StringVar(&f.listen, "listen", listen, "`ADDR` of the endpoint; other than loopback needs --token")
	fs.StringVar(&f.token, "token", "", "`SECRET` that clients must present (?token= or Authorization: Bearer)")
	fs.Func("allow-host", "accept `NAME` in the Host header besides addresses and localhost; may be repeated", listFlag(&f.hosts))
}

// start opens the log, starts Chrome and listens. The caller must call stop.
func (f *serveFlags) start(ctx context.Context, e env) (*served, error) {
	p, err := f.policy(e.environ)
	if err != nil {
		return nil, err
	}
	log := f.logger(e)
	o, err := f.browserOptions(log)
	if err != nil {
		return nil, err
	}
	// The port first: a taken one should cost nothing.
	ln, err := browser.Listen(f.listen, f.token)
	if err != nil {
		return nil, err
	}
	g, err := openGovernor(&f.config, p, log)
	if err != nil {
		ln.Close()
		return nil, err
	}
	sup, err := browser.Supervise(ctx, g.gov, o)
	if err != nil {
		ln.Close()
		g.close()
		return nil, chromeError(err)
	}
	s := &served{governed: g, sup: sup, listener: ln, url: "http://" + ln.Addr().String(), ended: make(chan error, 1)}
	ep := browser.NewEndpoint(sup, browser.EndpointConfig{Token: f.token, AllowedHosts: f.hosts, Logger: log, Status: s.statusJSON})
	go func() { s.ended <- ep.Serve(ctx, ln) }()
	return s, nil
}

// statusJSON is what `status` of another process reads.
func (s *served) statusJSON() any { return s.gov.Status() }

// stop ends clients, Chrome and log, in this order.
func (s *served) stop() error {
	s.listener.Close()
	err := s.sup.Close()
	if cerr := s.close(); err == nil {
		err = cerr
	}
	return err
}

func cmdServe(ctx context.Context, e env, args []string) error {
	var f serveFlags
	fs := newFlags(e, "serve", "[flags]")
	f.policyFlags(fs)
	f.chromeFlags(fs)
	f.endpointFlags(fs, "127.0.0.1:9222")
	if err := parse(fs, args); err != nil {
		return err
	}
	if fs.NArg() > 0 {
		return usageError("serve: unexpected argument %q", fs.Arg(0))
	}
	sctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s, err := f.start(sctx, e)
	if err != nil {
		return err
	}
	f.announce(e, s)
	select {
	case <-ctx.Done():
		fmt.Fprintln(e.stderr, "stopping: closing clients, Chrome and the log")
	case err = <-s.ended:
	case <-s.sup.Done():
		err = chromeError(s.sup.Err())
	}
	cancel()
	if serr := s.stop(); err == nil {
		err = serr
	}
	return err
}

func (f *serveFlags) announce(e env, s *served) {
	url := s.url
	if f.json {
		json.NewEncoder(e.stdout).Encode(map[string]any{
			"endpoint": url, "log": s.gov.Policy().Log.Dir, "user_agent": s.userAgent(), "pid": pid(),
		})
		return
	}
	fmt.Fprintf(e.stdout, "CDP endpoint %s\n", url)
	p := s.gov.Policy()
	fmt.Fprintf(e.stderr, "  agent  %s\n  pace   %s a host, burst %d; %s sub-resources\n  caps   %s interactions, %s requests a day\n  log    %s\n",
		s.userAgent(), p.Interactions.Rate, p.Interactions.Burst, p.Subresources.Rate, capText(p.Caps.Interactions), capText(p.Caps.Total), p.Log.Dir)
	if p.Agent.Contact == "" {
		fmt.Fprintln(e.stderr, "  note   no contact set: only loopback hosts may be visited (--contact URL-or-mail)")
	}
}

func capText(n int) string {
	if n == 0 {
		return "unlimited"
	}
	return fmt.Sprint(n)
}

func (s *served) userAgent() string {
	b, err := s.sup.Browser(context.Background())
	if err != nil {
		return ""
	}
	return strings.TrimSpace(b.UserAgent())
}
