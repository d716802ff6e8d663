package browser

import (
	"crypto/subtle"
	"net"
	"net/http"
	"slices"
	"strings"
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
	host = strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
	return host == "localhost" || net.ParseIP(host) != nil || slices.Contains(ep.cfg.AllowedHosts, host)
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
	got := r.URL.Query().Get("token")
	if bearer, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		got = bearer
	}
	return subtle.ConstantTimeCompare([]byte(got), []byte(ep.cfg.Token)) == 1
}

func clip(s string, n int) string {
	if len(s) > n {
		return s[:n] + "…"
	}
	return s
}
