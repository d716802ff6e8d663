package audit

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// lockName is the file in the log's folder that the writer holds locked. It
// stays there when the log is closed: removing it could remove the next one's.
const lockName = "lock"

// errLocked is what lockExclusive says when another has the lock.
var errLocked = errors.New("locked")

// owner is what stands in the lock file while it is held.
type owner struct {
	PID     int       `json:"pid"`
	Started time.Time `json:"started"`
}

// LockedError says that another process writes the log.
type LockedError struct {
	Dir     string
	PID     int       // 0 when unknown
	Started time.Time // when it opened the log; zero when unknown
}

func (e *LockedError) Error() string {
	who := "another process"
	if e.PID != 0 {
		who = fmt.Sprintf("process %d (since %s)", e.PID, e.Started.UTC().Format(time.RFC3339))
		if e.PID == os.Getpid() {
			who = "this process, " + who + ","
		}
	}
	return fmt.Sprintf("audit: %s already writes the log in %s; two writers would each have a budget of their own: "+
		"let both use one governor (browser-governor serve) or a shared store (--store redis://…)", who, e.Dir)
}

type lockFile struct{ f *os.File }

func takeLock(dir string, now time.Time) (*lockFile, error) {
	path := filepath.Join(dir, lockName)
	f, err := lockExclusive(path)
	if errors.Is(err, errLocked) {
		locked := &LockedError{Dir: dir}
		var o owner
		if f, err := os.Open(path); err == nil {
			// Half-written means that the other has just come; then it has no name yet.
			if json.NewDecoder(io.LimitReader(f, 4096)).Decode(&o) == nil {
				locked.PID, locked.Started = o.PID, o.Started
			}
			f.Close()
		}
		return nil, locked
	}
	if err != nil {
		return nil, fmt.Errorf("audit: locking the log: %w", err)
	}
	text, err := json.Marshal(owner{PID: os.Getpid(), Started: now.UTC().Truncate(time.Millisecond)})
	if err == nil {
		err = f.Truncate(0)
	}
	if err == nil {
		_, err = f.WriteAt(append(text, '\n'), 0)
	}
	if err != nil {
		return nil, fmt.Errorf("audit: writing the lock file: %w", errors.Join(err, f.Close()))
	}
	return &lockFile{f}, nil
}

// release empties the file and lets the lock go with it.
func (l *lockFile) release() error {
	if err := errors.Join(l.f.Truncate(0), l.f.Close()); err != nil {
		return fmt.Errorf("audit: releasing the lock: %w", err)
	}
	return nil
}
