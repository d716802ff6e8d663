package audit

import (
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"browsergovernor/actions"
	"browsergovernor/governor"
)

// story is a small log with one of everything that a timeline shows.
func story(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	l := openLog(t, Config{Dir: dir})
	now := noon
	add := func(ev governor.Event) {
		ev.Time = now
		now = now.Add(time.Second)
		put(t, l, ev)
	}
	add(governor.Event{Type: governor.EventNote, Note: "started", Text: "ResearchBot/1.0"})
	for _, ev := range visit("a1", "shop.example", 200) {
		add(ev)
	}
	add(governor.Event{Type: governor.EventAction, ID: "a2", Kind: actions.Navigation, Method: "GET", URL: "http://shop.example/private/inbox", Host: "shop.example",
		Client: "playwright", Reason: governor.RobotsDisallowed, Rule: "Disallow: /private (line 2 of http://shop.example/robots.txt)"})
	add(governor.Event{Type: governor.EventAction, ID: "a3", Kind: actions.Click, URL: "http://shop.example/a1", Host: "shop.example", Sent: true,
		Client: "puppeteer", Detail: "button \"Buy\x1b[2J\""})
	add(governor.Event{Type: governor.EventAction, ID: "a4", Kind: actions.Subresource, Method: "GET", URL: "http://cdn.example:8080/" + strings.Repeat("long", 20), Host: "cdn.example:8080", Sent: true, Attempt: 1})
	add(governor.Event{Type: governor.EventAction, ID: "a5", Kind: actions.Subresource, Method: "GET", URL: "http://cdn.example:8080/b", Host: "cdn.example:8080", Sent: true})
	add(governor.Event{Type: governor.EventOutcome, ID: "a4", Status: 429, RetryAfter: 2 * time.Second, HoldUntil: noon.Add(time.Minute)})
	add(governor.Event{Type: governor.EventOutcome, ID: "a5", FromCache: true, Credited: true})
	add(governor.Event{Type: governor.EventNote, Note: "refused", Reason: governor.CommandNotGoverned, Text: "Network.loadNetworkResource", Client: "puppeteer"})
	now = noon.Add(24 * time.Hour)
	add(governor.Event{Type: governor.EventAction, ID: "a6", Kind: actions.Navigation, Method: "GET", URL: "http://shop.example/", Host: "shop.example", Sent: true})
	add(governor.Event{Type: governor.EventOutcome, ID: "a6", Error: "connection reset"})
	closeLog(t, l)
	return dir
}

func show(t *testing.T, dir string, f Filter, format string) string {
	t.Helper()
	var b strings.Builder
	if err := Show(&b, dir, f, format); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestShowText(t *testing.T) {
	want := `
── 2026-11-30 UTC
12:09:22.118  note                                                                                                       started: ResearchBot/1.0
12:09:23.118  sent     navigation   GET     http://shop.example/a1                                         900ms    200
12:09:25.118  refused  navigation   GET     http://shop.example/private/inbox                                  -         robots_disallowed: Disallow: /private (line 2 of http://shop.example/robots.txt)
12:09:26.118  sent     click                http://shop.example/a1                                             -         button "Buy�[2J"
12:09:27.118  sent     subresource  GET     http://cdn.example:8080/longlonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglong       -    429  attempt 2; retry after 2s; host held until 12:10:22.118
12:09:28.118  sent     subresource  GET     http://cdn.example:8080/b                                          -  cache  credited
12:09:31.118  note                                                                                                       command_not_permitted; refused: Network.loadNetworkResource
── 2026-12-01 UTC
12:09:22.118  sent     navigation   GET     http://shop.example/                                               -      -  connection reset
`
	if got := "\n" + show(t, story(t), Filter{}, "text"); got != want {
		t.Errorf("got%s\nwant%s", got, want)
	}
}

func TestFilter(t *testing.T) {
	dir := story(t)
	for name, tt := range map[string]struct {
		f    Filter
		want string // IDs (or notes) of the lines, in order
	}{
		"all":              {Filter{}, "started a1 a1 a2 a3 a4 a5 a4 a5 refused a6 a6"},
		"host":             {Filter{Host: "shop.example"}, "a1 a1 a2 a3 a6 a6"},
		"host, any port":   {Filter{Host: "CDN.example"}, "a4 a5 a4 a5"},
		"host with port":   {Filter{Host: "cdn.example:8080"}, "a4 a5 a4 a5"},
		"other port":       {Filter{Host: "cdn.example:80"}, ""},
		"kind":             {Filter{Kind: actions.Click}, "a3"},
		"reason":           {Filter{Reason: governor.RobotsDisallowed}, "a2"},
		"reason of a note": {Filter{Reason: governor.CommandNotGoverned}, "refused"},
		"refused":          {Filter{Refused: true}, "a2 refused"},
		"sent":             {Filter{Sent: true}, "a1 a1 a3 a4 a5 a4 a5 a6 a6"},
		"refused or sent":  {Filter{Refused: true, Sent: true}, "a1 a1 a2 a3 a4 a5 a4 a5 refused a6 a6"},
		"client":           {Filter{Client: "puppeteer"}, "a3 refused"},
		"since":            {Filter{Since: noon.Add(9*time.Second + 900)}, "refused a6 a6"},
		"since tomorrow":   {Filter{Since: noon.Add(20 * time.Hour)}, "a6 a6"},
		"until":            {Filter{Until: noon.Add(3 * time.Second)}, "started a1 a1"},
		"two":              {Filter{Sent: true, Host: "shop.example", Kind: actions.Navigation}, "a1 a1 a6 a6"},
	} {
		var got []string
		raw := show(t, dir, tt.f, "json")
		for line := range strings.Lines(raw) {
			var w wire
			if err := json.Unmarshal([]byte(line), &w); err != nil {
				t.Fatal(err)
			}
			got = append(got, w.ID+w.Note)
		}
		if s := strings.Join(got, " "); s != tt.want {
			t.Errorf("%s: got %s, want %s", name, s, tt.want)
		}
		if tt.f == (Filter{}) && raw != read(t, dir, "2026-11-30.jsonl")+read(t, dir, "2026-12-01.jsonl") {
			t.Error("the raw lines are not those of the log")
		}
	}
}

func TestShowErrors(t *testing.T) {
	dir := story(t)
	var b strings.Builder
	if err := Show(&b, dir, Filter{}, "xml"); err == nil || !strings.Contains(err.Error(), `format "xml": want text or json`) {
		t.Error(err)
	}
	if err := Show(&b, "/no/such/folder", Filter{}, "text"); err == nil {
		t.Error("no error for a folder that is not there")
	}
	// A broken line does not hide the others.
	whole := read(t, dir, "2026-11-30.jsonl")
	write(t, dir, "2026-11-30.jsonl", "oops\n"+whole)
	err := Show(&b, dir, Filter{}, "json")
	var le *LineError
	if !errors.As(err, &le) || le.Line != 1 || strings.Count(b.String(), "\n") != 12 {
		t.Errorf("%v\n%s", err, b.String())
	}
	if _, err := Summarize(dir, Filter{}); !errors.As(err, &le) {
		t.Errorf("Summarize: %v", err)
	}
	full := errors.New("pipe closed")
	if err := Show(failing{full}, dir, Filter{}, "text"); !errors.Is(err, full) {
		t.Error(err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

// More rows than the window: all are shown, and outcomes that come soon find
// their actions.
func TestShowLongLog(t *testing.T) {
	var b strings.Builder
	tl := timeline{p: printer{w: &b}, window: 10, byID: map[string]*row{}}
	const visits = 1000
	for i := range visits {
		for _, ev := range typical(i, noon) {
			tl.line(&record{Event: ev})
		}
	}
	if err := tl.end(); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(b.String(), "  200\n"); n != visits || len(tl.byID) != 0 {
		t.Errorf("%d rows with a status, want %d; %d are still waited for", n, visits, len(tl.byID))
	}
}

func TestSummarize(t *testing.T) {
	dir := story(t)
	sum, err := Summarize(dir, Filter{})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]HostSummary{
		"": {Refused: map[governor.Reason]int{governor.CommandNotGoverned: 1}, First: noon.Add(9 * time.Second), Last: noon.Add(9 * time.Second)},
		"shop.example": {Interactions: 3, Requests: 2, Refused: map[governor.Reason]int{governor.RobotsDisallowed: 1},
			Statuses: map[string]int{"200": 1, "none": 1}, WaitedS: 0.9, First: noon.Add(time.Second), Last: noon.Add(24 * time.Hour)},
		"cdn.example:8080": {Requests: 2, Statuses: map[string]int{"429": 1}, Credited: 1, First: noon.Add(5 * time.Second), Last: noon.Add(6 * time.Second)},
	}
	for _, h := range sum.Hosts {
		w := want[h.Host]
		w.Host = h.Host
		if !maps.Equal(h.Refused, w.Refused) || !maps.Equal(h.Statuses, w.Statuses) {
			t.Errorf("%+v\nwant %+v", h, w)
		}
		h.Refused, h.Statuses, w.Refused, w.Statuses = nil, nil, nil, nil
		if !reflect.DeepEqual(h, w) {
			t.Errorf("\n got %+v\nwant %+v", h, w)
		}
	}
	if len(sum.Hosts) != len(want) || sum.Total.Requests != 4 || sum.Total.Interactions != 3 || sum.Notes["started"] != 1 {
		t.Errorf("%+v", sum)
	}
	var text strings.Builder
	if err := sum.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"2026-11-30 12:09:23.118 UTC to 2026-12-01 12:09:22.118 UTC",
		"shop.example", "  sent         3 interactions, 2 requests", "  refused      1: robots_disallowed 1", "  answers      200 1, none 1",
		"  waited       900ms", "  credited     1 never reached the server", "all 3 hosts", "notes          refused 1, started 1",
	} {
		if !slices.Contains(strings.Split(text.String(), "\n"), line) {
			t.Errorf("no line %q in\n%s", line, text.String())
		}
	}
	raw, err := json.Marshal(sum)
	if err != nil || !strings.Contains(string(raw), `"waited_s":0.9`) || !strings.Contains(string(raw), `"refused":{"robots_disallowed":1}`) {
		t.Errorf("%v %s", err, raw)
	}
}

// Later outcomes of the same action correct the earlier ones.
func TestSummarizeCountsAnActionOnce(t *testing.T) {
	dir := t.TempDir()
	l := openLog(t, Config{Dir: dir})
	put(t, l, visit("a1", "h", 503)...)
	put(t, l, governor.Event{Type: governor.EventOutcome, ID: "a1", Status: 200})
	put(t, l, governor.Event{Type: governor.EventOutcome, ID: "a1", Credited: true}, governor.Event{Type: governor.EventOutcome, ID: "a1", Credited: true})
	put(t, l, visit("a2", "h", 200)[0])
	put(t, l, governor.Event{Type: governor.EventOutcome, ID: "a9", Status: 500}) // of an action that is not in the log
	closeLog(t, l)
	sum, err := Summarize(dir, Filter{})
	if err != nil || len(sum.Hosts) != 1 {
		t.Fatal(err, sum)
	}
	h := sum.Hosts[0]
	if !maps.Equal(h.Statuses, map[string]int{"200": 1}) || h.Credited != 1 || h.Unsettled != 1 || h.Requests != 2 {
		t.Errorf("%+v", h)
	}
	var none strings.Builder
	if err := (Summary{}).WriteText(&none); err != nil || none.String() != "nothing was done\n" {
		t.Errorf("%v %q", err, none.String())
	}
}
