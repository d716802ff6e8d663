package governor

import "time"

// host is what is known about one bucket key. There may be a million of them,
// so it is kept small.
//
// The Governor's mutex guards it.
type host struct {
	name   string
	policy *HostPolicy // shared by all hosts with the same policy

	inter, sub bucket

	closed tick          // cool-down: no navigation or sub-resource before then
	cut    tick          // when backoff was last raised: answers to older requests do not raise it again
	last   tick          // last interaction
	delay  time.Duration // the site's crawl-delay; 0: none

	interactions, total int32
	interOut, subOut    int32 // let through and not settled
	day                 int16 // today.number that the counts belong to
	strikes             uint8 // 429 and 503 without Retry-After in a row, navigations
	subFails            uint8 // the same of sub-resources
	thawed              bool  // the buckets know that the cool-down is over
	vetted              bool  // the policy permits it
	challenged          bool  // a bot check was shown; navigations wait for a person
}

// maxHosts is how many hosts are kept before idle ones are let go, some 380 MB;
// a host beyond twice as many is refused.
const maxHosts = 1 << 20

// hostTable holds the hosts by name.
type hostTable struct {
	byName   map[string]*host
	policies map[HostPolicy]*HostPolicy
	limit    int
}

func newHostTable() hostTable {
	return hostTable{byName: map[string]*host{}, policies: map[HostPolicy]*HostPolicy{}, limit: maxHosts}
}

// get returns the host, or nil.
func (t *hostTable) get(name string) *host { return t.byName[name] }

// fresh returns a host with full buckets that is not in the table.
func (t *hostTable) fresh(name string, p HostPolicy) *host {
	shared := t.policies[p]
	if shared == nil {
		shared = &p
		t.policies[p] = shared
	}
	h := &host{name: name, policy: shared, thawed: true}
	h.inter.open(p.Interactions)
	h.sub.open(p.Subresources)
	return h
}

// add puts h in, and lets idle hosts go when the table is large. It reports
// whether there was room.
func (t *hostTable) add(h *host, now tick, day int16, capped bool) bool {
	if len(t.byName) >= t.limit {
		looked := 0
		for name, old := range t.byName { // in no order: a sample
			if old.idle(now, day, capped) {
				delete(t.byName, name)
			}
			if looked++; looked == 64 {
				break
			}
		}
		if len(t.byName) >= 2*t.limit {
			return false
		}
	}
	t.byName[h.name] = h
	return true
}

// idle reports whether forgetting h changes no answer. capped says that hosts
// have daily caps of their own.
func (h *host) idle(now tick, day int16, capped bool) bool {
	return h.interOut+h.subOut == 0 && !h.challenged && h.strikes == 0 && h.subFails == 0 &&
		h.closed <= now && h.last.add(h.delay) <= now &&
		!(capped && h.day == day) &&
		h.inter.waiting() == 0 && h.sub.waiting() == 0 && h.inter.full(now) && h.sub.full(now)
}

// capped reports whether the counts of a host must not be forgotten today.
func (p HostPolicy) capped() bool { return p.HostInteractions > 0 || p.HostTotal > 0 }

// counts makes the counts those of the day.
func (h *host) counts(day int16) {
	if h.day != day {
		h.day, h.interactions, h.total = day, 0, 0
	}
}

func (h *host) bucket(interaction bool) *bucket {
	if interaction {
		return &h.inter
	}
	return &h.sub
}

// out is the number of actions that were let through and not settled.
func (h *host) out(interaction bool) *int32 {
	if interaction {
		return &h.interOut
	}
	return &h.subOut
}

// keep is how many tokens a bucket may have when a cool-down ends: one
// interaction, a tenth of a page load. A host that asked for rest is not met
// with the burst that gathered meanwhile.
func (h *host) keep(interaction bool) float64 {
	if h.thawed {
		return -1
	}
	if interaction {
		return 1
	}
	return max(1, float64(h.policy.Subresources.Burst)/10)
}

// thaw tells the buckets that the cool-down is over, once.
func (h *host) thaw(now tick) {
	if h.thawed || now < h.closed {
		return
	}
	for _, interaction := range []bool{true, false} {
		b := h.bucket(interaction)
		b.clamp(now, h.keep(interaction)+b.rate()*now.seconds(h.closed))
	}
	h.thawed = true
}

// close shuts the host until t, never for less than it is shut already.
func (h *host) close(t tick) bool {
	if t <= h.closed {
		return false
	}
	h.closed, h.thawed = t, false
	h.inter.reprice()
	h.sub.reprice()
	return true
}

// setDelay obeys the site's crawl-delay: one interaction each d at most, and no
// burst. It never makes the pace faster than the policy's. 0 lifts it.
func (h *host) setDelay(now tick, d time.Duration) {
	if d == h.delay {
		return
	}
	h.delay = d
	r, burst := float64(h.policy.Interactions.Rate), h.policy.Interactions.Burst
	if d > 0 {
		r, burst = min(r, 1/d.Seconds()), 1
	}
	if !h.inter.pace(now, r, burst) {
		return
	}
	if d > 0 && h.last != 0 { // the delay counts from the interaction before it was known, too
		h.inter.clamp(now, r*now.seconds(h.last))
	}
	h.inter.reprice()
}
