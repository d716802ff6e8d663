package audit

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"browsergovernor/governor"
)

// Policy says when the log is forced to the disk. The end of the process never
// loses a line; the policy is about the end of the machine.
type Policy string

const (
	FsyncInterval Policy = "interval" // every Config.Interval; a power cut loses at most that much. The default.
	FsyncAlways   Policy = "always"   // before Record returns; concurrent Records share one fsync
	FsyncNever    Policy = "never"    // when the operating system likes
)

// Config is how a log is opened. Only Dir is required.
type Config struct {
	Dir      string           // folder of the log; made with mode 0700 if it does not exist
	Fsync    Policy           // "" means FsyncInterval
	Interval time.Duration    // of FsyncInterval; 0 means one second
	Now      func() time.Time // nil means time.Now
	Version  string           // of the program; when set, a note "log_opened" names it
}

// ErrClosed is returned by Record after Close.
var ErrClosed = errors.New("audit: the log is closed")

// Log is an open log. It is safe for concurrent use. The zero value is not
// usable; see [Open].
type Log struct {
	now  func() time.Time
	lock *lockFile
	pool sync.Pool // of *entry
	w    *writer   // belongs to whoever leads, see group.go

	stop chan struct{} // closed by Close
	done chan struct{} // closed when the goroutine that syncs has ended

	mu     sync.Mutex
	queue  []*entry // wait for the leader
	spare  []*entry // an empty slice for the next leader
	led    bool     // somebody leads
	idle   sync.Cond
	closed bool
	err    error // of the newest attempt to write or sync
	seq    uint64
	head   [hashSize]byte
	file   file // what the goroutine that syncs has to sync; nil when nothing is
}

var _ governor.Recorder = (*Log)(nil)

// Open opens the log in c.Dir for writing, makes it if there is none, and goes
// on with its chain. An unfinished last line, left by a crash, is moved to a file
// of its own (2026-11-30.torn-1) and noted in the log.
//
// A log has one writer. While another process has it open, Open fails with an
// error that names that process.
func Open(c Config) (*Log, error) {
	if c.Dir == "" {
		return nil, errors.New("audit: no folder for the log (Config.Dir)")
	}
	switch c.Fsync {
	case "":
		c.Fsync = FsyncInterval
	case FsyncInterval, FsyncAlways, FsyncNever:
	default:
		return nil, fmt.Errorf("audit: fsync policy %q: want interval, always or never", string(c.Fsync))
	}
	if c.Interval <= 0 {
		c.Interval = time.Second
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return open(c, openDisk)
}

// open is Open with the file system behind openFile.
func open(c Config, openFile openFunc) (*Log, error) {
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("audit: making the folder of the log: %w", err)
	}
	lock, err := takeLock(c.Dir, c.Now())
	if err != nil {
		return nil, err
	}
	w, notes, err := resume(c, openFile)
	if err != nil {
		lock.release()
		return nil, err
	}
	l := &Log{
		now: c.Now, lock: lock, w: w, seq: w.seq, head: w.prev,
		stop: make(chan struct{}), done: make(chan struct{}),
	}
	l.idle.L = &l.mu
	l.pool.New = func() any { return &entry{wake: make(chan []*entry, 1)} }
	if c.Fsync == FsyncInterval {
		go l.sync(c.Interval)
	} else {
		close(l.done)
	}
	if c.Version != "" {
		notes = append(notes, governor.Event{
			Note: "log_opened", Text: fmt.Sprintf("by version %s, process %d", c.Version, os.Getpid()),
		})
	}
	for i := range notes {
		notes[i].Type = governor.EventNote
		if err := l.Record(&notes[i]); err != nil {
			return nil, errors.Join(err, l.Close())
		}
	}
	return l, nil
}

// Record writes ev as one line and returns when the operating system has it (and,
// with FsyncAlways, the disk). A zero ev.Time means now. After an error nothing
// of ev is in the log, and every Record fails until one can be written again.
func (l *Log) Record(ev *governor.Event) error {
	ts := ev.Time
	if ts.IsZero() {
		ts = l.now()
	}
	e := l.pool.Get().(*entry)
	var err error
	if e.body, err = appendBody(e.body[:0], ev, ts); err == nil {
		e.unix = ts.Unix()
		err = l.submit(e)
	}
	if cap(e.body) <= 2*maxField { // one huge line must not keep its memory
		l.pool.Put(e)
	}
	return err
}

// Err is the error of the newest attempt to write or sync the log, nil when it
// went well.
func (l *Log) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// Head is the newest line: its number and the SHA-256 of it in hex, to be kept
// where the log's writer cannot reach it and handed to [Verify] later. Before
// the first line the number is 0.
func (l *Log) Head() (seq uint64, hash string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.seq, fmt.Sprintf("%x", l.head)
}

// Close waits for the Records that are under way, brings the log to the disk
// (except with FsyncNever) and lets the next writer in. Closing again is no error.
func (l *Log) Close() error {
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return nil
	}
	l.closed = true
	for l.led {
		l.idle.Wait()
	}
	l.mu.Unlock()

	close(l.stop)
	<-l.done
	return errors.Join(l.w.close(), l.lock.release())
}

// sync brings the log to the disk at every interval until the log is closed.
func (l *Log) sync(every time.Duration) {
	defer close(l.done)
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-l.stop:
			return
		case <-tick.C:
		}
		l.mu.Lock()
		f := l.file
		l.file = nil
		l.mu.Unlock()
		if f == nil {
			continue
		}
		// A file closed meanwhile was synced by whoever closed it.
		if err := f.Sync(); err != nil && !errors.Is(err, os.ErrClosed) {
			l.w.unsynced.Store(true)
			l.mu.Lock()
			l.err = fmt.Errorf("audit: %w", err)
			l.mu.Unlock()
		}
	}
}
