package browser

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"browsergovernor/actions"
	"browsergovernor/governor"
)

var _ Governor = (*governor.Governor)(nil)

// Governor is what a browser needs of the decision. *governor.Governor is it.
type Governor interface {
	Admit(ctx context.Context, a actions.Action) governor.Decision
	Settle(id string, o governor.Outcome) governor.Retry
	Refuse(a actions.Action, reason governor.Reason, rule string) governor.Decision
	RefuseCommand(method, client, tab, why string) *governor.Refusal
	Note(note, text string) error
	Policy() governor.Policy
	SetUserAgent(ua string)
}

// Browser is one Chrome under a governor. Every request its pages make and
// every action its clients command is admitted first.
//
// It is safe for concurrent use. When Chrome ends, for whatever reason, Done is
// closed and every client's conversation ends at once.
type Browser struct {
	gov       Governor
	opts      Options
	log       *slog.Logger
	policy    governor.Policy
	userAgent string
	version   versionInfo
	path      string

	proc  *process
	wire  *wire
	root  *root
	guard *Guard
	pass  *Passes

	tabs     *tabs
	tickets  tickets
	sessions sessions
	requests requests
	known    knownLogins
	hops     hops
	slots    chan struct{} // one per request being judged: bounds memory under a flood

	mu    sync.Mutex
	conns map[*conn]struct{}

	refusals refusals
	probe    atomic.Pointer[probe] // set during the self-test

	work    sync.WaitGroup // goroutines that end with the browser; see spawn
	swept   sync.WaitGroup // the goroutine that writes late outcomes
	closing atomic.Bool
	life    context.Context // ends with Chrome: what is held then is dropped
	endLife context.CancelFunc
	done    chan struct{}
	err     error // why it ended; valid after done
}

// maxJudging is how many requests may be waiting for their decision at once. A
// page that asks for more is refused the rest instead of filling memory.
const maxJudging = 4096

// Launch starts Chrome under gov and proves that interception and the egress
// guard work before it returns. The browser lives until Close, or until Chrome
// ends; ctx bounds only the start.
func Launch(ctx context.Context, gov Governor, o Options) (*Browser, error) {
	ctx, cancel := context.WithTimeout(ctx, o.startTimeout())
	defer cancel()
	path, err := FindChrome(o.ChromePath)
	if err != nil {
		return nil, err
	}
	chromeUA, err := chromeUserAgent(ctx, path, !o.Headful)
	if err != nil {
		return nil, err
	}
	policy := gov.Policy()
	b := &Browser{
		gov: gov, opts: o, log: o.logger(), policy: policy, path: path,
		userAgent: userAgent(policy, chromeUA),
		tabs:      newTabs(),
		slots:     make(chan struct{}, maxJudging),
		conns:     map[*conn]struct{}{},
		done:      make(chan struct{}),
	}
	gov.SetUserAgent(b.userAgent)
	b.life, b.endLife = context.WithCancel(context.Background())
	b.sessions.init()
	b.requests.init()
	if err := b.startGuard(); err != nil {
		return nil, err
	}
	if err := b.startChrome(); err != nil {
		b.endLife()
		b.guard.Close()
		return nil, err
	}
	if err := b.prepare(ctx); err != nil {
		if errors.Is(err, errWireClosed) {
			err = errors.Join(b.proc.diedAtStart(5*time.Second), err)
		}
		b.Close()
		return nil, fmt.Errorf("starting Chrome: %w", err)
	}
	if err := b.announce(); err != nil {
		b.Close()
		return nil, err
	}
	return b, nil
}

// announce writes down what was started, and every protection that is off. A log
// that cannot take it starts nothing.
func (b *Browser) announce() error {
	if err := b.gov.Note("chrome_started", b.version.Browser+" as "+b.userAgent); err != nil {
		return fmt.Errorf("writing the log: %w", err)
	}
	for _, off := range b.policy.SwitchedOff() {
		if err := b.gov.Note("protection_off", off); err != nil {
			return fmt.Errorf("writing the log: %w", err)
		}
	}
	return nil
}

func userAgent(p governor.Policy, chromeUA string) string {
	if p.Identity == governor.Off {
		return chromeUA
	}
	return p.Agent.UserAgent(chromeUA)
}

func (b *Browser) startGuard() error {
	b.pass = &Passes{}
	guard, err := NewGuard(GuardConfig{
		HostRules: b.opts.HostRules,
		Allowed:   b.pass.Allowed,
		Refused:   b.egressRefused,
		Socket:    b.admitSocket,
	})
	if err != nil {
		return fmt.Errorf("starting the egress guard: %w", err)
	}
	b.guard = guard
	return nil
}

// admitSocket asks for a WebSocket. Which page opens it the guard cannot see.
func (b *Browser) admitSocket(ctx context.Context, url string) bool {
	if p := b.probe.Load(); p != nil {
		if url == selfTestSocket {
			signal(p.socket)
		}
		return false // no page exists yet
	}
	a := actions.Action{Kind: actions.WebSocket, Method: http.MethodGet, URL: url, Resource: "WebSocket"}
	d := b.gov.Admit(ctx, a)
	if !d.Allowed() {
		b.refusals.add(d.Refusal)
		return false
	}
	b.gov.Settle(d.ID, governor.Outcome{})
	return true
}

// egressRefused is told of connections that no admitted action explains: Chrome's
// own traffic, and whatever interception does not show.
func (b *Browser) egressRefused(host string, port int, why string) {
	if p := b.probe.Load(); p != nil {
		if host == selfTestHost {
			signal(p.guarded)
			return
		}
	}
	b.log.Debug("egress refused", "host", host, "port", port, "why", why)
}

func (b *Browser) startChrome() error {
	profile, remove, err := makeProfile(b.opts)
	if err != nil {
		return err
	}
	args, err := commandLine(b.opts, b.policy, profile, b.userAgent, b.guard.ProxyRules())
	if err == nil {
		b.proc, err = startProcess(b.path, args, profile, remove)
	}
	if err != nil {
		if remove {
			removeProfile(profile)
		}
		return err
	}
	b.wire = &wire{out: b.proc.out, in: b.proc.in, dir: b.opts.TempDir}
	b.root = newRoot(b.wire)
	b.swept.Go(b.sweep)
	b.work.Go(func() {
		err := b.wire.readAll(b.route)
		b.ended(err)
	})
	return nil
}

// prepare switches interception on before any page exists, proves it, and opens
// the first blank page that clients expect to find.
func (b *Browser) prepare(ctx context.Context) error {
	var v struct {
		Protocol string `json:"protocolVersion"`
		Product  string `json:"product"`
		Revision string `json:"revision"`
		JS       string `json:"jsVersion"`
	}
	if err := b.root.call(ctx, "", "Browser.getVersion", nil, &v); err != nil {
		return err
	}
	b.version = newVersionInfo(v.Product, v.Protocol, b.userAgent, v.JS, v.Revision)
	patterns := map[string]any{"patterns": []any{map[string]any{"urlPattern": "*", "requestStage": "Request"}}}
	if err := b.root.call(ctx, "", "Fetch.enable", patterns, nil); err != nil {
		return err
	}
	if err := b.root.call(ctx, "", "Target.setDiscoverTargets", map[string]any{"discover": true}, nil); err != nil {
		return err
	}
	if err := b.selfTest(ctx); err != nil {
		return err
	}
	return b.root.call(ctx, "", "Target.createTarget", map[string]any{"url": "about:blank"}, nil)
}

// Done is closed when Chrome has ended.
func (b *Browser) Done() <-chan struct{} { return b.done }

// Err says why Chrome ended. It is nil after a Close and before Done.
func (b *Browser) Err() error {
	select {
	case <-b.done:
		return b.err
	default:
		return nil
	}
}

// UserAgent is what every request carries.
func (b *Browser) UserAgent() string { return b.userAgent }

// ended is called once, when the pipe has closed.
func (b *Browser) ended(err error) {
	if !b.closing.Load() {
		if errors.Is(err, io.EOF) || errors.Is(err, net.ErrClosed) {
			err = errors.New("its pipe closed")
		}
		b.err = fmt.Errorf("chrome ended: %w", err)
		b.gov.Note("chrome_ended", b.err.Error())
		b.log.Error("chrome ended", "err", err)
	}
	b.endLife()
	b.root.end(errWireClosed)
	b.mu.Lock()
	conns := b.conns
	b.conns = nil
	b.mu.Unlock()
	for c := range conns {
		c.chromeGone()
	}
	b.guard.Close()
	b.swept.Wait() // the last outcomes are written before anybody closes the log
	close(b.done)
}

// Close ends Chrome and waits until it, its folder and every goroutine are
// gone. Calling it again is harmless.
func (b *Browser) Close() error {
	if b.closing.CompareAndSwap(false, true) {
		b.root.tell("Browser.close", []byte("{}"))
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	err := b.proc.stop(ctx)
	<-b.done
	b.work.Wait()
	return err
}

// offWire runs f, which writes to the log, away from the goroutine that reads
// the pipe: a slow disk must not stop Chrome's messages.
func (b *Browser) offWire(f func()) {
	if !b.spawn(f) {
		f()
	}
}

// spawn runs f on a goroutine that Close waits for, unless the browser has
// ended already.
func (b *Browser) spawn(f func()) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.conns == nil {
		return false
	}
	b.work.Go(f)
	return true
}
