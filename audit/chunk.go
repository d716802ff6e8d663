package audit

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// chunkSize is how much of a file is read and parsed at a time: some 700 lines,
// enough to make handing it to another processor cheap.
const chunkSize = 256 << 10

// chunk is a run of whole lines of one file.
type chunk struct {
	file string
	line int // number of the first line
	data []byte
	open bool // the last line has no newline though lines follow in a newer file
	err  error
}

// chunker cuts the files of a log into chunks, in order.
type chunker struct {
	dir   string
	names []string // still to read; the first is the one that f is
	f     *os.File
	line  int
	carry []byte // start of a line whose end is not read yet
	torn  int64  // bytes behind the last newline of the newest file
}

// next reads the next chunk into buf, which may grow. At the end it says io.EOF.
// A file that cannot be read becomes a chunk with err, and the next file follows.
func (c *chunker) next(buf []byte) (chunk, error) {
	for len(c.names) > 0 {
		got := chunk{file: c.names[0]}
		if c.f == nil {
			f, err := os.Open(filepath.Join(c.dir, got.file))
			if err != nil {
				c.names = c.names[1:]
				got.err = fmt.Errorf("audit: %w", err)
				return got, nil
			}
			c.f, c.line, c.carry = f, 1, c.carry[:0]
		}
		got.line = c.line
		data, end, err := c.fill(buf[:0])
		buf = data
		if err != nil {
			c.close()
			got.err = fmt.Errorf("audit: %w", err)
			return got, nil
		}
		cut := bytes.LastIndexByte(data, '\n') + 1
		switch {
		case !end:
			c.carry = append(c.carry[:0], data[cut:]...)
			data = data[:cut]
		case len(c.names) == 1: // still being written, or a crash
			c.torn = int64(len(data) - cut)
			data = data[:cut]
		default:
			got.open = cut < len(data)
		}
		if end {
			c.close()
		}
		if len(data) == 0 {
			continue
		}
		c.line += bytes.Count(data, []byte{'\n'})
		got.data = data
		return got, nil
	}
	return chunk{}, io.EOF
}

// fill reads on until buf holds at least one newline and is full, or the file
// ends.
func (c *chunker) fill(buf []byte) (data []byte, end bool, err error) {
	if cap(buf) < chunkSize {
		buf = make([]byte, 0, chunkSize)
	}
	buf = append(buf, c.carry...)
	for {
		if len(buf) == cap(buf) {
			buf = append(buf, 0)[:len(buf)] // one line longer than a chunk
		}
		n, err := io.ReadFull(c.f, buf[len(buf):cap(buf)])
		from := len(buf)
		buf = buf[:from+n]
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return buf, true, nil
		}
		if err != nil {
			return buf, false, err
		}
		if bytes.IndexByte(buf[from:], '\n') >= 0 {
			return buf, false, nil
		}
	}
}

// close ends the current file.
func (c *chunker) close() {
	if c.f != nil {
		c.f.Close()
		c.f, c.names = nil, c.names[1:]
	}
}
