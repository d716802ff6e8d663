package browser

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
)

// HostRules map host names to addresses, as Chrome's --host-resolver-rules do.
// Chrome's own flag has no effect behind a proxy, so the egress guard applies
// them, and so does whoever else reaches the same hosts. The zero value maps
// nothing.
type HostRules struct{ rules []hostRule }

type hostRule struct {
	pattern string // "a.test", "*.test", "a.test:8080", "*"
	exclude bool
	host    string // replacement
	port    string // replacement; "" keeps the port
}

// notFound is the replacement that makes a host unknown, as in Chrome.
const notFound = "~notfound"

// ParseHostRules reads rules such as
//
//	MAP *.test 127.0.0.1:8080, MAP b.test [::1], MAP c.test ~NOTFOUND, EXCLUDE localhost
//
// A pattern is a host name, or host:port; * stands for any characters and ? for
// one. The first rule that matches counts, except that EXCLUDE always wins.
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
			r.rules = append(r.rules, hostRule{pattern: strings.ToLower(f[1]), host: host, port: port})
		case strings.EqualFold(f[0], "EXCLUDE") && len(f) == 2:
			r.rules = append(r.rules, hostRule{pattern: strings.ToLower(f[1]), exclude: true})
		default:
			return HostRules{}, fmt.Errorf("host rule %q: want MAP PATTERN ADDRESS[:PORT] or EXCLUDE PATTERN", strings.TrimSpace(part))
		}
	}
	return r, nil
}

func splitReplacement(s string) (host, port string, err error) {
	if strings.HasPrefix(s, "[") && strings.HasSuffix(s, "]") || !strings.Contains(s, ":") {
		host = strings.Trim(s, "[]")
	} else if host, port, err = net.SplitHostPort(s); err != nil {
		return "", "", err
	} else if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return "", "", fmt.Errorf("port %q: want 1 to 65535", port)
	}
	if host == "" {
		return "", "", errors.New("the address has no host")
	}
	return host, port, nil
}

// Map returns where host and port are reached.
func (r HostRules) Map(host, port string) (string, string) {
	name := strings.ToLower(strings.TrimSuffix(host, "."))
	var hit *hostRule
	for i, rule := range r.rules {
		if !matchGlob(rule.pattern, name) && !matchGlob(rule.pattern, net.JoinHostPort(name, port)) {
			continue
		}
		if rule.exclude {
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

// matchGlob reports whether name has the form of pattern. It takes time in
// proportion to the product of their lengths at most.
func matchGlob(pattern, name string) bool {
	var p, n int
	star, from := -1, 0 // the last *, and where its match ends
	for n < len(name) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, from = p, n
			p++
		case p < len(pattern) && (pattern[p] == '?' || pattern[p] == name[n]):
			p++
			n++
		case star >= 0:
			from++
			p, n = star+1, from
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}

// DialWith connects to addr, which is host:port, under the rules.
func (r HostRules) DialWith(ctx context.Context, d *net.Dialer, network, addr string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	to, port := r.Map(host, port)
	if strings.EqualFold(to, notFound) {
		return nil, &net.DNSError{Err: "a host rule says so", Name: host, IsNotFound: true}
	}
	return d.DialContext(ctx, network, net.JoinHostPort(to, port))
}
