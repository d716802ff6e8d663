package audit

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode"
)

const (
	stampLayout = "2006-01-02 15:04:05.000 UTC"
	clockLayout = "15:04:05.000"
)

// printer keeps the first error of a row of prints.
type printer struct {
	w   io.Writer
	err error
}

func (p *printer) f(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format, args...)
	}
}

// clean makes text from a page fit for a terminal: what does not print, escape
// sequences and bidirectional overrides among it, becomes U+FFFD.
func clean(s string) string {
	bad := func(r rune) bool { return !unicode.IsPrint(r) }
	if strings.IndexFunc(s, bad) < 0 {
		return s
	}
	return strings.Map(func(r rune) rune {
		if bad(r) {
			return unicode.ReplacementChar
		}
		return r
	}, s)
}

// short writes a wait as people read it: "-", "85ms", "1.2s", "3m20s".
func short(d time.Duration) string {
	switch {
	case d <= 0:
		return "-"
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < time.Minute:
		return d.Round(100 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}

func sortUnsettled(list []Unsettled) {
	slices.SortFunc(list, func(a, b Unsettled) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
}
