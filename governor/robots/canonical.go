package robots

import "strings"

const upperHex = "0123456789ABCDEF"

// Rules and URLs are compared in one canonical form (RFC 9309 2.2.2): escapes
// of unreserved characters decoded, other escapes in upper case, and what a URL
// cannot hold raw escaped. Reserved characters keep the form they have, so /a/b
// and /a%2Fb stay apart. The one exception is %27, read as ': browsers write it
// so in queries, and servers do not tell the two apart.

// canonicalURL is the canonical form of a path with its query. * and $ mean
// themselves in a URL.
func canonicalURL(s string) string { return canonical(s, true) }

// canonicalRule is the canonical form of a rule. Its * and $ stay as they are.
func canonicalRule(s string) string { return canonical(s, false) }

func canonical(s string, url bool) string {
	i := 0
	for i < len(s) && plain(s[i], url) {
		i++
	}
	if i == len(s) {
		return s
	}
	b := make([]byte, i, len(s)+len(s)/2+8)
	copy(b, s)
	for ; i < len(s); i++ {
		c := s[i]
		switch {
		case plain(c, url):
			b = append(b, c)
		case c == '%' && i+2 < len(s) && isHex(s[i+1]) && isHex(s[i+2]):
			v := unhex(s[i+1])<<4 | unhex(s[i+2])
			if unreserved(v) || v == '\'' {
				b = append(b, v)
			} else {
				b = append(b, '%', upperHex[v>>4], upperHex[v&15])
			}
			i += 2
		case c == '%': // a stray one is left alone
			b = append(b, c)
		default:
			b = append(b, '%', upperHex[c>>4], upperHex[c&15])
		}
	}
	return string(b)
}

// plain reports whether c stands for itself in the canonical form.
func plain(c byte, url bool) bool {
	switch c {
	case '"', '<', '>', '\\', '^', '{', '|', '}', '`', '%':
		return false
	case '*', '$':
		return !url
	}
	return c > ' ' && c < 0x7f
}

func unreserved(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || strings.IndexByte("-._~", c) >= 0
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f'
}

func unhex(c byte) byte {
	if c <= '9' {
		return c - '0'
	}
	return c | 0x20 - 'a' + 10
}
