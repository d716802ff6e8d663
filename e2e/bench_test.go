package e2e

import (
	"cmp"
	"flag"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

const (
	benchImages = 200                   // sub-resources of the page
	benchLoads  = 12                    // measured loads of each arm at least; -benchtime 30x asks for 30
	benchWarm   = 3                     // loads of each arm before those
	benchPause  = 30 * time.Millisecond // between loads, for what a load leaves to do in the browser
	benchDelay  = 20 * time.Millisecond // of the server, where a network is imitated
)

// arm is one way to load the page.
type arm struct {
	name  string
	load  func(url string) (time.Duration, error)
	times []time.Duration
}

// BenchmarkPageLoad compares a page with 200 images under a governor with the
// same page, client and Chrome without one, and with the client's own request
// interception. The arms take turns load by load, each step beginning with
// another, so what slows the machine slows them all; read the quotients, not
// the times. "again" is the ungoverned arm a second time: how far it is from 1
// is how far any of these numbers can be trusted.
func BenchmarkPageLoad(b *testing.B) {
	for _, network := range []struct {
		name  string
		delay time.Duration
	}{{"loopback", 0}, {"20ms", benchDelay}} {
		for _, client := range append(slices.Clone(drivers), "chromedp") {
			b.Run(network.name+"/"+client, func(b *testing.B) {
				p := newPictures(b, network.delay)
				var arms []*arm
				if client == "chromedp" {
					arms = p.chromedpArms(b)
				} else {
					arms = p.driverArms(b, client)
				}
				p.measure(b, arms)
				report(b, arms)
			})
		}
	}
}

// measure fills in the times of the arms.
func (p *pictures) measure(b *testing.B, arms []*arm) {
	step := func(i int) {
		for j := range arms {
			a := arms[(i+j)%len(arms)]
			a.times = append(a.times, p.load(b, a))
			time.Sleep(benchPause)
		}
	}
	for i := range benchWarm {
		step(i)
	}
	for _, a := range arms {
		a.times = nil
	}
	for i := range benchSteps() {
		step(i)
	}
}

// benchSteps is N of -benchtime Nx.
func benchSteps() int {
	if n, ok := strings.CutSuffix(flag.Lookup("test.benchtime").Value.String(), "x"); ok {
		if n, err := strconv.Atoi(n); err == nil {
			return n
		}
	}
	return benchLoads
}

// load loads the page once and makes sure that it was loaded in full, from the
// server.
func (p *pictures) load(b *testing.B, a *arm) time.Duration {
	b.Helper()
	before := p.served.Load()
	took, err := a.load(p.url)
	if err != nil {
		b.Fatalf("%s: %v", a.name, err)
	}
	if got := p.served.Load() - before; got != benchImages+1 {
		b.Fatalf("%s: the server got %d requests for a page of %d", a.name, got, benchImages+1)
	}
	return took
}

// report gives each arm a line with its median, and the governed arm how many
// times as long as each other arm it takes: the median over the steps of the
// quotient within a step.
func report(b *testing.B, arms []*arm) {
	for _, a := range arms {
		b.Run(a.name, func(b *testing.B) {
			b.ReportMetric(float64(medianOf(a.times)), "ns/op")
			b.ReportMetric(float64(len(a.times)), "loads")
			if a.name != "governed" {
				return
			}
			for _, other := range arms {
				if other != a {
					b.ReportMetric(quotient(a.times, other.times), "x-"+other.name)
				}
			}
		})
	}
}

func medianOf[T cmp.Ordered](list []T) T {
	return slices.Sorted(slices.Values(list))[len(list)/2]
}

func quotient(times, others []time.Duration) float64 {
	list := make([]float64, len(times))
	for i := range list {
		list[i] = float64(times[i]) / float64(others[i])
	}
	return medianOf(list)
}
