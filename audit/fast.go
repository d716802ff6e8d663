package audit

import (
	"strings"

	"browsergovernor/actions"
	"browsergovernor/governor"
)

// parseFast reads a line in the one spelling that this package writes: version
// 1, our keys in our order, each at most once, no blanks. For anything else, an
// unusual escape included, it gives up and says false; r is then undefined. What
// it accepts is JSON, and parseAny reads the same from it (FuzzReplayLine).
//
// Strings without escapes are parts of line, so that a line costs one
// allocation, made by whoever turned it into a string.
func parseFast(line string, r *record) bool {
	if !strings.HasPrefix(line, lineHead) {
		return false
	}
	*r = record{V: version}
	p := scanner{s: line, i: len(lineHead)}
	seq, ok := p.digits(18)
	if !ok {
		return false
	}
	r.Seq = uint64(seq)
	ev := &r.Event
	var str string // fields of named string types, converted below
	for last := 0; p.i+1 < len(line); {
		if line[p.i] != ',' || line[p.i+1] != '"' {
			break
		}
		p.i += 2
		end := strings.IndexByte(line[p.i:], '"')
		if end < 0 {
			return false
		}
		key := line[p.i : p.i+end]
		p.i += end + 1
		if p.i >= len(line) || line[p.i] != ':' {
			return false
		}
		p.i++
		rank, ok := 0, false
		switch key {
		case "ts":
			rank = 1
			ev.Time, ok = p.time()
		case "day":
			rank = 2
			ev.Day, ok = p.string()
		case "event":
			rank = 3
			str, ok = p.string()
			ev.Type = governor.EventType(str)
		case "id":
			rank = 4
			ev.ID, ok = p.string()
		case "kind":
			rank = 5
			str, ok = p.string()
			ev.Kind = actions.Kind(str)
		case "method":
			rank = 6
			ev.Method, ok = p.string()
		case "url":
			rank = 7
			ev.URL, ok = p.string()
		case "host":
			rank = 8
			ev.Host, ok = p.string()
		case "sent":
			rank = 9
			ev.Sent, ok = p.bool()
		case "attempt":
			rank = 10
			ev.Attempt, ok = p.int()
		case "waited_ms":
			rank = 11
			ev.Waited, ok = p.millis()
		case "client":
			rank = 12
			ev.Client, ok = p.string()
		case "tab":
			rank = 13
			ev.Tab, ok = p.string()
		case "cause":
			rank = 14
			ev.Cause, ok = p.string()
		case "resource":
			rank = 15
			ev.Resource, ok = p.string()
		case "detail":
			rank = 16
			ev.Detail, ok = p.string()
		case "left":
			rank = 17
			ev.Left, ok = p.left()
		case "reason":
			rank = 18
			str, ok = p.string()
			ev.Reason = governor.Reason(str)
		case "rule":
			rank = 19
			ev.Rule, ok = p.string()
		case "status":
			rank = 20
			ev.Status, ok = p.int()
		case "ms":
			rank = 21
			ev.Latency, ok = p.millis()
		case "retry_after_s":
			rank = 22
			ev.RetryAfter, ok = p.seconds()
		case "from_cache":
			rank = 23
			ev.FromCache, ok = p.bool()
		case "credited":
			rank = 24
			ev.Credited, ok = p.bool()
		case "hold_until":
			rank = 25
			ev.HoldUntil, ok = p.time()
		case "error":
			rank = 26
			ev.Error, ok = p.string()
		case "note":
			rank = 27
			ev.Note, ok = p.string()
		case "text":
			rank = 28
			ev.Text, ok = p.string()
		case "prev":
			rank = 29
			r.Prev, ok = p.string()
		}
		if !ok || rank <= last || rank > 1 && last == 0 { // "ts" is always there, and first
			return false
		}
		last = rank
	}
	return p.i == len(line)-1 && line[p.i] == '}' && ev.Type != "" && !ev.Time.IsZero()
}
