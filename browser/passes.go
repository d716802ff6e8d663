package browser

import (
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"
)

// passLife is how long after an admitted action its host may still be
// connected to: Chrome opens further connections for a page, and reconnects.
const passLife = 10 * time.Minute

// maxPasses bounds the memory a page with endless host names can take.
const maxPasses = 16384

// Passes are the host:port pairs that admitted actions asked for. It is safe
// for concurrent use. The zero value admits nothing.
type Passes struct {
	mu  sync.Mutex
	m   map[string]time.Time // last admitted
	old map[string]time.Time // the generation before, dropped when m is full
}

// Admit lets connections to the URL's host through for a while.
func (p *Passes) Admit(rawURL string) {
	key := passKey(rawURL)
	if key == "" {
		return
	}
	now := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, again := p.m[key]; !again && len(p.m) >= maxPasses {
		p.old, p.m = p.m, nil
	}
	if p.m == nil {
		p.m = map[string]time.Time{}
	}
	p.m[key] = now
}

// Allowed reports whether an admitted action asked for the host and port.
func (p *Passes) Allowed(host string, port int) bool {
	key := hostKey(host, strconv.Itoa(port))
	p.mu.Lock()
	defer p.mu.Unlock()
	at, ok := p.m[key]
	if !ok {
		at, ok = p.old[key]
	}
	return ok && time.Since(at) < passLife
}

func passKey(rawURL string) string {
	u, err := url.Parse(rawURL)
	if err != nil {
		// A path that net/url does not like; the authority is what counts.
		scheme, rest, ok := strings.Cut(rawURL, "://")
		if !ok {
			return ""
		}
		if i := strings.IndexAny(rest, "/?#"); i >= 0 {
			rest = rest[:i]
		}
		if u, err = url.Parse(scheme + "://" + rest); err != nil {
			return ""
		}
	}
	host, port := u.Hostname(), u.Port()
	if host == "" {
		return ""
	}
	if port == "" {
		switch u.Scheme {
		case "http", "ws":
			port = "80"
		case "https", "wss":
			port = "443"
		default:
			return ""
		}
	}
	return hostKey(host, port)
}

// hostKey gives every spelling of a host one form. Addresses have several, an
// IPv4 address inside IPv6 among them.
func hostKey(host, port string) string {
	if ip, err := netip.ParseAddr(host); err == nil {
		host = ip.Unmap().String()
	}
	return net.JoinHostPort(strings.ToLower(strings.TrimSuffix(host, ".")), port)
}
