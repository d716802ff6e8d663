package audit

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"time"

	"browsergovernor/governor"
)

// A line is head + seq + body + tail + prev + end. The body does not depend on
// where in the log the line will stand, so writers build their bodies at the
// same time, and only the little around it is put together in turn.
const (
	lineHead = `{"v":1,"seq":`
	lineTail = `,"prev":"`
	lineEnd  = `"}`
)

// hashSize is the length of a SHA-256 sum.
const hashSize = 32

func appendLine(b []byte, seq uint64, body []byte, prev *[hashSize]byte) []byte {
	b = append(b, lineHead...)
	b = strconv.AppendUint(b, seq, 10)
	b = append(b, body...)
	b = append(b, lineTail...)
	b = hex.AppendEncode(b, prev[:])
	return append(b, lineEnd...)
}

// appendBody appends the fields of ev between "seq" and "prev". The time of the
// line is ts. The fields that an event of its type must have are always there,
// others only when they say something.
func appendBody(b []byte, ev *governor.Event, ts time.Time) ([]byte, error) {
	if ev.Type == "" {
		return b, errors.New("audit: an event without a type")
	}
	if y := ts.Year(); y < 1 || y > 9999 {
		return b, fmt.Errorf("audit: the time %v cannot be written in RFC 3339", ts)
	}
	action, outcome := ev.Type == governor.EventAction, ev.Type == governor.EventOutcome

	b = append(b, `,"ts":`...)
	b = appendTime(b, ts)
	b = field(b, `,"day":`, ev.Day)
	b = field(b, `,"event":`, string(ev.Type))
	b = field(b, `,"id":`, ev.ID)
	b = field(b, `,"kind":`, string(ev.Kind))
	b = field(b, `,"method":`, ev.Method)
	b = field(b, `,"url":`, Mask(ev.URL))
	b = field(b, `,"host":`, ev.Host)
	b = flag(b, `,"sent":`, ev.Sent, action)
	b = number(b, `,"attempt":`, int64(ev.Attempt), action && ev.Sent)
	b = number(b, `,"waited_ms":`, ev.Waited.Round(time.Millisecond).Milliseconds(), action && ev.Sent)
	b = field(b, `,"client":`, ev.Client)
	b = field(b, `,"tab":`, ev.Tab)
	b = field(b, `,"cause":`, ev.Cause)
	b = field(b, `,"resource":`, ev.Resource)
	b = field(b, `,"detail":`, maskText(ev.Detail))
	if ev.Left != nil {
		b = number(b, `,"left":{"host":`, int64(ev.Left.Host), true)
		b = number(b, `,"day":`, int64(ev.Left.Day), true)
		b = append(b, '}')
	}
	b = field(b, `,"reason":`, string(ev.Reason))
	b = field(b, `,"rule":`, maskText(ev.Rule))

	b = number(b, `,"status":`, int64(ev.Status), outcome)
	b = number(b, `,"ms":`, ev.Latency.Round(time.Millisecond).Milliseconds(), outcome)
	if ev.RetryAfter > 0 {
		b = append(b, `,"retry_after_s":`...)
		b = appendSeconds(b, ev.RetryAfter)
	}
	b = flag(b, `,"from_cache":`, ev.FromCache, outcome)
	b = flag(b, `,"credited":`, ev.Credited, false)
	if y := ev.HoldUntil.Year(); !ev.HoldUntil.IsZero() && y >= 1 && y <= 9999 {
		b = append(b, `,"hold_until":`...)
		// Rounded up: a host must not open earlier after a restart than before.
		b = appendTime(b, ev.HoldUntil.Add(time.Millisecond-1))
	}
	b = field(b, `,"error":`, maskText(ev.Error))
	b = field(b, `,"note":`, ev.Note)
	b = field(b, `,"text":`, maskText(ev.Text))
	return b, nil
}

func field(b []byte, key, s string) []byte {
	if s == "" {
		return b
	}
	return appendString(append(b, key...), clip(s))
}

func number(b []byte, key string, n int64, always bool) []byte {
	if n == 0 && !always {
		return b
	}
	return strconv.AppendInt(append(b, key...), n, 10)
}

func flag(b []byte, key string, v, always bool) []byte {
	if !v && !always {
		return b
	}
	return strconv.AppendBool(append(b, key...), v)
}

// appendSeconds writes d in seconds with at most three decimals, rounded up to
// the millisecond: a wait that a server asked for never becomes shorter.
func appendSeconds(b []byte, d time.Duration) []byte {
	ms := int64(d / time.Millisecond)
	if d%time.Millisecond > 0 {
		ms++
	}
	b = strconv.AppendInt(b, ms/1000, 10)
	if ms %= 1000; ms == 0 {
		return b
	}
	b = append(b, '.', byte('0'+ms/100))
	if ms %= 100; ms != 0 {
		b = append(b, byte('0'+ms/10))
		if ms %= 10; ms != 0 {
			b = append(b, byte('0'+ms))
		}
	}
	return b
}

// appendTime writes t as "2026-11-30T12:09:22.118Z", quoted. It is AppendFormat
// for this one layout, four times as fast.
func appendTime(b []byte, t time.Time) []byte {
	t = t.UTC()
	year, month, day := t.Date()
	hour, minute, sec := t.Clock()
	ms := t.Nanosecond() / int(time.Millisecond)
	return append(b, '"',
		digit(year/1000), digit(year/100), digit(year/10), digit(year), '-',
		digit(int(month)/10), digit(int(month)), '-', digit(day/10), digit(day), 'T',
		digit(hour/10), digit(hour), ':', digit(minute/10), digit(minute), ':', digit(sec/10), digit(sec), '.',
		digit(ms/100), digit(ms/10), digit(ms), 'Z', '"')
}

func digit(n int) byte { return byte('0' + n%10) }
