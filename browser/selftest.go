package browser

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// selfTestURL can never exist: RFC 6761 reserves the name.
const (
	selfTestHost = "browser-governor-selftest.invalid"
	selfTestURL  = "http://" + selfTestHost + "/"

	selfTestSocket = "wss://" + selfTestHost + "/"
)

// selfTest proves on the Chrome at hand that a request pauses before it leaves,
// that what leaves meets the egress guard, and that a WebSocket meets it on the
// port where it is known for one. It asks for a name that cannot exist, sees the
// request pause, lets it go, and sees the guard refuse it; then it opens a
// WebSocket to that name.
func (b *Browser) selfTest(ctx context.Context) error {
	paused := make(chan struct{}, 1)
	guarded := make(chan struct{}, 1)
	socket := make(chan struct{}, 1)
	b.probe.Store(&probe{paused: paused, guarded: guarded, socket: socket})
	defer b.probe.Store(nil)
	var tab, blank struct {
		TargetID string `json:"targetId"`
	}
	if err := b.root.call(ctx, "", "Target.createTarget", map[string]any{"url": selfTestURL}, &tab); err != nil {
		return fmt.Errorf("self-test: %w", err)
	}
	defer b.closeAndWait(ctx, tab.TargetID)
	if err := b.root.call(ctx, "", "Target.createTarget", map[string]any{"url": "about:blank"}, &blank); err != nil {
		return fmt.Errorf("self-test: %w", err)
	}
	defer b.closeAndWait(ctx, blank.TargetID)
	timer := time.NewTimer(15 * time.Second)
	defer timer.Stop()
	for _, step := range []struct {
		seen <-chan struct{}
		miss string
		next func() error
	}{
		{paused, "a request did not pause: this Chrome cannot be governed (Fetch on the browser session does not work)", nil},
		{guarded, "a request did not meet the egress guard: this Chrome cannot be governed (it does not use the proxy)",
			func() error { return b.openTestSocket(ctx, blank.TargetID) }},
		{socket, "a WebSocket did not meet the egress guard where WebSockets are told from other connections: this Chrome cannot be governed", nil},
	} {
		select {
		case <-step.seen:
		case <-timer.C:
			return errors.New("self-test: " + step.miss)
		case <-ctx.Done():
			return fmt.Errorf("self-test: %s: %w", step.miss, ctx.Err())
		case <-b.done:
			return fmt.Errorf("self-test: %w", errWireClosed)
		}
		if step.next == nil {
			continue
		}
		if err := step.next(); err != nil {
			return fmt.Errorf("self-test: %w", err)
		}
	}
	return nil
}

// openTestSocket opens an encrypted WebSocket in a blank tab, where a script can
// run at once.
func (b *Browser) openTestSocket(ctx context.Context, tab string) error {
	var on struct {
		SessionID string `json:"sessionId"`
	}
	if err := b.root.call(ctx, "", "Target.attachToTarget", map[string]any{"targetId": tab, "flatten": true}, &on); err != nil {
		return err
	}
	b.sessions.own(on.SessionID)
	defer b.sessions.disown(on.SessionID)
	open := map[string]any{"expression": `void new WebSocket("` + selfTestSocket + `")`}
	return b.root.call(ctx, on.SessionID, "Runtime.evaluate", open, nil)
}

// closeAndWait closes a tab and returns when it is gone: no client shall find it.
func (b *Browser) closeAndWait(ctx context.Context, id string) {
	if b.root.call(ctx, "", "Target.closeTarget", map[string]any{"targetId": id}, nil) != nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for b.tabs.get(id) != nil {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// probe is told what the self-test waits for.
type probe struct {
	paused, guarded, socket chan struct{}
}

func signal(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}
