package governor

import (
	"fmt"
	"runtime"
	"testing"

	"browsergovernor/actions"
)

func benchAdmit(b *testing.B, a actions.Action, settle bool) {
	p := plainPolicy()
	p.Interactions = Bucket{Rate: 1e6, Burst: 1e9}
	p.Subresources = p.Interactions
	p.Caps = Caps{Interactions: 1e9, Total: 1e9}
	g, err := New(Config{Policy: p})
	if err != nil {
		b.Fatal(err)
	}
	ctx := b.Context()
	b.ReportAllocs()
	for b.Loop() {
		d := g.Admit(ctx, a)
		if !d.Allowed() {
			b.Fatal(d.Refusal)
		}
		if settle {
			g.Settle(d.ID, Outcome{Status: 200})
		}
	}
}

func BenchmarkAdmitSubresource(b *testing.B) {
	benchAdmit(b, sub("https://shop.example/img/1.png"), false)
}
func BenchmarkAdmitNavigation(b *testing.B) { benchAdmit(b, nav("https://shop.example/item/1"), false) }
func BenchmarkAdmitClick(b *testing.B)      { benchAdmit(b, click("https://shop.example/item/1"), false) }
func BenchmarkAdmitSettle(b *testing.B)     { benchAdmit(b, sub("https://shop.example/img/1.png"), true) }

func BenchmarkAdmitRefused(b *testing.B) {
	p := plainPolicy()
	p.Caps.Total = 1
	g, err := New(Config{Policy: p})
	if err != nil {
		b.Fatal(err)
	}
	a := sub("https://shop.example/img/1.png")
	g.Admit(b.Context(), a)
	b.ReportAllocs()
	for b.Loop() {
		if g.Admit(b.Context(), a).Allowed() {
			b.Fatal("allowed")
		}
	}
}

// BenchmarkHosts reports what a host costs in memory, names included.
func BenchmarkHosts(b *testing.B) {
	const hosts = 1 << 20
	for b.Loop() {
		g := manyHosts(b, hosts)
		runtime.KeepAlive(g)
	}
}

func manyHosts(b testing.TB, hosts int) *Governor {
	p := plainPolicy()
	p.Caps = Caps{}
	g, err := New(Config{Policy: p})
	if err != nil {
		b.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range hosts {
		a := sub(fmt.Sprintf("https://shop%07d.example/img/1.png", i))
		d := g.Admit(b.Context(), a)
		if !d.Allowed() {
			b.Fatal(d.Refusal)
		}
		g.Settle(d.ID, Outcome{Status: 200})
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	per := float64(after.HeapAlloc-before.HeapAlloc) / float64(hosts)
	if bb, ok := b.(*testing.B); ok {
		bb.ReportMetric(per, "B/host")
	}
	if per > 400 {
		b.Errorf("%.0f B a host, at most 400", per)
	}
	return g
}

func TestIdleHostsAreLetGo(t *testing.T) {
	g := manyHosts(t, 100_000)
	g.hosts.limit = 50_000
	g.mu.Lock()
	for _, h := range g.hosts.byName { // as if long ago
		h.sub.lim.SetBurstAt(g.clock.start.AddDate(-1, 0, 0), 200*micro)
	}
	g.mu.Unlock()
	for i := range 2000 {
		a := sub(fmt.Sprintf("https://new%d.example/", i))
		if d := g.Admit(t.Context(), a); !d.Allowed() && d.Refusal.Reason != StoreUnavailable {
			t.Fatal(d.Refusal)
		}
	}
	if n := g.Status().KnownHosts; n > 90_000 {
		t.Errorf("%d hosts", n)
	}
	if _, no := g.enter("busy.example", 0); no != nil && no.reason != StoreUnavailable {
		t.Error(no)
	}
}
