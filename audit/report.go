package audit

import (
	"fmt"
	"io"
	"strings"
	"time"

	"browsergovernor/actions"
)

// Report is what Verify found. After an error it covers the lines before the
// first broken one.
type Report struct {
	Dir      string    `json:"dir"`
	OK       bool      `json:"ok"`
	Files    int       `json:"files"`
	Lines    int       `json:"lines"`
	FirstSeq uint64    `json:"first_seq"` // more than 1: older files were taken away
	LastSeq  uint64    `json:"last_seq"`
	From     time.Time `json:"from,omitzero"`            // time of the first line
	To       time.Time `json:"to,omitzero"`              // time of the last line
	Head     string    `json:"head"`                     // SHA-256 of the last line, to be kept elsewhere
	Known    uint64    `json:"known_head_seq,omitempty"` // number of the line that the expected head belongs to

	Torn      int64       `json:"torn_bytes,omitempty"` // of an unfinished last line: it is being written, or was when the writer died
	Broken    *Broken     `json:"broken,omitempty"`
	Unsettled []Unsettled `json:"unsettled,omitempty"` // actions sent that have no outcome
}

// Broken is the first place where a log does not hold. It is the error of Verify.
type Broken struct {
	File string `json:"file"` // name inside the folder; "" for the log as a whole
	Line int    `json:"line"` // from 1
	What string `json:"what"`
	Want string `json:"want,omitempty"`
	Got  string `json:"got,omitempty"`
}

func (b *Broken) Error() string {
	var s strings.Builder
	s.WriteString("audit: ")
	if b.File != "" {
		fmt.Fprintf(&s, "%s:%d: ", b.File, b.Line)
	}
	s.WriteString(b.What)
	if b.Want != "" {
		fmt.Fprintf(&s, ": want %s, found %s", b.Want, b.Got)
	}
	return s.String()
}

// Unsettled is an action that was sent and of which nothing more is known.
type Unsettled struct {
	ID   string       `json:"id"`
	Kind actions.Kind `json:"kind"`
	URL  string       `json:"url,omitempty"`
	File string       `json:"file"`
	Line int          `json:"line"`
}

// WriteText writes the report for people.
func (r Report) WriteText(w io.Writer) error {
	p := printer{w: w}
	if r.OK {
		p.f("the log holds: %d lines in %d files, seq %d to %d\n", r.Lines, r.Files, r.FirstSeq, r.LastSeq)
	} else {
		p.f("the log does not hold after %d lines in %d files\n", r.Lines, r.Files)
	}
	if r.Broken != nil {
		p.f("  broken     %s\n", clean(strings.TrimPrefix(r.Broken.Error(), "audit: ")))
	}
	if r.Lines > 0 {
		p.f("  from       %s\n  to         %s\n", r.From.Format(stampLayout), r.To.Format(stampLayout))
		p.f("  head       %s (seq %d)\n", r.Head, r.LastSeq)
	}
	if r.FirstSeq > 1 {
		p.f("  starts at  seq %d: the %d lines before are not in this folder\n", r.FirstSeq, r.FirstSeq-1)
	}
	if r.Known != 0 {
		p.f("  known head is line seq %d; %d lines were added since\n", r.Known, r.LastSeq-r.Known)
	}
	if r.Torn > 0 {
		p.f("  unfinished last line of %d bytes: it is being written, or its writer died; it is cut off at the next start\n", r.Torn)
	}
	if n := len(r.Unsettled); n > 0 {
		p.f("  no outcome %d actions were sent and never settled\n", n)
		const most = 20
		for i, u := range r.Unsettled {
			if i == most {
				p.f("             … and %d more\n", n-most)
				break
			}
			p.f("             %-8s %-11s %s (%s:%d)\n", clean(u.ID), clean(string(u.Kind)), clean(u.URL), u.File, u.Line)
		}
	}
	return p.err
}
