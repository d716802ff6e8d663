package browser

import (
	"fmt"
	"os"
	"runtime"
	"sync"
)

// spare is the room left behind a message that was read: for the session that
// is put in and the byte that ends it on the pipe.
const spare = 64

// scratchMax is the largest buffer kept for the next message.
const scratchMax = 64 << 10

// scratch are buffers to read small messages into. They never become part of a
// message, so that nobody can hold on to one that is used again.
var scratch = sync.Pool{New: func() any { b := make([]byte, 0, 4<<10); return &b }}

// sink gathers a message: in memory as long as it is small, in a file from then
// on. b is then what is not in the file yet.
type sink struct {
	dir  string
	buf  *[]byte
	b    []byte
	n    int64
	file *os.File
	name string
}

// spoolChunk is how much of a large message is in memory while it is written to
// its file.
const spoolChunk = 256 << 10

func newSink(dir string) *sink {
	buf := scratch.Get().(*[]byte)
	return &sink{dir: dir, buf: buf, b: (*buf)[:0]}
}

// write adds p.
func (s *sink) write(p []byte) error {
	s.n += int64(len(p))
	if s.file == nil && len(s.b)+len(p) <= memoryMax {
		s.b = append(s.b, p...)
		return nil
	}
	if err := s.flush(); err != nil {
		return err
	}
	if _, err := s.file.Write(p); err != nil {
		return spoolError(err)
	}
	return nil
}

// room returns free space to read the next bytes into; who fills it lengthens b.
func (s *sink) room() ([]byte, error) {
	switch {
	case len(s.b) < cap(s.b):
	case s.file == nil && len(s.b) <= memoryMax:
		// One byte more than may stay in memory: the read that finds the end of
		// a message of exactly that size needs somewhere to read to.
		size := min(max(2*cap(s.b), 32<<10), memoryMax+1)
		s.b = append(make([]byte, 0, size), s.b...)
	default:
		if err := s.flush(); err != nil {
			return nil, err
		}
		if cap(s.b) != spoolChunk {
			s.b = make([]byte, 0, spoolChunk)
		}
	}
	return s.b[len(s.b):cap(s.b)], nil
}

// flush moves what is in memory to the file.
func (s *sink) flush() error {
	if s.file == nil {
		f, err := os.CreateTemp(s.dir, "browser-governor-message-")
		if err != nil {
			return spoolError(err)
		}
		s.file = f
		// Without a name the file goes with the process, however it ends.
		// Windows does not remove open files.
		if runtime.GOOS == "windows" || os.Remove(f.Name()) != nil {
			s.name = f.Name()
		}
	}
	if len(s.b) > 0 {
		if _, err := s.file.Write(s.b); err != nil {
			return spoolError(err)
		}
		s.b = s.b[:0]
	}
	return nil
}

func spoolError(err error) error { return fmt.Errorf("spooling a large message: %w", err) }

// giveBack returns the scratch buffer, or what it has grown to.
func (s *sink) giveBack() {
	if s.file == nil && cap(s.b) <= scratchMax {
		*s.buf = s.b[:0]
	}
	scratch.Put(s.buf)
}

// message returns what was gathered.
func (s *sink) message() (*Message, error) {
	if s.file == nil && cap(s.b) <= scratchMax {
		m := &Message{b: append(make([]byte, 0, len(s.b)+spare), s.b...)}
		s.giveBack()
		return m, nil
	}
	if s.file == nil {
		s.giveBack()
		return &Message{b: s.b}, nil
	}
	if err := s.flush(); err != nil {
		s.drop()
		return nil, err
	}
	s.giveBack()
	m := &Message{file: s.file, name: s.name, n: s.n, pieces: []piece{{to: s.n}}}
	if err := m.edges(); err != nil {
		m.Release()
		return nil, err
	}
	return m, nil
}

// drop forgets an unfinished message.
func (s *sink) drop() {
	s.giveBack()
	if s.file != nil {
		s.file.Close()
		if s.name != "" {
			os.Remove(s.name)
		}
	}
}
