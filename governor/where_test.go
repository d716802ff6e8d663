package governor

import (
	"fmt"
	"strings"
	"testing"

	"browsergovernor/actions"
)

func TestHostLists(t *testing.T) {
	p := parsed(t, `navigations:
  allow: [shop.example, "*.shop.example", "[::1]:8080"]
  deny:
    - admin.shop.example
    - "*.private.shop.example"
subresources:
  allow: [shop.example, cdn.example:8443]
  deny:
    - shop.example:9000
agent: {contact: bot@example.com}
`)
	g, _ := open(t, p)
	ws := func(url string) actions.Action {
		return actions.Action{Kind: actions.WebSocket, Method: "GET", URL: url}
	}
	for _, c := range []struct {
		a    actions.Action
		rule string // "" means allowed
	}{
		{nav("https://shop.example/"), ""},
		{nav("https://SHOP.example./"), ""},
		{nav("https://shop.example:9000/"), ""},
		{nav("https://a.b.shop.example/"), ""},
		{nav("http://[::1]:8080/"), ""},
		{nav("http://[::1]/"), `navigations.allow (p.yaml line 2)`},
		{nav("https://myshop.example/"), `navigations.allow (p.yaml line 2)`},
		{nav("https://cdn.example:8443/"), `navigations.allow (p.yaml line 2)`},
		{nav("https://admin.shop.example/"), `navigations.deny "admin.shop.example" (p.yaml line 4)`},
		{nav("https://ADMIN.shop.example:444/"), `navigations.deny "admin.shop.example" (p.yaml line 4)`},
		{nav("https://x.private.shop.example/"), `navigations.deny "*.private.shop.example" (p.yaml line 5)`},
		{nav("https://private.shop.example/"), ""},
		{sub("https://shop.example/i"), ""},
		{sub("https://admin.shop.example/i"), `subresources.allow (p.yaml line 7)`},
		{sub("https://cdn.example:8443/i"), ""},
		{sub("https://cdn.example/i"), `subresources.allow (p.yaml line 7)`},
		{sub("https://shop.example:9000/i"), `subresources.deny "shop.example:9000" (p.yaml line 9)`},
		{ws("wss://shop.example/s"), ""},
		{ws("wss://shop.example:9000/s"), `subresources.deny "shop.example:9000" (p.yaml line 9)`},
		{ws("wss://other.example/s"), `subresources.allow (p.yaml line 7)`},
		{click("https://other.example/"), ""}, // a click asks no host
		{actions.Action{Kind: actions.Subresource, URL: "https://a.shop.example/robots.txt", Cause: robotsCause}, ""},
		{actions.Action{Kind: actions.Subresource, URL: "https://cdn.example:8443/robots.txt", Cause: robotsCause}, `navigations.allow (p.yaml line 2)`},
	} {
		d := g.Admit(t.Context(), c.a)
		switch {
		case c.rule == "" && !d.Allowed():
			t.Errorf("%s %s: %s", c.a.Kind, c.a.URL, d.Refusal)
		case c.rule != "" && (d.Allowed() || d.Refusal.Reason != PolicyDenied || d.Refusal.Rule != c.rule):
			t.Errorf("%s %s: %+v, want %s", c.a.Kind, c.a.URL, d.Refusal, c.rule)
		case c.rule != "" && !strings.Contains(d.Refusal.Sentence, c.rule):
			t.Errorf("the sentence does not name the rule: %s", d.Refusal)
		}
	}
}

func TestDenyOfKinds(t *testing.T) {
	p := parsed(t, "deny:\n  - click\n  - upload\n  - subresource\n")
	g, _ := open(t, p)
	for _, a := range []actions.Action{
		click("http://localhost/"), {Kind: actions.Upload, URL: "http://localhost/"}, {Kind: actions.Upload, URL: "about:blank"}, sub("http://localhost/"),
	} {
		r := refused(t, g, a, PolicyDenied)
		if !strings.HasPrefix(r.Rule, fmt.Sprintf("deny %q (p.yaml line ", a.Kind)) {
			t.Errorf("%+v", r)
		}
	}
	allow(t, g, nav("http://localhost/"))
	allow(t, g, actions.Action{Kind: actions.Key, URL: "http://localhost/"})
	allow(t, g, actions.Action{Kind: actions.Subresource, URL: "http://localhost/robots.txt", Cause: robotsCause})
}

func TestSchemes(t *testing.T) {
	p := plainPolicy()
	for url, want := range map[string]bool{
		"http://a.example": true, "HTTPS://a.example": true, "wss://a": true, "about:blank": true, "data:,x": true, "blob:http://a/1": true,
		"javascript:1": true, "": true, "no scheme": true, "view-source:https://a": true,
		"file:///etc/passwd": false, " FILE:///etc/passwd": false, "fi\nle:///etc/passwd": false, "view-source:file:///x": false, "chrome://settings": false, "devtools://x": false, "ftp://a": false,
	} {
		if got := p.AllowsScheme(url); got != want {
			t.Errorf("%q: %v", url, got)
		}
	}
	p.Schemes = []string{"https"}
	g, _ := open(t, p)
	refused(t, g, nav("http://a.example/"), PolicyDenied)
	refused(t, g, actions.Action{Kind: actions.WebSocket, URL: "wss://a.example/"}, PolicyDenied)
	allow(t, g, nav("https://a.example/"))
}

// TestPlaceIsForgotten: a list set again by a flag stands in no line of the file.
func TestPlaceIsForgotten(t *testing.T) {
	p := parsed(t, "navigations: {deny: [a.example]}\nsubresources: {deny: [a.example]}\nagent: {contact: bot@example.com}\n")
	p, err := p.Set("navigations.deny", "b.example")
	if err != nil {
		t.Fatal(err)
	}
	g, _ := open(t, p)
	if r := refused(t, g, nav("http://b.example/"), PolicyDenied); r.Rule != `navigations.deny "b.example"` {
		t.Error(r.Rule)
	}
	if r := refused(t, g, sub("http://a.example/"), PolicyDenied); r.Rule != `subresources.deny "a.example" (p.yaml line 2)` {
		t.Error(r.Rule)
	}
}

// parsed is a policy file on top of the plain policy's pace.
func parsed(t *testing.T, text string) Policy {
	t.Helper()
	p, err := ParsePolicy("dir/p.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	plain := plainPolicy()
	p.Interactions, p.Subresources, p.Jitter, p.Caps, p.Robots, p.AcceptedRisks = plain.Interactions, plain.Subresources, plain.Jitter, plain.Caps, plain.Robots, plain.AcceptedRisks
	p.MaxDenials = 0
	return p
}

// FuzzHostSet compares the compiled list with the pattern matcher of hosts.
func FuzzHostSet(f *testing.F) {
	for _, s := range [][2]string{
		{"shop.example *.example", "a.shop.example:8080"}, {"*.example:8080 [::1]:1", "a.example:8080"}, {"*", "x"}, {"[::1] 127.0.0.1", "[::1]:443"},
		{"*.example", "example"}, {"a.example a.example *", "a.example"},
	} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, list, rawHost string) {
		var patterns []string
		for _, p := range strings.Fields(list) {
			if hostPatternProblem(p) == "" {
				patterns = append(patterns, p)
			}
		}
		host := actions.Host("http://" + rawHost)
		if host == "" {
			return
		}
		want := -1
		for i, p := range patterns {
			if matchHost(p, host) {
				want = i
				break
			}
		}
		set := newHostSet(patterns)
		if got := set.find(host); got != want {
			t.Errorf("%q in %q: %d, want %d", host, patterns, got, want)
		}
	})
}

func BenchmarkAdmitLongLists(b *testing.B) {
	p := plainPolicy()
	p.Interactions = Bucket{Rate: 1e6, Burst: 1e9}
	p.Subresources = p.Interactions
	p.Caps = Caps{Interactions: 1e9, Total: 1e9}
	for i := range 10_000 {
		p.SubresourceHosts.Allow = append(p.SubresourceHosts.Allow, fmt.Sprintf("*.site%05d.example", i))
		p.SubresourceHosts.Deny = append(p.SubresourceHosts.Deny, fmt.Sprintf("ads.site%05d.example", i))
	}
	g, err := New(Config{Policy: p})
	if err != nil {
		b.Fatal(err)
	}
	a := sub("https://www.site09999.example/img/1.png")
	b.ReportAllocs()
	for b.Loop() {
		if d := g.Admit(b.Context(), a); !d.Allowed() {
			b.Fatal(d.Refusal)
		}
	}
}
