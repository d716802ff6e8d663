package actions

import (
	"net/url"
	"strings"
)

// address is a URL taken apart the way a browser does it (WHATWG URL standard),
// which forgives much that net/url does not: white space around and line ends
// inside, backslashes, any number of slashes before the host, stray percent
// signs, numbers as hosts.
type address struct {
	scheme string // lower case
	host   string // canonical, with the port unless it is the scheme's own; "" when there is none or no browser would open it
	path   string // from the host to the query, as written; of schemes without a host, all the rest
	query  string // with its question mark; "" when there is none
}

// defaultPort returns the port of a scheme whose addresses always have a host.
func defaultPort(scheme string) (port string, special bool) {
	switch scheme {
	case "http", "ws":
		return "80", true
	case "https", "wss":
		return "443", true
	case "ftp":
		return "21", true
	}
	return "", false
}

// split takes a URL apart. The fragment is dropped: no server sees it. A
// view-source: address is the address whose source is shown, because that is
// what is asked for.
func split(rawURL string) address {
	s := withoutViewSource(rawURL)
	scheme, rest, ok := cutScheme(s)
	if !ok {
		return address{}
	}
	if i := strings.IndexByte(rest, '#'); i >= 0 {
		rest = rest[:i]
	}
	u := address{scheme: scheme}
	if i := strings.IndexByte(rest, '?'); i >= 0 {
		rest, u.query = rest[:i], rest[i:]
	}
	port, special := defaultPort(scheme)
	switch {
	case special:
		rest = strings.TrimLeft(rest, `/\`)
		authority, path := rest, ""
		if i := strings.IndexAny(rest, `/\`); i >= 0 {
			authority, path = rest[:i], rest[i:]
		}
		u.host, u.path = hostPort(authority, port), path
	case scheme != "file" && strings.HasPrefix(rest, "//"):
		authority, path := rest[2:], ""
		if i := strings.IndexByte(authority, '/'); i >= 0 {
			authority, path = authority[:i], authority[i:]
		}
		u.host, u.path = strings.ToLower(authority[strings.LastIndexByte(authority, '@')+1:]), path
	default:
		u.path = rest
	}
	return u
}

// cutScheme returns the scheme in lower case and what follows its colon.
func cutScheme(s string) (scheme, rest string, ok bool) {
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z':
		case i > 0 && ('0' <= c && c <= '9' || c == '+' || c == '-' || c == '.'):
		case i > 0 && c == ':':
			return strings.ToLower(s[:i]), s[i+1:], true
		default:
			return "", "", false
		}
	}
	return "", "", false
}

// CutCredentials returns a URL without the name and password before its host, and
// those; has is false for a URL that has none.
func CutCredentials(rawURL string) (bare, user, password string, has bool) {
	start := strings.Index(rawURL, "://") + len("://")
	if start < len("://") {
		return rawURL, "", "", false
	}
	end := len(rawURL)
	if i := strings.IndexAny(rawURL[start:], `/\?#`); i >= 0 {
		end = start + i
	}
	at := strings.LastIndexByte(rawURL[start:end], '@')
	if at < 0 {
		return rawURL, "", "", false
	}
	user, password, _ = strings.Cut(rawURL[start:start+at], ":")
	return rawURL[:start] + rawURL[start+at+1:], percentDecoded(user), percentDecoded(password), true
}

// percentDecoded decodes percent signs, and leaves what is no code as it stands.
func percentDecoded(s string) string {
	if plain, err := url.PathUnescape(s); err == nil {
		return plain
	}
	return s
}

// Scheme returns the scheme of an address in lower case, as a browser reads it:
// that of what view-source: shows, "" when there is none.
func Scheme(rawURL string) string {
	scheme, _, _ := cutScheme(withoutViewSource(rawURL))
	return scheme
}

// withoutViewSource returns the address that will be asked for: without what a
// browser ignores and without view-source: in front.
func withoutViewSource(rawURL string) string {
	s := clean(rawURL)
	const prefix = "view-source:"
	if len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix) {
		return clean(s[len(prefix):])
	}
	return s
}

// clean drops what browsers drop: control characters and blanks at both ends,
// tabs and line ends anywhere.
func clean(s string) string {
	s = strings.TrimFunc(s, func(r rune) bool { return r <= ' ' })
	if !strings.ContainsAny(s, "\t\r\n") {
		return s
	}
	return strings.Map(func(r rune) rune {
		if r == '\t' || r == '\r' || r == '\n' {
			return -1
		}
		return r
	}, s)
}

// Origin returns scheme and host of a URL, "https://example.com:8443", or "" for
// a URL without host.
func Origin(rawURL string) string {
	u := split(rawURL)
	if u.host == "" {
		return ""
	}
	return u.scheme + "://" + u.host
}

// SameURL reports whether a browser would ask for the same thing under both
// URLs. Case of scheme and host, the default port, an empty path, dot segments
// and the escaping of blanks and other characters make no difference; neither
// do the fragment and a name and password before the host.
func SameURL(a, b string) bool {
	if a == b {
		return true
	}
	ua, ub := split(a), split(b)
	if ua.scheme != ub.scheme || ua.host != ub.host {
		return false
	}
	if _, special := defaultPort(ua.scheme); !special {
		return ua.scheme != "" && ua.path == ub.path && ua.query == ub.query
	}
	return ua.host != "" && canonicalPath(ua.path) == canonicalPath(ub.path) && escape(ua.query) == escape(ub.query)
}

// canonicalPath resolves dot segments and escapes what browsers escape.
func canonicalPath(path string) string {
	path = strings.ReplaceAll(path, `\`, "/")
	if path == "" {
		path = "/"
	}
	if !strings.Contains(path, "/.") && !strings.Contains(path, "/%2") {
		return escape(path)
	}
	segments := strings.Split(path[1:], "/")
	kept := segments[:0:0]
	for i, s := range segments {
		last := i == len(segments)-1
		switch strings.ToLower(s) {
		case ".", "%2e":
			if last {
				kept = append(kept, "")
			}
		case "..", ".%2e", "%2e.", "%2e%2e":
			if len(kept) > 0 {
				kept = kept[:len(kept)-1]
			}
			if last {
				kept = append(kept, "")
			}
		default:
			kept = append(kept, s)
		}
	}
	return escape("/" + strings.Join(kept, "/"))
}

// escape percent-encodes every byte that some part of a URL has to escape. It is
// for comparing only, so it need not know which part has to escape what.
func escape(s string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c > ' ' && c < 0x7f && strings.IndexByte("\"'<>^`{|}\\", c) < 0 {
			if b.Len() > 0 {
				b.WriteByte(c)
			}
			continue
		}
		if b.Len() == 0 {
			b.Grow(len(s) + 16)
			b.WriteString(s[:i])
		}
		b.WriteByte('%')
		b.WriteByte(hex[c>>4])
		b.WriteByte(hex[c&15])
	}
	if b.Len() == 0 {
		return s
	}
	return b.String()
}
