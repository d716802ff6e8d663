package governor

import "time"

// waiter is one action that waits for a bucket.
type waiter struct {
	wake     chan struct{} // holds one hint that something has changed
	jitter   time.Duration // drawn on arrival
	least    time.Duration // what jitter may be cut to when the hold is nearly over
	deadline tick          // never: waits as long as its context
	soft     bool          // let through at the deadline instead of refused
	gated    bool          // waits for the end of the host's cool-down
	due      tick          // set at the head of the queue: token's time plus jitter
}

// nudge tells w to look again.
func (w *waiter) nudge() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// queue is first in, first out: only its head may take a token.
type queue struct{ waiting []*waiter }

func (b *bucket) waiting() int {
	if b.q == nil {
		return 0
	}
	return len(b.q.waiting)
}

func (b *bucket) head() *waiter {
	if b.q == nil {
		return nil
	}
	return b.q.waiting[0]
}

func (b *bucket) push(w *waiter) {
	if b.q == nil {
		b.q = new(queue)
	}
	b.q.waiting = append(b.q.waiting, w)
}

// leave takes w out of the queue and wakes whoever comes to stand at its head.
func (b *bucket) leave(w *waiter) {
	ws := b.q.waiting
	for i, v := range ws {
		if v != w {
			continue
		}
		copy(ws[i:], ws[i+1:])
		ws[len(ws)-1] = nil
		b.q.waiting = ws[:len(ws)-1]
		if len(b.q.waiting) == 0 {
			b.q = nil
		} else if i == 0 {
			b.q.waiting[0].nudge()
		}
		return
	}
}

// reprice wakes everybody: the rate, the gate or the level is not what it was.
func (b *bucket) reprice() {
	if b.q == nil {
		return
	}
	for _, w := range b.q.waiting {
		w.nudge()
	}
}

// forecast is a bucket run ahead of time, to see when those who wait will be
// released if nothing else happens.
type forecast struct {
	at, gate           tick
	level, rate, burst float64
	keep               float64 // most tokens there are when the gate opens; <0: the gate changes nothing
}

func (b *bucket) forecast(now, gate tick, keep float64) forecast {
	return forecast{at: now, gate: gate, level: b.level(now), rate: b.rate(), burst: b.burst(), keep: keep}
}

// advance lets time pass.
func (f *forecast) advance(t tick) {
	if t <= f.at {
		return
	}
	level := min(f.burst, f.level+f.rate*t.seconds(f.at))
	if f.keep >= 0 && f.at < f.gate && t >= f.gate {
		level = min(level, f.keep+f.rate*t.seconds(f.gate))
	}
	f.level, f.at = level, t
}

// release returns when w, being next, is let through.
func (f *forecast) release(w *waiter) tick {
	ready := f.at
	if w.gated && ready < f.gate {
		ready = f.gate
	}
	g := *f
	g.advance(ready)
	if !enough(g.level) {
		if g.rate <= 0 {
			return never
		}
		ready = ready.after((1 - g.level) / g.rate)
	}
	if w.due != 0 {
		return max(w.due, ready)
	}
	t := ready.add(w.jitter)
	if t > w.deadline && ready.add(w.least) <= w.deadline {
		t = w.deadline
	}
	return t
}

// eta returns when w, which stands in the queue or would be its last, is
// released. A waiter at the head has its jitter fixed by the first call.
func (b *bucket) eta(f forecast, w *waiter) tick {
	if b.q == nil {
		return f.release(w)
	}
	for i, v := range b.q.waiting {
		t := f.release(v)
		if i == 0 && v == w && v.due == 0 {
			v.due = t
		}
		if v == w {
			return t
		}
		if t > v.deadline {
			if !v.soft {
				continue // it will be refused and takes nothing
			}
			t = v.deadline
		}
		if t >= never {
			return never
		}
		f.advance(t)
		f.level--
	}
	return f.release(w)
}
