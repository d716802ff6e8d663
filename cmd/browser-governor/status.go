package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"browsergovernor/governor"
)

func cmdStatus(ctx context.Context, e env, args []string) error {
	fs := newFlags(e, "status", "[flags]")
	endpoint := fs.String("endpoint", "http://127.0.0.1:9222", "`URL` of the running governor's endpoint")
	token := fs.String("token", "", "`SECRET` of the endpoint")
	watch := fs.Bool("watch", false, "print again every second until Ctrl-C")
	asJSON := fs.Bool("json", false, "print JSON")
	if err := parse(fs, args); err != nil {
		return err
	}
	for {
		raw, err := fetchStatus(ctx, *endpoint, *token)
		if err != nil {
			return err
		}
		if *asJSON {
			fmt.Fprintf(e.stdout, "%s\n", raw)
		} else if err := printStatus(e.stdout, raw); err != nil {
			return err
		}
		if !*watch {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(time.Second):
		}
	}
}

func fetchStatus(ctx context.Context, endpoint, token string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	url := strings.TrimSuffix(endpoint, "/") + "/governor/status"
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, usageError("--endpoint: %v", err)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	// No proxy: the endpoint is on this machine or reached directly.
	client := &http.Client{Transport: &http.Transport{}}
	res, err := client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("no governor answers at %s (is `browser-governor serve` running?): %w", endpoint, err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, 64<<20))
	if err != nil {
		return nil, fmt.Errorf("reading the status: %w", err)
	}
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answered %s: %s", url, res.Status, strings.TrimSpace(string(body)))
	}
	return body, nil
}

func printStatus(w io.Writer, raw []byte) error {
	var s governor.Status
	if err := json.Unmarshal(raw, &s); err != nil {
		return fmt.Errorf("reading the status: %w", err)
	}
	writeStatus(w, s)
	return nil
}

// writeStatus prints the day's budgets, then a line a host.
func writeStatus(w io.Writer, s governor.Status) {
	fmt.Fprintf(w, "day %s, ends %s\n", s.Day, s.DayEnds.Format(time.RFC3339))
	fmt.Fprintf(w, "interactions %d, %s left; requests in all %d, %s left\n",
		s.Interactions, leftText(s.Left.Day), s.Total, leftText(s.TotalLeft))
	if s.Paused {
		fmt.Fprintln(w, "everything is paused")
	}
	if s.Waiting > 0 {
		fmt.Fprintf(w, "%d actions are waiting\n", s.Waiting)
	}
	if len(s.Hosts) > 0 {
		fmt.Fprintln(w)
		t := table(w)
		fmt.Fprintln(t, "host\tinteractions\tleft\trequests\tpace\twaiting\tstate")
		for _, h := range s.Hosts {
			fmt.Fprintf(t, "%s\t%d\t%s\t%d\t%.4g/minute\t%d\t%s\n", h.Host, h.Interactions, leftText(h.InteractionsLeft),
				h.Total, h.Rate, h.Waiting+h.SubWaiting, hostState(h, s.Time))
		}
		t.Flush()
	}
	if len(s.Refusals) > 0 {
		fmt.Fprintln(w, "\nrefused since the start:")
		t := table(w)
		for _, reason := range sortedKeys(s.Refusals) {
			fmt.Fprintf(t, "  %s\t%d\n", reason, s.Refusals[reason])
		}
		t.Flush()
	}
}

func leftText(n int) string {
	if n < 0 {
		return "any number"
	}
	return fmt.Sprint(n)
}

func hostState(h governor.HostStatus, now time.Time) string {
	var parts []string
	if h.Paused {
		parts = append(parts, "paused")
	}
	if h.Challenged {
		parts = append(parts, "showed a bot check: a human decides")
	}
	if h.ClosedUntil != nil && h.ClosedUntil.After(now) {
		parts = append(parts, fmt.Sprintf("asked to wait, %.0f s more", h.ClosedUntil.Sub(now).Seconds()))
	}
	if h.CrawlDelay > 0 {
		parts = append(parts, fmt.Sprintf("Crawl-delay %g s", h.CrawlDelay))
	}
	if len(parts) == 0 {
		return "open"
	}
	return strings.Join(parts, ", ")
}

func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("writing JSON: %w", err)
	}
	return nil
}

// sortedKeys keeps printed tables in one order.
func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K {
	return slices.Sorted(maps.Keys(m))
}

func table(w io.Writer) *tabwriter.Writer {
	return tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
}
