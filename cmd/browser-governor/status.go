package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
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
	s.WriteText(w)
	return nil
}

func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("writing JSON: %w", err)
	}
	return nil
}
