package e2e

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"browsergovernor/browser"

	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/chromedp"
)

// driverArms are those of a client in a process of its own.
func (p *pictures) driverArms(b *testing.B, client string) []*arm {
	w := newWorld(b, p.site, hurriedPolicy())
	o, flags := p.recordFlags(b, w.options())
	governed := startLoader(b, client, w.endpointWith(o))
	plain := startLoader(b, client, startPlain(b, flags()))
	arms := []*arm{
		{name: "ungoverned", load: plain.load},
		{name: "again", load: plain.load},
		{name: "governed", load: governed.load},
	}
	if p.delay == 0 {
		// A Chrome of its own: one session that intercepts slows a whole Chrome.
		own := startLoader(b, client, startPlain(b, flags()), "intercept")
		arms = append(arms, &arm{name: "intercept", load: own.load})
	}
	return arms
}

// chromedpArms are those of a Go program: Chrome at the end of a pipe in all of
// them, as chromedp starts it by itself.
func (p *pictures) chromedpArms(b *testing.B) []*arm {
	w := newWorld(b, p.site, hurriedPolicy())
	o, flags := p.recordFlags(b, w.options())
	alloc, cancel := browser.NewAllocator(b.Context(), w.gov, o)
	b.Cleanup(cancel)
	governed := startTab(b, alloc)
	start := func() context.Context {
		var opts []chromedp.ExecAllocatorOption
		for _, f := range flags() {
			name, value, hasValue := strings.Cut(strings.TrimPrefix(f, "--"), "=")
			if hasValue {
				opts = append(opts, chromedp.Flag(name, value))
			} else {
				opts = append(opts, chromedp.Flag(name, true))
			}
		}
		alloc, cancel := chromedp.NewExecAllocator(b.Context(), append(opts, chromedp.ExecPath(chromePath(b)))...)
		b.Cleanup(cancel)
		return startTab(b, alloc)
	}
	plain := start()
	arms := []*arm{
		{name: "ungoverned", load: loadTab(plain)},
		{name: "again", load: loadTab(plain)},
		{name: "governed", load: loadTab(governed)},
	}
	if p.delay == 0 {
		// What Chrome itself takes as soon as anybody may intercept.
		idle := start()
		_, err := chromedp.CallBrowser(idle, fetch.Enable, fetch.EnableParams{
			Patterns: []*fetch.RequestPattern{{URLPattern: "http://nothing.invalid/*"}},
		})
		if err != nil {
			b.Fatal(err)
		}
		arms = append(arms, &arm{name: "fetch-idle", load: loadTab(idle)})
	}
	return arms
}

func startTab(b *testing.B, alloc context.Context) context.Context {
	ctx, cancel := chromedp.NewContext(alloc)
	b.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil {
		b.Fatal(err)
	}
	return ctx
}

func loadTab(tab context.Context) func(string) (time.Duration, error) {
	return func(url string) (time.Duration, error) {
		ctx, cancel := context.WithTimeout(tab, time.Minute)
		defer cancel()
		started := time.Now()
		err := chromedp.Do(ctx, chromedp.Navigate(url))
		return time.Since(started), err
	}
}

// loader is a client in a process of its own that loads pages when told to.
type loader struct {
	in  io.Writer
	out *bufio.Scanner
	err *bytes.Buffer
}

func startLoader(b *testing.B, client, endpoint string, args ...string) *loader {
	b.Helper()
	cmd := exec.Command("node", append([]string{"bench.mjs", client}, args...)...)
	cmd.Dir = "clients"
	cmd.Env = append(os.Environ(), "BROWSER_GOVERNOR_CDP_URL="+endpoint)
	l := &loader{err: &bytes.Buffer{}}
	cmd.Stderr = l.err
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		in.Close() // it leaves by itself
		kill := time.AfterFunc(10*time.Second, func() { cmd.Process.Kill() })
		defer kill.Stop()
		if err := cmd.Wait(); err != nil && !b.Failed() {
			b.Errorf("%s: %v\n%s", client, err, l.err)
		}
	})
	l.in, l.out = in, bufio.NewScanner(out)
	if !l.out.Scan() {
		cmd.Wait()
		b.Fatalf("%s did not connect to %s\n%s", client, endpoint, l.err)
	}
	return l
}

func (l *loader) load(url string) (time.Duration, error) {
	if _, err := fmt.Fprintln(l.in, url); err != nil {
		return 0, err
	}
	if !l.out.Scan() {
		return 0, fmt.Errorf("the client ended: %s", l.err)
	}
	ms, err := strconv.ParseFloat(l.out.Text(), 64)
	return time.Duration(ms * float64(time.Millisecond)), err
}

func chromePath(b *testing.B) string {
	path, err := browser.FindChrome("")
	if err != nil {
		b.Fatal(err)
	}
	return path
}

// recordFlags makes a governed Chrome write down how it was started. The
// function returned gives its flags without those of governing, so that the
// ungoverned one differs in nothing else.
func (p *pictures) recordFlags(b *testing.B, o browser.Options) (browser.Options, func() []string) {
	dir := b.TempDir()
	record := filepath.Join(dir, "flags")
	script := fmt.Sprintf("#!/bin/sh\ncase \" $* \" in *' --remote-debugging-pipe '*) printf '%%s\\n' \"$@\" >'%s';; esac\nexec '%s' \"$@\"\n", record, chromePath(b))
	o.ChromePath = filepath.Join(dir, "chrome")
	if err := os.WriteFile(o.ChromePath, []byte(script), 0o700); err != nil {
		b.Fatal(err)
	}
	governing := regexp.MustCompile(`^--(remote-debugging-pipe|no-startup-window|user-data-dir=.*|proxy-server=.*|proxy-bypass-list=.*)$`)
	return o, func() []string {
		text, err := os.ReadFile(record)
		if err != nil {
			b.Fatal(err)
		}
		flags := []string{"--host-resolver-rules=" + p.hostRules()}
		for f := range strings.Lines(string(text)) {
			if f = strings.TrimSuffix(f, "\n"); f != "" && !governing.MatchString(f) {
				flags = append(flags, f)
			}
		}
		return flags
	}
}

// startPlain starts a Chrome that nobody governs and returns its endpoint.
func startPlain(b *testing.B, flags []string) string {
	b.Helper()
	profile := b.TempDir()
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, chromePath(b), append(flags, "--remote-debugging-port=0", "--user-data-dir="+profile, "about:blank")...)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	listening := make(chan string, 1)
	read := make(chan struct{})
	go func() {
		defer close(read)
		defer close(listening)
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			if _, at, ok := strings.Cut(lines.Text(), "DevTools listening on ws://"); ok {
				host, _, _ := strings.Cut(at, "/")
				listening <- "http://" + host
			}
		}
	}()
	b.Cleanup(func() {
		cmd.Process.Signal(os.Interrupt)
		kill := time.AfterFunc(5*time.Second, cancel)
		<-read
		cmd.Wait()
		kill.Stop()
		cancel()
		os.RemoveAll(profile) // Chrome's children may still write for a moment
	})
	endpoint, ok := <-listening
	if !ok {
		b.Fatal("Chrome ended before it listened")
	}
	return endpoint
}
