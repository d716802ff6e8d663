// Command politeagent shows every rule of the governor in one short run: a real
// Chrome, driven by chromedp, visits a local server that pushes back. Then it
// compares what the server received with what the log says, request by request,
// and fails if they differ.
//
//	go run ./examples/politeagent
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"

	"github.com/chromedp/chromedp"

	"browsergovernor/audit"
	"browsergovernor/browser"
	"browsergovernor/governor"
)

func main() {
	noSandbox := flag.Bool("no-sandbox", os.Getuid() == 0, "start Chrome without its sandbox (it has none as root)")
	chrome := flag.String("chrome", "", "path of Chrome")
	keep := flag.String("log", "", "keep the log in this folder")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *noSandbox, *chrome, *keep); err != nil {
		fmt.Fprintln(os.Stderr, "politeagent:", err)
		os.Exit(1)
	}
}

// policy is the default one with quicker numbers, so that the run is short: the
// site's Crawl-delay of one second still slows its 120 a minute down.
func policy() governor.Policy {
	p := governor.DefaultPolicy()
	p.Agent = governor.Agent{Name: "ResearchBot/1.0", Contact: "https://example.com/bot"}
	p.Interactions = governor.Bucket{Rate: governor.RateLimit(120.0 / 60), Burst: 1}
	p.Jitter = governor.Jitter{Min: 200 * time.Millisecond, Max: 600 * time.Millisecond}
	p.Caps.Interactions = 8
	p.Backoff.Base = time.Second
	return p
}

func run(ctx context.Context, noSandbox bool, chrome, dir string) error {
	if dir == "" {
		tmp, err := os.MkdirTemp("", "politeagent-log-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(tmp)
		dir = tmp
	}
	site := newSite()
	defer site.close()

	log, err := audit.Open(audit.Config{Dir: dir, Fsync: audit.FsyncInterval})
	if err != nil {
		return err
	}
	defer log.Close()
	trace := &timeline{next: log, began: time.Now()}
	gov, err := governor.New(governor.Config{Policy: policy(), Recorder: trace})
	if err != nil {
		return err
	}
	defer gov.Close()

	fmt.Printf("A governed Chrome visits %s\n", site.url)
	fmt.Println("  robots.txt there: Disallow: /private, Crawl-delay: 1")
	fmt.Println("  every third profile answers 429 with Retry-After: 2; /busy answers 503 once")
	fmt.Println("  budget: 8 interactions, 120 a minute (the Crawl-delay makes it one a second)")
	fmt.Println()

	ctx, cancel := browser.NewAllocator(ctx, gov, browser.Options{ChromePath: chrome, NoSandbox: noSandbox})
	defer cancel()
	ctx, cancelTab := chromedp.NewContext(ctx)
	defer cancelTab()
	for _, path := range []string{
		"/profile/1", "/profile/2", "/profile/3", "/profile/4",
		"/private/inbox", "/busy", "/profile/5",
	} {
		if err := visit(ctx, trace, site.url+path); err != nil {
			return err
		}
	}
	cancelTab()
	cancel() // Chrome is gone: nothing can be asked for any more
	gov.Close()
	if err := log.Close(); err != nil {
		return err
	}
	fmt.Println("\nThe log, refusals included:")
	if err := audit.Show(os.Stdout, dir, audit.Filter{}, "text"); err != nil {
		return err
	}
	fmt.Println()
	return check(dir, site)
}

// visit opens a page as any chromedp script would; a refusal is a normal answer
// for an agent, not a failure to work around.
func visit(ctx context.Context, t *timeline, url string) error {
	err := chromedp.Do(ctx, chromedp.Navigate(url))
	if r, ok := browser.Refused(ctx, err); ok {
		t.say("agent reads: %s", r.Sentence)
		return nil
	}
	if err != nil {
		return fmt.Errorf("visiting %s: %w", url, err)
	}
	text, err := chromedp.Run(ctx, chromedp.Text(chromedp.CSS("body")))
	if err != nil {
		return fmt.Errorf("reading %s: %w", url, err)
	}
	t.say("agent reads: %s", text)
	return nil
}
