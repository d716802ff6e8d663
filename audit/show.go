package audit

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"browsergovernor/governor"
)

// Show writes the lines of the log in dir that f picks to w: as "text", a
// timeline for people with each action and its outcome on one line, or as
// "json", the lines as they stand in the log. Lines that cannot be understood
// are left out; the first of them is the error, after all others were written.
func Show(w io.Writer, dir string, f Filter, format string) error {
	out := bufio.NewWriterSize(w, 64<<10)
	var to interface {
		line(*record)
		end() error
	}
	switch format {
	case "text":
		to = &timeline{p: printer{w: out}, window: window, byID: map[string]*row{}}
	case "json":
		to = &rawLines{w: out}
	default:
		return fmt.Errorf("audit: format %q: want text or json", format)
	}
	s, err := openScan(dir, f.since())
	if err != nil {
		return err
	}
	var broken error
	pick := newPicker(f)
	for r := range s.records() {
		if r.Err != nil {
			if broken == nil {
				broken = r.Err
			}
			continue
		}
		if pick.pick(&r.Event) {
			to.line(r)
		}
	}
	if err := to.end(); err != nil {
		return fmt.Errorf("audit: showing the log: %w", err)
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("audit: showing the log: %w", err)
	}
	return broken
}

type rawLines struct {
	w   *bufio.Writer
	err error
}

func (l *rawLines) line(r *record) {
	if l.err == nil {
		l.w.WriteString(r.Raw)
		l.err = l.w.WriteByte('\n') // bufio keeps the first error
	}
}

func (l *rawLines) end() error { return l.err }

// window is how many rows wait for their outcomes. Of a longer log the oldest
// half is written when the window is full; an outcome that comes later than that
// is not shown.
const window = 1 << 16

// row is one line of the timeline.
type row struct {
	ev      governor.Event
	outcome governor.Event // zero Type when there is none yet
}

// timeline joins actions with their outcomes.
type timeline struct {
	p    printer
	rows []*row
	byID map[string]*row
	day  string // of the newest heading

	window int
}

func (t *timeline) line(r *record) {
	if r.Event.Type == governor.EventOutcome {
		if row := t.byID[r.Event.ID]; row != nil {
			mergeOutcome(&row.outcome, &r.Event)
		}
		return
	}
	next := &row{ev: r.Event}
	t.rows = append(t.rows, next)
	if r.Event.Sent {
		t.byID[r.Event.ID] = next
	}
	if len(t.rows) == t.window {
		t.flush(t.window / 2)
	}
}

// mergeOutcome adds a later outcome of the same action: a credit that turned out
// afterwards does not take the status away.
func mergeOutcome(o, later *governor.Event) {
	old := *o
	*o = *later
	if o.Status == 0 {
		o.Status, o.Latency = old.Status, old.Latency
	}
	o.Credited = o.Credited || old.Credited
	o.FromCache = o.FromCache || old.FromCache
}

func (t *timeline) end() error {
	t.flush(len(t.rows))
	return t.p.err
}

// widest is how wide the column of URLs gets at most. Longer URLs are written
// out, past the column.
const widest = 60

func (t *timeline) flush(n int) {
	width := 0
	for _, r := range t.rows[:n] {
		width = max(width, min(widest, utf8.RuneCountInString(clean(r.ev.URL))))
	}
	for _, r := range t.rows[:n] {
		if day := r.ev.Time.Format(time.DateOnly); day != t.day {
			t.day = day
			t.p.f("── %s UTC\n", day)
		}
		t.write(r, width)
		if t.byID[r.ev.ID] == r {
			delete(t.byID, r.ev.ID)
		}
	}
	t.rows = append(t.rows[:0:0], t.rows[n:]...)
}

func (t *timeline) write(r *row, width int) {
	ev, o := &r.ev, &r.outcome
	mark, waited := "refused", short(ev.Waited)
	switch {
	case ev.Type != governor.EventAction:
		mark, waited = string(ev.Type), ""
	case ev.Sent:
		mark = "sent"
	}
	status := ""
	switch {
	case o.Type == "":
	case o.FromCache:
		status = "cache"
	case o.Status != 0:
		status = fmt.Sprint(o.Status)
	default:
		status = "-"
	}
	url := clean(ev.URL)
	line := fmt.Sprintf("%s  %-7s  %-11s  %-6s  %s%s  %6s  %5s  %s", ev.Time.Format(clockLayout), clean(mark),
		clean(string(ev.Kind)), clean(ev.Method), url, strings.Repeat(" ", max(0, width-utf8.RuneCountInString(url))),
		waited, status, remarks(ev, o))
	t.p.f("%s\n", strings.TrimRight(line, " "))
}

// remarks is the last column: why, and what else came of it.
func remarks(ev, o *governor.Event) string {
	var all []string
	add := func(label, s string) {
		if s != "" {
			all = append(all, label+clean(s))
		}
	}
	if ev.Reason != "" && ev.Rule != "" {
		add(string(ev.Reason)+": ", ev.Rule)
	} else {
		add("", string(ev.Reason))
		add("", ev.Rule)
	}
	if ev.Note != "" && ev.Text != "" {
		add(clean(ev.Note)+": ", ev.Text)
	} else {
		add("", ev.Note)
		add("", ev.Text)
	}
	add("", ev.Detail)
	if ev.Attempt > 0 {
		add("", fmt.Sprintf("attempt %d", ev.Attempt+1))
	}
	if o.RetryAfter > 0 {
		add("retry after ", short(o.RetryAfter))
	}
	if !o.HoldUntil.IsZero() {
		add("host held until ", o.HoldUntil.Format(clockLayout))
	}
	if o.Credited {
		add("", "credited")
	}
	add("", o.Error)
	return strings.Join(all, "; ")
}
