package audit

import (
	"math/bits"
	"strings"
	"time"
	"unicode/utf8"

	"browsergovernor/governor"
)

// scanner stands at s[i]. Its methods read one value and say whether it was in
// the spelling that we write.
type scanner struct {
	s string
	i int
}

// digits reads a whole number without sign or leading zeros, of at most n digits.
func (p *scanner) digits(n int) (v int64, ok bool) {
	start := p.i
	for p.i < len(p.s) && p.s[p.i]-'0' <= 9 {
		if p.i-start == n {
			return 0, false
		}
		v = v*10 + int64(p.s[p.i]-'0')
		p.i++
	}
	return v, p.i > start && (p.s[start] != '0' || p.i == start+1)
}

func (p *scanner) signed(n int) (int64, bool) {
	if p.i < len(p.s) && p.s[p.i] == '-' {
		p.i++
		v, ok := p.digits(n)
		return -v, ok && v != 0
	}
	return p.digits(n)
}

// int is kept to nine digits so that it fits wherever int has 32 bits.
func (p *scanner) int() (int, bool) {
	v, ok := p.signed(9)
	return int(v), ok
}

func (p *scanner) millis() (time.Duration, bool) {
	v, ok := p.signed(11)
	return time.Duration(v) * time.Millisecond, ok
}

// seconds reads at most three decimals, which is what appendSeconds writes.
func (p *scanner) seconds() (time.Duration, bool) {
	whole, ok := p.digits(8)
	if !ok {
		return 0, false
	}
	ms := whole * 1000
	if p.i < len(p.s) && p.s[p.i] == '.' {
		p.i++
		start := p.i
		for unit := int64(100); p.i < len(p.s) && p.s[p.i]-'0' <= 9; unit /= 10 {
			ms += int64(p.s[p.i]-'0') * unit
			p.i++
		}
		if n := p.i - start; n == 0 || n > 3 {
			return 0, false
		}
	}
	return time.Duration(ms) * time.Millisecond, true
}

func (p *scanner) literal(want string) bool {
	if !strings.HasPrefix(p.s[p.i:], want) {
		return false
	}
	p.i += len(want)
	return true
}

func (p *scanner) bool() (v, ok bool) {
	if p.literal("true") {
		return true, true
	}
	return false, p.literal("false")
}

func (p *scanner) left() (*governor.Left, bool) {
	if !p.literal(`{"host":`) {
		return nil, false
	}
	host, ok1 := p.int()
	ok2 := p.literal(`,"day":`)
	day, ok3 := p.int()
	if !ok1 || !ok2 || !ok3 || !p.literal("}") {
		return nil, false
	}
	return &governor.Left{Host: host, Day: day}, true
}

// string reads a quoted string. The short escapes are undone here; \u is left to
// parseAny.
func (p *scanner) string() (string, bool) {
	if p.i >= len(p.s) || p.s[p.i] != '"' {
		return "", false
	}
	p.i++
	start, escaped, ascii := p.i, false, true
	for p.i < len(p.s) {
		if p.i += plain(p.s[p.i:]); p.i == len(p.s) {
			break
		}
		switch c := p.s[p.i]; {
		case c == '"':
			out := p.s[start:p.i]
			p.i++
			if !ascii && !utf8.ValidString(out) {
				return "", false
			}
			if escaped {
				return unquote(out)
			}
			return out, true
		case c == '\\':
			escaped = true
			p.i++ // what follows is looked at by unquote; it must not end the string
		case c < ' ':
			return "", false
		default: // not ASCII
			ascii = false
		}
		p.i++
	}
	return "", false
}

// plain counts the bytes of s before the first that means something in a JSON
// string: a quote, a backslash, a control character, or one outside of ASCII. It
// looks at eight at a time; that is a third of the price of a line.
func plain(s string) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	i := 0
	for ; i+8 <= len(s); i += 8 {
		x := uint64(s[i]) | uint64(s[i+1])<<8 | uint64(s[i+2])<<16 | uint64(s[i+3])<<24 |
			uint64(s[i+4])<<32 | uint64(s[i+5])<<40 | uint64(s[i+6])<<48 | uint64(s[i+7])<<56
		// The lowest high bit is right; those above it may come from a borrow.
		if m := (x | (x - ' '*ones) | ((x ^ '"'*ones) - ones) | ((x ^ '\\'*ones) - ones)) & highs; m != 0 {
			return i + bits.TrailingZeros64(m)/8
		}
	}
	for ; i < len(s); i++ {
		if c := s[i]; c == '"' || c == '\\' || c < ' ' || c >= utf8.RuneSelf {
			return i
		}
	}
	return i
}

func unquote(s string) (string, bool) {
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c != '\\' {
			b = append(b, c)
			continue
		}
		i++
		if i == len(s) {
			return "", false
		}
		switch c = s[i]; c {
		case '"', '\\', '/':
		case 'n':
			c = '\n'
		case 'r':
			c = '\r'
		case 't':
			c = '\t'
		case 'b':
			c = '\b'
		case 'f':
			c = '\f'
		default:
			return "", false
		}
		b = append(b, c)
	}
	return string(b), true
}

// time reads "2026-11-30T12:09:22.118Z".
func (p *scanner) time() (time.Time, bool) {
	const size = len(`"2026-11-30T12:09:22.118Z"`)
	if p.i+size > len(p.s) {
		return time.Time{}, false
	}
	s := p.s[p.i : p.i+size]
	if s[0] != '"' || s[5] != '-' || s[8] != '-' || s[11] != 'T' || s[14] != ':' || s[17] != ':' || s[20] != '.' || s[24] != 'Z' || s[25] != '"' {
		return time.Time{}, false
	}
	ok := true
	num := func(from, to int) (n int) {
		for _, c := range []byte(s[from:to]) {
			ok = ok && c-'0' <= 9
			n = n*10 + int(c-'0')
		}
		return n
	}
	year, month, day := num(1, 5), num(6, 8), num(9, 11)
	hour, minute, sec, ms := num(12, 14), num(15, 17), num(18, 20), num(21, 24)
	if !ok || month < 1 || month > 12 || day < 1 || hour > 23 || minute > 59 || sec > 59 {
		return time.Time{}, false
	}
	t := time.Date(year, time.Month(month), day, hour, minute, sec, ms*int(time.Millisecond), time.UTC)
	if day > 28 && t.Day() != day { // 31 April
		return time.Time{}, false
	}
	p.i += size
	return t, true
}
