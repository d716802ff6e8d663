package robots

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
)

// hostile are files made to cost time or memory, with the worst path for each.
// Raw temoto/robotstxt takes 120 s and 5.0 GB of memory for the last one.
var hostile = []struct {
	name string
	body func() []byte
	path string
}{
	{"plain rules", func() []byte {
		return fill("User-agent: *\n", func(i int) string { return fmt.Sprintf("Disallow: /p%d\n", i) })
	}, "/nothing"},
	{"shortest rules", func() []byte {
		return fill("User-agent: *\n", func(i int) string { return fmt.Sprintf("allow:/%c%c\n", 'a'+i%26, 'a'+i/26%26) })
	}, "/aa"},
	{"same wildcards", func() []byte {
		return fill("User-agent: *\n", func(int) string { return "Allow: /*a*b*c*d*e$\n" })
	}, "/" + strings.Repeat("abcde", 400)},
	{"wildcards, all miss late", func() []byte {
		return fill("User-agent: *\n", func(i int) string { return fmt.Sprintf("Allow: /*a*b*c*d*%d$\n", i) })
	}, "/" + strings.Repeat("abcd", 500)},
	{"wildcards, all fit", func() []byte {
		return fill("User-agent: *\n", func(i int) string { return fmt.Sprintf("Allow: /*%d*%d*%d*\n", i%10, i/10%10, i/100%10) })
	}, "/" + strings.Repeat("0123456789", 200)},
	{"wildcards, quadratic path", func() []byte {
		return fill("User-agent: *\n", func(i int) string { return "Allow: /*" + strings.Repeat("a", 40) + fmt.Sprintf("b%d\n", i) })
	}, "/" + strings.Repeat("a", 2<<10)},
	{"path of 2 MB", func() []byte {
		return fill("User-agent: *\n", func(i int) string { return fmt.Sprintf("Allow: /*b%d\n", i) })
	}, "/" + strings.Repeat("ab", 1<<20)},
	{"30 rules of 16 KB of *a", func() []byte {
		return []byte("User-agent: *\n" + strings.Repeat("Allow: /"+strings.Repeat("*a", 8000)+"\n", 30))
	}, "/" + strings.Repeat("a", 16<<10)},
	{"one rule of 490 KB of *a", func() []byte {
		return []byte("User-agent: *\nDisallow: /" + strings.Repeat("*a", 245<<10) + "\n")
	}, "/" + strings.Repeat("a", 16<<10)},
	{"one rule of 16 KB of *", func() []byte {
		return []byte("User-agent: *\nAllow: /" + strings.Repeat("*", 16000) + "b\n")
	}, "/" + strings.Repeat("ab", 1000)},
	{"30 rules of 16 KB of *", func() []byte {
		return fill("User-agent: *\n", func(i int) string { return fmt.Sprintf("Allow: /%s%d\n", strings.Repeat("*", 16000), i) })
	}, "/" + strings.Repeat("0123456789", 10)},
	{"250 rules of 2 KB of *a", func() []byte {
		return fill("User-agent: *\n", func(i int) string { return "Allow: /" + strings.Repeat("*", 2000-i) + "a\n" })
	}, "/" + strings.Repeat("a", 200)},
	{"one rule of 16 KB", func() []byte {
		return []byte("User-agent: *\nAllow: /" + strings.Repeat("x", 16000) + "*$\n")
	}, "/" + strings.Repeat("x", 16<<10)},
	{"wildcards just within the engine's work", func() []byte {
		return []byte("User-agent: *\nAllow: /" + strings.Repeat("*a", 700) + "\nDisallow: /\n")
	}, "/" + strings.Repeat("a", 2000)},
	{"4,000 names × 4,000 rules", func() []byte {
		return []byte(lines("User-agent: a", 4000) + lines("Disallow: /", 4000))
	}, "/1"},
	{"* × 8,000, then 8,000 rules", func() []byte {
		return []byte(strings.Repeat("User-agent: *\n", 8000) + lines("Disallow: /", 8000))
	}, "/1"},
	{"36,000 groups", func() []byte {
		return fill("", func(int) string { return "useragent:*\nallow:\n" })
	}, "/1"},
	{"UTF-16", func() []byte {
		return append([]byte("\xff\xfe"), bytes.Repeat([]byte("\xe9\x00"), MaxBytes)...)
	}, "/1"},
	{"15,000 names × 21,000 rules", func() []byte {
		return []byte(lines("User-agent: a", 15000) + lines("Disallow: /", 21000))
	}, "/1"},
}

func fill(head string, line func(i int) string) []byte {
	b := []byte(head)
	for i := 0; ; i++ {
		l := line(i)
		if len(b)+len(l) > MaxBytes {
			return b
		}
		b = append(b, l...)
	}
}

func lines(start string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%s%d\n", start, i)
	}
	return b.String()
}

// TestHostileFiles holds reading a file and answering one question about it to
// less than 1 s and 50 MB. The bytes are all that were allocated, so the heap
// was never larger.
func TestHostileFiles(t *testing.T) {
	for _, h := range hostile {
		body := h.body()
		url := "https://h.example" + h.path
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := time.Now()
		a := Parse(body).Ask("a1", url)
		took := time.Since(start)
		runtime.ReadMemStats(&after)
		mb := float64(after.TotalAlloc-before.TotalAlloc) / 1e6
		t.Logf("%-40s %7.1f ms %6.1f MB  allow %-5t %s", h.name, float64(took.Microseconds())/1000, mb, a.Allow, a.Cause)
		if limit := time.Second * slower; took > limit {
			t.Errorf("%s: took %v, want < %v", h.name, took, limit)
		}
		if mb > 50 {
			t.Errorf("%s: %.1f MB allocated, want < 50", h.name, mb)
		}
	}
}

func BenchmarkHostile(b *testing.B) {
	for _, h := range hostile {
		body, url := h.body(), "https://h.example"+h.path
		b.Run(h.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Parse(body).Ask("a1", url)
			}
		})
	}
}

// BenchmarkAsk is one question to a file of everyday size that is kept.
func BenchmarkAsk(b *testing.B) {
	r := Parse([]byte("User-agent: *\nDisallow: /admin\nDisallow: /cart\nDisallow: /*?sort=\nAllow: /admin/public\nDisallow: /*.pdf$\nDisallow: /search\n")).For("ResearchBot")
	for _, path := range []string{"/products/chairs?page=2", "/admin/public/page", "/products?sort=price"} {
		b.Run(path[1:], func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r.Ask("https://shop.example" + path)
			}
		})
	}
}
