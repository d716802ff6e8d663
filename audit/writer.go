package audit

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"browsergovernor/governor"
)

// file is what a writer needs of a day's file, opened for appending.
type file interface {
	Write(b []byte) (int, error)
	Truncate(size int64) error
	Sync() error
	Close() error
	Moved() error // why the file is no longer the one under its name; nil when it is
}

// openFunc opens a day's file, makes it if there is none and says how long it is.
type openFunc func(path string) (file, int64, error)

// writer puts lines into files. It is not safe for concurrent use.
type writer struct {
	dir   string
	fsync Policy
	now   func() time.Time
	open  openFunc

	f    file // nil before the first line of an empty log
	day  int64
	size int64 // of f, up to the end of the last whole line
	seq  uint64
	prev [hashSize]byte

	rest     bool        // behind size there may be part of a line that must go first
	unsynced atomic.Bool // a sync failed: what is written may not be on the disk
	checked  int64       // second in which f was last found in its place
	buf      []byte

	lost    int   // events that could not be written since the last that could
	lostErr error // why, of the first
}

// noDay is before every day.
const noDay = -1 << 62

// write writes the lines of batch in order and sets the err of each.
func (w *writer) write(batch []*entry) {
	for len(batch) > 0 {
		// A line of an earlier day than the file's stays in this file, so that
		// the chain never runs backwards through the files.
		day := max(w.day, dayOf(batch[0].unix))
		n := 1
		for n < len(batch) && dayOf(batch[n].unix) <= day {
			n++
		}
		err := w.writeDay(day, batch[:n])
		if err != nil {
			if w.lost == 0 {
				w.lostErr = err
			}
			w.lost += n
		}
		for _, e := range batch[:n] {
			e.err = err
		}
		batch = batch[n:]
	}
}

// writeDay writes lines that go into the file of one day, with one write: all or
// none.
func (w *writer) writeDay(day int64, run []*entry) error {
	if err := w.ready(day, run[0].unix); err != nil {
		return fmt.Errorf("audit: %w", err)
	}
	buf, seq, prev := w.buf[:0], w.seq, w.prev
	add := func(body []byte) {
		start := len(buf)
		seq++
		buf = appendLine(buf, seq, body, &prev)
		prev = sha256.Sum256(buf[start:])
		buf = append(buf, '\n')
	}
	if w.lost > 0 {
		add(w.lostNote())
	}
	for _, e := range run {
		add(e.body)
	}
	if w.buf = buf; cap(buf) > 16*maxField {
		w.buf = nil
	}
	_, err := w.f.Write(buf)
	if err == nil && w.fsync == FsyncAlways {
		err = w.f.Sync()
	}
	if err != nil {
		w.rest = true
		return errors.Join(fmt.Errorf("audit: %w", err), w.cutRest())
	}
	w.size += int64(len(buf))
	w.seq, w.prev, w.lost = seq, prev, 0
	return nil
}

// ready sees to it that the file of day is open and ends with a whole line.
func (w *writer) ready(day, unix int64) error {
	if err := w.cutRest(); err != nil {
		return err
	}
	if w.unsynced.Load() {
		if err := w.f.Sync(); err != nil {
			return err
		}
		w.unsynced.Store(false)
	}
	if w.f == nil || day != w.day {
		if err := w.roll(day); err != nil {
			return err
		}
	}
	if unix != w.checked {
		// Once a second: lines written to a file that was removed are lost.
		if err := w.f.Moved(); err != nil {
			return err
		}
		w.checked = unix
	}
	return nil
}

// cutRest removes what a failed write left behind the last whole line.
func (w *writer) cutRest() error {
	if !w.rest {
		return nil
	}
	if err := w.f.Truncate(w.size); err != nil {
		return fmt.Errorf("cutting off a line that was written in part: %w", err)
	}
	w.rest = false
	return nil
}

// roll goes on with the file of day.
func (w *writer) roll(day int64) error {
	path := filepath.Join(w.dir, fileName(day))
	f, size, err := w.open(path)
	if err != nil {
		return err
	}
	if size != 0 {
		err = fmt.Errorf("%s has %d bytes that this log did not write", path, size)
	} else if w.fsync != FsyncNever {
		if err = syncDir(w.dir); err == nil && w.f != nil {
			err = w.f.Sync()
		}
	}
	if err != nil {
		return errors.Join(err, f.Close())
	}
	if w.f != nil {
		w.f.Close() // synced above, or nobody asked for it
	}
	w.f, w.day, w.size = f, day, 0
	return nil
}

// lostNote is the body of a line that says what is missing before it.
func (w *writer) lostNote() []byte {
	body, _ := appendBody(nil, &governor.Event{
		Type: governor.EventNote, Note: "lines_lost",
		Text: fmt.Sprintf("%d events could not be written: %v", w.lost, w.lostErr),
	}, w.now()) // a clock outside of RFC 3339 leaves the note without fields, and Verify says so
	return body
}

func (w *writer) close() error {
	if w.f == nil {
		return nil
	}
	err := w.cutRest()
	if w.fsync != FsyncNever {
		err = errors.Join(err, w.f.Sync())
	}
	if err = errors.Join(err, w.f.Close()); err != nil {
		return fmt.Errorf("audit: closing the log: %w", err)
	}
	return nil
}

// diskFile is a file of the operating system.
type diskFile struct{ *os.File }

func openDisk(path string) (file, int64, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return diskFile{f}, info.Size(), nil
}

// Truncate goes by name where the handle of a file opened for appending may not
// be used for it (Windows).
func (f diskFile) Truncate(size int64) error {
	if f.File.Truncate(size) == nil {
		return nil
	}
	return os.Truncate(f.Name(), size)
}

func (f diskFile) Moved() error {
	have, err := f.Stat()
	if err != nil {
		return err
	}
	there, err := os.Stat(f.Name())
	if err != nil {
		return fmt.Errorf("the file in use was removed: %w", err)
	}
	if !os.SameFile(have, there) {
		return fmt.Errorf("%s was replaced by another file while in use", f.Name())
	}
	return nil
}
