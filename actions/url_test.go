package actions_test

import (
	"net/url"
	"strings"
	"testing"

	"browsergovernor/actions"
)

// The odd ones are from the examples and test data of the WHATWG URL standard.
func TestHost(t *testing.T) {
	for in, want := range map[string]string{
		"http://example.com/":              "example.com",
		"http://example.com":               "example.com",
		"http://example.com?q":             "example.com",
		"http://example.com#f":             "example.com",
		"HTTPS://Example.COM:443/x":        "example.com",
		"http://example.com:80/":           "example.com",
		"http://example.com:/":             "example.com",
		"http://example.com:8080/":         "example.com:8080",
		"http://example.com:08080/":        "example.com:8080",
		"http://example.com:443/":          "example.com:443",
		"https://example.com:80/":          "example.com:80",
		"https://example.com:65535/":       "example.com:65535",
		"https://example.com:0/":           "example.com:0",
		"ws://example.com:80/":             "example.com",
		"wss://example.com:443/":           "example.com",
		"wss://example.com:80/":            "example.com:80",
		"http://example.com./":             "example.com",
		"http://example.com.:8080/":        "example.com:8080",
		"http://user:pa@ss@example.com/":   "example.com",
		"http://a@b@c.example:81/":         "c.example:81",
		"http://127.0.0.1:40113/":          "127.0.0.1:40113",
		"http://127.1/":                    "127.0.0.1",
		"http://0x7f.0.0.1/":               "127.0.0.1",
		"http://2130706433/":               "127.0.0.1",
		"http://0177.0.0.01./":             "127.0.0.1",
		"http://1.2.3.4.5/":                "",
		"http://256.256.256.256/":          "",
		"http://1.2.3.08/":                 "",
		"http://a.1/":                      "",
		"http://0x/":                       "0.0.0.0",
		"http://[::1]:8080/":               "[::1]:8080",
		"http://[0:0:0:0:0:0:0:1]/":        "[::1]",
		"http://[2001:DB8::A]:80/":         "[2001:db8::a]",
		"http://[::127.0.0.1]/":            "[::7f00:1]",
		"http://[::ffff:127.0.0.1]/":       "[::ffff:7f00:1]",
		"http://[fe80::1%25eth0]/":         "",
		"http://[::1/":                     "",
		"http://[127.0.0.1]/":              "",
		"http://MÜNCHEN.example/":          "xn--mnchen-3ya.example",
		"http://xn--mnchen-3ya.example/":   "xn--mnchen-3ya.example",
		"http://faß.example/":              "xn--fa-hia.example",
		"http://ＧＯ.example/":               "go.example",
		"http://日本。example/":               "xn--wgv71a.example",
		"http://my_host.example/":          "my_host.example",
		"http://a--b-.example/":            "a--b-.example",
		"http://%65xample.com/":            "example.com",
		"http://ex%41mple.com/":            "example.com",
		"http://ex%zz.com/":                "",
		"http://a b/":                      "",
		"http://a<b/":                      "",
		"http://h/100%zz":                  "h",
		"http:/h/":                         "h",
		"http:h/":                          "h",
		"http:////h/":                      "h",
		`http:\\h\p`:                       "h",
		`http://h\@evil.example/`:          "h",
		" \x00http://h/ ":                  "h",
		"ht\ntp://h\t/":                    "h",
		"view-source:http://H/":            "h",
		"http://h:99999/":                  "",
		"http://h:8a/":                     "",
		"http:///":                         "",
		"http://":                          "",
		"http:?q":                          "",
		"":                                 "",
		"example.com":                      "",
		"//example.com/":                   "",
		"about:blank":                      "",
		"data:text/html,http://x/":         "",
		"blob:https://h/uuid":              "",
		"file:///etc/hosts":                "",
		"file://server/share":              "",
		"javascript://h/%0aalert(1)":       "h",
		"chrome-extension://abcdef/x.html": "abcdef",
	} {
		if got := actions.Host(in); got != want {
			t.Errorf("Host(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestHostOfCanonicalURLAllocatesNothing(t *testing.T) {
	for _, u := range []string{"http://127.0.0.1:40113/page", "https://www.example.com/a?b=c", "https://xn--mnchen-3ya.example/"} {
		if n := testing.AllocsPerRun(100, func() { actions.Host(u) }); n != 0 {
			t.Errorf("Host(%q) allocates %v times", u, n)
		}
	}
}

func TestOrigin(t *testing.T) {
	for in, want := range map[string]string{
		"HTTPS://Example.com:443/x": "https://example.com",
		"http://example.com:443/x":  "http://example.com:443",
		"http://[::1]:80/":          "http://[::1]",
		"data:,x":                   "",
	} {
		if got := actions.Origin(in); got != want {
			t.Errorf("Origin(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestSameURL(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"http://h", "http://h/", true},
		{"HTTP://H:80?q", "http://h/?q", true},
		{"http://h/a#one", "http://h/a#two", true},
		{"http://h/a b", "http://h/a%20b", true},
		{"http://h/?q=ü é", "http://h/?q=%C3%BC%20%C3%A9", true},
		{"http://h/ü", "http://h/%C3%BC", true},
		{"http://bücher.example/", "http://xn--bcher-kva.example/", true},
		{"http://h/a/../b", "http://h/b", true},
		{"http://h/a/%2e%2E/b", "http://h/b", true},
		{"http://h/./a/.", "http://h/a/", true},
		{"http://h/../../x/..", "http://h/", true},
		{"http://h/..", "http://h/", true},
		{`http:\\h\a`, "http://h/a", true},
		{"http://user:secret@h/", "http://h/", true},
		{"http://h/100%zz", "http://h/100%zz", true},
		{"view-source:http://h/", "http://h/", true},
		{"about:blank", "ABOUT:blank", true},
		{"http://h/.a", "http://h/a", false},
		{"http://h/a", "http://h/A", false},
		{"http://h/a", "http://h/a/", false},
		{"http://h/a", "http://h/a?", false},
		{"http://h/?a", "http://h/?b", false},
		{"http://h/%41", "http://h/A", false},
		{"http://h/", "https://h/", false},
		{"http://h/", "http://h:8080/", false},
		{"http://h/", "http://i/", false},
		{"http://", "http:///", false},
		{"x", "y", false},
	} {
		if got := actions.SameURL(c.a, c.b); got != c.want {
			t.Errorf("SameURL(%q, %q) = %v", c.a, c.b, got)
		}
		if actions.SameURL(c.a, c.b) != actions.SameURL(c.b, c.a) {
			t.Errorf("SameURL(%q, %q) depends on the order", c.a, c.b)
		}
	}
}

func TestLoopback(t *testing.T) {
	for in, want := range map[string]bool{
		"localhost": true, "LOCALHOST:8080": true, "localhost.": true, "a.b.localhost": true, "a.localhost:1": true,
		"127.0.0.1": true, "127.8.9.10:80": true, "::1": true, "[::1]": true, "[::1]:8080": true, "[::ffff:7f00:1]": true,
		"": false, "example.com": false, "notlocalhost": false, "localhost.example": false, "10.0.0.1": false, "128.0.0.1:80": false,
		"[::2]:80": false, "0.0.0.0": false, "[": false, "[]:": false, "127.0.0.1.example": false, ":": false,
	} {
		if got := actions.Loopback(in); got != want {
			t.Errorf("Loopback(%q) = %v", in, got)
		}
	}
}

func FuzzHost(f *testing.F) {
	for _, s := range []string{"http://example.com:80/", "http://a@[::1]:9/", "http://0x7f.1/", "http://ü.example/", `ht tp:\\h`, "view-source:http://h", "http://%65/"} {
		f.Add(s, "http://h/")
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		host := actions.Host(a)
		if !actions.SameURL(a, a) {
			t.Errorf("%q is not itself", a)
		}
		if actions.SameURL(a, b) && actions.Host(b) != host && actions.Origin(a) != "" {
			t.Errorf("%q and %q are the same, their hosts are not", a, b)
		}
		actions.Loopback(a)
		if !strings.HasPrefix(actions.Origin(a), "http") || host == "" {
			return
		}
		scheme, _, _ := strings.Cut(actions.Origin(a), ":")
		again := scheme + "://" + host + "/"
		if got := actions.Host(again); got != host {
			t.Errorf("Host(%q) = %q, but Host(%q) = %q", a, host, again, got)
		}
		if _, err := url.Parse(again); err != nil {
			t.Errorf("Host(%q) = %q: %v", a, host, err)
		}
	})
}

func BenchmarkHost(b *testing.B) {
	for _, u := range []string{"https://www.example.com/some/path?query=1", "https://WWW.example.com:443/", "https://bücher.example/"} {
		b.Run(u, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				actions.Host(u)
			}
		})
	}
}

func TestCutCredentials(t *testing.T) {
	for _, c := range []struct {
		url, bare, user, password string
		has                       bool
	}{
		{"http://u:p@a.test/x@y?u:p@z", "http://a.test/x@y?u:p@z", "u", "p", true},
		{"https://u@a.test", "https://a.test", "u", "", true},
		{"http://:p@a.test/", "http://a.test/", "", "p", true},
		{"http://u%40x:p%3aq:r@a.test/", "http://a.test/", "u@x", "p:q:r", true},
		{"http://u:100%@a.test/", "http://a.test/", "u", "100%", true},
		{"http://u:p@[::1]:8080/", "http://[::1]:8080/", "u", "p", true},
		{"http://@a.test/", "http://a.test/", "", "", true},
		{"http://a.test/@u:p@", "http://a.test/@u:p@", "", "", false},
		{"http://a.test?u:p@b", "http://a.test?u:p@b", "", "", false},
		{"data:text/html,u:p@a", "data:text/html,u:p@a", "", "", false},
		{"", "", "", "", false},
	} {
		bare, user, password, has := actions.CutCredentials(c.url)
		if bare != c.bare || user != c.user || password != c.password || has != c.has {
			t.Errorf("%q: %q, %q, %q, %v", c.url, bare, user, password, has)
		}
	}
}
