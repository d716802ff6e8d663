//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package browser

import "errors"

// mapped has no portable form: large messages then go out in several frames,
// which go-rod alone cannot read.
func (m *Message) mapped() (b []byte, unmap func(), err error) {
	return nil, nil, errors.ErrUnsupported
}
