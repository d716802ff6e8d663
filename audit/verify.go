package audit

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"browsergovernor/governor"
)

// Verify reads the whole log in dir and checks that every line is one of the
// log, that none is missing between two others and that each carries the hash of
// the one before. The first line that does not hold is a [*Broken] error. It can
// run while another process writes.
//
// A head from before, as [Log.Head] or an earlier Report gave it, must be the
// hash of one of the lines: this finds lines cut off the end or changed there,
// and a log that was written anew. An empty head leaves that out.
func Verify(dir, head string) (Report, error) {
	rep := Report{Dir: dir}
	var known [hashSize]byte
	if head = strings.TrimSpace(head); head != "" {
		raw, err := hex.DecodeString(head)
		if err != nil || len(raw) != hashSize {
			return rep, fmt.Errorf("audit: head %q: want a SHA-256 sum, 64 hexadecimal digits", head)
		}
		copy(known[:], raw)
	}
	s, err := openScan(dir, "")
	if err != nil {
		return rep, err
	}
	if len(s.c.names) == 0 {
		return rep, fmt.Errorf("audit: %s holds no log (no file named like 2026-11-30.jsonl)", dir)
	}
	s.hash = true
	open := unsettled{byID: map[string]Unsettled{}}
	var last link
	for r := range s.records() {
		if rep.Broken = last.follow(r); rep.Broken != nil {
			break
		}
		if r.File != last.file {
			rep.Files++
		}
		if rep.Lines == 0 {
			rep.FirstSeq, rep.From = r.Seq, r.Event.Time
		}
		rep.Lines++
		rep.LastSeq, rep.To = r.Seq, r.Event.Time
		last = link{seq: r.Seq, hash: r.Hash, file: r.File, line: r.Line}
		if head != "" && rep.Known == 0 && last.hash == known {
			rep.Known = r.Seq
		}
		open.see(r)
	}
	rep.Torn = s.torn
	rep.Unsettled = open.list()
	if rep.Lines > 0 {
		rep.Head = hex.EncodeToString(last.hash[:])
	}
	if rep.Broken == nil && head != "" && rep.Known == 0 {
		rep.Broken = &Broken{
			What: "no line has the hash that was expected: the end of the log was cut off or changed, or the log was written anew",
			Want: "a line with " + strings.ToLower(head),
			Got:  fmt.Sprintf("%d lines, the last with %s", rep.Lines, orNone(rep.Head)),
		}
	}
	if rep.Broken != nil {
		return rep, rep.Broken
	}
	rep.OK = true
	return rep, nil
}

// link is a line as the next one must know it. The zero value stands before the
// first.
type link struct {
	seq  uint64
	hash [hashSize]byte
	file string
	line int
}

// follow says why r cannot be the line after l, nil when it can.
func (l *link) follow(r *record) *Broken {
	broken := func(want, got, what string, args ...any) *Broken {
		return &Broken{File: r.File, Line: r.Line, What: fmt.Sprintf(what, args...), Want: want, Got: got}
	}
	var prev [2 * hashSize]byte
	hex.Encode(prev[:], l.hash[:])
	var le *LineError
	switch {
	case errors.As(r.Err, &le):
		return broken("", "", "%v", le.Err)
	case r.Err != nil:
		return broken("", "", "%v", r.Err)
	case r.Seq == 0:
		return broken("1 or more", "0", "seq")
	case l.seq == 0 && r.Seq > 1: // older files were taken away
		return nil
	case l.seq == 0 && r.Prev != string(prev[:]):
		return broken(string(prev[:]), orNone(r.Prev), "prev of the first line of all")
	case r.Seq != l.seq+1:
		return broken(fmt.Sprint(l.seq+1), fmt.Sprint(r.Seq),
			"seq does not follow %s:%d: lines are missing, moved or added", l.file, l.line)
	case r.Prev != string(prev[:]):
		return broken(string(prev[:]), orNone(r.Prev),
			"prev is not the hash of %s:%d: one of the two lines was changed", l.file, l.line)
	}
	return nil
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

// unsettled follows actions to their outcomes. IDs may come back after days, so
// the newest action of an ID is the one that an outcome settles.
type unsettled struct {
	byID map[string]Unsettled
	gone []Unsettled // displaced by a newer action of the same ID
}

func (u *unsettled) see(r *record) {
	ev := &r.Event
	switch {
	case ev.Type == governor.EventAction && ev.Sent:
		if old, ok := u.byID[ev.ID]; ok {
			u.gone = append(u.gone, old)
		}
		u.byID[ev.ID] = Unsettled{ID: ev.ID, Kind: ev.Kind, URL: ev.URL, File: r.File, Line: r.Line}
	case ev.Type == governor.EventOutcome:
		delete(u.byID, ev.ID)
	}
}

func (u *unsettled) list() []Unsettled {
	out := u.gone
	for _, a := range u.byID {
		out = append(out, a)
	}
	sortUnsettled(out)
	return out
}
