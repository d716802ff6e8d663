package browser

import (
	"context"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// BenchmarkEndpointRoundTrip compares one command and its answer through the
// endpoint, with everything the plumbing does to them, with the same through
// hops that copy and do nothing else. All take turns in one run, so that a busy
// machine slows every one. The bar for the ratios of medians is 1.10:
//
//   - x-raw-copy: the endpoint that leads to a WebSocket echo, against a hop
//     that copies messages to the same echo. Nothing but the endpoint differs;
//     most of what it costs is the queue that keeps a client which does not read
//     from blocking others.
//   - x-byte-copy: the endpoint that leads to an echo on a pair of pipes, as
//     Chrome's are, against a hop that copies bytes to a WebSocket echo, as
//     Chrome's port would be. This is what a client gains or loses.
func BenchmarkEndpointRoundTrip(b *testing.B) {
	echo := serveHTTP(b, func(w http.ResponseWriter, r *http.Request) {
		ws, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		defer ws.CloseNow()
		ws.SetReadLimit(-1)
		copyMessages(ws, ws)
	})
	messages, byteHop := messageHop(b, echo), byteHop(b, strings.TrimPrefix(echo, "ws://"))
	for _, size := range []struct {
		name string
		n    int
	}{{"120B", 120}, {"100kB", 100_000}, {"1MB", 1_000_000}} {
		b.Run(size.name, func(b *testing.B) {
			far, _ := serveStub(b, &farEngine{stubEngine: newStubEngine(), url: echo}, EndpointConfig{}, nil)
			piped, _ := serveStub(b, &pipeEngine{newStubEngine()}, EndpointConfig{}, nil)
			const overSocket, overPipe, copied, byteCopied = 0, 1, 2, 3
			var arms [4]*websocket.Conn
			for i, url := range []string{"ws://" + far + "/", "ws://" + piped + "/", messages, byteHop} {
				arms[i] = dialStub(b, url, nil)
			}
			var times [len(arms)][]time.Duration
			text := []byte(sized(size.n))
			ctx := context.Background()
			round := func(ws *websocket.Conn) time.Duration {
				began := time.Now()
				if err := ws.Write(ctx, websocket.MessageText, text); err != nil {
					b.Fatal(err)
				}
				_, got, err := ws.Read(ctx)
				if err != nil || len(got) != len(text) {
					b.Fatalf("%d bytes of %d came back, %v", len(got), len(text), err)
				}
				return time.Since(began)
			}
			// In blocks, as clients send, so that each finds the threads as it left
			// them; in any order, so that none always follows the same other.
			const block = 32
			order := rand.New(rand.NewPCG(1, 2))
			for b.Loop() {
				for _, arm := range order.Perm(len(arms)) {
					for range block {
						times[arm] = append(times[arm], round(arms[arm]))
					}
				}
			}
			var median [len(arms)]float64
			for arm, d := range times {
				slices.Sort(d)
				median[arm] = float64(d[len(d)/2])
			}
			b.ReportMetric(median[overSocket]/1e3, "us-socket")
			b.ReportMetric(median[overPipe]/1e3, "us-pipe")
			b.ReportMetric(median[copied]/1e3, "us-raw-copy")
			b.ReportMetric(median[byteCopied]/1e3, "us-byte-copy")
			b.ReportMetric(median[overSocket]/median[copied], "x-raw-copy")
			b.ReportMetric(median[overPipe]/median[byteCopied], "x-byte-copy")
			b.ReportMetric(0, "ns/op") // of all together, which says nothing
		})
	}
}

func serveHTTP(b *testing.B, h http.HandlerFunc) (url string) {
	srv := httptest.NewServer(h)
	b.Cleanup(srv.Close)
	return "ws" + strings.TrimPrefix(srv.URL, "http")
}

// copyMessages copies messages as a hop does that knows nothing of them.
func copyMessages(dst, src *websocket.Conn) {
	ctx := context.Background()
	for {
		typ, text, err := src.Read(ctx)
		if err != nil {
			return
		}
		if dst.Write(ctx, typ, text) != nil {
			return
		}
	}
}

// messageHop copies messages between whoever connects and the WebSocket at url.
func messageHop(b *testing.B, url string) string {
	return serveHTTP(b, func(w http.ResponseWriter, r *http.Request) {
		client, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		defer client.CloseNow()
		chrome, _, err := websocket.Dial(context.Background(), url, nil)
		if err != nil {
			return
		}
		defer chrome.CloseNow()
		client.SetReadLimit(-1)
		chrome.SetReadLimit(-1)
		var wg sync.WaitGroup
		wg.Go(func() {
			copyMessages(client, chrome)
			client.CloseNow()
		})
		copyMessages(chrome, client)
		chrome.CloseNow()
		wg.Wait()
	})
}

// byteHop copies bytes between whoever connects and addr.
func byteHop(b *testing.B, addr string) (url string) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	var wg sync.WaitGroup
	// Through this process, as a hop that looks at the bytes would, and not by
	// splicing in the kernel.
	through := func(dst, src net.Conn) {
		io.CopyBuffer(struct{ io.Writer }{dst}, struct{ io.Reader }{src}, make([]byte, 64<<10))
		dst.Close()
		src.Close()
	}
	wg.Go(func() {
		for {
			in, err := ln.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", addr)
			if err != nil {
				in.Close()
				continue
			}
			wg.Go(func() { through(in, out) })
			wg.Go(func() { through(out, in) })
		}
	})
	b.Cleanup(func() {
		ln.Close()
		wg.Wait()
	})
	return "ws://" + ln.Addr().String()
}
