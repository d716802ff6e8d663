package governor

import (
	"net/mail"
	"net/url"
	"strings"
)

// maxAgentText bounds name and contact: they travel with every request.
const maxAgentText = 200

// UserAgent returns the User-Agent of every request: Chrome's own and then who
// drives it, "Mozilla/5.0 (…) Chrome/156.0.0.0 Safari/537.36 ResearchBot/1.0
// (+https://example.com/bot)". For the robots.txt fetch, which no browser makes,
// chromeUA is "" and the agent stands alone.
//
// A contact that is a URL is marked with "+", as crawlers do; an e-mail address
// stands as it is. What could not stand in a header is left out, so the result
// is safe to send even for an Agent that Validate would not accept.
func (a Agent) UserAgent(chromeUA string) string {
	ua := headerText(chromeUA)
	if name := headerText(a.Name); name != "" {
		ua = strings.TrimSpace(ua + " " + name)
	}
	contact := strings.Trim(headerText(a.Contact), `()\`)
	if contact == "" || strings.ContainsAny(contact, `()\`) {
		return ua
	}
	if strings.Contains(contact, "://") {
		contact = "+" + contact
	}
	return strings.TrimSpace(ua + " (" + contact + ")")
}

// Token returns the name that is looked for in robots.txt: RobotsToken, or else
// the beginning of Name that RFC 9309, section 2.2.1, allows in a user-agent line.
func (a Agent) Token() string {
	if a.RobotsToken != "" {
		return a.RobotsToken
	}
	for i := range len(a.Name) {
		if !robotsTokenByte(a.Name[i]) {
			return a.Name[:i]
		}
	}
	return a.Name
}

func robotsTokenByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '-' || c == '_'
}

// headerText drops every byte that is not printable ASCII.
func headerText(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return -1
		}
		return r
	}, s)
}

// productName reports whether s is a product of a User-Agent, RFC 9110, section
// 10.1.5: a token, perhaps a slash and a version.
func productName(s string) bool {
	name, version, slash := strings.Cut(s, "/")
	return len(s) <= maxAgentText && httpToken(name) && (!slash || httpToken(version))
}

// httpToken reports whether s is a token of RFC 9110, section 5.6.2.
func httpToken(s string) bool {
	for i := range len(s) {
		c := s[i]
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0) {
			return false
		}
	}
	return s != ""
}

// contactable reports whether s is a web or e-mail address that can stand in the
// comment of a User-Agent.
func contactable(s string) bool {
	if len(s) > maxAgentText || s != headerText(s) || strings.ContainsAny(s, ` ()<>\";,`) {
		return false
	}
	if strings.Contains(s, "://") {
		u, err := url.Parse(s)
		return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "" && u.User == nil
	}
	a, err := mail.ParseAddress(s)
	return err == nil && a.Address == s
}
