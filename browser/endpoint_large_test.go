package browser

import (
	"bytes"
	"hash/fnv"
	"io"
	"runtime/metrics"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// heapInUse returns runtime.MemStats.HeapInuse without stopping the world.
func heapInUse() uint64 {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/unused:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64() + s[1].Value.Uint64()
}

// A message of 100 MB passes both ways, and memory does not grow with it.
func TestSocketLargeMessage(t *testing.T) {
	const room = 64 << 20 // the bar of the design
	e := newStubEngine()
	e.echo = func(m *Message) *Message { return StripSession(SpliceSession(m, "ABCDEF")) }
	addr, _ := serveStub(t, e, EndpointConfig{SpoolDir: t.TempDir()}, nil)
	ws := dialStub(t, "ws://"+addr+"/", nil)
	ctx := testContext(t)

	before, peak := heapInUse(), uint64(0)
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(2 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				peak = max(peak, heapInUse())
			case <-stop:
				return
			}
		}
	}()

	began := time.Now()
	sent, got := fnv.New64a(), fnv.New64a()
	w, err := ws.Writer(ctx, websocket.MessageText)
	if err != nil {
		t.Fatal(err)
	}
	parts := []io.Reader{strings.NewReader(`{"id":1,"method":"Runtime.evaluate","params":{"expression":"`),
		io.LimitReader(repeat("0123456789abcdef "), largeMessage-100), strings.NewReader(`"}}`)}
	n, err := io.Copy(io.MultiWriter(w, sent), io.MultiReader(parts...))
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	_, r, err := ws.Reader(ctx)
	if err != nil {
		t.Fatal(err)
	}
	back, err := io.Copy(got, r)
	if err != nil {
		t.Fatal(err)
	}
	took := time.Since(began)
	close(stop)
	<-done
	if back != n || !bytes.Equal(sent.Sum(nil), got.Sum(nil)) {
		t.Errorf("%d bytes came back of %d, changed", back, n)
	}
	grown := int64(peak) - int64(before)
	t.Logf("%d MB there and back in %v, heap in use grew by %.1f MiB", n/1e6, took.Round(time.Millisecond), float64(grown)/(1<<20))
	if grown > room {
		t.Errorf("heap in use grew by %d bytes, bar %d", grown, room)
	}
}

// repeat reads as text without an end.
type repeat string

func (s repeat) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		n += copy(p[n:], s)
	}
	return n, nil
}
