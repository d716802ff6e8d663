package governor

import (
	"maps"
	"slices"
	"time"
)

// pending is an action that was let through and not settled yet.
type pending struct {
	host        *host
	at          tick
	day         int16
	attempt     int32
	interaction bool
	navigation  bool
	again       bool // asking again changes nothing on the server: GET and HEAD navigations
	robots      bool
}

const (
	pendingFor = 10 * time.Minute // clicks are never settled; what was is forgotten then
	pendingMax = 1 << 17          // some 10 MB
)

// pendings holds them by number. Numbers rise, so the oldest is found by
// counting up from the last one seen.
//
// The Governor's mutex guards it.
type pendings struct {
	byID   map[uint64]pending
	oldest uint64
	next   tick // nothing is too old before then
}

func (s *pendings) add(id uint64, p pending) {
	if s.byID == nil {
		s.byID = map[uint64]pending{}
	}
	if len(s.byID) == 0 || id < s.oldest {
		s.oldest, s.next = id, 0
	}
	s.byID[id] = p
	*p.host.out(p.interaction)++
}

func (s *pendings) remove(id uint64) (pending, bool) {
	p, ok := s.byID[id]
	if ok {
		delete(s.byID, id)
		*p.host.out(p.interaction)--
	}
	return p, ok
}

// sweep forgets what is too old, and the oldest where there are too many.
func (s *pendings) sweep(now tick) {
	if now < s.next && len(s.byID) <= pendingMax {
		return
	}
	for steps := 0; len(s.byID) > 0; steps++ {
		if steps > 2*len(s.byID)+64 { // a gap, as a restored log may have: look instead of counting
			s.oldest = slices.Min(slices.Collect(maps.Keys(s.byID)))
			steps = 0
		}
		if p, ok := s.byID[s.oldest]; ok {
			if now.sub(p.at) < pendingFor && len(s.byID) <= pendingMax {
				s.next = p.at.add(pendingFor)
				return
			}
			s.remove(s.oldest)
		}
		s.oldest++
	}
}

// Pending returns how many actions were let through and are not settled yet.
// An action counts for ten minutes at most.
func (g *Governor) Pending() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.tell()
	return len(g.pending.byID)
}
