package browser

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Restarts of Chrome are bounded: one that keeps dying is a fault to look at,
// and every start is load on somebody.
const (
	maxRestarts   = 5
	restartWindow = 10 * time.Minute
)

// ErrRestarts is returned when Chrome died too often to be started again.
var ErrRestarts = fmt.Errorf("chrome ended more than %d times in %v; not starting it again", maxRestarts, restartWindow)

// Supervisor keeps a Chrome running under one endpoint: when Chrome ends, the
// clients' sockets close at once and a new one is started under the same
// address and browser id, so that clients can reconnect.
type Supervisor struct {
	gov  Governor
	opts Options
	id   string // browser id in the endpoint's URLs

	mu           sync.Mutex
	b            *Browser
	changed      chan struct{} // closed and replaced whenever b or gaveUp change
	starts       []time.Time
	closed       bool
	gaveUp       error
	protocolJSON []byte

	done chan struct{}
}

// Supervise starts Chrome and keeps it running until Close, or until it has
// ended too often; then Done is closed.
func Supervise(ctx context.Context, gov Governor, o Options) (*Supervisor, error) {
	b, err := Launch(ctx, gov, o)
	if err != nil {
		return nil, err
	}
	s := &Supervisor{gov: gov, opts: o, id: newBrowserID(), b: b, changed: make(chan struct{}), done: make(chan struct{})}
	go s.watch(b)
	return s, nil
}

// set changes what Browser answers. The mutex is held.
func (s *Supervisor) set(b *Browser, gaveUp error) {
	s.b, s.gaveUp = b, gaveUp
	close(s.changed)
	s.changed = make(chan struct{})
}

// watch starts Chrome again each time it ends.
func (s *Supervisor) watch(b *Browser) {
	defer close(s.done)
	for {
		<-b.Done()
		b.Close() // removes what the dead Chrome left behind
		s.mu.Lock()
		if s.closed {
			s.mu.Unlock()
			return
		}
		s.set(nil, nil)
		allowed := s.mayStartLocked(time.Now())
		s.mu.Unlock()
		next, err := (*Browser)(nil), error(ErrRestarts)
		if allowed {
			next, err = Launch(context.Background(), s.gov, s.opts)
		}
		s.mu.Lock()
		if err != nil {
			s.set(nil, err)
			s.mu.Unlock()
			s.gov.Note("chrome_gave_up", err.Error())
			return
		}
		s.set(next, nil)
		closed := s.closed
		s.mu.Unlock()
		s.gov.Note("chrome_restarted", "Chrome was started again; the endpoint is the same")
		if closed {
			next.Close()
			return
		}
		b = next
	}
}

// mayStartLocked reports whether one more restart is within bounds.
func (s *Supervisor) mayStartLocked(now time.Time) bool {
	keep := s.starts[:0]
	for _, t := range s.starts {
		if now.Sub(t) < restartWindow {
			keep = append(keep, t)
		}
	}
	s.starts = append(keep, now)
	return len(s.starts) <= maxRestarts
}

// Done is closed when no Chrome will be started any more.
func (s *Supervisor) Done() <-chan struct{} { return s.done }

// Err says why, nil after Close.
func (s *Supervisor) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.gaveUp
}

// Close ends Chrome and waits for it.
func (s *Supervisor) Close() error {
	s.mu.Lock()
	s.closed = true
	b := s.b
	s.set(b, s.gaveUp) // whoever waits looks again
	s.mu.Unlock()
	var err error
	if b != nil {
		err = b.Close()
	}
	<-s.done
	return err
}

// Browser returns the running Chrome, waiting while it is being restarted.
func (s *Supervisor) Browser(ctx context.Context) (*Browser, error) {
	for {
		s.mu.Lock()
		b, changed, gaveUp, closed := s.b, s.changed, s.gaveUp, s.closed
		s.mu.Unlock()
		switch {
		case gaveUp != nil:
			return nil, gaveUp
		case closed:
			return nil, errors.New("the browser is closed")
		case b != nil && b.life.Err() == nil:
			return b, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, fmt.Errorf("waiting for Chrome to start again: %w", ctx.Err())
		}
	}
}
