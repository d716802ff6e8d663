package browser

import (
	"context"
	"fmt"
	"net"
	"strings"
)

// HostRules map host names to addresses, as Chrome's --host-resolver-rules do.
// Chrome's own flag has no effect behind a proxy, so the egress guard applies
// them, and so does whoever else reaches the same hosts. The zero value maps
// nothing.
type HostRules struct{ rules []hostRule }

type hostRule struct {
	pattern string // "a.test", "*.test", "*"
	host    string // replacement; "" excludes
	port    string // replacement; "" keeps the port
}

// ParseHostRules reads rules such as
//
//	MAP *.test 127.0.0.1:8080, MAP b.test [::1], EXCLUDE localhost
//
// The first rule that matches counts, except that EXCLUDE always wins.
func ParseHostRules(s string) (HostRules, error) {
	var r HostRules
	for _, part := range strings.Split(s, ",") {
		f := strings.Fields(part)
		switch {
		case len(f) == 0:
		case strings.EqualFold(f[0], "MAP") && len(f) == 3:
			host, port, err := splitReplacement(f[2])
			if err != nil {
				return HostRules{}, fmt.Errorf("host rule %q: %w", strings.TrimSpace(part), err)
			}
			r.rules = append(r.rules, hostRule{strings.ToLower(f[1]), host, port})
		case strings.EqualFold(f[0], "EXCLUDE") && len(f) == 2:
			r.rules = append(r.rules, hostRule{pattern: strings.ToLower(f[1])})
		default:
			return HostRules{}, fmt.Errorf("host rule %q: want MAP PATTERN ADDRESS[:PORT] or EXCLUDE PATTERN", strings.TrimSpace(part))
		}
	}
	return r, nil
}

func splitReplacement(s string) (host, port string, err error) {
	if strings.HasPrefix(s, "[") && strings.HasSuffix(s, "]") || !strings.Contains(s, ":") {
		return strings.Trim(s, "[]"), "", nil
	}
	return net.SplitHostPort(s)
}

// Map returns where host and port are reached.
func (r HostRules) Map(host, port string) (string, string) {
	name := strings.ToLower(strings.TrimSuffix(host, "."))
	var hit *hostRule
	for i, rule := range r.rules {
		if !matchHost(rule.pattern, name) {
			continue
		}
		if rule.host == "" {
			return host, port
		}
		if hit == nil {
			hit = &r.rules[i]
		}
	}
	if hit == nil {
		return host, port
	}
	if hit.port != "" {
		port = hit.port
	}
	return hit.host, port
}

func matchHost(pattern, name string) bool {
	if suffix, ok := strings.CutPrefix(pattern, "*"); ok {
		return strings.HasSuffix(name, suffix)
	}
	return pattern == name
}

// DialWith connects to addr, which is host:port, under the rules.
func (r HostRules) DialWith(ctx context.Context, d *net.Dialer, network, addr string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	host, port = r.Map(host, port)
	return d.DialContext(ctx, network, net.JoinHostPort(host, port))
}
