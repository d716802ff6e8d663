package browser

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"
)

// engine is what the endpoint needs of a browser.
type engine interface {
	version(ctx context.Context) (versionInfo, error)
	targets(ctx context.Context) ([]targetInfo, error)
	// newTab opens a tab; a *governor.Refusal as the error when the URL is refused.
	newTab(ctx context.Context, rawURL, client string) (targetInfo, error)
	activate(ctx context.Context, id string) error
	closeTarget(ctx context.Context, id string) error
	protocol(ctx context.Context) ([]byte, error)
	connect(ctx context.Context, info connInfo) (clientConn, error)
}

// clientConn is one client's conversation. send takes ownership of the message
// and never waits for a decision; recv returns io.EOF when Chrome is gone.
type clientConn interface {
	send(ctx context.Context, m *Message) error
	recv(ctx context.Context) (*Message, error)
	close(reason string)
}

// connInfo is what is known of a client when it connects.
type connInfo struct {
	userAgent  string
	remoteAddr string
	targetID   string // page to speak to; "" for the browser
	inProcess  bool   // a chromedp program in this process
}

// versionInfo is the body of /json/version.
type versionInfo struct {
	Browser   string `json:"Browser"`
	Protocol  string `json:"Protocol-Version"`
	UserAgent string `json:"User-Agent"`
	V8        string `json:"V8-Version"`
	WebKit    string `json:"WebKit-Version"`
	BrowserID string `json:"-"`
}

func newVersionInfo(product, protocol, userAgent, js, revision string) versionInfo {
	return versionInfo{Browser: product, Protocol: protocol, UserAgent: userAgent, V8: js, WebKit: "537.36 (" + revision + ")"}
}

// targetInfo is a target as /json/list shows it.
type targetInfo struct {
	ID       string
	Type     string
	Title    string
	URL      string
	Attached bool
}

func newBrowserID() string {
	var b [16]byte
	rand.Read(b[:])
	s := hex.EncodeToString(b[:])
	return s[:8] + "-" + s[8:12] + "-" + s[12:16] + "-" + s[16:20] + "-" + s[20:]
}

// EndpointConfig is who may use the endpoint.
type EndpointConfig struct {
	Token          string   // demanded when not empty: ?token= or Authorization: Bearer
	AllowedHosts   []string // names allowed in the Host header, besides addresses and localhost
	AllowExtension bool     // accept connections from extensions inside Chrome
	SpoolDir       string   // where large messages are kept; "" is the system's temp folder
	Status         func() any
	Logger         *slog.Logger
}

// Endpoint looks to any CDP client like Chrome's own debugging port.
type Endpoint struct {
	e   engine
	cfg EndpointConfig
	log *slog.Logger

	ping       time.Duration // between pings to a client
	commandMax int64         // bytes
}

// NewEndpoint serves s.
func NewEndpoint(s *Supervisor, c EndpointConfig) *Endpoint { return newEndpoint(s, c) }

func newEndpoint(e engine, c EndpointConfig) *Endpoint {
	log := c.Logger
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	// Clients ping every 20 to 30 s and take silence for death; ours keeps
	// middle boxes from doing so.
	return &Endpoint{e: e, cfg: c, log: log, ping: 25 * time.Second, commandMax: commandMax}
}

// Listen opens the endpoint's address. Other addresses than loopback need a
// token: whoever reaches the endpoint drives the browser.
func Listen(addr, token string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("listen address %q: want HOST:PORT", addr)
	}
	ip, err := netip.ParseAddr(host)
	if token == "" && host != "localhost" && (err != nil || !ip.Unmap().IsLoopback()) {
		return nil, fmt.Errorf("listen address %q is not loopback: set a token, since whoever reaches the endpoint drives the browser", addr)
	}
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("cannot listen on %s (is another governor or Chrome there?): %w", addr, err)
	}
	return ln, nil
}

// Serve answers until ctx ends or the listener closes, then ends the open
// conversations and waits for them.
func (ep *Endpoint) Serve(ctx context.Context, ln net.Listener) error {
	base, cancel := context.WithCancel(ctx)
	defer cancel()
	var open requestsOpen
	srv := &http.Server{
		Handler:           open.count(ep),
		ReadHeaderTimeout: 15 * time.Second,
		BaseContext:       func(net.Listener) context.Context { return base },
		ErrorLog:          slog.NewLogLogger(ep.log.Handler(), slog.LevelDebug),
	}
	stop := context.AfterFunc(ctx, func() { srv.Close() })
	defer stop()
	err := srv.Serve(ln)
	cancel()
	srv.Close()
	open.wait()
	if errors.Is(err, http.ErrServerClosed) || errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// requestsOpen counts the requests being answered, WebSockets included: the
// HTTP server forgets those once they are taken over.
type requestsOpen struct {
	mu     sync.Mutex
	closed bool
	wg     sync.WaitGroup
}

func (o *requestsOpen) count(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		o.mu.Lock()
		if o.closed {
			o.mu.Unlock()
			http.Error(w, "browser-governor: ending", http.StatusServiceUnavailable)
			return
		}
		o.wg.Add(1)
		o.mu.Unlock()
		defer o.wg.Done()
		h.ServeHTTP(w, r)
	})
}

func (o *requestsOpen) wait() {
	o.mu.Lock()
	o.closed = true
	o.mu.Unlock()
	o.wg.Wait()
}

// ServeHTTP checks who asks, then answers as Chrome does.
func (ep *Endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if status, why := ep.forbidden(r); status != 0 {
		http.Error(w, "browser-governor: "+why, status)
		return
	}
	upgrade := strings.EqualFold(r.Header.Get("Upgrade"), "websocket")
	path := r.URL.Path
	switch {
	case upgrade && (path == "/" || path == "" || path == "/devtools/browser" || strings.HasPrefix(path, "/devtools/browser/")):
		ep.serveSocket(w, r, "")
	case upgrade && strings.HasPrefix(path, "/devtools/page/"):
		ep.serveSocket(w, r, strings.TrimPrefix(path, "/devtools/page/"))
	case path == "/":
		fmt.Fprintf(w, "browser-governor: a governed Chrome for CDP clients. Connect to http://%s or ws://%s/devtools/browser\n", r.Host, r.Host)
	default:
		ep.serveJSON(w, r, strings.TrimSuffix(path, "/"))
	}
}
