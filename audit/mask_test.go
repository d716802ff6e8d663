package audit

import (
	"strings"
	"testing"
	"time"
)

func TestMask(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"", ""},
		{"http://host/path?q=shoes&page=2#top", "same"},
		{"http://host/?token=abc", "http://host/?token=***"},
		{"http://host/?a=1&access_token=abc&b=2", "http://host/?a=1&access_token=***&b=2"},
		{"http://host/?API_KEY=abc&apiKey=d&api-key=e", "http://host/?API_KEY=***&apiKey=***&api-key=***"},
		{"http://host/?key=abc&keyword=shoes&monkey=1", "http://host/?key=***&keyword=shoes&monkey=1"},
		{"http://host/?code=abc&zipcode=12345&state=xyz", "http://host/?code=***&zipcode=12345&state=xyz"},
		{"http://host/?author=me&auth=abc&sid=1&session=2&sidebar=3", "http://host/?author=me&auth=***&sid=***&session=***&sidebar=3"},
		{"http://host/?password=a&passwd=b&pwd=c&user[password]=d", "http://host/?password=***&passwd=***&pwd=***&user[password]=***"},
		{"http://host/?sig=a&signature=b&jwt=c&bearer=d&credential=e&secret=f", "http://host/?sig=***&signature=***&jwt=***&bearer=***&credential=***&secret=***"},
		{"https://b.s3.amazonaws.com/o?X-Amz-Credential=AKIA%2F2026&X-Amz-Date=20261130T000000Z&X-Amz-Signature=ab12",
			"https://b.s3.amazonaws.com/o?X-Amz-Credential=***&X-Amz-Date=20261130T000000Z&X-Amz-Signature=***"},
		{"https://x.blob.core.windows.net/c?sv=2022&sig=a%2Bb%3D", "https://x.blob.core.windows.net/c?sv=2022&sig=***"},
		{"http://host/?%74oken=abc", "http://host/?%74oken=***"},
		{"http://host/?token%3Dabc", "http://host/?token%3D***"},

		// Nothing to hide.
		{"http://host/?token=&token", "same"},
		{"http://host/?token=***", "same"},
		{"http://host/token/abc", "same"},
		{"http://host/?q=a%20b%3D", "same"},
		{"http://host:8080/a@b", "same"},
		{"http://host:8080/?q=me@example.com", "same"},
		{"http://[::1]:8080/a@b", "same"},
		{"mailto:me@example.com", "same"},

		// Fragments.
		{"http://host/cb#access_token=abc&token_type=b&expires_in=3600", "http://host/cb#access_token=***&token_type=***&expires_in=3600"},
		{"http://host/#/reset?token=abc", "http://host/#/reset?token=***"},
		{"http://host/?token=abc#key=def", "http://host/?token=***#key=***"},
		{"http://host/?token=abc?def", "http://host/?token=***"},
		{"http://host/?token=abc;def&x=1", "http://host/?token=***&x=1"},
		{"http://host/?a=1;token=abc", "http://host/?a=1;token=***"},

		// Path parameters.
		{"http://host/a;jsessionid=ABC/b?x=1", "http://host/a;jsessionid=***/b?x=1"},
		{"http://host/a;v=1;jsessionid=ABC?token=x/y", "http://host/a;v=1;jsessionid=***?token=***"},

		// Before the host.
		{"http://user:pw@host/", "http://user:***@host/"},
		{"http://user:p@w:x@host/?q=1", "http://user:***@host/?q=1"},
		{"http://:pw@host/", "http://:***@host/"},
		{"http://user@host/", "same"},
		{"http://user:@host/", "same"},
		{"https://sk_live_0123456789abcdef:@api.example/", "https://***:@api.example/"},
		{"https://ghp_0123456789abcdef@github.example/r.git", "https://***@github.example/r.git"},
		{"wss://user:pw@host", "wss://user:***@host"},
		{"//user:pw@host", "//user:***@host"},
		{"http:/user:pw@host/", "http:/user:***@host/"},
		{`http:\\user:pw@host\x`, `http:\\user:***@host\x`},

		// URLs in URLs.
		{"http://host/go?to=http://a:b@c/?x=1", "http://host/go?to=http://a:***@c/?x=1"},
		{"http://host/go?to=http%3A%2F%2Fc%2F%3Ftoken%3Dabc&x=1", "http://host/go?to=http%3A%2F%2Fc%2F%3Ftoken%3D***&x=1"},
		{"http://host/go?to=%2Fcb%3Ftoken%3Dabc", "http://host/go?to=%2Fcb%3Ftoken%3D***"},
		{"http://host/go?to=%2Fcb%3Fn%3D%252Fd%253Fkey%253Dabc", "http://host/go?to=%2Fcb%3Fn%3D%252Fd%253Fkey%253D***"},

		// Broken.
		{"http://user:p/w@host/", "http://user:***@host/"},
		{"http://user:p?w@host/", "http://user:***@host/"},
		{"?token=abc", "?token=***"},
		{"/login?token=abc", "/login?token=***"},
		{"http://host/?%zz=1&token=%", "http://host/?%zz=1&token=***"},
		{"http://host/?token=a b\nc", "http://host/?token=***"},
		{"http://host/?=x&&&token=abc&", "http://host/?=x&&&token=***&"},
		{"http://ho st:x/?token=\xff\xfe", "http://ho st:x/?token=***"},
	} {
		want := tt.want
		if want == "same" {
			want = tt.in
		}
		if got := Mask(tt.in); got != want {
			t.Errorf("Mask(%q)\n got %q\nwant %q", tt.in, got, want)
		}
	}
}

func TestMaskText(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"no URL, a = b, me@example.com", "same"},
		{"Disallow: /*?token=* (line 2 of http://host/robots.txt)", "same"},
		{"Disallow: /*?sid= (line 2)", "same"},
		{`get "http://u:pw@host/?key=abc": EOF`, `get "http://u:***@host/?key=***": EOF`},
		{"see http://host/?token=abc, or (http://host/?key=d).", "see http://host/?token=***, or (http://host/?key=***)."},
		{"link to /x?access_token=abc\n<a href='?sid=1'>", "link to /x?access_token=***\n<a href='?sid=***'>"},
	} {
		want := tt.want
		if want == "same" {
			want = tt.in
		}
		if got := maskText(tt.in); got != want {
			t.Errorf("maskText(%q)\n got %q\nwant %q", tt.in, got, want)
		}
	}
}

// Every field that a page or a server can fill is masked on its way to the disk.
func TestNoSecretReachesTheDisk(t *testing.T) {
	dir := t.TempDir()
	l := openLog(t, Config{Dir: dir})
	ev := note("")
	const u = "http://user:hunter2@host/?token=hunter2#key=hunter2"
	ev.URL, ev.Detail, ev.Rule, ev.Error, ev.Text = u, "on "+u, "by "+u, "of "+u, "in "+u
	put(t, l, ev)
	closeLog(t, l)
	if got := read(t, dir, "2026-11-30.jsonl"); strings.Contains(got, "hunter2") || strings.Count(got, "***") != 15 {
		t.Error(got)
	}
}

// A page chooses its URLs, up to Chrome's two megabytes; masking one must not
// hold up the governor.
func TestMaskIsLinear(t *testing.T) {
	const size = 256 << 10
	for _, unit := range []string{
		"?a=%41", "&a=%3F", ";a=", ";a=%", "?", "%3D", "?a=http://", "?a=%253Fb%253D", "#a=//@", "@", "//", "token=x&", "/;sid=1", "%25%33%46", "[", "…", "http://u:p@h/?q=",
	} {
		s := "http://host/?" + strings.Repeat(unit, size/len(unit))
		began := time.Now()
		Mask(s)
		maskText(s)
		if d := time.Since(began); d > 5*time.Second { // 10 ms; a minute when it is quadratic
			t.Errorf("%q took %v", unit, d)
		}
	}
}

func FuzzMask(f *testing.F) {
	for _, s := range []string{"http://u:p@h/?token=a#b=c", "http://h/;sid=1/?to=http%3A%2F%2Fx%2F%3Fkey%3D1", "a%3Db", "//@:@", "?a=%%%;&#?="} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		once := Mask(s)
		if twice := Mask(once); twice != once {
			t.Errorf("Mask(%q) is %q, masked again %q", s, once, twice)
		}
		maskText(s)
		// A parameter of its own is masked whatever stands before it.
		if !strings.Contains(s, "#") {
			if got := Mask(s + "#token=hunter2"); strings.HasSuffix(got, "hunter2") {
				t.Errorf("Mask left the secret in %q", got)
			}
		}
	})
}
