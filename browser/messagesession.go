package browser

import (
	"bytes"
	"encoding/json"
	"io"
)

// Envelope scans the message, once for as long as it is not changed.
func (m *Message) Envelope() (Envelope, error) {
	if m.env != nil {
		return *m.env, nil
	}
	var env Envelope
	var err error
	if m.file == nil {
		env, err = Scan(m.b)
	} else {
		env, err = ScanReader(m.reader())
	}
	if err == nil {
		m.env = &env
	}
	return env, err
}

var sessionMember = []byte(`,"sessionId":`)

// SessionOfTail returns the session of a message from its last bytes. Chrome
// writes the top-level sessionId last, so that nothing before it needs a look:
// a quote that ends right before the last brace belongs to the top level, and
// the quotes of the name cannot stand inside a string.
func SessionOfTail(tail []byte) (string, bool) {
	id, ok := sessionSuffix(tail)
	return string(id), ok
}

func sessionSuffix(tail []byte) ([]byte, bool) {
	rest, ok := bytes.CutSuffix(tail, []byte(`"}`))
	if !ok {
		return nil, false
	}
	quote := bytes.LastIndexByte(rest, '"')
	if quote < 0 {
		return nil, false
	}
	id := rest[quote+1:]
	if len(id) == 0 || bytes.IndexByte(id, '\\') >= 0 || !bytes.HasSuffix(rest[:quote], sessionMember) {
		return nil, false
	}
	return id, true
}

// StripSession takes the top-level sessionId out of m and leaves every other
// byte as it is. It returns m.
func StripSession(m *Message) *Message {
	if id, ok := sessionSuffix(m.Tail()); ok {
		brace := m.Len() - 1
		m.replace(brace-int64(len(sessionMember)+len(id)+2), brace, "")
		return m
	}
	if env, err := m.Envelope(); err == nil {
		m.dropSession(env)
	}
	return m
}

// dropSession takes the member out. Where a spooled message cannot be read any
// more, writing it reports that.
func (m *Message) dropSession(env Envelope) {
	if env.session != (Span{}) {
		m.replace(env.session.From, env.session.To, "")
	}
}

// SpliceSession gives m a top-level sessionId, as its last member, and leaves
// every other byte as it is; one that m has is taken out first. It returns m,
// unchanged when it is no JSON object.
func SpliceSession(m *Message, session string) *Message {
	env, err := m.Envelope()
	if err != nil {
		return m
	}
	m.dropSession(env)
	brace := m.lastBefore(m.Len())
	before := m.lastBefore(brace)
	if before < 0 {
		return m
	}
	member := make([]byte, 0, 64)
	if m.at(before) != '{' {
		member = append(member, ',')
	}
	member = append(member, sessionMember[1:]...)
	if member, err = appendSession(member, session); err != nil {
		return m
	}
	m.replace(brace, brace, string(member))
	return m
}

// appendSession adds a session id as a JSON string. Chrome's are hexadecimal,
// and every command gets one: those skip the encoder.
func appendSession(b []byte, session string) ([]byte, error) {
	for i := range len(session) {
		c := session[i]
		if (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') {
			quoted, err := json.Marshal(session)
			return append(b, quoted...), err
		}
	}
	return append(append(append(b, '"'), session...), '"'), nil
}

// at returns the byte at a position, 0 where it cannot be read.
func (m *Message) at(i int64) byte {
	if m.file == nil {
		return m.b[i]
	}
	var c [1]byte
	m.ReadAt(c[:], i)
	return c[0]
}

// lastBefore returns the position of the last byte before end that is not white
// space, -1 when there is none.
func (m *Message) lastBefore(end int64) int64 {
	if m.file == nil {
		for i := end - 1; i >= 0; i-- {
			switch m.b[i] {
			case ' ', '\t', '\n', '\r':
			default:
				return i
			}
		}
		return -1
	}
	var block [512]byte
	for end > 0 {
		from := max(0, end-int64(len(block)))
		b := block[:end-from]
		if n, _ := m.ReadAt(b, from); n < len(b) {
			return -1
		}
		for i := len(b) - 1; i >= 0; i-- {
			switch b[i] {
			case ' ', '\t', '\n', '\r':
			default:
				return from + int64(i)
			}
		}
		end = from
	}
	return -1
}

// params returns the parameters of a command, nil when it has none. Of a spooled
// message it returns a copy that says the same in less: without white space
// between values, and with every string cut after 64 KiB.
func (m *Message) params(env Envelope) []byte {
	if m.file == nil {
		return env.ParamsOf(m.b)
	}
	if env.Params == (Span{}) {
		return nil
	}
	s := scanner{r: io.NewSectionReader(m, env.Params.From, env.Params.To-env.Params.From), keepMax: shortMax}
	return s.shorten()
}
