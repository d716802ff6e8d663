package browser

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
)

// inMemory is the largest message that is kept in memory. Larger ones are put
// into a file that has no name any more, so that a 100 MB screenshot costs disk
// and not memory.
const inMemory = 1 << 20

// headLength is how much of a spooled message stays readable at once.
const headLength = 64 << 10

// Message is one CDP message on its way, byte for byte as it was written. It
// has one owner at a time, who calls Release.
type Message struct {
	b    []byte // the whole message; nil when spooled
	file *os.File
	size int64
	head []byte // of a spooled message
	tail []byte // of a spooled message

	// cutFrom and cutTo leave a range out, and insert puts bytes in at
	// insertAt, without the rest being copied or written again.
	cutFrom, cutTo int64
	insertAt       int64
	insert         []byte

	env    Envelope // of Envelope, once asked for
	envErr error
	known  bool
}

// NewMessage takes b as a message.
func NewMessage(b []byte) *Message { return &Message{b: b, size: int64(len(b))} }

// plain reports whether the message is whole in memory and as it came.
func (m *Message) plain() bool { return m.file == nil && m.insert == nil && m.cutTo == 0 }

// Len is the message's length in bytes as it will be written.
func (m *Message) Len() int64 {
	return m.size - (m.cutTo - m.cutFrom) + int64(len(m.insert))
}

// Bytes returns the whole message if it is in memory.
func (m *Message) Bytes() ([]byte, bool) {
	if m.file != nil {
		return nil, false
	}
	if m.plain() {
		return m.b, true
	}
	var buf bytes.Buffer
	buf.Grow(int(m.Len()))
	m.WriteTo(&buf)
	return buf.Bytes(), true
}

// all returns the whole message, reading it from its file if it must.
func (m *Message) all() ([]byte, error) {
	if b, ok := m.Bytes(); ok {
		return b, nil
	}
	var buf bytes.Buffer
	buf.Grow(int(m.Len()))
	if _, err := m.WriteTo(&buf); err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}

// Head returns the beginning of the message as it came, at most 64 KiB of a
// spooled one.
func (m *Message) Head() []byte {
	if m.file == nil {
		return m.b
	}
	return m.head
}

// Tail returns the end of the message as it came.
func (m *Message) Tail() []byte {
	if m.file == nil {
		return m.b
	}
	return m.tail
}

// WriteTo writes the message. It can be called again.
func (m *Message) WriteTo(w io.Writer) (int64, error) {
	if m.plain() {
		n, err := w.Write(m.b)
		return int64(n), err
	}
	var total int64
	part := func(from, to int64) error {
		if from >= to {
			return nil
		}
		n, err := m.copyRange(w, from, to)
		total += n
		return err
	}
	write := func(b []byte) error {
		n, err := w.Write(b)
		total += int64(n)
		return err
	}
	cuts := []struct {
		at, skip int64
		put      []byte
	}{{m.insertAt, 0, m.insert}, {m.cutFrom, m.cutTo - m.cutFrom, nil}}
	if cuts[1].at < cuts[0].at {
		cuts[0], cuts[1] = cuts[1], cuts[0]
	}
	var at int64
	for _, c := range cuts {
		if c.skip == 0 && len(c.put) == 0 {
			continue
		}
		if err := part(at, c.at); err != nil {
			return total, err
		}
		if len(c.put) > 0 {
			if err := write(c.put); err != nil {
				return total, err
			}
		}
		at = c.at + c.skip
	}
	return total, part(at, m.size)
}

func (m *Message) copyRange(w io.Writer, from, to int64) (int64, error) {
	if m.file == nil {
		n, err := w.Write(m.b[from:to])
		return int64(n), err
	}
	return io.Copy(w, io.NewSectionReader(m.file, from, to-from))
}

// Release gives up the message.
func (m *Message) Release() {
	if m.file != nil {
		m.file.Close()
		m.file = nil
	}
	m.b = nil
}

// Envelope returns what the message says about itself.
func (m *Message) Envelope() (Envelope, error) {
	if m.known {
		return m.env, m.envErr
	}
	m.known = true
	if m.file == nil {
		m.env, m.envErr = Scan(m.b)
	} else {
		m.env, m.envErr = ScanReader(io.NewSectionReader(m.file, 0, m.size))
	}
	return m.env, m.envErr
}

// params returns the parameters of a command. Of a spooled message it returns
// none: a command of that size is data on its way to a page, not an action.
func (m *Message) params(env Envelope) []byte {
	if m.file != nil {
		return nil
	}
	return env.ParamsOf(m.b)
}

// spool moves what is buffered and the rest of r into a file.
func spool(dir string, first []byte, fill func(w io.Writer) error) (*Message, error) {
	f, err := os.CreateTemp(dir, profilePrefix+"message-")
	if err != nil {
		return nil, fmt.Errorf("making a file for a large message: %w", err)
	}
	os.Remove(f.Name()) // the open file is all that is needed
	fail := func(err error) (*Message, error) {
		f.Close()
		return nil, fmt.Errorf("keeping a large message: %w", err)
	}
	bw := bufio.NewWriterSize(f, 256<<10)
	if _, err := bw.Write(first); err != nil {
		return fail(err)
	}
	if err := fill(bw); err != nil {
		return fail(err)
	}
	if err := bw.Flush(); err != nil {
		return fail(err)
	}
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return fail(err)
	}
	m := &Message{file: f, size: size, head: bytes.Clone(first[:min(len(first), headLength)])}
	m.tail = make([]byte, min(size, 1024))
	if _, err := f.ReadAt(m.tail, size-int64(len(m.tail))); err != nil && err != io.EOF {
		return fail(err)
	}
	return m, nil
}

// ReadDelimited reads one message that ends with a zero byte. A stream that
// ends inside a message is io.ErrUnexpectedEOF.
func ReadDelimited(br *bufio.Reader, dir string) (*Message, error) {
	part, err := br.ReadSlice(0)
	if err == nil {
		return NewMessage(bytes.Clone(part[:len(part)-1])), nil
	}
	buf := bytes.Clone(part)
	for errors.Is(err, bufio.ErrBufferFull) && len(buf) <= inMemory {
		part, err = br.ReadSlice(0)
		buf = append(buf, part...)
	}
	switch {
	case err == nil:
		return NewMessage(buf[:len(buf)-1]), nil
	case !errors.Is(err, bufio.ErrBufferFull):
		if err == io.EOF && len(buf) > 0 {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	return spool(dir, buf, func(w io.Writer) error { return copyToZero(w, br) })
}

// copyToZero copies up to the zero byte that ends a message, which it drops.
func copyToZero(w io.Writer, br *bufio.Reader) error {
	for {
		part, err := br.ReadSlice(0)
		end := err == nil
		if end {
			part = part[:len(part)-1]
		}
		if _, werr := w.Write(part); werr != nil {
			return werr
		}
		switch {
		case end:
			return nil
		case err == io.EOF:
			return io.ErrUnexpectedEOF
		case !errors.Is(err, bufio.ErrBufferFull):
			return err
		}
	}
}

// ErrTooLarge is returned for a message above the limit.
var ErrTooLarge = errors.New("the message is too large")

// ReadAll reads one message up to the end of r. limit is in bytes; 0 means none.
func ReadAll(r io.Reader, dir string, limit int64) (*Message, error) {
	if limit > 0 {
		r = io.LimitReader(r, limit+1)
	}
	buf := make([]byte, 0, 4096)
	for len(buf) <= inMemory {
		if len(buf) == cap(buf) {
			buf = append(buf, 0)[:len(buf)]
		}
		n, err := r.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if err == io.EOF {
			if limit > 0 && int64(len(buf)) > limit {
				return nil, ErrTooLarge
			}
			return NewMessage(buf), nil
		}
		if err != nil {
			return nil, err
		}
	}
	m, err := spool(dir, buf, func(w io.Writer) error {
		_, err := io.Copy(w, r)
		return err
	})
	if err == nil && limit > 0 && m.size > limit {
		m.Release()
		return nil, ErrTooLarge
	}
	return m, err
}
