package browser

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"browsergovernor/actions"
	"browsergovernor/governor"
)

// What the endpoint asks of a browser.

func (b *Browser) versionInfo() versionInfo { return b.version }

func (b *Browser) targets(ctx context.Context) ([]targetInfo, error) {
	var res struct {
		TargetInfos []cdpTarget `json:"targetInfos"`
	}
	if err := b.root.call(ctx, "", "Target.getTargets", nil, &res); err != nil {
		return nil, err
	}
	out := make([]targetInfo, 0, len(res.TargetInfos))
	for _, t := range res.TargetInfos {
		if !hidden(t.Type) {
			out = append(out, t.listed())
		}
	}
	return out, nil
}

// hidden reports whether targets of a type are Chrome's own.
func hidden(kind string) bool {
	switch kind {
	case "browser", "tab", "browser_ui", "":
		return true
	}
	return false
}

func (t cdpTarget) listed() targetInfo {
	return targetInfo{ID: t.ID, Type: t.Type, Title: t.Title, URL: t.URL, Attached: t.Attached}
}

// newTab opens a tab for /json/new. A URL is a navigation: it is admitted first,
// and a refusal is the error.
func (b *Browser) newTab(ctx context.Context, rawURL, client string) (targetInfo, error) {
	if rawURL == "" {
		rawURL = "about:blank"
	}
	var t *ticket
	if a, ok := actions.JSONNew(rawURL); ok {
		a.Client, _ = clientName(client)
		d := b.gov.Admit(ctx, a)
		if !d.Allowed() {
			return targetInfo{}, d.Refusal
		}
		b.pass.Admit(a.URL)
		t = &ticket{id: d.ID, url: a.URL, started: time.Now()}
		b.tickets.add(t, b.ticketExpired)
	} else if !b.policy.AllowsScheme(rawURL) {
		a := actions.Action{Kind: actions.Navigation, Method: "GET", URL: rawURL, Detail: "new tab"}
		a.Client, _ = clientName(client)
		return targetInfo{}, b.gov.Admit(ctx, a).Refusal
	}
	var res struct {
		TargetID string `json:"targetId"`
	}
	if err := b.root.call(ctx, "", "Target.createTarget", map[string]any{"url": rawURL}, &res); err != nil {
		if t != nil && b.tickets.take(t) {
			b.gov.Settle(t.id, governor.Outcome{Credit: true, Err: err.Error()})
		}
		return targetInfo{}, err
	}
	var info struct {
		TargetInfo cdpTarget `json:"targetInfo"`
	}
	if err := b.root.call(ctx, "", "Target.getTargetInfo", map[string]any{"targetId": res.TargetID}, &info); err != nil {
		return targetInfo{ID: res.TargetID, Type: "page", URL: rawURL}, nil
	}
	return info.TargetInfo.listed(), nil
}

func (b *Browser) activate(ctx context.Context, id string) error {
	return b.root.call(ctx, "", "Target.activateTarget", map[string]any{"targetId": id}, nil)
}

func (b *Browser) closeTarget(ctx context.Context, id string) error {
	return b.root.call(ctx, "", "Target.closeTarget", map[string]any{"targetId": id}, nil)
}

// protocol returns Chrome's protocol description. Over the pipe Chrome has no
// command for it, so a second Chrome without any page is asked by HTTP once; it
// lives for that one question.
func (b *Browser) protocol(ctx context.Context) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	dir, err := os.MkdirTemp(b.opts.TempDir, profilePrefix+fmt.Sprint(os.Getpid())+"-protocol-")
	if err != nil {
		return nil, fmt.Errorf("making a profile folder: %w", err)
	}
	defer removeProfile(dir)
	args := []string{"--headless=new", "--no-startup-window", "--remote-debugging-port=0",
		"--user-data-dir=" + dir, "--proxy-server=socks5://" + b.guard.Addr(), "--proxy-bypass-list=<-loopback>"}
	if b.opts.NoSandbox {
		args = append(args, "--no-sandbox")
	}
	cmd := exec.Command(b.path, append(append([]string{}, quietFlags...), args...)...)
	setDeathSignal(cmd)
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting Chrome for its protocol: %w", err)
	}
	defer func() {
		killGroup(cmd)
		cmd.Wait()
	}()
	port, err := waitForPort(ctx, filepath.Join(dir, "DevToolsActivePort"))
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://127.0.0.1:"+port+"/json/protocol", nil)
	if err != nil {
		return nil, err
	}
	tr := &http.Transport{}
	defer tr.CloseIdleConnections()
	res, err := tr.RoundTrip(req)
	if err != nil {
		return nil, fmt.Errorf("reading Chrome's protocol: %w", err)
	}
	defer res.Body.Close()
	return io.ReadAll(res.Body)
}

func waitForPort(ctx context.Context, file string) (string, error) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if data, err := os.ReadFile(file); err == nil {
			if port, _, ok := strings.Cut(string(data), "\n"); ok {
				return port, nil
			}
		}
		select {
		case <-ctx.Done():
			return "", fmt.Errorf("waiting for Chrome's protocol: %w", ctx.Err())
		case <-tick.C:
		}
	}
}
