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
	if _, err := m.WriteTo(w.in); err != nil {
		return fmt.Errorf("%w: %v", errWireClosed, err)
	}
	if _, err := w.in.Write(messageEnd); err != nil {
		return fmt.Errorf("%w: %v", errWireClosed, err)
	}
	return nil
}

// writeBytes sends one small message in one system call.
func (w *wire) writeBytes(b []byte) error {
	b = append(b, 0)
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, err := w.in.Write(b); err != nil {
		return fmt.Errorf("%w: %v", errWireClosed, err)
	}
	return nil
}

var messageEnd = []byte{0}

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
