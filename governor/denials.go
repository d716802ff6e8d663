package governor

import (
	"hash/maphash"

	"browsergovernor/actions"
)

// lasting reports whether asking again cannot help: the answer only changes
// when a person changes something.
func lasting(r Reason) bool {
	switch r {
	case PolicyDenied, PrivateNetwork, RobotsDisallowed, CrawlDelayTooLong:
		return true
	}
	return false
}

// denials counts how often the same interaction was refused in a row for a
// lasting reason. It remembers the last few thousand in two generations: when
// the young one is full, the old one is forgotten.
//
// The Governor's mutex guards it.
type denials struct {
	seed       maphash.Seed
	young, old map[uint64]int
}

const denialsKept = 2048 // in each generation

func newDenials() denials {
	return denials{seed: maphash.MakeSeed(), young: map[uint64]int{}}
}

func (d *denials) key(a *actions.Action) uint64 {
	var h maphash.Hash
	h.SetSeed(d.seed)
	for _, s := range [...]string{string(a.Kind), a.Client, a.URL} {
		h.WriteString(s)
		h.WriteByte(0)
	}
	return h.Sum64()
}

// refused counts one more refusal of a and returns how many came before it.
func (d *denials) refused(a *actions.Action) (before int) {
	k := d.key(a)
	before, ok := d.young[k]
	if !ok {
		before = d.old[k]
		if len(d.young) >= denialsKept {
			d.old, d.young = d.young, make(map[uint64]int, denialsKept)
		}
	}
	d.young[k] = before + 1
	return before
}

// allowed forgets a: it is refused no longer.
func (d *denials) allowed(a *actions.Action) {
	if len(d.young)+len(d.old) == 0 {
		return
	}
	k := d.key(a)
	delete(d.young, k)
	delete(d.old, k)
}
