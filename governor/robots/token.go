package robots

import (
	"errors"
	"fmt"
	"strings"
)

// tokenLen is the length of the product token s begins with (RFC 9309 2.2.1:
// letters, "_" and "-").
func tokenLen(s string) int {
	for i := range len(s) {
		if c := s[i]; c|0x20 < 'a' || c|0x20 > 'z' {
			if c != '_' && c != '-' {
				return i
			}
		}
	}
	return len(s)
}

// ValidToken says what is wrong with a product token, the name that is looked
// for in robots.txt. RFC 9309 2.2.1 permits letters, "_" and "-" only.
func ValidToken(token string) error {
	if token == "" {
		return errors.New("robots token is empty")
	}
	i := tokenLen(token)
	if i == len(token) {
		return nil
	}
	what := "has"
	if token[i] >= '0' && token[i] <= '9' {
		what = "has a digit, which no crawler name in robots.txt can have:"
	}
	return fmt.Errorf("robots token %q %s %q at column %d: only letters, _ and - may be in it", token, what, token[i], i+1)
}

// TokenWarning returns a sentence when token is not part of the User-Agent that
// is sent, as RFC 9309 2.2.1 wants it to be, and "" when all is well.
func TokenWarning(token, userAgent string) string {
	switch {
	case token == "":
		return fmt.Sprintf("no name in the User-Agent %q can be looked for in robots.txt: only groups for * bind us", shown(userAgent))
	case !strings.Contains(strings.ToLower(userAgent), strings.ToLower(token)):
		return fmt.Sprintf("robots token %q is not part of the User-Agent %q", shown(token), shown(userAgent))
	}
	return ""
}

// Token finds the product token in a User-Agent: the last product, or name in a
// "(compatible; X/1.0; +url)" comment, that is not one of those every browser
// carries. It is "" when there is none: then only groups for * apply.
func Token(userAgent string) string {
	token := ""
	take := func(product string) {
		if n := tokenLen(product); n > 0 && !isBrowserProduct(product[:n]) {
			token = product[:n]
		}
	}
	for rest := userAgent; rest != ""; {
		before, after, _ := strings.Cut(rest, "(")
		for _, product := range strings.Fields(before) {
			take(product)
		}
		comment, after, _ := strings.Cut(after, ")")
		rest = after
		compatible := false
		for item := range strings.SplitSeq(comment, ";") {
			item = strings.TrimSpace(item)
			switch {
			case strings.EqualFold(item, "compatible"):
				compatible = true
			case compatible && namesAgent(item):
				take(item)
			}
		}
	}
	return token
}

// namesAgent tells an agent in a comment (GPTBot/1.0, AhrefsBot) from a
// platform (Windows NT 6.1, X11) or an address (+https://…).
func namesAgent(item string) bool {
	n := tokenLen(item)
	if n == 0 || strings.ContainsAny(item, " \t:") {
		return false
	}
	return strings.Contains(item, "/") || strings.Contains(strings.ToLower(item), "bot")
}

func isBrowserProduct(name string) bool {
	switch strings.ToLower(name) {
	case "mozilla", "applewebkit", "gecko", "khtml", "version", "mobile", "safari", "chrome", "headlesschrome",
		"chromium", "crios", "firefox", "fxios", "opr", "trident", "msie", "like":
		return true
	}
	return len(name) >= 3 && strings.EqualFold(name[:3], "edg") && len(name) <= 6
}
