package main

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"browsergovernor/governor/robots"
)

// robotsAnswer is one line of `robots --jsonl`, and of `robots --json`.
type robotsAnswer struct {
	ID         string   `json:"id,omitempty"`
	URL        string   `json:"url,omitempty"`
	Allow      bool     `json:"allow"`
	CrawlDelay *float64 `json:"crawl_delay"` // seconds; null when the file names none
	Rule       string   `json:"rule"`
	Line       int      `json:"line"`
}

func cmdRobots(ctx context.Context, e env, args []string) error {
	fs := newFlags(e, "robots", "FILE|URL --agent NAME URL…   or   --jsonl < cases")
	agent := fs.String("agent", "", "product token to look for, as in ResearchBot")
	asJSON := fs.Bool("json", false, "print JSON")
	jsonl := fs.Bool("jsonl", false, "read cases from standard input, one JSON object a line, and answer each with one line")
	hostRules := fs.String("host-rules", "", "map host names to addresses for fetching a URL")
	// The file comes before the flags in the documented form, so both orders work.
	positional, err := parseMixed(fs, args)
	if err != nil {
		return err
	}
	if *jsonl {
		return robotsCases(ctx, e)
	}
	if len(positional) < 2 {
		return usageError("robots: want FILE|URL and at least one URL to ask about")
	}
	if *agent == "" {
		return usageError("robots: --agent NAME is missing")
	}
	if err := robots.ValidToken(*agent); err != nil {
		return usageError("robots: --agent: %v", err)
	}
	ask, err := robotsSource(ctx, positional[0], *agent, *hostRules)
	if err != nil {
		return err
	}
	denied := false
	for _, url := range positional[1:] {
		a := ask(url)
		denied = denied || !a.Allow
		if *asJSON {
			if err := writeJSON(e.stdout, a); err != nil {
				return err
			}
			continue
		}
		a.print(e.stdout)
	}
	if denied {
		return coded{exitNo, nil}
	}
	return nil
}

func (a robotsAnswer) print(w io.Writer) {
	word := "allowed "
	if !a.Allow {
		word = "disallow"
	}
	fmt.Fprintf(w, "%s  %s", word, a.URL)
	if a.Rule != "" {
		fmt.Fprintf(w, "  by %q", a.Rule)
		if a.Line > 0 {
			fmt.Fprintf(w, " in line %d", a.Line)
		}
	}
	if a.CrawlDelay != nil {
		fmt.Fprintf(w, "  crawl-delay %g s", *a.CrawlDelay)
	}
	fmt.Fprintln(w)
}

// robotsSource returns what answers questions about a file, or about the
// robots.txt that a URL's host serves.
func robotsSource(ctx context.Context, from, token, rules string) (func(url string) robotsAnswer, error) {
	if !strings.HasPrefix(from, "http://") && !strings.HasPrefix(from, "https://") {
		body, err := os.ReadFile(from)
		if err != nil {
			return nil, err
		}
		f := robots.Parse(body)
		return func(url string) robotsAnswer { return fileAnswer(f, token, url) }, nil
	}
	c := config{hostRules: rules}
	hr, err := c.rules()
	if err != nil {
		return nil, err
	}
	cache, err := robots.New(robots.Config{RoundTripper: robotsTransport(hr), UserAgent: token, Token: token})
	if err != nil {
		return nil, err
	}
	return func(url string) robotsAnswer {
		v := cache.Check(ctx, url)
		a := robotsAnswer{URL: url, Allow: v.Allow, Rule: v.Rule, Line: v.Line}
		if v.Unavailable {
			a.Rule = v.Cause
		}
		if v.HasDelay {
			s := v.Delay.Seconds()
			a.CrawlDelay = &s
		}
		return a
	}, nil
}

func fileAnswer(f *robots.File, token, url string) robotsAnswer {
	got := f.Ask(token, url)
	a := robotsAnswer{URL: url, Allow: got.Allow, Rule: got.Rule, Line: got.Line}
	if got.HasDelay {
		a.CrawlDelay = &got.DelaySeconds
	}
	return a
}

// robotsCase is one line of input: a body, in one of three spellings, and a
// question.
type robotsCase struct {
	ID        string  `json:"id"`
	Body      string  `json:"body"`
	BodyB64   string  `json:"body_b64"`
	BodyParts [][]any `json:"body_parts"` // [text, count] pairs, repeated and joined
	Agent     string  `json:"agent"`
	URL       string  `json:"url"`
}

func (c robotsCase) bytes() ([]byte, error) {
	switch {
	case c.BodyB64 != "":
		return base64.StdEncoding.DecodeString(c.BodyB64)
	case c.BodyParts != nil:
		var b strings.Builder
		for i, part := range c.BodyParts {
			if len(part) != 2 {
				return nil, fmt.Errorf("body_parts[%d]: want [text, count]", i)
			}
			text, ok1 := part[0].(string)
			n, ok2 := part[1].(float64)
			if !ok1 || !ok2 || n < 0 {
				return nil, fmt.Errorf("body_parts[%d]: want [text, count]", i)
			}
			if float64(b.Len())+float64(len(text))*n > 64<<20 {
				return nil, fmt.Errorf("body_parts: longer than 64 MiB")
			}
			b.WriteString(strings.Repeat(text, int(n)))
		}
		return []byte(b.String()), nil
	}
	return []byte(c.Body), nil
}

// robotsCases answers one JSON object a line.
func robotsCases(ctx context.Context, e env) error {
	in := bufio.NewScanner(e.stdin)
	in.Buffer(make([]byte, 64<<10), 128<<20)
	out := bufio.NewWriter(e.stdout)
	defer out.Flush()
	enc := json.NewEncoder(out)
	for n := 1; in.Scan(); n++ {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if len(strings.TrimSpace(in.Text())) == 0 {
			continue
		}
		var c robotsCase
		if err := json.Unmarshal(in.Bytes(), &c); err != nil {
			return usageError("standard input line %d: %v", n, err)
		}
		body, err := c.bytes()
		if err != nil {
			return usageError("standard input line %d: %v", n, err)
		}
		a := fileAnswer(robots.Parse(body), c.Agent, c.URL)
		a.ID, a.URL = c.ID, ""
		if err := enc.Encode(a); err != nil {
			return fmt.Errorf("writing an answer: %w", err)
		}
	}
	if err := in.Err(); err != nil {
		return fmt.Errorf("reading standard input: %w", err)
	}
	return nil
}
