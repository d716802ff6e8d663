package browser

import (
	"context"
	"errors"
	"strings"
	"sync"

	"github.com/chromedp/cdproto"
	"github.com/chromedp/chromedp"

	"browsergovernor/governor"
)

// refusals remembers the latest refusals, so that Go callers can get one back as
// a value by its sentence. It is safe for concurrent use.
type refusals struct {
	mu   sync.Mutex
	last []*governor.Refusal // newest last, at most maxRefusals
}

const maxRefusals = 256

func (rs *refusals) add(r *governor.Refusal) {
	if r == nil {
		return
	}
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if len(rs.last) == maxRefusals {
		rs.last = append(rs.last[:0], rs.last[1:]...)
	}
	rs.last = append(rs.last, r)
}

// said returns the newest refusal whose sentence stands in text.
func (rs *refusals) said(text string) *governor.Refusal {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	for i := len(rs.last) - 1; i >= 0; i-- {
		if strings.Contains(text, rs.last[i].Sentence) {
			return rs.last[i]
		}
	}
	return nil
}

// browserKey finds the Browser of a context that [NewAllocator] or
// [Browser.NewContext] made.
type browserKey struct{}

func browserOf(ctx context.Context) *Browser {
	switch v := ctx.Value(browserKey{}).(type) {
	case *Browser:
		return v
	case *allocator:
		return v.current()
	}
	return nil
}

// Refused reports whether err, which a chromedp call on ctx returned, is a
// refusal of the governor, and returns it.
//
// With a nil err it returns the refusal whose page the tab of ctx shows now, if
// it does: that is how a refused click, form or redirect ends in chromedp, whose
// call itself succeeds.
func Refused(ctx context.Context, err error) (*governor.Refusal, bool) {
	var direct *governor.Refusal
	if errors.As(err, &direct) {
		return direct, true
	}
	b := browserOf(ctx)
	if b == nil {
		return nil, false
	}
	if err == nil {
		return b.shownRefusal(ctx)
	}
	var cdpErr *cdproto.Error
	if !errors.As(err, &cdpErr) {
		return nil, false
	}
	r := b.refusals.said(cdpErr.Message)
	return r, r != nil
}

// shownRefusal asks the page itself, since the last refusal of the tab may be of
// an earlier page or of one of its images.
func (b *Browser) shownRefusal(ctx context.Context) (*governor.Refusal, bool) {
	c := chromedp.FromContext(ctx)
	if c == nil || c.Target == nil {
		return nil, false
	}
	title, err := chromedp.Run(ctx, chromedp.Title())
	if err != nil {
		return nil, false
	}
	r := b.refusals.said(title)
	return r, r != nil
}
