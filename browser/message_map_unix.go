//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package browser

import (
	"errors"
	"fmt"
	"io"
	"syscall"
)

var errNotMapped = errors.New("the message is in several pieces")

// mapped returns a spooled message as memory that its file stands behind, so
// that it can be handed on in one piece without costing memory. unmap must be
// called before Release.
func (m *Message) mapped() (b []byte, unmap func(), err error) {
	if err := m.join(); err != nil {
		return nil, nil, err
	}
	b, err = syscall.Mmap(int(m.file.Fd()), 0, int(m.n), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return nil, nil, fmt.Errorf("mapping a spooled message: %w", err)
	}
	return b, func() { syscall.Munmap(b) }, nil
}

// join makes one piece of a message whose end was changed, as stripping the
// session does, by writing the little that follows the change to its place.
func (m *Message) join() error {
	if m.file == nil || len(m.pieces) == 0 {
		return errNotMapped
	}
	first := m.pieces[0]
	rest := m.n - first.len()
	if first.lit != nil || first.from != 0 || rest > int64(len(m.tail)) || int64(int(m.n)) != m.n {
		return errNotMapped
	}
	if rest == 0 {
		return nil
	}
	tail := m.tail[int64(len(m.tail))-rest:]
	if n, err := m.file.WriteAt(tail, first.to); n < len(tail) {
		return fmt.Errorf("changing a spooled message: %w", errors.Join(err, io.ErrShortWrite))
	}
	m.pieces = []piece{{to: m.n}}
	return nil
}
