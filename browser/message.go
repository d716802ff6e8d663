package browser

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
)

const (
	// memoryMax is the largest message kept in memory. Screenshots and snapshots
	// of ordinary pages stay below it; what is larger is rare and goes to a file.
	memoryMax = 1 << 20

	headMax = 64 << 10
	tailMax = 1 << 10
)

// Message is one CDP message, owned by one goroutine at a time. Up to 1 MiB it
// is in memory; a larger one lies in a file that no longer has a name, so that
// memory stays bounded whatever clients and pages send.
//
// Whoever holds a message last calls Release. Slices that Bytes, Head and Tail
// return are valid until the message is changed.
type Message struct {
	b []byte // the text, unless file is set

	file   *os.File
	name   string  // of file where it could not be unlinked while open
	pieces []piece // what of file and of inserted text makes the message, in order
	n      int64   // length of all pieces
	head   []byte
	tail   []byte

	env *Envelope // as last scanned; nil when unknown
}

// piece is a part of a spooled message: literal text, or a range of the file.
type piece struct {
	lit      []byte
	from, to int64
}

func (p piece) len() int64 {
	if p.lit != nil {
		return int64(len(p.lit))
	}
	return p.to - p.from
}

// NewMessage makes a message of b and keeps it.
func NewMessage(b []byte) *Message { return &Message{b: b} }

// ReadDelimited reads one message that ends with a zero byte, which is not part
// of it. Large messages are spooled in dir ("" is the system's temporary
// folder). The error is io.EOF only between messages.
func ReadDelimited(br *bufio.Reader, dir string) (*Message, error) {
	s := newSink(dir)
	for {
		part, err := br.ReadSlice(0)
		if err == nil {
			part = part[:len(part)-1]
		}
		if werr := s.write(part); werr != nil {
			s.drop()
			return nil, werr
		}
		switch {
		case err == nil:
			return s.message()
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && s.n > 0:
			err = io.ErrUnexpectedEOF
		}
		s.drop()
		return nil, err
	}
}

// ErrTooLarge is returned for a message above the limit of its reader.
var ErrTooLarge = errors.New("message too large")

// ReadAll reads r to its end as one message. limit is in bytes; 0 or less means
// none. Large messages are spooled in dir ("" is the system's temporary folder).
func ReadAll(r io.Reader, dir string, limit int64) (*Message, error) {
	s := newSink(dir)
	for {
		room, err := s.room()
		if err != nil {
			s.drop()
			return nil, err
		}
		n, err := r.Read(room)
		s.n += int64(n)
		s.b = s.b[:len(s.b)+n]
		if limit > 0 && s.n > limit {
			s.drop()
			return nil, fmt.Errorf("%w: more than %d bytes", ErrTooLarge, limit)
		}
		if err == io.EOF {
			return s.message()
		}
		if err != nil {
			s.drop()
			return nil, err
		}
	}
}

// Len is the length in bytes.
func (m *Message) Len() int64 {
	if m.file != nil {
		return m.n
	}
	return int64(len(m.b))
}

// Bytes returns the whole message if it is in memory.
func (m *Message) Bytes() ([]byte, bool) {
	if m.file != nil {
		return nil, false
	}
	return m.b, true
}

// Head returns the first 64 KiB at most.
func (m *Message) Head() []byte {
	if m.file != nil {
		return m.head
	}
	return m.b[:min(len(m.b), headMax)]
}

// Tail returns the last 1 KiB at most.
func (m *Message) Tail() []byte {
	if m.file != nil {
		return m.tail
	}
	return m.b[max(0, len(m.b)-tailMax):]
}

// Release gives the file of the message back. Calling it again,
// or on nil, does nothing.
func (m *Message) Release() {
	if m == nil {
		return
	}
	if m.file != nil {
		m.file.Close()
		if m.name != "" {
			os.Remove(m.name)
		}
	}
	*m = Message{}
}

// WriteTo writes the message. It may be called again.
func (m *Message) WriteTo(w io.Writer) (int64, error) {
	if m.file == nil {
		n, err := w.Write(m.b)
		return int64(n), err
	}
	var total int64
	for _, p := range m.pieces {
		n, err := m.writePiece(w, p)
		total += n
		if err != nil {
			return total, err
		}
	}
	return total, nil
}

func (m *Message) writePiece(w io.Writer, p piece) (int64, error) {
	if p.lit != nil {
		n, err := w.Write(p.lit)
		return int64(n), err
	}
	// Seeking instead of ReadAt lets a TCP connection take the bytes from the
	// file without copying them through this process.
	if _, err := m.file.Seek(p.from, io.SeekStart); err != nil {
		return 0, fmt.Errorf("reading a spooled message: %w", err)
	}
	n, err := io.CopyN(w, m.file, p.len())
	if err == io.EOF {
		err = fmt.Errorf("reading a spooled message: %w", io.ErrUnexpectedEOF)
	}
	return n, err
}

// WriteDelimited writes the message and the zero byte that ends it on the pipe;
// a message in memory in one call.
func (m *Message) WriteDelimited(w io.Writer) error {
	if m.file == nil {
		m.b = append(m.b, 0)
		_, err := w.Write(m.b)
		m.b = m.b[:len(m.b)-1]
		return err
	}
	if _, err := m.WriteTo(w); err != nil {
		return err
	}
	_, err := w.Write([]byte{0})
	return err
}

// reader returns a reader of the message that does not disturb WriteTo.
func (m *Message) reader() io.Reader { return io.NewSectionReader(m, 0, m.Len()) }

// ReadAt reads from the message at off, as io.ReaderAt.
func (m *Message) ReadAt(p []byte, off int64) (int, error) {
	if m.file == nil {
		if off >= int64(len(m.b)) {
			return 0, io.EOF
		}
		n := copy(p, m.b[off:])
		if n < len(p) {
			return n, io.EOF
		}
		return n, nil
	}
	total := 0
	for _, pc := range m.pieces {
		size := pc.len()
		if off >= size {
			off -= size
			continue
		}
		want := int(min(int64(len(p)-total), size-off))
		if pc.lit != nil {
			copy(p[total:], pc.lit[off:int(off)+want])
		} else if n, err := m.file.ReadAt(p[total:total+want], pc.from+off); n < want {
			return total + n, fmt.Errorf("reading a spooled message: %w", err)
		}
		total += want
		off = 0
		if total == len(p) {
			return total, nil
		}
	}
	return total, io.EOF
}

// span reads a part of the message: in memory without copying.
func (m *Message) span(s Span) ([]byte, error) {
	if m.file == nil {
		return m.b[s.From:s.To], nil
	}
	b := make([]byte, s.To-s.From)
	if n, err := m.ReadAt(b, s.From); n < len(b) {
		return nil, err
	}
	return b, nil
}

// all returns the whole message, reading it into memory if it is spooled.
func (m *Message) all() ([]byte, error) { return m.span(Span{0, m.Len()}) }

// replace puts lit in the place of the bytes from, to.
func (m *Message) replace(from, to int64, lit string) error {
	m.env = nil
	if m.file == nil {
		rest := int(to)
		grow := len(lit) - int(to-from)
		old := len(m.b)
		if grow > 0 {
			m.b = append(m.b, lit[:grow]...) // only to get the room
		}
		copy(m.b[rest+grow:], m.b[rest:old])
		copy(m.b[from:], lit)
		m.b = m.b[:old+grow]
		return nil
	}
	var out []piece
	var at int64
	put := func(p piece) {
		if p.len() > 0 {
			out = append(out, p)
		}
	}
	placed := false
	for _, p := range m.pieces {
		size := p.len()
		put(p.slice(0, min(size, from-at)))
		if at+size >= from && !placed {
			put(piece{lit: []byte(lit)})
			placed = true
		}
		put(p.slice(max(0, to-at), size))
		at += size
	}
	m.pieces = out
	m.n += int64(len(lit)) - (to - from)
	return m.edges()
}

// slice returns the part of p from a to b, empty when there is none.
func (p piece) slice(a, b int64) piece {
	if a >= b {
		return piece{}
	}
	if p.lit != nil {
		return piece{lit: p.lit[a:b]}
	}
	return piece{from: p.from + a, to: p.from + b}
}

// edges reads head and tail of a spooled message.
func (m *Message) edges() error {
	m.head = make([]byte, min(m.n, headMax))
	if n, err := m.ReadAt(m.head, 0); n < len(m.head) {
		return err
	}
	m.tail = make([]byte, min(m.n, tailMax))
	if n, err := m.ReadAt(m.tail, m.n-int64(len(m.tail))); n < len(m.tail) {
		return err
	}
	return nil
}
