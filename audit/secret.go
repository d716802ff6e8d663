package audit

import "strings"

// secretName reports whether a parameter of this name is likely to hold a
// secret. Case, separators and percent-encoding do not matter: "X-Amz-Signature",
// "accessToken" and "user[password]" all are. A harmless value masked now and
// then costs less than a key in a log that is handed around.
func secretName(name string) bool {
	if len(name) > 256 {
		name = name[len(name)-256:]
	}
	if strings.IndexByte(name, '%') >= 0 {
		name = unescape(name)
	}
	var buf [256]byte
	n := 0
	for i := range len(name) {
		c := name[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if 'a' <= c && c <= 'z' || '0' <= c && c <= '9' {
			buf[n] = c
			n++
		}
	}
	squashed := buf[:n]
	// Short words are secrets only as the whole name: "code" is, "zipcode" is not.
	switch string(squashed) {
	case "key", "sig", "auth", "code", "session", "sid", "otp", "pass", "pin", "ticket", "assertion",
		"authcode", "authorizationcode", "authorization", "samlrequest", "samlresponse", "hmac":
		return true
	}
	text := string(squashed)
	for _, part := range []string{
		"token", "secret", "passw", "pwd", "signature", "credential", "apikey", "accesskey", "privatekey",
		"authkey", "sessionkey", "subscriptionkey", "sessionid", "sessid", "jwt", "bearer", "authsig",
	} {
		if strings.Contains(text, part) {
			return true
		}
	}
	return false
}
