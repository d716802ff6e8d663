package actions

import (
	"net/netip"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
)

// hostProfile reads international names as browsers do: UTS 46 without the
// transitional mapping, and without the rules that only registries keep.
var hostProfile = idna.New(
	idna.MapForLookup(),
	idna.Transitional(false),
	idna.StrictDomainName(false),
	idna.CheckHyphens(false),
	idna.VerifyDNSLength(false),
)

// Host returns the bucket key of a URL: its host as a browser would write it
// (lower case, punycode, no trailing dot, IPv6 in brackets, any way to write an
// IPv4 address as four numbers), with the port unless it is the scheme's own. It
// is "" for a URL without host and for one that no browser would open.
//
// For a URL as Chrome writes it Host allocates nothing.
func Host(rawURL string) string {
	if host, ok := plainHost(rawURL); ok {
		return host
	}
	return split(rawURL).host
}

// plainHost is Host for URLs that are canonical already, which is how Chrome
// reports requests; ok is false for all that need a second look.
func plainHost(rawURL string) (host string, ok bool) {
	rest, port := rawURL, ""
	switch {
	case strings.HasPrefix(rest, "https://"):
		rest, port = rest[len("https://"):], "443"
	case strings.HasPrefix(rest, "http://"):
		rest, port = rest[len("http://"):], "80"
	default:
		return "", false
	}
	colon := -1
	end := len(rest)
scan:
	for i := 0; i < len(rest); i++ {
		switch c := rest[i]; {
		case 'a' <= c && c <= 'z':
			if colon >= 0 {
				return "", false
			}
		case '0' <= c && c <= '9':
		case c == '.' || c == '-':
			if colon >= 0 || i == 0 {
				return "", false
			}
		case c == ':' && colon < 0:
			colon = i
		case c == '/':
			end = i
			break scan
		default:
			return "", false
		}
	}
	rest = rest[:end]
	name := rest
	if colon >= 0 {
		name = rest[:colon]
		if p := rest[colon+1:]; p == port || p == "" || p[0] == '0' || len(p) > 5 || len(p) == 5 && p > "65535" {
			return "", false
		}
	}
	if name == "" || name[len(name)-1] == '.' {
		return "", false
	}
	if name[strings.LastIndexByte(name, '.')+1] <= '9' { // an IPv4 address, perhaps in one of its other spellings
		if a, err := netip.ParseAddr(name); err != nil || !a.Is4() {
			return "", false
		}
	}
	return rest, true
}

// hostPort returns the canonical form of the authority of a URL, "" when it is
// not valid.
func hostPort(authority, defaultPort string) string {
	s := authority[strings.LastIndexByte(authority, '@')+1:]
	port := ""
	if i := strings.LastIndexByte(s, ':'); i >= 0 && i > strings.LastIndexByte(s, ']') {
		s, port = s[:i], s[i+1:]
	}
	host := canonicalHost(s)
	if host == "" {
		return ""
	}
	if port == "" {
		return host
	}
	for i := 0; i < len(port); i++ {
		if port[i] < '0' || port[i] > '9' {
			return ""
		}
	}
	if port = strings.TrimLeft(port, "0"); port == "" {
		port = "0"
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n > 65535 {
		return ""
	}
	if port == defaultPort {
		return host
	}
	return host + ":" + port
}

// canonicalHost returns a host without port as browsers write it, "" when it is
// not valid.
func canonicalHost(s string) string {
	if strings.HasPrefix(s, "[") {
		if !strings.HasSuffix(s, "]") {
			return ""
		}
		return canonicalIPv6(s[1 : len(s)-1])
	}
	s = unescapePercent(s)
	if ascii(s) {
		s = strings.ToLower(s)
	} else {
		name, err := hostProfile.ToASCII(s)
		if err != nil {
			return ""
		}
		s = name
	}
	// Forbidden domain code points of the URL standard.
	if strings.ContainsAny(s, " #%/:<>?@[\\]^|\x7f") || strings.ContainsFunc(s, func(r rune) bool { return r < ' ' }) {
		return ""
	}
	s = strings.TrimSuffix(s, ".")
	if s == "" || strings.HasPrefix(s, ".") {
		return ""
	}
	if last := s[strings.LastIndexByte(s, '.')+1:]; looksNumeric(last) {
		return canonicalIPv4(s)
	}
	return s
}

func canonicalIPv6(s string) string {
	a, err := netip.ParseAddr(s)
	if err != nil || !a.Is6() || a.Zone() != "" {
		return ""
	}
	if a.Is4In6() { // browsers keep to hexadecimal here, netip does not
		b := a.As16()
		return "[::ffff:" + strconv.FormatUint(uint64(b[12])<<8|uint64(b[13]), 16) + ":" +
			strconv.FormatUint(uint64(b[14])<<8|uint64(b[15]), 16) + "]"
	}
	return "[" + a.String() + "]"
}

// looksNumeric reports whether a host ending in this label is an IPv4 address.
func looksNumeric(label string) bool {
	if label == "" {
		return false
	}
	if strings.Trim(label, "0123456789") == "" {
		return true
	}
	return strings.HasPrefix(label, "0x") && strings.Trim(label[2:], "0123456789abcdef") == ""
}

// canonicalIPv4 reads one to four numbers, decimal, octal or hexadecimal, the
// last of which fills all bytes that are left: 127.1, 0x7f.0.0.1, 2130706433.
func canonicalIPv4(s string) string {
	parts := strings.Split(s, ".")
	if len(parts) > 4 {
		return ""
	}
	var ip uint64
	for i, p := range parts {
		base := 10
		switch {
		case p == "":
			return ""
		case strings.HasPrefix(p, "0x"):
			base, p = 16, p[2:]
		case len(p) > 1 && p[0] == '0':
			base, p = 8, p[1:]
		}
		var n uint64
		if p != "" {
			var err error
			if n, err = strconv.ParseUint(p, base, 64); err != nil {
				return ""
			}
		}
		free := 1
		if i == len(parts)-1 {
			free = 5 - len(parts)
		}
		if n >= 1<<(8*free) {
			return ""
		}
		ip = ip<<(8*free) | n
	}
	return netip.AddrFrom4([4]byte{byte(ip >> 24), byte(ip >> 16), byte(ip >> 8), byte(ip)}).String()
}

// unescapePercent resolves %xx; a percent sign that starts no escape stays.
func unescapePercent(s string) string {
	if strings.IndexByte(s, '%') < 0 {
		return s
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			hi, ok1 := hexDigit(s[i+1])
			lo, ok2 := hexDigit(s[i+2])
			if ok1 && ok2 {
				out = append(out, hi<<4|lo)
				i += 2
				continue
			}
		}
		out = append(out, s[i])
	}
	return string(out)
}

func ascii(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// Loopback reports whether a host, with or without port, is this machine:
// localhost and every name below it, 127.0.0.0/8, ::1.
func Loopback(host string) bool {
	host = strings.ToLower(host)
	if inner, _, ok := strings.Cut(strings.TrimPrefix(host, "["), "]"); ok {
		host = inner
	} else if name, _, ok := strings.Cut(host, ":"); ok && strings.Count(host, ":") == 1 {
		host = name
	}
	host = strings.TrimSuffix(host, ".")
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	a, err := netip.ParseAddr(host)
	return err == nil && a.Unmap().IsLoopback()
}
