package robots

import (
	"errors"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
)

// target is a URL taken apart the way a browser does it. net/url is not used:
// it refuses URLs browsers open (/100%zz) and rewrites others.
type target struct {
	scheme string // lower case; "" for a path alone
	host   string // http and https: lower case, IDNA, no port
	origin string // http and https: scheme://host[:port], the port only where it is not the scheme's own
	path   string // http and https: path and query, no fragment, dot segments resolved, canonical
}

// governed reports whether the URL has a robots.txt at all.
func (t target) governed() bool {
	return t.scheme == "http" || t.scheme == "https" || t.scheme == ""
}

// isRobotsFile reports whether the URL is that of the file itself, which is
// always allowed (RFC 9309 2.2.2).
func (t target) isRobotsFile() bool {
	rest, ok := strings.CutPrefix(t.path, "/robots.txt")
	return ok && (rest == "" || rest[0] == '?')
}

var errNotURL = errors.New("not a URL")

func splitURL(raw string) (target, error) {
	raw = strings.TrimFunc(raw, func(r rune) bool { return r <= ' ' })
	if strings.ContainsAny(raw, "\t\r\n") {
		raw = strings.NewReplacer("\t", "", "\r", "", "\n", "").Replace(raw)
	}
	if strings.HasPrefix(raw, "/") {
		return target{path: pathOf(raw)}, nil
	}
	i := strings.IndexByte(raw, ':')
	if i <= 0 || strings.ContainsAny(raw[:i], "/?#\\ ") {
		return target{}, errNotURL
	}
	t := target{scheme: strings.ToLower(raw[:i])}
	rest := raw[i+1:]
	switch t.scheme {
	case "http", "https":
	case "view-source":
		return splitURL(rest)
	default:
		return t, nil
	}
	rest = strings.TrimLeft(rest, `/\`)
	authority := rest
	if i := strings.IndexAny(rest, `/\?#`); i >= 0 {
		authority, rest = rest[:i], rest[i:]
	} else {
		rest = ""
	}
	var err error
	if t.host, t.origin, err = originOf(t.scheme, authority); err != nil {
		return target{}, err
	}
	t.path = pathOf(rest)
	return t, nil
}

// originOf normalises scheme, host and port: the key under which a robots.txt
// counts. User information is dropped.
func originOf(scheme, authority string) (host, origin string, err error) {
	if i := strings.LastIndexByte(authority, '@'); i >= 0 {
		authority = authority[i+1:]
	}
	host, port := authority, ""
	if i := strings.LastIndexByte(authority, ':'); i >= 0 && !strings.Contains(authority[i:], "]") {
		host, port = authority[:i], authority[i+1:]
	}
	if host, err = url.PathUnescape(host); err != nil || host == "" {
		return "", "", errNotURL
	}
	host = strings.ToLower(host)
	for i := range len(host) {
		if host[i] >= 0x80 {
			if host, err = idna.New(idna.MapForLookup(), idna.StrictDomainName(false)).ToASCII(host); err != nil {
				return "", "", errNotURL
			}
			break
		}
	}
	if host == "" || strings.ContainsAny(host, " /\\?#@<>^|%") {
		return "", "", errNotURL
	}
	origin = scheme + "://" + host
	if port != "" {
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil {
			return "", "", errNotURL
		}
		if !(scheme == "http" && n == 80 || scheme == "https" && n == 443) {
			origin += ":" + strconv.FormatUint(n, 10)
		}
	}
	return host, origin, nil
}

// pathOf is the canonical path and query of what follows the authority.
func pathOf(rest string) string {
	rest, _, _ = strings.Cut(rest, "#")
	path, query, hasQuery := strings.Cut(rest, "?")
	path = strings.ReplaceAll(path, `\`, "/")
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	path = resolveDots(path)
	if hasQuery {
		path += "?" + query
	}
	return canonicalURL(path)
}

// resolveDots removes "." and ".." segments as browsers do before they ask, so
// that /public/../private is judged as /private.
func resolveDots(path string) string {
	if !strings.Contains(path, "/.") && !strings.Contains(path, "/%2") {
		return path
	}
	segments := strings.Split(path[1:], "/")
	out := segments[:0:len(segments)]
	for i, s := range segments {
		last := i == len(segments)-1
		switch dots(s) {
		case 1:
			if last {
				out = append(out, "")
			}
		case 2:
			if len(out) > 0 {
				out = out[:len(out)-1]
			}
			if last {
				out = append(out, "")
			}
		default:
			out = append(out, s)
		}
	}
	return "/" + strings.Join(out, "/")
}

// dots is 1 for ".", 2 for "..", also with the dots escaped, else 0.
func dots(s string) int {
	n := 0
	for s != "" {
		switch {
		case s[0] == '.':
			s = s[1:]
		case len(s) >= 3 && strings.EqualFold(s[:3], "%2e"):
			s = s[3:]
		default:
			return 0
		}
		if n++; n > 2 {
			return 0
		}
	}
	return n
}
