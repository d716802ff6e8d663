package browser

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
)

// Envelope is the outside of a CDP message: what its top level says.
type Envelope struct {
	ID        int64
	HasID     bool
	Method    string
	SessionID string

	paramsFrom, paramsTo   int // of the params value
	sessionFrom, sessionTo int // of the sessionId field with one comma beside it
}

// ParamsOf returns the parameters inside b, the message the envelope is of; nil
// when it has none.
func (e Envelope) ParamsOf(b []byte) []byte {
	if e.paramsTo == 0 {
		return nil
	}
	return b[e.paramsFrom:e.paramsTo]
}

var (
	errNotObject = errors.New("the message is not a JSON object")
	errBadID     = errors.New("the message's id is not an integer between 0 and 2147483647")
)

// Scan reads the top level of a message in one pass, without looking into
// values. What it has read before an error stands in the envelope, so that an
// answer can name the id.
func Scan(b []byte) (Envelope, error) {
	var e Envelope
	i := blanks(b, 0)
	if i >= len(b) || b[i] != '{' {
		return e, errNotObject
	}
	i = blanks(b, i+1)
	if i < len(b) && b[i] == '}' {
		return e, e.end(b, i)
	}
	comma := -1 // the comma before the field
	for {
		fieldFrom := i
		keyEnd := stringEnd(b, i)
		if keyEnd < 0 {
			return e, broken(b, i)
		}
		key := b[i+1 : keyEnd-1]
		i = blanks(b, keyEnd)
		if i >= len(b) || b[i] != ':' {
			return e, broken(b, i)
		}
		from := blanks(b, i+1)
		to := valueEnd(b, from)
		if to < 0 {
			return e, broken(b, from)
		}
		if err := e.field(key, b, from, to); err != nil {
			return e, err
		}
		i = blanks(b, to)
		more := i < len(b) && b[i] == ','
		if string(key) == "sessionId" {
			e.sessionFrom, e.sessionTo = fieldFrom, to
			switch {
			case comma >= 0:
				e.sessionFrom = comma
			case more:
				e.sessionTo = blanks(b, i+1)
			}
		}
		if !more {
			if i >= len(b) || b[i] != '}' {
				return e, broken(b, i)
			}
			return e, e.end(b, i)
		}
		comma = i
		i = blanks(b, i+1)
	}
}

// end checks that nothing follows the object.
func (e *Envelope) end(b []byte, i int) error {
	if i = blanks(b, i+1); i != len(b) {
		return broken(b, i)
	}
	return nil
}

func broken(b []byte, at int) error {
	return fmt.Errorf("the message is not valid JSON at byte %d of %d", min(at, len(b)), len(b))
}

func (e *Envelope) field(key, b []byte, from, to int) error {
	value := b[from:to]
	switch string(key) {
	case "id":
		if e.HasID {
			return errors.New("the message has two ids")
		}
		n, err := strconv.ParseInt(string(value), 10, 64)
		if err != nil || n < 0 || n > math.MaxInt32 {
			return errBadID
		}
		e.ID, e.HasID = n, true
	case "method":
		return stringField(&e.Method, value, "method")
	case "sessionId":
		return stringField(&e.SessionID, value, "sessionId")
	case "params":
		if e.paramsTo != 0 {
			return errors.New("the message has two params")
		}
		e.paramsFrom, e.paramsTo = from, to
	}
	return nil
}

func stringField(dst *string, value []byte, name string) error {
	if *dst != "" {
		return fmt.Errorf("the message has two fields %s", name)
	}
	if value[0] != '"' {
		return fmt.Errorf("the message's %s is not a string", name)
	}
	if bytes.IndexByte(value, '\\') < 0 {
		*dst = string(value[1 : len(value)-1])
		return nil
	}
	if err := json.Unmarshal(value, dst); err != nil {
		return fmt.Errorf("the message's %s: %w", name, err)
	}
	return nil
}

func blanks(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\n' || b[i] == '\r') {
		i++
	}
	return i
}

// stringEnd returns the index behind the string that starts at i, or -1.
func stringEnd(b []byte, i int) int {
	if i >= len(b) || b[i] != '"' {
		return -1
	}
	for i++; i < len(b); i++ {
		j := bytes.IndexByte(b[i:], '"')
		if j < 0 {
			return -1
		}
		k := bytes.IndexByte(b[i:i+j], '\\')
		if k < 0 {
			return i + j + 1
		}
		i += k + 1 // the escaped byte is skipped by the loop
	}
	return -1
}

// valueEnd returns the index behind the value that starts at i, or -1. Inside
// arrays and objects only strings and brackets are looked at.
func valueEnd(b []byte, i int) int {
	if i >= len(b) {
		return -1
	}
	switch b[i] {
	case '"':
		return stringEnd(b, i)
	case '{', '[':
		return nestedEnd(b, i)
	}
	from := i
	for i < len(b) && b[i] != ',' && b[i] != '}' && b[i] != ']' && b[i] > ' ' {
		i++
	}
	if !json.Valid(b[from:i]) {
		return -1
	}
	return i
}

func nestedEnd(b []byte, i int) int {
	var open []byte
	for i < len(b) {
		switch c := b[i]; c {
		case '"':
			if i = stringEnd(b, i); i < 0 {
				return -1
			}
			continue
		case '{', '[':
			open = append(open, c+2) // the matching bracket in ASCII
		case '}', ']':
			if open[len(open)-1] != c {
				return -1
			}
			if open = open[:len(open)-1]; len(open) == 0 {
				return i + 1
			}
		}
		i++
	}
	return -1
}

// ScanReader reads the top level of a large message from a stream, keeping only
// what an envelope holds. It has no params.
func ScanReader(r io.Reader) (Envelope, error) {
	var e Envelope
	s := &streamScanner{br: bufio.NewReaderSize(r, 64<<10)}
	if c, err := s.next(); err != nil || c != '{' {
		return e, errNotObject
	}
	comma := int64(-1)
	for first := true; ; first = false {
		c, err := s.next()
		if err != nil {
			return e, s.broken()
		}
		if first && c == '}' {
			return e, nil
		}
		fieldFrom := s.at - 1
		key, err := s.str(c, 64)
		if err != nil {
			return e, err
		}
		if c, err = s.next(); err != nil || c != ':' {
			return e, s.broken()
		}
		value, err := s.value()
		if err != nil {
			return e, err
		}
		to := s.at
		if string(key) != "params" {
			if err := e.field(key, value, 0, len(value)); err != nil {
				return e, err
			}
		}
		c, err = s.next()
		if err != nil {
			return e, s.broken()
		}
		if string(key) == "sessionId" {
			e.sessionFrom, e.sessionTo = int(fieldFrom), int(to)
			switch {
			case comma >= 0:
				e.sessionFrom = int(comma)
			case c == ',':
				e.sessionTo = int(s.at)
			}
		}
		switch c {
		case '}':
			return e, nil
		case ',':
			comma = s.at - 1
		default:
			return e, s.broken()
		}
	}
}

type streamScanner struct {
	br *bufio.Reader
	at int64
}

func (s *streamScanner) broken() error {
	return fmt.Errorf("the message is not valid JSON at byte %d", s.at)
}

func (s *streamScanner) byte() (byte, error) {
	c, err := s.br.ReadByte()
	if err == nil {
		s.at++
	}
	return c, err
}

// next returns the next byte that is not blank.
func (s *streamScanner) next() (byte, error) {
	for {
		c, err := s.byte()
		if err != nil || (c != ' ' && c != '\t' && c != '\n' && c != '\r') {
			return c, err
		}
	}
}

// str reads a string whose opening quote is c, keeping at most limit bytes.
func (s *streamScanner) str(c byte, limit int) ([]byte, error) {
	if c != '"' {
		return nil, s.broken()
	}
	var out []byte
	for {
		c, err := s.byte()
		if err != nil {
			return nil, s.broken()
		}
		if c == '"' {
			return out, nil
		}
		if len(out) < limit {
			out = append(out, c)
		}
		if c == '\\' {
			if c, err = s.byte(); err != nil {
				return nil, s.broken()
			}
			if len(out) < limit {
				out = append(out, c)
			}
		}
	}
}

// value reads a value. Scalars are returned as they stand, of longer strings the
// beginning; arrays and objects are skipped.
func (s *streamScanner) value() ([]byte, error) {
	c, err := s.next()
	if err != nil {
		return nil, s.broken()
	}
	switch c {
	case '"':
		body, err := s.str(c, 1024)
		return append(append([]byte{'"'}, body...), '"'), err
	case '{', '[':
		return []byte("null"), s.skip()
	}
	out := []byte{c}
	for {
		c, err := s.byte()
		if err != nil {
			return nil, s.broken()
		}
		if c == ',' || c == '}' || c <= ' ' {
			s.at--
			s.br.UnreadByte()
			return out, nil
		}
		if len(out) < 64 {
			out = append(out, c)
		}
	}
}

// skip reads to the end of the array or object that was just opened.
func (s *streamScanner) skip() error {
	for depth := 1; depth > 0; {
		c, err := s.byte()
		if err != nil {
			return s.broken()
		}
		switch c {
		case '"':
			if _, err := s.str(c, 0); err != nil {
				return err
			}
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
	}
	return nil
}

// SessionOfTail returns the session of a message from Chrome by its end. Chrome
// writes the top-level sessionId last, and only a top-level field can stand
// directly before the last bracket.
func SessionOfTail(tail []byte) (string, bool) {
	rest, ok := bytes.CutSuffix(tail, []byte(`"}`))
	if !ok {
		return "", false
	}
	i := bytes.LastIndexByte(rest, '"')
	if i < 0 {
		return "", false
	}
	if !bytes.HasSuffix(rest[:i], []byte(`,"sessionId":`)) {
		return "", false
	}
	return string(rest[i+1:]), true
}

// StripSession takes the session, which stands last, out of a message from
// Chrome.
func StripSession(m *Message) *Message {
	id, ok := SessionOfTail(m.Tail())
	if !ok {
		return m
	}
	field := int64(len(`,"sessionId":""`) + len(id))
	if m.plain() {
		m.b = append(m.b[:int64(len(m.b))-field-1], '}')
		m.size = int64(len(m.b))
		return m
	}
	m.cutFrom, m.cutTo = m.size-field-1, m.size-1
	return m
}

// SpliceSession puts a session first into a message that has none.
func SpliceSession(m *Message, session string) *Message {
	head := m.Head()
	at := bytes.IndexByte(head, '{') + 1
	field := `"sessionId":"` + session + `"`
	if next := blanks(head, at); next < len(head) && head[next] != '}' {
		field += ","
	}
	if m.plain() {
		b := make([]byte, 0, len(m.b)+len(field))
		b = append(b, m.b[:at]...)
		b = append(b, field...)
		b = append(b, m.b[at:]...)
		m.b, m.size = b, int64(len(b))
		return m
	}
	m.insertAt, m.insert = int64(at), []byte(field)
	return m
}
