package browser

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"sync"
)

// wire is the one pipe to Chrome. Messages end with a zero byte.
type wire struct {
	out io.ReadCloser
	dir string // where large messages are spooled

	mu sync.Mutex
	in io.WriteCloser
}

var errWireClosed = errors.New("the pipe to Chrome is closed")

// write sends one message. It is safe for concurrent use; a message is never
// mixed with another.
func (w *wire) write(m *Message) error {
	defer m.Release()
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := m.WriteDelimited(w.in); err != nil {
		return w.brokenLocked(err)
	}
	return nil
}

// brokenLocked ends the pipe: part of a message may be on it, and whatever came
// next would be read as the rest.
func (w *wire) brokenLocked(err error) error {
	w.in.Close()
	w.out.Close()
	return fmt.Errorf("%w: %v", errWireClosed, err)
}

// writeBytes sends one small message in one system call.
func (w *wire) writeBytes(b []byte) error {
	b = append(b, 0)
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, err := w.in.Write(b); err != nil {
		return w.brokenLocked(err)
	}
	return nil
}

// readAll hands every message to route, in order, until Chrome closes its end.
// route must not block: everything behind the message waits for it.
func (w *wire) readAll(route func(*Message)) error {
	br := bufio.NewReaderSize(w.out, 256<<10)
	for {
		m, err := ReadDelimited(br, w.dir)
		if err != nil {
			return err
		}
		route(m)
	}
}
