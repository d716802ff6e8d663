package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// TestHostileMessages: whatever a client says that is no command is answered
// with a CDP error, or passes harmlessly; nothing hidden in it is done, and other
// clients notice nothing.
func TestHostileMessages(t *testing.T) {
	s := newSite(t, nil)
	s.setRobots("a.test", "User-agent: *\nDisallow: /private\n")
	w := newWorld(t, s, testPolicy())
	endpoint := w.endpoint()
	other := dialRaw(t, endpoint)
	_, quiet := other.page()

	const hidden = `"method":"Page.navigate","params":{"url":"http://a.test/private/x"}`
	c := dialRaw(t, endpoint)
	_, p := c.page()
	in := `,"sessionId":"` + p + `"`
	deep := strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000)
	for _, m := range []struct{ name, text string }{
		{"no JSON", `hello`},
		{"nothing", ``},
		{"cut off", `{"id":7001,"method":"Browser.getVersion"`},
		{"an array", `[{"id":7002,"method":"Browser.getVersion"}]`},
		{"a batch", `[{"id":7003,` + hidden + in + `}]`},
		{"two messages", `{"id":7004,"method":"Browser.getVersion"}{"id":7005,` + hidden + in + `}`},
		{"a zero byte", "{\"id\":7006,\"method\":\"Browser.getVersion\"}\x00{\"id\":7007," + hidden + in + "}"},
		{"a zero byte in a string", "{\"id\":7008,\"method\":\"Browser.getVersion\x00\"}"},
		{"methods", `{"id":7009,"method":"Browser.getVersion",` + hidden + in + `}`},
		{"params", `{"id":7010,"method":"Page.navigate","params":{"url":"http://a.test/ok"},"params":{"url":"http://a.test/private/x"}` + in + `}`},
		{"sessions", `{"id":7011,"method":"Page.navigate","params":{"url":"http://a.test/private/x"},"sessionId":"none"` + in + `}`},
		{"a comment", `{"id":7012,/*"method":"Browser.getVersion",*/` + hidden + in + `}`},
		{"an id too large", `{"id":99999999999,` + hidden + in + `}`},
		{"an id that is no number", `{"id":"7013",` + hidden + in + `}`},
		{"a broken id", `{"id":1.5,` + hidden + in + `}`},
		{"an id in E", `{"id":7e3,` + hidden + in + `}`},
		{"no id", `{` + hidden + in + `}`},
		{"no session", `{"id":7014,` + hidden + `,"sessionId":"0123456789ABCDEF"}`},
		{"another client's session", `{"id":7015,` + hidden + `,"sessionId":"` + quiet + `"}`},
		{"session null", `{"id":7016,` + hidden + `,"sessionId":null}`},
		{"session number", `{"id":7017,` + hidden + `,"sessionId":7}`},
		{"escaped method", `{"id":7018,"method":"Page\u002enavigate","params":{"url":"http://a.test/private/x"}` + in + `}`},
		{"escaped key", `{"id":7019,"m\u0065thod":"Page.navigate","par\u0061ms":{"\u0075rl":"http://a.test/private/x"}` + in + `}`},
		{"escaped address", `{"id":7020,"method":"Page.navigate","params":{"url":"ht\u0074p://a.test/pri\u0076ate/x"}` + in + `}`},
		{"two addresses", `{"id":7021,"method":"Page.navigate","params":{"url":"http://a.test/private/x","url":"about:blank"}` + in + `}`},
		{"two addresses, turned", `{"id":7022,"method":"Page.navigate","params":{"url":"about:blank","url":"http://a.test/private/x"}` + in + `}`},
		{"no UTF-8", "{\"id\":7023,\"method\":\"Page.\xffnavigate\",\"params\":{\"url\":\"http://a.test/private/x\"}" + in + "}"},
		{"deep", `{"id":7024,"method":"Runtime.evaluate","params":{"expression":"1","x":` + deep + `}}`},
		{"deep, cut off", `{"id":7025,"method":"Runtime.evaluate","params":{"x":` + strings.Repeat("[", 1_000_000)},
		{"unknown method", `{"id":7026,"method":"Nonsense.` + strings.Repeat("x", 1<<16) + `"}`},
		{"a tab before the address", `{"id":7027,"method":"Page.navigate","params":{"url":"\t ht\ntp://a.test/private/x"}` + in + `}`},
		{"a bad surrogate", `{"id":7028,"method":"Page.navigate","params":{"url":"http://a.test/private/x\ud800"}` + in + `}`},
		{"frame null", `{"id":7029,"method":"Page.navigate","params":{"url":"http://a.test/private/x","frameId":null}` + in + `}`},
		{"frame of nobody", `{"id":7030,"method":"Page.navigate","params":{"url":"http://a.test/private/x","frameId":"F00"}` + in + `}`},
	} {
		c.say(m.text)
		c.sayAs(websocket.MessageBinary, []byte(m.text))
		// Whatever came of it, the client is served on.
		if v := c.ask("", "Browser.getVersion", nil); v.Error != nil {
			t.Errorf("%s: afterwards %v", m.name, v.Error)
		}
	}
	for _, m := range [][]byte{{0xd8, 0x5a, 0, 0, 0, 1}, {0}, {0, 0, 0}, make([]byte, 1<<20)} {
		c.sayAs(websocket.MessageBinary, m)
	}
	c.must("", "Browser.getVersion", nil, nil)
	c.visit(p, "http://a.test/after")
	other.visit(quiet, "http://a.test/other")
	for _, m := range other.heard {
		if m.Error != nil || m.ID != nil && *m.ID > other.next {
			t.Errorf("the other client was told %+v", m)
		}
	}
	c.mu.Lock()
	answered := map[int64]*rawError{}
	for _, m := range c.heard {
		if m.ID != nil {
			answered[*m.ID] = m.Error
		}
		if strings.HasPrefix(m.Method, "unreadable") {
			t.Error(m.Method[:min(len(m.Method), 200)])
		}
	}
	c.mu.Unlock()
	for _, id := range []int64{7009, 7011, 7012, 7014, 7015, 7018, 7019, 7020, 7024, 7027} {
		if answered[id] == nil {
			t.Errorf("command %d got no error", id)
		}
	}
	for _, h := range s.received() {
		if strings.HasPrefix(h.path, "/private") {
			t.Errorf("reached the server: %s", h)
		}
	}
	w.agree()
}

// TestHostileFlood: a client that sends without reading or waiting costs the
// others nothing but time.
func TestHostileFlood(t *testing.T) {
	s := newSite(t, map[string]http.HandlerFunc{"/": html(`<button id=b>b</button>`)})
	p := testPolicy()
	p.Interactions.Rate, p.Interactions.Burst = 2, 2
	p.Hold.Click = 500 * time.Millisecond
	w := newWorld(t, s, p)
	endpoint := w.endpoint()
	c, other := dialRaw(t, endpoint), dialRaw(t, endpoint)
	_, one := c.page()
	_, two := other.page()
	c.visit(one, "http://a.test/")
	for i := range 5000 {
		c.send(one, "Input.dispatchMouseEvent", args{"type": "mousePressed", "x": 10, "y": 10, "button": "left", "clickCount": 1})
		if i%2 == 0 {
			c.send("", "Fetch.enable", nil)
		}
	}
	if _, err := c.hear(10*time.Second, 0, func(m rawMessage) bool {
		return m.Error != nil && strings.Contains(m.Error.Message, "too much input")
	}); err != nil {
		t.Errorf("input without end is kept without end: %v", err)
	}
	for i := range 300 {
		c.send(one, "Page.navigate", args{"url": fmt.Sprint("http://a.test/", i)})
	}
	start := time.Now()
	other.visit(two, "http://b.test/")
	if d := time.Since(start); d > 5*time.Second {
		t.Errorf("another client's navigation took %v beside the flood", d)
	}
	c.ws.CloseNow()
	waitFor(t, "the flood to end", func() bool { return w.gov.Pending() < 100 })
	other.visit(two, "http://b.test/2")
	w.agree()
}
