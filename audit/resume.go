package audit

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"browsergovernor/governor"
)

// resume makes a writer that goes on where the log in c.Dir ends. The notes say
// what had to be cut off.
func resume(c Config, openFile openFunc) (*writer, []governor.Event, error) {
	names, err := logFiles(c.Dir, "")
	if err != nil {
		return nil, nil, err
	}
	w := &writer{dir: c.Dir, fsync: c.Fsync, now: c.Now, open: openFile, day: noDay}
	var notes []governor.Event
	// The newest file may be empty: made at midnight by a process that ended
	// before its first line. The chain goes on from the newest whole line.
	for i := len(names) - 1; i >= 0; i-- {
		line, torn, size, err := lastLine(filepath.Join(c.Dir, names[i]))
		if err != nil {
			return nil, nil, fmt.Errorf("audit: %w", err)
		}
		if torn > 0 {
			note, err := cutTorn(c.Dir, names[i], size-torn, torn)
			if err != nil {
				return nil, nil, fmt.Errorf("audit: cutting off an unfinished line: %w", err)
			}
			notes = append(notes, note)
		}
		if size == torn {
			continue
		}
		var r record
		if err := parse(string(line), &r); err != nil {
			return nil, nil, fmt.Errorf("audit: the last line of %s: %w (see browser-governor audit verify; "+
				"to start a new log, move the old one away)", filepath.Join(c.Dir, names[i]), err)
		}
		w.seq, w.prev = r.Seq, sha256.Sum256(line)
		break
	}
	if len(names) == 0 {
		return w, nil, nil
	}
	newest := names[len(names)-1]
	w.day, _ = fileDay(newest)
	if w.f, w.size, err = openFile(filepath.Join(c.Dir, newest)); err != nil {
		return nil, nil, fmt.Errorf("audit: %w", err)
	}
	return w, notes, nil
}

// lastLine is the last whole line of a file, how many bytes follow it, and the
// length of the file. A line is whole when its newline is there: Record has not
// returned before, so nothing was released for a line without one.
func lastLine(path string) (line []byte, torn, size int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, 0, 0, err
	}
	size = info.Size()
	var tail []byte // the end of the file, from start on
	for start := size; start > 0; {
		n := min(start, 64<<10)
		start -= n
		block := make([]byte, n, n+int64(len(tail)))
		if _, err := f.ReadAt(block, start); err != nil && !errors.Is(err, io.EOF) {
			return nil, 0, 0, err
		}
		tail = append(block, tail...)
		end := bytes.LastIndexByte(tail, '\n')
		if end < 0 {
			continue
		}
		from := bytes.LastIndexByte(tail[:end], '\n')
		if from >= 0 || start == 0 {
			return tail[from+1 : end], int64(len(tail) - end - 1), size, nil
		}
	}
	return nil, size, size, nil
}

// cutTorn moves the last n bytes of a file, from keep on, to a file of their own.
// They are safe there before they are cut off.
func cutTorn(dir, name string, keep, n int64) (governor.Event, error) {
	path := filepath.Join(dir, name)
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return governor.Event{}, err
	}
	defer f.Close()
	side, err := newSideFile(strings.TrimSuffix(path, suffix))
	if err != nil {
		return governor.Event{}, err
	}
	_, err = io.Copy(side, io.NewSectionReader(f, keep, n))
	if err = errors.Join(err, side.Sync(), side.Close()); err != nil {
		return governor.Event{}, err
	}
	if err := errors.Join(f.Truncate(keep), f.Sync(), syncDir(dir)); err != nil {
		return governor.Event{}, err
	}
	return governor.Event{
		Note: "torn_line",
		Text: fmt.Sprintf("cut %d bytes of an unfinished line off the end of %s; they are in %s", n, name, filepath.Base(side.Name())),
	}, nil
}

func newSideFile(base string) (*os.File, error) {
	for n := 1; ; n++ {
		f, err := os.OpenFile(fmt.Sprintf("%s.torn-%d", base, n), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
}
