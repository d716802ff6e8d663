package governor

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

// WriteText writes the status for people: the day, what was refused, and a line
// for each host.
func (s Status) WriteText(w io.Writer) {
	fmt.Fprintf(w, "day %s (until %s): %d interactions, %s left; %d actions, %s left\n",
		s.Day, s.DayEnds.Format(time.RFC3339), s.Interactions, leftText(s.Left.Day), s.Total, leftText(s.TotalLeft))
	fmt.Fprintf(w, "now: %d waiting, %d under way", s.Waiting, s.Pending)
	if s.Paused {
		fmt.Fprint(w, ", everything is paused")
	}
	fmt.Fprintln(w)
	if len(s.Refusals) > 0 {
		fmt.Fprintf(w, "refused: %s\n", refusalText(s.Refusals))
	}
	if len(s.Hosts) == 0 {
		return
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "HOST\tTODAY\tLEFT\tACTIONS\tTOKENS\tA MINUTE\tWAITING\tSTATE\tREFUSED")
	for _, h := range s.Hosts {
		fmt.Fprintf(t, "%s\t%d\t%s\t%d\t%.1f\t%.3g\t%d\t%s\t%s\n",
			clean(h.Host, 60), h.Interactions, leftText(h.InteractionsLeft), h.Total, h.Level, h.Rate,
			h.Waiting+h.SubWaiting, h.state(s.Time), refusalText(h.Refusals))
	}
	t.Flush()
}

// state says in a few words what keeps a host from being visited now.
func (h HostStatus) state(now time.Time) string {
	var words []string
	if h.Paused {
		words = append(words, "paused")
	}
	if h.Challenged {
		words = append(words, "challenge")
	}
	if h.ClosedUntil != nil {
		words = append(words, fmt.Sprintf("closed for %d s", seconds(h.ClosedUntil.Sub(now))))
	}
	if h.CrawlDelay > 0 {
		words = append(words, fmt.Sprintf("crawl-delay %g s", h.CrawlDelay))
	}
	if len(words) == 0 {
		return "open"
	}
	return strings.Join(words, ", ")
}

func leftText(n int) string {
	if n < 0 {
		return "no limit"
	}
	return strconv.Itoa(n)
}

func refusalText(m map[Reason]int64) string {
	if len(m) == 0 {
		return "-"
	}
	var words []string
	for _, r := range slices.Sorted(maps.Keys(m)) {
		words = append(words, fmt.Sprintf("%d %s", m[r], r))
	}
	return strings.Join(words, ", ")
}
