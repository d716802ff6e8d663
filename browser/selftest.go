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
)

// selfTest proves on the Chrome at hand that a request pauses before it leaves
// and that what leaves meets the egress guard. It asks for a name that cannot
// exist, sees it pause, lets it go, and sees the guard refuse it.
func (b *Browser) selfTest(ctx context.Context) error {
	paused := make(chan struct{}, 1)
	guarded := make(chan struct{}, 1)
	b.probe.Store(&probe{paused: paused, guarded: guarded})
	defer b.probe.Store(nil)
	var tab struct {
		TargetID string `json:"targetId"`
	}
	if err := b.root.call(ctx, "", "Target.createTarget", map[string]any{"url": selfTestURL}, &tab); err != nil {
		return fmt.Errorf("self-test: %w", err)
	}
	defer b.closeAndWait(ctx, tab.TargetID)
	timer := time.NewTimer(15 * time.Second)
	defer timer.Stop()
	for _, step := range []struct {
		seen <-chan struct{}
		miss string
	}{
		{paused, "a request did not pause: this Chrome cannot be governed (Fetch on the browser session does not work)"},
		{guarded, "a request did not meet the egress guard: this Chrome cannot be governed (it does not use the proxy)"},
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
	}
	return nil
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
	paused, guarded chan struct{}
}

func signal(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}
