package browser

import (
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"unicode/utf8"
)

// forbidden says why a request may not use the endpoint; 0 when it may.
func (ep *Endpoint) forbidden(r *http.Request) (status int, why string) {
	if r.URL.IsAbs() || r.Method == http.MethodConnect {
		return http.StatusBadRequest, "this is a CDP endpoint and not an HTTP proxy; a client that uses a proxy variable needs NO_PROXY=127.0.0.1,localhost"
	}
	if !ep.hostAllowed(r.Host) {
		return http.StatusForbidden, "the Host header names neither an address nor an allowed name (see --allow-host)"
	}
	if origin := r.Header.Get("Origin"); !ep.originAllowed(origin) {
		return http.StatusForbidden, "connections from web pages are refused (Origin " + clip(origin, 80) + ")"
	}
	if !ep.tokenRight(r) {
		return http.StatusUnauthorized, "a token is needed: ?token=… or Authorization: Bearer …"
	}
	return 0, ""
}

// hostAllowed refuses foreign names: a web page whose name was pointed at this
// address (DNS rebinding) would otherwise pass for a local client.
func (ep *Endpoint) hostAllowed(hostport string) bool {
	host := hostport
	if h, _, err := net.SplitHostPort(hostport); err == nil {
		host = h
	}
	host = strings.TrimSuffix(strings.Trim(host, "[]"), ".")
	if _, err := netip.ParseAddr(host); err == nil || strings.EqualFold(host, "localhost") {
		return true
	}
	return slices.ContainsFunc(ep.cfg.AllowedHosts, func(name string) bool {
		return host != "" && strings.EqualFold(strings.TrimSuffix(name, "."), host)
	})
}

// originAllowed refuses web pages, which always send an Origin. Programs send
// none.
func (ep *Endpoint) originAllowed(origin string) bool {
	switch {
	case origin == "":
		return true
	case strings.HasPrefix(origin, "chrome-extension://"):
		return ep.cfg.AllowExtension
	case strings.HasPrefix(origin, "devtools://"):
		return true
	}
	return false
}

func (ep *Endpoint) tokenRight(r *http.Request) bool {
	if ep.cfg.Token == "" {
		return true
	}
	right := func(got string) bool {
		return subtle.ConstantTimeCompare([]byte(got), []byte(ep.cfg.Token)) == 1
	}
	// Several, because the query of /json/new is a URL, which may have a token
	// of its own.
	if slices.ContainsFunc(r.URL.Query()["token"], right) {
		return true
	}
	bearer, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	return ok && right(bearer)
}

// clip shortens s to n bytes at most, at the end of a character.
func clip(s string, n int) string {
	const mark = "…"
	if len(s) <= n {
		return s
	}
	n -= len(mark)
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:max(n, 0)] + mark
}
