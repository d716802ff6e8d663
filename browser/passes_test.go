package browser

import (
	"fmt"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func itoa(n int) string { return strconv.Itoa(n) }

func TestPasses(t *testing.T) {
	for _, tt := range []struct {
		admitted string
		host     string
		port     int
		allowed  bool
	}{
		{"http://a.test/", "a.test", 80, true},
		{"http://a.test/", "a.test", 443, false},
		{"http://a.test/", "b.test", 80, false},
		{"http://a.test/", "x.a.test", 80, false},
		{"https://a.test/x?y#z", "a.test", 443, true},
		{"HTTPS://A.Test./", "a.test", 443, true},
		{"http://a.test/", "A.TEST.", 80, true},
		{"ws://a.test/socket", "a.test", 80, true},
		{"wss://a.test:8443/socket", "a.test", 8443, true},
		{"http://a.test:8080/", "a.test", 80, false},
		{"http://user:pa%40ss@a.test/", "a.test", 80, true},
		{"http://user@b.test:1@a.test/", "b.test", 1, false},
		{"http://127.0.0.1:9/", "127.0.0.1", 9, true},
		{"http://[::1]:9/", "::1", 9, true},
		{"http://[0:0:0:0:0:0:0:1]:9/", "::1", 9, true},
		{"http://[::ffff:127.0.0.1]/", "127.0.0.1", 80, true}, // as the guard reads the address
		{"http://xn--bcher-kva.test/", "xn--bcher-kva.test", 80, true},
		{"http://a.test/%zz", "a.test", 80, true}, // a path that net/url refuses
		{"http://a.test?x=%zz", "a.test", 80, true},
		{"http://a.test#%zz", "a.test", 80, true},
		{"ftp://a.test/", "a.test", 21, false},
		{"about:blank", "", 80, false},
		{"data:text/html,http://a.test/", "a.test", 80, false},
		{"blob:https://a.test/1", "a.test", 443, false},
		{"file:///etc/passwd", "", 80, false},
		{"http:///x", "", 80, false},
		{"%", "%", 80, false},
		{"", "", 0, false},
	} {
		var p Passes
		if p.Allowed(tt.host, tt.port) {
			t.Errorf("nothing admitted, yet %s port %d is allowed", tt.host, tt.port)
		}
		p.Admit(tt.admitted)
		if got := p.Allowed(tt.host, tt.port); got != tt.allowed {
			t.Errorf("%s admitted: %s port %d allowed %v, want %v", tt.admitted, tt.host, tt.port, got, tt.allowed)
		}
	}
}

func TestPassesExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p Passes
		p.Admit("http://a.test/")
		time.Sleep(passLife - time.Nanosecond)
		if !p.Allowed("a.test", 80) {
			t.Error("expired early")
		}
		p.Admit("http://b.test/")
		time.Sleep(time.Nanosecond)
		if p.Allowed("a.test", 80) || !p.Allowed("b.test", 80) {
			t.Error("expired late, or with another")
		}
		p.Admit("http://a.test/")
		if !p.Allowed("a.test", 80) {
			t.Error("not allowed when admitted again")
		}
	})
}

func TestPassesAreBounded(t *testing.T) {
	var p Passes
	for i := range 5 * maxPasses {
		p.Admit(fmt.Sprintf("http://h%d.test/", i))
		if n := len(p.m) + len(p.old); n > 2*maxPasses {
			t.Fatalf("%d hosts are kept", n)
		}
		if i >= maxPasses && !p.Allowed(fmt.Sprintf("h%d.test", i-maxPasses+1), 80) {
			t.Fatalf("host %d is forgotten, of the last %d", i-maxPasses+1, maxPasses)
		}
	}
	// Admitting what is there already makes no room.
	last := fmt.Sprintf("http://h%d.test/", 5*maxPasses-1)
	for range 3 * maxPasses {
		p.Admit(last)
	}
	if !p.Allowed(fmt.Sprintf("h%d.test", 4*maxPasses+1), 80) {
		t.Error("a host admitted again pushed others out")
	}
}

func TestPassesConcurrently(t *testing.T) {
	var p Passes
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 1000 {
				p.Admit(fmt.Sprintf("http://h%d.test/", (i+j)%50))
				p.Allowed(fmt.Sprintf("h%d.test", j%50), 80)
			}
		})
	}
	wg.Wait()
}
