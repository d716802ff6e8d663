package audit

import (
	"fmt"
	"unicode/utf8"
)

// maxField is the most bytes of one field that are written. A page can ask for
// URLs of two megabytes (Chrome's limit) as fast as its budget lets it; the log
// must not become the way to fill a disk.
const maxField = 64 << 10

// appendString appends s as a JSON string, as encoding/json would without HTML
// escaping: invalid UTF-8 becomes U+FFFD, U+2028 and U+2029 are escaped because
// they end a line in JavaScript and in some editors.
func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	b = appendEscaped(b, s)
	return append(b, '"')
}

func appendEscaped(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		if c < utf8.RuneSelf {
			b = append(b, s[start:i]...)
			switch c {
			case '"', '\\':
				b = append(b, '\\', c)
			case '\n':
				b = append(b, '\\', 'n')
			case '\r':
				b = append(b, '\\', 'r')
			case '\t':
				b = append(b, '\\', 't')
			case '\b':
				b = append(b, '\\', 'b')
			case '\f':
				b = append(b, '\\', 'f')
			default:
				b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
			}
			i++
			start = i
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			b = append(append(b, s[start:i]...), `\ufffd`...)
			start = i + size
		case r == '\u2028' || r == '\u2029':
			b = append(append(b, s[start:i]...), `\u202`...)
			b = append(b, hex[r&15])
			start = i + size
		}
		i += size
	}
	return append(b, s[start:]...)
}

// clip shortens an overlong field and says by how much.
func clip(s string) string {
	if len(s) <= maxField {
		return s
	}
	n := maxField
	for n > maxField-utf8.UTFMax && !utf8.RuneStart(s[n]) {
		n--
	}
	return fmt.Sprintf("%s…[%d bytes cut]", s[:n], len(s)-n)
}
