package browser

import (
	"context"
	"fmt"
	"sync"

	"github.com/chromedp/cdproto"
	jsonv2 "github.com/chromedp/cdproto/cdp/jsonv2"
	"github.com/chromedp/chromedp"
)

// NewAllocator returns a chromedp allocator context whose Chrome is governed:
// the one line that changes in a script.
//
//	ctx, cancel := browser.NewAllocator(context.Background(), gov, browser.Options{})
//	defer cancel()
//	ctx, cancel = chromedp.NewContext(ctx)
//
// Chrome starts with the first action and ends with the returned cancel, which
// waits until it is gone.
func NewAllocator(parent context.Context, gov Governor, o Options) (context.Context, context.CancelFunc) {
	a := &allocator{gov: gov, opts: o}
	ctx, cancel := chromedp.NewAllocatorContext(context.WithValue(parent, browserKey{}, a), a)
	stop := context.AfterFunc(ctx, a.close)
	return ctx, func() {
		cancel()
		stop()
		a.close()
		a.Wait()
	}
}

// NewContext returns a chromedp context on the browser: a tab of its own.
// Contexts made from it with chromedp.NewContext are further tabs.
func (b *Browser) NewContext(parent context.Context, opts ...chromedp.ContextOption) (context.Context, context.CancelFunc) {
	a := &allocator{b: b, shared: true}
	ctx, cancelAlloc := chromedp.NewAllocatorContext(context.WithValue(parent, browserKey{}, b), a)
	ctx, cancel := chromedp.NewContext(ctx, opts...)
	return ctx, func() {
		cancel()
		cancelAlloc()
		a.Wait()
	}
}

// allocator hands chromedp conversations with one governed Chrome.
type allocator struct {
	gov    Governor
	opts   Options
	shared bool // b is somebody else's: it is not closed here

	wg sync.WaitGroup

	mu     sync.Mutex
	b      *Browser
	closed bool
}

var (
	_ chromedp.Allocator = (*allocator)(nil)
	_ chromedp.Attacher  = (*allocator)(nil)
)

// Attaches reports true: chromedp then treats its contexts as tabs and leaves
// the life of Chrome to us.
func (a *allocator) Attaches() bool { return true }

// Wait returns when every conversation has ended.
func (a *allocator) Wait() { a.wg.Wait() }

func (a *allocator) current() *Browser {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.b
}

func (a *allocator) close() {
	a.wg.Wait() // tabs close before Chrome does
	a.mu.Lock()
	b := a.b
	a.closed = true
	a.mu.Unlock()
	if b != nil && !a.shared {
		b.Close()
	}
}

// browser starts Chrome once.
func (a *allocator) browser(ctx context.Context) (*Browser, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return nil, context.Canceled
	}
	if a.b != nil {
		return a.b, nil
	}
	b, err := Launch(ctx, a.gov, a.opts)
	if err != nil {
		return nil, err
	}
	a.b = b
	return b, nil
}

// Allocate opens a conversation for chromedp. It ends when ctx does.
func (a *allocator) Allocate(ctx context.Context, opts ...chromedp.BrowserOption) (*chromedp.Browser, error) {
	if chromedp.FromContext(ctx) == nil {
		return nil, chromedp.ErrInvalidContext
	}
	b, err := a.browser(ctx)
	if err != nil {
		return nil, err
	}
	c, err := b.open(ctx, connInfo{userAgent: "chromedp", remoteAddr: "this process", inProcess: true})
	if err != nil {
		return nil, err
	}

	// The conversation outlives ctx for as long as chromedp needs to close its
	// tabs.
	wctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	a.wg.Go(func() {
		select {
		case <-ctx.Done():
			chromedp.Cancel(ctx)
		case <-b.done:
		}
		cancel()
		c.close("its context ended")
	})
	return chromedp.NewBrowserTransport(wctx, &transport{c: c}, opts...)
}

// transport is a conversation as chromedp sees it.
type transport struct{ c *conn }

var _ chromedp.Transport = (*transport)(nil)

// Read returns the next message from Chrome.
func (t *transport) Read(ctx context.Context, msg *cdproto.Message) error {
	m, err := t.c.recv(ctx)
	if err != nil {
		return err
	}
	defer m.Release()
	body, err := m.all()
	if err != nil {
		return fmt.Errorf("reading a large message: %w", err)
	}
	*msg = cdproto.Message{}
	return jsonv2.Unmarshal(body, msg, chromedp.DefaultUnmarshalOptions)
}

// Write hands a command to the governor. It does not wait for the decision.
func (t *transport) Write(ctx context.Context, msg *cdproto.Message) error {
	body, err := jsonv2.Marshal(msg, chromedp.DefaultMarshalOptions)
	if err != nil {
		return fmt.Errorf("encoding a command: %w", err)
	}
	return t.c.send(ctx, NewMessage(body))
}

// Close ends the conversation.
func (t *transport) Close() error {
	t.c.close("it closed the connection")
	return nil
}
