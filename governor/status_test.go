package governor

import (
	"encoding/json"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
)

func TestStatus(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := plainPolicy()
		p.Caps.HostInteractions = 10
		g, _ := open(t, p)
		d := allow(t, g, nav("http://a.example/"))
		g.Settle(d.ID, Outcome{Status: 429, Header: http.Header{"Retry-After": {"90"}}})
		refused(t, g, sub("http://a.example/i"), RetryAfter)
		refused(t, g, nav("ftp://c.example/"), PolicyDenied)
		allow(t, g, click("http://b.example/"))
		g.Pause("d.example")

		s := g.Status()
		b, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var back Status
		if err := json.Unmarshal(b, &back); err != nil || back.Hosts[0].ClosedUntil == nil {
			t.Fatalf("%v from %s", err, b)
		}
		var first, second strings.Builder
		s.WriteText(&first)
		back.WriteText(&second)
		if first.String() != second.String() {
			t.Errorf("the text of the status as JSON is another:\n%s\n%s", &first, &second)
		}
		want := `day 2000-01-01 (until 2000-01-02T00:00:00Z): 2 interactions, 498 left; 2 actions, 19998 left
now: 0 waiting, 1 under way
refused: 1 policy_denied, 1 retry_after
HOST       TODAY  LEFT  ACTIONS  TOKENS  A MINUTE  WAITING  STATE            REFUSED
a.example  1      9     1        1.0     12        0        closed for 90 s  1 retry_after
b.example  1      9     1        1.0     12        0        open             -
c.example  0      10    0        2.0     12        0        open             1 policy_denied
d.example  0      10    0        2.0     12        0        paused           -
`
		if got := first.String(); strings.TrimSpace(got) != strings.TrimSpace(want) {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
		if !reflect.DeepEqual(s.Refusals, map[Reason]int64{RetryAfter: 1, PolicyDenied: 1}) {
			t.Errorf("%v", s.Refusals)
		}
	})
}
