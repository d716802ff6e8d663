package browser

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"unicode/utf8"
)

// Span is a range of bytes in a message, From included, To not. The zero value
// means that there is none.
type Span struct{ From, To int64 }

// Of returns the range of b.
func (s Span) Of(b []byte) []byte { return b[s.From:s.To] }

// Envelope is the top level of a CDP message: what it takes to route it.
type Envelope struct {
	ID        int64
	HasID     bool
	Method    string
	SessionID string

	Params, Result, Error Span // the values, without the white space around them

	session Span // the whole "sessionId" member and one comma beside it
}

// ParamsOf returns the parameters in b, the message the envelope is of; nil when
// it has none.
func (e Envelope) ParamsOf(b []byte) []byte {
	if e.Params == (Span{}) {
		return nil
	}
	return e.Params.Of(b)
}

// ScanError is a message that is not to be passed on: Chrome could not read it,
// or could read something else in it than the governor does. The Envelope
// beside the error holds what was read, so that an answer reaches who asked.
type ScanError struct {
	Offset  int64
	Problem string
}

func (e *ScanError) Error() string { return fmt.Sprintf("%s at byte %d", e.Problem, e.Offset) }

// keptMax is the longest method or session id, in bytes as written. Chrome's are
// below 100.
const keptMax = 4 << 10

// Scan reads the top level of b in one pass. Values are passed over: of nested
// ones only brackets and strings are looked at. The strings of the result are
// copies.
//
// Where JSON readers differ, Scan refuses: duplicate members, comments (Chrome
// skips them), bytes that are not UTF-8 (Chrome drops some of them, so that two
// spellings become one name) and zero bytes (they end a message on the pipe).
func Scan(b []byte) (Envelope, error) {
	s := scanner{buf: b}
	if i := bytes.IndexByte(b, 0); i >= 0 {
		s.fail(int64(i), "zero byte")
	} else if !utf8.Valid(b) {
		s.fail(int64(invalidUTF8(b)), "text that is not UTF-8")
	}
	return s.scan()
}

// ScanReader is Scan for a message too large for memory.
func ScanReader(r io.Reader) (Envelope, error) {
	s := scanner{r: r}
	env, err := s.scan()
	if s.readErr != nil {
		err = fmt.Errorf("reading a message: %w", s.readErr)
	}
	return env, err
}

// invalidUTF8 returns where b stops being UTF-8; len(b) when it does not.
func invalidUTF8(b []byte) int {
	for i := 0; i < len(b); {
		r, size := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return len(b)
}

// scan reads the object. The first problem is the one reported; those that
// leave the structure readable do not stop it, for the sake of the answer.
func (s *scanner) scan() (Envelope, error) {
	var env Envelope
	s.object(&env)
	for s.more() { // what is wrong further on counts, too
	}
	if s.problem != "" {
		return env, &ScanError{Offset: s.problemAt, Problem: s.problem}
	}
	return env, nil
}

// Members that may stand once only, as bits.
const (
	memberID = 1 << iota
	memberMethod
	memberSession
	memberParams
	memberResult
	memberError
)

var memberNames = map[int]string{
	memberID: "id", memberMethod: "method", memberSession: "sessionId",
	memberParams: "params", memberResult: "result", memberError: "error",
}

// memberBit returns the bit of a known member's name, 0 for others.
func memberBit(name []byte) int {
	switch string(name) {
	case "id":
		return memberID
	case "method":
		return memberMethod
	case "sessionId":
		return memberSession
	case "params":
		return memberParams
	case "result":
		return memberResult
	case "error":
		return memberError
	}
	return 0
}

func (s *scanner) object(env *Envelope) {
	if c, ok := s.next(); !ok || c != '{' {
		s.failHere("no JSON object")
		return
	}
	s.pos++
	c, ok := s.next()
	if ok && c == '}' {
		s.pos++
		s.end()
		return
	}
	seen := 0
	comma := int64(-1) // of the member being read
	for {
		if c, ok = s.next(); !ok || c != '"' {
			s.failHere("no member name")
			return
		}
		from := s.offset()
		name, ok := s.text()
		if !ok {
			return
		}
		bit := memberBit(name)
		if c, ok = s.next(); !ok || c != ':' {
			s.failHere("no colon")
			return
		}
		s.pos++
		if !s.member(bit, env) {
			return
		}
		if seen&bit != 0 {
			s.fail(from, "duplicate "+strconv.Quote(memberNames[bit]))
		}
		seen |= bit
		to := s.offset()
		c, ok = s.next()
		if bit == memberSession {
			switch {
			case comma >= 0:
				env.session = Span{comma, to}
			case ok && c == ',':
				env.session = Span{from, s.offset() + 1}
			default:
				env.session = Span{from, to}
			}
		}
		switch {
		case ok && c == ',':
			comma = s.offset()
			s.pos++
		case ok && c == '}':
			s.pos++
			s.end()
			return
		default:
			s.failHere("no comma or brace behind a member")
			return
		}
	}
}

// end makes sure that nothing follows the object.
func (s *scanner) end() {
	if _, ok := s.next(); ok {
		s.failHere("more than one JSON value")
	}
}

// member reads the value of a member into env.
func (s *scanner) member(bit int, env *Envelope) bool {
	c, ok := s.next()
	if !ok {
		s.failHere("no value")
		return false
	}
	from := s.offset()
	switch bit {
	case memberID:
		return s.id(c, env)
	case memberMethod:
		return s.stringMember(c, bit, &env.Method)
	case memberSession:
		return s.stringMember(c, bit, &env.SessionID)
	}
	ok = s.value(c)
	span := Span{from, s.offset()}
	switch bit {
	case memberParams:
		env.Params = span
	case memberResult:
		env.Result = span
	case memberError:
		env.Error = span
	}
	return ok
}

func (s *scanner) stringMember(c byte, bit int, to *string) bool {
	if c != '"' {
		s.failHere(strconv.Quote(memberNames[bit]) + " that is not a string")
		return s.value(c)
	}
	text, ok := s.text()
	if *to == "" { // the first of two is the one to answer
		*to = string(text)
	}
	return ok
}

// id reads a command's number. Chrome takes every spelling of a whole number
// that fits 32 bits, 1.0 and 1e2 included.
func (s *scanner) id(c byte, env *Envelope) bool {
	const problem = `"id" that is not a whole number of 32 bits`
	from := s.offset()
	if c == '"' || c == '{' || c == '[' {
		s.fail(from, problem)
		return s.value(c)
	}
	raw, ok := s.scalar()
	if !ok {
		return false
	}
	n, plain := digits(raw)
	if !plain {
		f, err := strconv.ParseFloat(string(raw), 64)
		if err != nil || f != math.Trunc(f) || f < math.MinInt32 || f > math.MaxInt32 {
			s.fail(from, problem)
			return true
		}
		n = int64(f)
	}
	if !env.HasID {
		env.ID, env.HasID = n, true
	}
	return true
}

// digits reads a number of up to nine digits.
func digits(b []byte) (n int64, ok bool) {
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	return n, len(b) > 0 && len(b) < 10
}

// text reads a string and resolves its escapes. The bytes are valid until the
// scanner goes on. A text longer than keptMax is no name that matters.
func (s *scanner) text() ([]byte, bool) {
	from := s.offset()
	raw, whole, ok := s.str(true)
	if !ok {
		return nil, false
	}
	if !whole || len(raw) > keptMax {
		s.fail(from, "name too long")
		return nil, true
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw, true
	}
	quoted := append(append([]byte{'"'}, raw...), '"')
	var text string
	if err := json.Unmarshal(quoted, &text); err != nil {
		s.fail(from, "unknown escape in a name")
	}
	return []byte(text), true
}
