package browser

import (
	"bytes"
	"encoding/json"
	"io"
	"unicode/utf8"
)

// scanner passes over JSON, in memory or as it is read. It holds one window of
// the input at a time.
type scanner struct {
	r    io.Reader // nil: buf is everything
	buf  []byte    // the window
	pos  int       // next byte, in buf
	base int64     // offset of buf[0]

	win  []byte // memory of the window when reading
	torn []byte // start of a rune that the window before cut, for checking UTF-8
	keep []byte // a kept string that reaches over windows

	keepMax int // how much of such a string is kept; 0 is keptMax

	readErr   error
	problem   string
	problemAt int64
}

func (s *scanner) offset() int64 { return s.base + int64(s.pos) }

func (s *scanner) fail(at int64, problem string) {
	if s.problem == "" {
		s.problem, s.problemAt = problem, at
	}
}

func (s *scanner) failHere(problem string) { s.fail(s.offset(), problem) }

// more moves on to the next window. Slices of the last one are void then.
func (s *scanner) more() bool {
	if s.r == nil {
		if len(s.torn) > 0 {
			s.fail(s.base+int64(len(s.buf)-len(s.torn)), "text that is not UTF-8")
		}
		return false
	}
	if s.win == nil {
		s.win = make([]byte, 64<<10)
	}
	s.base += int64(len(s.buf))
	s.buf, s.pos = nil, 0
	for {
		n, err := s.r.Read(s.win)
		if err != nil {
			s.r = nil
			if err != io.EOF {
				s.readErr = err
			}
		}
		if n > 0 {
			s.buf = s.win[:n]
			s.check()
			return true
		}
		if err != nil {
			return s.more()
		}
	}
}

// check looks for bytes in the new window that no message may hold.
func (s *scanner) check() {
	if i := bytes.IndexByte(s.buf, 0); i >= 0 {
		s.fail(s.base+int64(i), "zero byte")
	}
	b := s.buf
	if len(s.torn) > 0 {
		had := len(s.torn)
		s.torn = append(s.torn, b[:min(len(b), utf8.UTFMax-had)]...)
		if !utf8.FullRune(s.torn) {
			return
		}
		r, size := utf8.DecodeRune(s.torn)
		if r == utf8.RuneError && size == 1 {
			s.fail(s.base-int64(had), "text that is not UTF-8")
			size = had
		}
		b = b[size-had:]
		s.torn = s.torn[:0]
	}
	if !utf8.Valid(b) {
		i := invalidUTF8(b)
		if !utf8.FullRune(b[i:]) {
			s.torn = append(s.torn, b[i:]...)
			return
		}
		s.fail(s.base+int64(len(s.buf)-len(b)+i), "text that is not UTF-8")
	}
}

// next returns the next byte that is not white space, without taking it.
func (s *scanner) next() (byte, bool) {
	for {
		for ; s.pos < len(s.buf); s.pos++ {
			switch c := s.buf[s.pos]; c {
			case ' ', '\t', '\n', '\r':
			default:
				return c, true
			}
		}
		if !s.more() {
			return 0, false
		}
	}
}

// value passes over the value that starts with c.
func (s *scanner) value(c byte) bool {
	switch c {
	case '"':
		_, _, ok := s.str(false)
		return ok
	case '{', '[':
		return s.nested()
	}
	_, ok := s.scalar()
	return ok
}

// str passes over the string whose opening quote is next. With keep it returns
// what stands between the quotes, unless that is long and reaches over windows;
// then whole is false.
//
// Quotes and backslashes are looked for with bytes.IndexByte, because long
// strings (pictures in base64) are most of the bytes of large messages.
func (s *scanner) str(keep bool) (raw []byte, whole, ok bool) {
	from := s.offset()
	s.pos++
	start := s.pos
	s.keep = s.keep[:0]
	whole = true
	for {
		quote := indexFrom(s.buf, s.pos, '"')
		for s.pos < quote {
			i := bytes.IndexByte(s.buf[s.pos:quote], '\\')
			if i < 0 {
				break
			}
			s.pos += i + 2
			if s.pos > quote && quote < len(s.buf) { // the quote was the escaped one
				quote = indexFrom(s.buf, s.pos, '"')
			}
		}
		if quote < len(s.buf) {
			raw = s.buf[start:quote]
			if len(s.keep) > 0 {
				s.keep = append(s.keep, raw...)
				raw = s.keep
			}
			s.pos = quote + 1
			return raw, whole, true
		}
		over := max(s.pos-len(s.buf), 0) // 1 when the window ends behind a backslash
		if keep && whole && s.r != nil {
			s.keep = append(s.keep, s.buf[start:]...)
			whole = len(s.keep) <= max(s.keepMax, keptMax)
		}
		if !s.more() {
			s.fail(from, "string without an end")
			return nil, false, false
		}
		s.pos, start = over, 0
	}
}

// indexFrom is bytes.IndexByte from i on; len(b) when c is not there.
func indexFrom(b []byte, i int, c byte) int {
	if n := bytes.IndexByte(b[i:], c); n >= 0 {
		return i + n
	}
	return len(b)
}

// structural marks the bytes that nested has to look at.
var structural = [256]bool{'{': true, '}': true, '[': true, ']': true, '"': true, '/': true}

// depthMax is how deep objects and arrays may lie in each other in a member of a
// message, the member's own value included. Chromium 156 reads this much and
// drops what is deeper without an answer, which leaves its sender waiting.
const depthMax = 299

// nested passes over the object or array that is next. It counts brackets
// instead of calling itself, so that depth costs no stack.
func (s *scanner) nested() bool {
	from := s.offset()
	depth := 0
	for {
		b, i := s.buf, s.pos
		for i < len(b) && !structural[b[i]] {
			i++
		}
		if s.pos = i; i == len(b) {
			if !s.more() {
				s.fail(from, "value without an end")
				return false
			}
			continue
		}
		switch b[i] {
		case '"':
			if _, _, ok := s.str(false); !ok {
				return false
			}
			continue
		case '/':
			s.failHere("comment")
			return false
		case '{', '[':
			if depth++; depth > depthMax {
				s.failHere("values nested too deep")
			}
		default:
			if depth--; depth == 0 {
				s.pos++
				return true
			}
		}
		s.pos++
	}
}

// scalarMax is the longest number that is read.
const scalarMax = 256

// scalar reads a number, true, false or null. The bytes are valid until the
// scanner goes on.
func (s *scanner) scalar() ([]byte, bool) {
	from := s.offset()
	s.keep = s.keep[:0]
	for {
		i := s.pos
		for i < len(s.buf) && !endsScalar(s.buf[i]) {
			i++
		}
		part := s.buf[s.pos:i]
		s.pos = i
		if i < len(s.buf) || s.r == nil {
			if len(s.keep) > 0 {
				part = append(s.keep, part...)
			}
			return s.checked(from, part)
		}
		s.keep = append(s.keep, part...)
		if len(s.keep) > scalarMax || !s.more() {
			return s.checked(from, s.keep)
		}
	}
}

func (s *scanner) checked(from int64, raw []byte) ([]byte, bool) {
	if len(raw) > scalarMax {
		s.fail(from, "number too long")
		return nil, false
	}
	if _, plain := digits(raw); plain && (raw[0] != '0' || len(raw) == 1) {
		return raw, true
	}
	if !json.Valid(raw) {
		s.fail(from, "no JSON value")
		return nil, false
	}
	return raw, true
}

func endsScalar(c byte) bool {
	switch c {
	case ',', '}', ']', '{', '[', '"', ':', '/', ' ', '\t', '\n', '\r':
		return true
	}
	return false
}
