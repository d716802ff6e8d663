package audit

import (
	"net/url"
	"strings"
)

// mask is what stands in the log for a secret.
const mask = "***"

// nesting is how many URLs inside URLs are looked into (a redirect_uri with a
// token of its own, percent-encoded once more at each level).
const nesting = 3

// Mask returns the URL with "***" in place of passwords before the host and of
// the values of parameters whose names look like secrets, in the query, in a
// fragment of key=value form, in path parameters (";jsessionid=…") and in URLs
// that are themselves values. It looks at the text only and never parses, so
// that a broken URL is masked as far as it can be read. Names, order and
// everything else stay byte for byte.
func Mask(u string) string { return maskURL(u, nesting) }

func maskURL(u string, depth int) string {
	if strings.IndexByte(u, '@') < 0 && strings.IndexByte(u, '=') < 0 && strings.IndexByte(u, '%') < 0 {
		return u
	}
	u = maskUserinfo(u)
	at := strings.IndexAny(u, "?#;")
	if at < 0 {
		return u
	}
	if rest := u[at+1:]; rest != "" {
		if m := maskParams(rest, u[at] == ';', depth); m != rest {
			return u[:at+1] + m
		}
	}
	return u
}

// maskUserinfo masks the password of "//user:password@host". A long user name
// without a password is a key (https://sk_live_…@host) and is masked too.
func maskUserinfo(u string) string {
	start := authority(u)
	if start < 0 {
		return u
	}
	end := len(u)
	if i := strings.IndexAny(u[start:], `/\?#`); i >= 0 {
		end = start + i
	}
	at := strings.LastIndexByte(u[start:end], '@')
	if at < 0 {
		// A password with a bare / ? or # ends the authority early: what looks
		// like a port is no number.
		colon := strings.IndexByte(u[start:end], ':')
		if colon < 0 || end == len(u) || allDigits(u[start+colon+1:end]) || u[start] == '[' {
			return u
		}
		if at = strings.IndexByte(u[end:], '@'); at < 0 {
			return u
		}
		at += end - start // from start, like the other
	}
	info, rest := u[start:start+at], u[start+at:]
	user, password, _ := strings.Cut(info, ":")
	switch {
	case password != "":
		return u[:start] + user + ":" + mask + rest
	case len(user) >= 16:
		return u[:start] + mask + info[len(user):] + rest
	}
	return u
}

// authority is where the part with user, host and port starts, -1 when there is
// none. Browsers take "http:/host" and "http:\\host" for "http://host".
func authority(u string) int {
	if scheme, _, ok := strings.Cut(u, ":"); ok {
		switch strings.ToLower(scheme) {
		case "http", "https", "ws", "wss", "ftp":
			i := len(scheme) + 1
			for i < len(u) && (u[i] == '/' || u[i] == '\\') {
				i++
			}
			return i
		}
	}
	if i := strings.Index(u, "//"); i >= 0 {
		return i + 2
	}
	return -1
}

// maskParams masks what follows the first ? # or ; of a URL. While path is true
// it still stands in the path, where a value ends at the next / ; or ?.
func maskParams(s string, path bool, depth int) string {
	var b strings.Builder
	done := 0 // s[:done] is in b
	end := -1 // of the newest value; one that starts before it ends there too
	put := func(from, to int, with string) {
		b.WriteString(s[done:from])
		b.WriteString(with)
		done = to
	}
	for i := 0; i < len(s); {
		name := i
		for i < len(s) && !delimiter(s[i]) && s[i] != '=' {
			i++
		}
		if i == len(s) || s[i] != '=' {
			if piece := s[name:i]; strings.IndexByte(piece, '%') >= 0 { // name%3Dvalue
				if m := maskNested(piece, depth); m != piece {
					put(name, i, m)
				}
			}
			path = path && (i == len(s) || s[i] == ';' || s[i] == '&')
			i++
			continue
		}
		value := i + 1
		fresh := end < value // else value stands inside a value that was looked into
		if fresh {
			for end = value; end < len(s) && s[end] != '&' && s[end] != '#' && !(path && pathEnd(s[end])); {
				end++
			}
			path = path && end < len(s) && s[end] != '?' && s[end] != '#'
		}
		if secretName(s[name:i]) {
			// The value of a secret ends where a browser ends it; that a stray
			// ? or ; is part of it must not leave half of it readable.
			if strings.Trim(s[value:end], "*$") != "" { // "token=" and the "*" of a robots.txt rule hide nothing
				put(value, end, mask)
			}
			i = end + 1
			continue
		}
		if fresh {
			if m := maskNested(s[value:end], depth); m != s[value:end] {
				put(value, end, m)
				i = end + 1
				continue
			}
		}
		for i = value; i < end && !delimiter(s[i]); {
			i++
		}
		i++
	}
	if done == 0 {
		return s
	}
	b.WriteString(s[done:])
	return b.String()
}

func pathEnd(c byte) bool { return c == '/' || c == ';' || c == '?' }

func delimiter(c byte) bool { return c == '&' || c == '?' || c == '#' || c == ';' }

// maskNested masks a value that is a URL or a list of parameters itself, as it
// is or percent-encoded. Where nothing is masked the value comes back as it was.
func maskNested(v string, depth int) string {
	if depth == 0 || v == "" {
		return v
	}
	if strings.Contains(v, "://") {
		return maskURL(v, depth-1)
	}
	if strings.IndexByte(v, '%') < 0 {
		return v
	}
	plain := unescape(v)
	masked := plain
	switch {
	case strings.Contains(plain, "//") || strings.ContainsAny(plain, "?#"):
		masked = maskURL(plain, depth-1)
	case strings.IndexByte(plain, '=') >= 0 || strings.IndexByte(plain, '%') >= 0:
		masked = maskParams(plain, false, depth-1)
	}
	if masked == plain {
		return v
	}
	return strings.ReplaceAll(url.QueryEscape(masked), url.QueryEscape(mask), mask)
}

// unescape decodes what is a percent escape and leaves the rest as it is.
func unescape(s string) string {
	if strings.IndexByte(s, '%') < 0 {
		return s
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			hi, ok1 := unhex(s[i+1])
			lo, ok2 := unhex(s[i+2])
			if ok1 && ok2 {
				b = append(b, hi<<4|lo)
				i += 2
				continue
			}
		}
		b = append(b, s[i])
	}
	return string(b)
}

func unhex(c byte) (byte, bool) {
	switch {
	case '0' <= c && c <= '9':
		return c - '0', true
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10, true
	case 'A' <= c && c <= 'F':
		return c - 'A' + 10, true
	}
	return 0, false
}

func allDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

// maskText masks the URLs inside a sentence: every word between blanks, quotes
// and angle brackets that has a query, a fragment or a scheme.
func maskText(s string) string {
	if strings.IndexByte(s, '=') < 0 && strings.IndexByte(s, '@') < 0 && strings.IndexByte(s, '%') < 0 {
		return s
	}
	var b strings.Builder
	done := 0
	for i := 0; i < len(s); i++ {
		start := i
		for i < len(s) && !wordEnd(s[i]) {
			i++
		}
		word := strings.TrimRight(s[start:i], ").,]}:;!…")
		if m := Mask(word); m != word {
			b.WriteString(s[done:start])
			b.WriteString(m)
			done = start + len(word)
		}
	}
	if done == 0 {
		return s
	}
	b.WriteString(s[done:])
	return b.String()
}

func wordEnd(c byte) bool {
	return c <= ' ' || c == '"' || c == '\'' || c == '`' || c == '<' || c == '>'
}
