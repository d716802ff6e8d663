package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// rawClient speaks CDP over a WebSocket by itself, so that it can also say what
// no client would.
type rawClient struct {
	t  testing.TB
	ws *websocket.Conn

	mu      sync.Mutex
	changed chan struct{} // closed and replaced with every message
	next    int64
	heard   []rawMessage
	ended   error
}

// rawMessage is an answer or an event.
type rawMessage struct {
	ID        *int64          `json:"id"`
	SessionID string          `json:"sessionId"`
	Method    string          `json:"method"`
	Params    json.RawMessage `json:"params"`
	Result    json.RawMessage `json:"result"`
	Error     *rawError       `json:"error"`
}

type rawError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    string `json:"data"`
}

func (e *rawError) Error() string { return fmt.Sprintf("%s (%d)", e.Message, e.Code) }

// refusedBy reports whether the error is a refusal of the governor.
func (e *rawError) refused() bool {
	return e != nil && e.Code == -32000 && strings.Contains(e.Message, "refused by browser-governor")
}

// args are the parameters of a command.
type args map[string]any

// dialRaw connects to the endpoint's browser, or to the path given.
func dialRaw(t testing.TB, endpoint string, path ...string) *rawClient {
	t.Helper()
	where := "/devtools/browser"
	if len(path) > 0 {
		where = path[0]
	}
	ctx := testContext(t, time.Minute)
	ws, res, err := websocket.Dial(ctx, "ws"+strings.TrimPrefix(endpoint, "http")+where, nil)
	if err != nil {
		t.Fatalf("dialing %s: %v", where, err)
	}
	if res.Body != nil {
		res.Body.Close()
	}
	ws.SetReadLimit(-1)
	c := &rawClient{t: t, ws: ws, changed: make(chan struct{})}
	read := make(chan struct{})
	go func() {
		defer close(read)
		for {
			_, b, err := ws.Read(ctx)
			c.mu.Lock()
			if err != nil {
				c.ended = err
			} else {
				var m rawMessage
				if err := json.Unmarshal(b, &m); err != nil {
					m = rawMessage{Method: "unreadable: " + string(b)}
				}
				c.heard = append(c.heard, m)
			}
			close(c.changed)
			c.changed = make(chan struct{})
			c.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		ws.CloseNow()
		<-read
	})
	return c
}

// say sends text as it is.
func (c *rawClient) say(text string) { c.sayAs(websocket.MessageText, []byte(text)) }

func (c *rawClient) sayAs(kind websocket.MessageType, b []byte) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := c.ws.Write(ctx, kind, b); err != nil {
		c.t.Errorf("writing %.60q: %v", b, err)
	}
}

// send sends a command and returns its id.
func (c *rawClient) send(session, method string, params args) int64 {
	c.t.Helper()
	c.mu.Lock()
	c.next++
	id := c.next
	c.mu.Unlock()
	m := map[string]any{"id": id, "method": method}
	if params != nil {
		m["params"] = params
	}
	if session != "" {
		m["sessionId"] = session
	}
	b, err := json.Marshal(m)
	if err != nil {
		c.t.Fatal(err)
	}
	c.sayAs(websocket.MessageText, b)
	return id
}

var errNothingHeard = errors.New("nothing of the kind was heard")

// hear waits for the first message that fits, from the one with index from on.
func (c *rawClient) hear(d time.Duration, from int, fits func(rawMessage) bool) (rawMessage, error) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	for {
		c.mu.Lock()
		for ; from < len(c.heard); from++ {
			if fits(c.heard[from]) {
				m := c.heard[from]
				c.mu.Unlock()
				return m, nil
			}
		}
		changed, ended := c.changed, c.ended
		c.mu.Unlock()
		if ended != nil {
			return rawMessage{}, ended
		}
		select {
		case <-changed:
		case <-timer.C:
			return rawMessage{}, errNothingHeard
		}
	}
}

// answer waits for the answer to a command.
func (c *rawClient) answer(session string, id int64) rawMessage {
	c.t.Helper()
	m, err := c.hear(15*time.Second, 0, func(m rawMessage) bool {
		return m.ID != nil && *m.ID == id && m.SessionID == session
	})
	if err != nil {
		c.t.Fatalf("the answer to command %d: %v", id, err)
	}
	return m
}

// ask sends a command and returns its answer.
func (c *rawClient) ask(session, method string, params args) rawMessage {
	c.t.Helper()
	return c.answer(session, c.send(session, method, params))
}

// must is ask for what has to succeed. It reads the result into out.
func (c *rawClient) must(session, method string, params args, out any) {
	c.t.Helper()
	m := c.ask(session, method, params)
	if m.Error != nil {
		c.t.Fatalf("%s: %v", method, m.Error)
	}
	if out != nil {
		if err := json.Unmarshal(m.Result, out); err != nil {
			c.t.Fatalf("%s: %v", method, err)
		}
	}
}

// event waits for an event of a session.
func (c *rawClient) event(session, method string) rawMessage {
	c.t.Helper()
	return c.eventFrom(0, session, method)
}

// mark is the place in what was heard that later messages come after.
func (c *rawClient) mark() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.heard)
}

func (c *rawClient) eventFrom(from int, session, method string) rawMessage {
	c.t.Helper()
	m, err := c.hear(15*time.Second, from, func(m rawMessage) bool { return m.Method == method && m.SessionID == session })
	if err != nil {
		c.t.Fatalf("waiting for %s: %v", method, err)
	}
	return m
}

// page opens a blank tab and returns its target and session.
func (c *rawClient) page() (target, session string) {
	c.t.Helper()
	return c.pageIn("")
}

// pageIn opens a blank tab in a browser context.
func (c *rawClient) pageIn(browserContext string) (target, session string) {
	c.t.Helper()
	params := args{"url": "about:blank"}
	if browserContext != "" {
		params["browserContextId"] = browserContext
	}
	var made struct{ TargetID string }
	c.must("", "Target.createTarget", params, &made)
	return made.TargetID, c.attach(made.TargetID)
}

func (c *rawClient) attach(target string) (session string) {
	c.t.Helper()
	var attached struct{ SessionID string }
	c.must("", "Target.attachToTarget", args{"targetId": target, "flatten": true}, &attached)
	return attached.SessionID
}

// context makes a browser context.
func (c *rawClient) context() string {
	c.t.Helper()
	var made struct{ BrowserContextID string }
	c.must("", "Target.createBrowserContext", args{"disposeOnDetach": true}, &made)
	return made.BrowserContextID
}

// visit navigates, fails for a refusal, and waits until the page is complete.
func (c *rawClient) visit(session, url string) {
	c.t.Helper()
	var nav struct{ ErrorText string }
	c.must(session, "Page.navigate", args{"url": url}, &nav)
	if nav.ErrorText != "" {
		c.t.Fatalf("visiting %s: %s", url, nav.ErrorText)
	}
	c.complete(session)
}

func (c *rawClient) complete(session string) {
	c.t.Helper()
	waitFor(c.t, "the page to be complete", func() bool {
		var res struct{ Result struct{ Value any } }
		m := c.ask(session, "Runtime.evaluate", args{"expression": "document.readyState == 'complete' && location.href", "returnByValue": true})
		return m.Error == nil && json.Unmarshal(m.Result, &res) == nil && res.Result.Value != false && res.Result.Value != "about:blank"
	})
}

// eval runs a script in the page and returns its value.
func (c *rawClient) eval(session, js string) any {
	c.t.Helper()
	var res struct {
		Result    struct{ Value any }
		Exception *struct {
			Text      string
			Exception struct{ Description string }
		} `json:"exceptionDetails"`
	}
	c.must(session, "Runtime.evaluate", args{"expression": js, "awaitPromise": true, "returnByValue": true, "userGesture": true}, &res)
	if res.Exception != nil {
		c.t.Fatalf("%s: %s %s", js, res.Exception.Text, res.Exception.Exception.Description)
	}
	return res.Result.Value
}

// gone waits until the connection has ended.
func (c *rawClient) gone(d time.Duration) error {
	_, err := c.hear(d, c.mark(), func(rawMessage) bool { return false })
	return err
}

// tryRaw is dialRaw for a connection that may well be refused: nil then.
func tryRaw(t testing.TB, endpoint, path string) *rawClient {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	ws, _, err := websocket.Dial(ctx, "ws"+strings.TrimPrefix(endpoint, "http")+path, nil)
	if err != nil {
		return nil
	}
	ws.CloseNow()
	return dialRaw(t, endpoint, path)
}
