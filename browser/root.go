package browser

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
)

// root is the governor's own conversation with Chrome: the root session of the
// pipe, and sessions it attaches for itself. It came first, so its interception
// is the last thing a request passes before the network.
type root struct {
	wire *wire
	next atomic.Int64

	mu      sync.Mutex
	waiting map[int64]chan rootReply
	failing map[int64]func() // called when the command fails
	dead    error            // set when Chrome is gone
}

type rootReply struct {
	Result json.RawMessage `json:"result"`
	Error  *CDPError       `json:"error"`
}

// CDPError is an error as Chrome answers it.
type CDPError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (e *CDPError) Error() string { return fmt.Sprintf("%s (%d)", e.Message, e.Code) }

func newRoot(w *wire) *root {
	return &root{wire: w, waiting: map[int64]chan rootReply{}, failing: map[int64]func(){}}
}

// call sends a command and waits for its answer. session "" is the root
// session. It must not be called from the goroutine that reads the wire.
func (r *root) call(ctx context.Context, session, method string, params, result any) error {
	id := r.next.Add(1)
	msg, err := encodeCommand(id, session, method, params)
	if err != nil {
		return err
	}
	ch := make(chan rootReply, 1)
	r.mu.Lock()
	if r.dead != nil {
		r.mu.Unlock()
		return r.dead
	}
	r.waiting[id] = ch
	r.mu.Unlock()
	defer func() {
		r.mu.Lock()
		delete(r.waiting, id)
		r.mu.Unlock()
	}()
	if err := r.wire.writeBytes(msg); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return fmt.Errorf("%s: %w", method, ctx.Err())
	case reply, ok := <-ch:
		if !ok {
			return errWireClosed
		}
		if reply.Error != nil {
			return fmt.Errorf("%s: %w", method, reply.Error)
		}
		if result == nil {
			return nil
		}
		if err := json.Unmarshal(reply.Result, result); err != nil {
			return fmt.Errorf("%s: reading the answer: %w", method, err)
		}
		return nil
	}
}

// tell sends a command whose answer does not matter.
func (r *root) tell(method string, params []byte) error {
	return r.tellOr(method, params, nil)
}

// tellOr sends a command and calls failed if Chrome answers with an error. failed
// runs on the goroutine that reads the pipe and must not wait; nil is for those
// whom it does not concern.
func (r *root) tellOr(method string, params []byte, failed func()) error {
	id := r.next.Add(1)
	if failed != nil {
		r.mu.Lock()
		r.failing[id] = failed
		r.mu.Unlock()
	}
	b := make([]byte, 0, len(params)+len(method)+40)
	b = append(b, `{"id":`...)
	b = strconv.AppendInt(b, id, 10)
	b = append(b, `,"method":"`...)
	b = append(b, method...)
	b = append(b, `","params":`...)
	b = append(b, params...)
	b = append(b, '}')
	return r.wire.writeBytes(b)
}

// answer delivers a reply to whoever waits for it.
func (r *root) answer(id int64, body []byte) {
	r.mu.Lock()
	ch := r.waiting[id]
	delete(r.waiting, id)
	failed := r.failing[id]
	delete(r.failing, id)
	r.mu.Unlock()
	if ch == nil {
		if failed != nil && bytes.Contains(body, errorMember) {
			failed()
		}
		return
	}
	var reply rootReply
	if err := json.Unmarshal(body, &reply); err != nil {
		reply.Error = &CDPError{Code: -32700, Message: "Chrome's answer is not JSON: " + err.Error()}
	}
	ch <- reply
}

var errorMember = []byte(`,"error":{`)

// end fails every call, now and later.
func (r *root) end(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.dead = err
	clear(r.failing)
	for id, ch := range r.waiting {
		close(ch)
		delete(r.waiting, id)
	}
}

func encodeCommand(id int64, session, method string, params any) ([]byte, error) {
	p := []byte("{}")
	if params != nil {
		var err error
		if p, err = json.Marshal(params); err != nil {
			return nil, fmt.Errorf("%s: writing the parameters: %w", method, err)
		}
	}
	b := make([]byte, 0, len(p)+len(method)+len(session)+64)
	b = append(b, `{"id":`...)
	b = strconv.AppendInt(b, id, 10)
	b = append(b, `,"method":"`...)
	b = append(b, method...)
	b = append(b, `","params":`...)
	b = append(b, p...)
	if session != "" {
		b = append(b, `,"sessionId":"`...)
		b = append(b, session...)
		b = append(b, '"')
	}
	return append(b, '}'), nil
}
