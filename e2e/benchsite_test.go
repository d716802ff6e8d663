package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"browsergovernor/browser"
	"browsergovernor/governor"
)

// onePixel is a transparent PNG.
const onePixel = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89" +
	"\x00\x00\x00\rIDATx\x9cc\x00\x01\x00\x00\x05\x00\x01\r\n-\xb4\x00\x00\x00\x00IEND\xaeB`\x82"

// pictures is a site with one page of images that no cache may keep.
type pictures struct {
	*site
	url    string
	delay  time.Duration
	served atomic.Int64 // requests for the page and its images
}

// newPictures starts the site. Every answer takes as long as delay says.
func newPictures(b *testing.B, delay time.Duration) *pictures {
	p := &pictures{site: &site{}, url: "http://pictures.test/", delay: delay}
	var page strings.Builder
	page.WriteString("<!doctype html><title>pictures</title><link rel=icon href=data:,>")
	for i := range benchImages {
		fmt.Fprintf(&page, "<img src=/%d.png>", i)
	}
	p.srv = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		switch {
		case r.URL.Path == "/":
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
		case strings.HasSuffix(r.URL.Path, ".png"):
			w.Header().Set("Content-Type", "image/png")
		default:
			http.NotFound(w, r)
			return
		}
		p.served.Add(1)
		time.Sleep(delay)
		if r.URL.Path == "/" {
			fmt.Fprint(w, page.String())
		} else {
			fmt.Fprint(w, onePixel)
		}
	}))
	b.Cleanup(p.srv.Close)
	rules, err := browser.ParseHostRules(p.hostRules())
	if err != nil {
		b.Fatal(err)
	}
	p.rules = rules
	return p
}

// hurriedPolicy makes nothing wait: what it costs to be governed is then only
// the governor's own work.
func hurriedPolicy() governor.Policy {
	p := testPolicy()
	p.Interactions = governor.Bucket{Rate: 1e6, Burst: 1e6}
	p.Subresources = p.Interactions
	p.Caps = governor.Caps{}
	return p
}
