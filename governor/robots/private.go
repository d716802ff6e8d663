package robots

import (
	"net"
	"net/netip"
	"strings"
)

// sharedSpace is carrier-grade NAT (RFC 6598), which is nobody's public address.
var sharedSpace = netip.MustParsePrefix("100.64.0.0/10")

// privateAddr reports whether an address is not reachable from the internet.
func privateAddr(a netip.Addr) bool {
	a = a.Unmap()
	return a.IsPrivate() || a.IsLoopback() || a.IsLinkLocalUnicast() || a.IsUnspecified() ||
		a.IsMulticast() || sharedSpace.Contains(a)
}

// privateHost reports whether a host as written in a URL is private. A name is
// not, unless it is localhost: what it leads to is seen when the connection is
// there.
func privateHost(host string) bool {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if a, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
		return privateAddr(a)
	}
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}

// privateConn reports whether the far end of a connection is private.
func privateConn(c net.Conn) bool {
	if c == nil || c.RemoteAddr() == nil {
		return false
	}
	ap, err := netip.ParseAddrPort(c.RemoteAddr().String())
	return err == nil && privateAddr(ap.Addr())
}
