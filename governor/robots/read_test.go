package robots

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf16"
)

func TestTheLineThatDecided(t *testing.T) {
	const file = "# house rules\r\nUser-agent: *\rDisallow: /\n\nUser-agent: researchBOT\nDissallow: /private # keep out\nAllow : /private/open\nCrawl-delay: 2.5s\nSitemap: https://h.example/s.xml\nContent-Signal: ai-train=no\n"
	for _, test := range []struct{ token, url, want string }{
		{"ResearchBot", "https://h.example/private/1", `false "Disallow: /private" line 6 of "ResearchBot" 2.5s`},
		{"ResearchBot", "https://h.example/private/open", `true "Allow: /private/open" line 7 of "ResearchBot" 2.5s`},
		{"ResearchBot", "https://h.example/", `true "" line 0 of "ResearchBot" 2.5s`},
		{"OtherBot", "https://h.example/", `false "Disallow: /" line 3 of "*" 0s`},
		{"", "https://h.example/", `false "Disallow: /" line 3 of "*" 0s`},
	} {
		a := Parse([]byte(file)).Ask(test.token, test.url)
		if got := fmt.Sprintf("%t %q line %d of %q %v", a.Allow, a.Rule, a.Line, a.Group, a.Delay); got != test.want {
			t.Errorf("%s %s: %s, want %s", test.token, test.url, got, test.want)
		}
	}
	f := Parse([]byte(file))
	if got := fmt.Sprint(f.Records()); got != "[{9 Sitemap https://h.example/s.xml} {10 Content-Signal ai-train=no}]" {
		t.Errorf("records %s", got)
	}
	if len(f.Warnings()) != 0 {
		t.Errorf("warnings %q", f.Warnings())
	}
}

func TestWarnings(t *testing.T) {
	for body, want := range map[string]string{
		"Disallow: /a\nUser-agent: *\n":                                   "line 1: rule before the first user-agent line",
		"User-agent: *\nDisallow: a\n":                                    "line 2: rule matches nothing, as it starts with neither / nor *: a",
		"User-agent: *\nCrawl-delay: 1,5\n":                               "line 2: crawl-delay is not a number of seconds: 1,5",
		"User-agent: *\nCrawl-delay: 9\nUser-agent: badbot\nDisallow: /":  "line 3: this group also holds the names above the crawl-delay",
		"\r\n\r\rNonsense: \x1b[2J\u2028\n":                               `line 4: unknown record "Nonsense"`,
		"one two three":                                                   "line 1: not understood: one two three",
		"User-agent: *\nDisallow: /" + strings.Repeat("a", 20<<10) + "\n": "line 2: only the first 16 KiB of the line are read",
		"User-agent: *\nAllow: /" + strings.Repeat("a", 20<<10) + "\n":    "line 2: allow line longer than 16 KiB is left out",
	} {
		if got := fmt.Sprint(Parse([]byte(body)).Warnings()); !strings.Contains(got, want) {
			t.Errorf("%.80q: %s, want %s", body, got, want)
		}
	}
	if n := len(Parse([]byte(strings.Repeat("what\n", 1000))).Warnings()); n != maxWarnings {
		t.Errorf("%d warnings kept, want %d", n, maxWarnings)
	}
}

// TestLimitsErrStrict: what is cut off a file or line may refuse more, never
// allow more.
func TestLimitsErrStrict(t *testing.T) {
	long := strings.Repeat("a", maxLine)
	for name, test := range map[string]struct {
		body, path string
		allow      bool
	}{
		"long disallow":              {"User-agent: *\nDisallow: /" + long + "b\n", "/" + long + "c", false},
		"long allow":                 {"User-agent: *\nDisallow: /\nAllow: /" + long + "b\n", "/" + long + "b", false},
		"disallow cut after $":       {"User-agent: *\nDisallow: /" + long[:maxLine-len("Disallow: /$")] + "$b\n", "/" + long[:maxLine-len("Disallow: /$")] + "$bc", false},
		"rule cut by the file's end": {"User-agent: *\nDisallow: /\n" + strings.Repeat("#\n", MaxBytes/2-18) + "Allow: /shop/only\n", "/shop", false},
		"disallow of 600 KB":         {"User-agent: *\nDisallow: /" + strings.Repeat("a", 600<<10) + "\n", "/" + strings.Repeat("a", 600<<10), false},
	} {
		if a := Parse([]byte(test.body)).Ask("", test.path); a.Allow != test.allow {
			t.Errorf("%s: allow %t, want %t: %.80q", name, a.Allow, test.allow, a.Rule)
		}
	}
}

func TestUTF16(t *testing.T) {
	for mark, order := range map[string][2]int{"\xff\xfe": {0, 8}, "\xfe\xff": {8, 0}} {
		body := []byte(mark)
		for _, u := range utf16.Encode([]rune("User-agent: *\nDisallow: /caf\u00e9\n")) {
			body = append(body, byte(u>>order[0]), byte(u>>order[1]))
		}
		if a := Parse(body).Ask("", "https://h.example/caf%C3%A9"); a.Allow {
			t.Errorf("mark %x: %+v", mark, a)
		}
	}
}

// TestURLsAsBrowsersReadThem: the spellings a browser turns into another path
// must be judged as that path.
func TestURLsAsBrowsersReadThem(t *testing.T) {
	f := Parse([]byte("User-agent: *\nDisallow: /private/\nDisallow: /*?q='\n"))
	for url, allow := range map[string]bool{
		"https://h.example/private/x":             false,
		"https://h.example/open/../private/x":     false,
		"https://h.example/open/%2e%2E/private/x": false,
		"https://h.example/./private/./x":         false,
		"https://h.example/a/b/../../private/":    false,
		"https://h.example/../../private/":        false,
		"https://h.example\\private\\x":           false,
		"https:h.example/private/x":               false,
		" https://h.example/pri\nvate/x\t":        false,
		"https://h.example/%70rivate/x":           false,
		"https://h.example/private/..":            true,
		"https://h.example/private/.":             false,
		"https://h.example/private/...":           false,
		"https://h.example/open?/../private/":     true,
		"https://h.example/.private/x":            true,
		"https://h.example/%2fprivate/":           true,
		"https://h.example/s?q='x'":               false,
		"https://h.example/s?q=%27x%27":           false,
		"https://h.example/100%zz":                true,
		"https://[::1]:8080/private/x":            false,
		"view-source:https://h.example/private/x": false,
		"ftp://h.example/private/x":               true,
		"h.example/open":                          false, // not a URL
	} {
		if a := f.Ask("", url); a.Allow != allow {
			t.Errorf("%q: allow %t, want %t (%q %q)", url, a.Allow, allow, a.Rule, a.Cause)
		}
	}
}

// TestLiteralDollar: a $ inside a rule is one octet of its weight, though the
// engine would count three.
func TestLiteralDollar(t *testing.T) {
	f := Parse([]byte("User-agent: *\nDisallow: /a$b\nAllow: /*%24b\nAllow: /a*bc\n"))
	for path, want := range map[string]string{
		"/a$b":   "Allow: /*%24b", // 6 octets against 4
		"/a%24b": "Allow: /*%24b",
		"/a$bc":  "Allow: /*%24b",
		"/axbc":  "Allow: /a*bc",
	} {
		if a := f.Ask("", path); a.Rule != want || !a.Allow || a.Cause != "" {
			t.Errorf("%s: %+v, want %s", path, a, want)
		}
	}
	f = Parse([]byte("User-agent: *\nDisallow: /a$b\nAllow: /a*b\nAllow: /a$bc*\n"))
	if a := f.Ask("", "/a$b"); !a.Allow || a.Rule != "Allow: /a*b" {
		t.Errorf("%+v", a)
	}
}

func TestDelay(t *testing.T) {
	for s, want := range map[string]string{
		"10": "10s", "0": "0s", ".5": "500ms", "5.": "5s", "2 Sec": "2s", "1.5seconds": "1.5s", "0.0000000001": "0s",
		"": "no", ".": "no", "1.2.3": "no", "1e3": "no", "+5": "no", "-1": "no", "0x1p4": "no", "1_0": "no", "inf": "no", "5 m": "no", "5s s": "no",
		strings.Repeat("9", 4000): time.Duration(1<<63 - 1).String(),
	} {
		got := "no"
		if d, ok := parseDelay(s); ok {
			got = duration(d).String()
		}
		if got != want {
			t.Errorf("%.20q: %s, want %s", s, got, want)
		}
	}
}

func TestToken(t *testing.T) {
	for ua, want := range map[string]string{
		"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/156.0.0.0 Safari/537.36 ResearchBot/1.0 (+https://example.com/bot)": "ResearchBot",
		"Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)":                                                                                 "Googlebot",
		"Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)":                                                   "GPTBot",
		"Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm) Chrome/120.0 Safari/537.36":                 "bingbot",
		"Mozilla/5.0 (compatible; AhrefsBot; +http://ahrefs.com/robot/)":                                                                                           "AhrefsBot",
		"ResearchBot":                         "ResearchBot",
		"Lab_Research-Bot/2 (mailto:a@b.org)": "Lab_Research-Bot",
		"Bot2/1.0":                            "Bot",
		"CCBot/2.0 (https://commoncrawl.org/faq/) Research/1":                                                                                    "Research",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36 Edg/156.0":              "",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:150.0) Gecko/20100101 Firefox/150.0":                                                       "",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/156.0 Mobile/15E148 Safari/604.1": "",
		"Mozilla/5.0 (compatible; MSIE 9.0; Windows NT 6.1; Trident/5.0)":                                                                        "",
		"": "", "(((": "", "42": "",
	} {
		if got := Token(ua); got != want {
			t.Errorf("%q: %q, want %q", ua, got, want)
		}
	}
}

func TestValidToken(t *testing.T) {
	for token, want := range map[string]string{
		"ResearchBot": "", "lab_bot-x": "", "": "empty", "*": "column 1", "Bot/1.0": "column 4", "Bot2": "digit", "a b": "column 2", "é": "column 1",
	} {
		err := ValidToken(token)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", token, err, want)
		}
	}
	for token, warns := range map[string]bool{"researchbot": false, "OtherBot": true, "": true} {
		if w := TokenWarning(token, testUA); (w != "") != warns {
			t.Errorf("%q: %q", token, w)
		}
	}
}

func TestVerdictText(t *testing.T) {
	for want, v := range map[string]Verdict{
		"Disallow: /private (line 2 of http://host/robots.txt)":  {Rule: "Disallow: /private", Line: 2, RobotsURL: "http://host/robots.txt"},
		"robots.txt of https://h answered 403":                   {Cause: "robots.txt of https://h answered 403", RobotsURL: "https://h/robots.txt"},
		"no rule of http://host/robots.txt applies":              {Allow: true, RobotsURL: "http://host/robots.txt"},
		"robots.txt does not apply":                              {Allow: true},
		"too much: Allow: /a (line 1 of http://host/robots.txt)": {Cause: "too much", Rule: "Allow: /a", Line: 1, RobotsURL: "http://host/robots.txt"},
	} {
		if got := v.Text(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if (Verdict{}).Allow || (Answer{}).Allow {
		t.Error("the zero value allows")
	}
}
