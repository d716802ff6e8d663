package browser

import (
	"bytes"
	"unicode/utf8"
)

// shortMax is how much of a string remains in a shortened value, in bytes as
// written: enough to judge a URL, a key or a header by.
const shortMax = 64 << 10

// shorten reads the input, which is one JSON value that was scanned before, and
// returns it without white space between its parts and with long strings cut.
// It bounds the memory that a command costs whose size is one huge string.
func (s *scanner) shorten() []byte {
	var out []byte
	for {
		c, ok := s.next()
		if !ok {
			return out
		}
		switch c {
		case '"':
			raw, _, _ := s.str(true)
			out = append(out, '"')
			out = append(out, cutString(raw, shortMax)...)
			out = append(out, '"')
		default:
			out = append(out, c)
			s.pos++
		}
	}
}

// cutString returns at most n bytes of the inside of a JSON string, and ends
// neither in an escape nor in a character.
func cutString(raw []byte, n int) []byte {
	if len(raw) <= n {
		return raw
	}
	end := 0
	for end < n {
		i := bytes.IndexByte(raw[end:n], '\\')
		if i < 0 {
			end = n
			break
		}
		size := 2
		if end+i+1 < len(raw) && raw[end+i+1] == 'u' {
			size = 6
		}
		if end+i+size > n {
			end += i
			break
		}
		end += i + size
	}
	for end > 0 && end < len(raw) && !utf8.RuneStart(raw[end]) {
		end--
	}
	return raw[:end]
}
