package audit

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"iter"
	"runtime"

	"browsergovernor/governor"
)

// Replay yields the events of the log in dir, oldest first. It can read while
// another process writes: it takes no lock, and stops before a last line that is
// not whole yet.
//
// A line that cannot be understood yields a zero event and a [*LineError] that
// names file and line; whoever ranges on gets the lines after it. Fields and
// event types of newer versions are no error. The chain is not checked; see
// [Verify]. A folder that does not exist is an empty log.
func Replay(dir string) iter.Seq2[governor.Event, error] { return ReplaySince(dir, "") }

// ReplaySince is Replay from the file of day ("2026-11-30") on. That covers every
// event whose time is on that UTC day or later, and perhaps a few older ones. An
// empty day means all.
func ReplaySince(dir, day string) iter.Seq2[governor.Event, error] {
	return func(yield func(governor.Event, error) bool) {
		s, err := openScan(dir, day)
		if err != nil {
			if !noneYet(err) {
				yield(governor.Event{}, err)
			}
			return
		}
		for r := range s.records() {
			if !yield(r.Event, r.Err) {
				return
			}
		}
	}
}

// scan reads the lines of a log once.
type scan struct {
	c    chunker
	hash bool  // records get their Hash
	torn int64 // after the scan: bytes behind the last whole line of the newest file
}

func openScan(dir, since string) (*scan, error) {
	names, err := logFiles(dir, since)
	if err != nil {
		return nil, err
	}
	return &scan{c: chunker{dir: dir, names: names}}, nil
}

// job is a chunk with what is read from it. Its slices are used again.
type job struct {
	chunk
	buf  []byte
	recs []record
	done chan struct{} // gets one value when recs is ready
}

// records yields the lines in order. The chunks are parsed at the same time, a
// few ahead of what was yielded. A record is valid until the next one, what it
// points to for good.
func (s *scan) records() iter.Seq[*record] {
	return func(yield func(*record) bool) {
		ahead := runtime.GOMAXPROCS(0) + 1
		var running, idle []*job
		defer func() { // also when the consumer breaks off
			for _, j := range running {
				<-j.done
			}
			s.c.close()
			s.torn = s.c.torn
		}()
		for more := true; ; {
			for more && len(running) < ahead {
				j := &job{done: make(chan struct{}, 1)}
				if n := len(idle); n > 0 {
					j, idle = idle[n-1], idle[:n-1]
				}
				c, err := s.c.next(j.buf)
				if errors.Is(err, io.EOF) {
					more = false
					break
				}
				if j.chunk = c; c.data != nil {
					j.buf = c.data
				}
				running = append(running, j)
				go func() {
					j.parse(s.hash)
					j.done <- struct{}{}
				}()
			}
			if len(running) == 0 {
				return
			}
			j := running[0]
			<-j.done
			running = running[1:]
			for i := range j.recs {
				if !yield(&j.recs[i]) {
					return
				}
			}
			idle = append(idle, j)
		}
	}
}

// parse reads the lines of the chunk into recs.
func (j *job) parse(hash bool) {
	j.recs = j.recs[:0]
	if j.err != nil {
		j.recs = append(j.recs, record{File: j.file, Err: j.err})
		return
	}
	for line, data := j.line, j.data; len(data) > 0; line++ {
		text, rest, whole := bytes.Cut(data, []byte{'\n'})
		data = rest
		if n := len(j.recs); n < cap(j.recs) {
			j.recs = j.recs[:n+1]
		} else {
			j.recs = append(j.recs, record{})
		}
		r := &j.recs[len(j.recs)-1]
		raw := string(text) // the strings of the event are parts of it
		err := parse(raw, r)
		if !whole && err == nil {
			err = errors.New("the line has no end, though a newer file follows")
		}
		if err != nil {
			*r = record{Err: &LineError{File: j.file, Line: line, Err: err}}
		}
		r.Raw, r.File, r.Line = raw, j.file, line
		if hash {
			r.Hash = sha256.Sum256(text)
		}
	}
}
