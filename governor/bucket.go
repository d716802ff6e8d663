package governor

import (
	"math"
	"time"

	"golang.org/x/time/rate"
)

// tick is a point on the governor's steady clock, in nanoseconds since 1970.
// It never runs backwards while the governor lives, see [clock].
type tick int64

// never is later than any time an action could wait for.
const never = tick(math.MaxInt64 / 2)

func (t tick) time() time.Time            { return time.Unix(0, int64(t)) }
func (t tick) add(d time.Duration) tick   { return min(t+tick(min(d, time.Duration(never))), never) }
func (t tick) sub(u tick) time.Duration   { return time.Duration(t - u) }
func (t tick) seconds(since tick) float64 { return time.Duration(t - since).Seconds() }
func (t tick) after(seconds float64) tick { // seconds later, rounded up to a nanosecond
	if ns := math.Ceil(seconds * 1e9); ns < float64(never) {
		return min(t+tick(ns), never)
	}
	return never
}

// micro is one token in the limiter's units. [rate.Limiter] takes and gives
// whole numbers only; counting in millionths makes partial refunds and restored
// levels possible.
const micro = 1_000_000

// bucket is one token bucket of one host: a [rate.Limiter] in millionths of a
// token and the queue of those who wait for it. A token is taken at the moment
// its action is released, never earlier, so that whoever leaves the queue costs
// nothing and a new rate counts for everybody who still waits. Its level goes
// below zero when an action is let through early.
//
// The Governor's mutex guards it.
type bucket struct {
	lim rate.Limiter
	q   *queue // nil when nobody waits

	brim    tick // last time the bucket may have spilled, had nothing outstanding been taken
	repaced tick // last change of pace
}

// open makes the zero bucket a full one.
func (b *bucket) open(p Bucket) {
	b.lim.SetBurstAt(time.Time{}, max(1, p.Burst)*micro)
	b.lim.SetLimitAt(time.Time{}, rate.Limit(p.Rate)*micro)
}

func (b *bucket) rate() float64          { return float64(b.lim.Limit()) / micro }
func (b *bucket) burst() float64         { return float64(b.lim.Burst()) / micro }
func (b *bucket) level(now tick) float64 { return b.lim.TokensAt(now.time()) / micro }
func (b *bucket) full(now tick) bool     { return b.level(now) >= b.burst() }
func enough(level float64) bool          { return level >= 1-1e-6 } // a wait rounded to nanoseconds may end a hair early

// take takes one token, whether it is there or not. out is how many were taken
// before and may still be given back.
func (b *bucket) take(now tick, out int32) {
	if b.level(now)+float64(out) >= b.burst() {
		b.brim = now
	}
	b.lim.ReserveN(now.time(), micro)
}

// refund gives back the token that was taken at the time at; out counts it, too.
//
// What the bucket would have spilled by now, had none of those been taken, is
// not given back: a bucket that has refilled in between would let more than
// burst + rate*t through. While level and outstanding tokens together stay below
// the burst, it cannot have spilled. Otherwise it has spilled rate*t at most.
func (b *bucket) refund(now, at tick, out int32) {
	if at <= b.repaced {
		return
	}
	n := micro
	if b.brim >= at || b.level(now)+float64(out) >= b.burst() {
		n -= int(math.Ceil(min(1, b.rate()*now.seconds(at)) * micro))
	}
	if n > 0 {
		b.lim.ReserveN(now.time(), -n)
	}
}

// clamp lowers the level to at most level.
func (b *bucket) clamp(now tick, level float64) {
	if n := int((b.level(now) - level) * micro); n > 0 {
		b.lim.ReserveN(now.time(), min(n, b.lim.Burst()))
	}
}

// pace sets rate and burst and reports whether that changed anything. Nothing
// taken before is refunded afterwards: it was counted at another rate.
func (b *bucket) pace(now tick, r float64, burst int) bool {
	burst = max(1, burst) * micro
	limit := rate.Limit(r) * micro
	if b.lim.Limit() == limit && b.lim.Burst() == burst {
		return false
	}
	b.lim.SetLimitAt(now.time(), limit)
	b.lim.SetBurstAt(now.time(), burst)
	b.repaced = now
	return true
}
