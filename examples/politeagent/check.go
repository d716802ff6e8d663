package main

import (
	"errors"
	"fmt"
	"sort"
	"strings"
	"time"

	"browsergovernor/audit"
	"browsergovernor/governor"
)

// check compares the server's own list with the log, and the server's clock with
// the rules. It prints what it finds and fails on the first difference.
func check(dir string, s *site) error {
	hits := s.received()
	var sent []string
	var refused []governor.Event
	for ev, err := range audit.Replay(dir) {
		if err != nil {
			return err
		}
		if ev.Type != governor.EventAction {
			continue
		}
		if ev.Sent {
			sent = append(sent, ev.Method+" "+path(ev.URL))
		} else {
			refused = append(refused, ev)
		}
	}
	var got []string
	for _, h := range hits {
		got = append(got, h.method+" "+h.path)
	}
	sort.Strings(sent)
	sort.Strings(got)
	if a, b := strings.Join(sent, "\n"), strings.Join(got, "\n"); a != b {
		return fmt.Errorf("the log and the server disagree\nlog says sent:\n%s\nserver received:\n%s", a, b)
	}
	fmt.Printf("checked: the server received %d requests, the same that the log has as sent\n", len(hits))
	return errors.Join(
		checkVerify(dir), checkPace(hits), checkRetries(hits), checkRefused(hits, refused), checkAgent(hits))
}

func checkVerify(dir string) error {
	if _, err := audit.Verify(dir, ""); err != nil {
		return err
	}
	fmt.Println("checked: the log's hash chain holds")
	return nil
}

// pages are the navigations among hits.
func pages(hits []hit) []hit {
	var out []hit
	for _, h := range hits {
		if h.path != "/robots.txt" && h.path != "/favicon.ico" {
			out = append(out, h)
		}
	}
	return out
}

// slack is what the network and the two clocks may differ by.
const slack = 50 * time.Millisecond

func checkPace(hits []hit) error {
	nav := pages(hits)
	if len(nav) != 8 {
		return fmt.Errorf("the server received %d pages; the cap is 8", len(nav))
	}
	closest := time.Hour
	for i := 1; i < len(nav); i++ {
		closest = min(closest, nav[i].at.Sub(nav[i-1].at))
	}
	if closest < time.Second-slack {
		return fmt.Errorf("two pages were asked for within %v; Crawl-delay is 1 s", closest)
	}
	fmt.Printf("checked: 8 pages, never two within %.2f s (Crawl-delay 1)\n", closest.Seconds())
	return nil
}

func checkRetries(hits []hit) error {
	nav := pages(hits)
	for i := 0; i+1 < len(nav); i++ {
		gap := nav[i+1].at.Sub(nav[i].at)
		switch nav[i].status {
		case 429:
			if gap < 2*time.Second-slack {
				return fmt.Errorf("%s was asked for again %v after its 429; it said 2 s", nav[i].path, gap)
			}
			fmt.Printf("checked: %s was asked for again %.2f s after its 429 (Retry-After: 2)\n", nav[i].path, gap.Seconds())
		case 503:
			if gap < 800*time.Millisecond-slack {
				return fmt.Errorf("%s was asked for again %v after its 503; the back-off is 1 s ± 20 %%", nav[i].path, gap)
			}
			fmt.Printf("checked: %s was asked for again %.2f s after its 503 (back-off 1 s ± 20 %%, then the pace)\n", nav[i].path, gap.Seconds())
		}
	}
	return nil
}

func checkRefused(hits []hit, refused []governor.Event) error {
	for _, h := range hits {
		if strings.HasPrefix(h.path, "/private") {
			return fmt.Errorf("%s reached the server", h.path)
		}
	}
	if len(refused) != 2 || refused[0].Reason != governor.RobotsDisallowed ||
		refused[1].Reason != governor.DailyCap || refused[1].Attempt == 0 {
		return fmt.Errorf("want two refusals, robots_disallowed and daily_cap in a retry; got %+v", refused)
	}
	fmt.Println("checked: /private never left the machine; the cap was reached in the middle of a retry")
	return nil
}

func checkAgent(hits []hit) error {
	const want = "ResearchBot/1.0 (+https://example.com/bot)"
	for _, h := range hits {
		if !strings.Contains(h.agent, want) {
			return fmt.Errorf("%s came as %q; want %q in it", h.path, h.agent, want)
		}
	}
	fmt.Printf("checked: every request names %s\n", want)
	return nil
}
