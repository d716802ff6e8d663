package actions_test

import (
	"encoding/json"
	"testing"
	"unicode/utf8"

	"browsergovernor/actions"
)

// pausedImage has the shape and the size of what Chromium 156 sends for one of
// the 200 images of a page.
const pausedImage = `{"requestId":"interception-job-4.0","request":{"url":"http://127.0.0.1:40113/img/17.png?x=%22","method":"GET","headers":{"Accept":"image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8","Accept-Language":"en-US,en;q=0.9","Referer":"http://127.0.0.1:40113/page","User-Agent":"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36 ResearchBot/1.0 (+https://example.com/bot)","sec-ch-ua":"\"Not:A-Brand\";v=\"8\", \"Chromium\";v=\"156\"","sec-ch-ua-mobile":"?0","sec-ch-ua-platform":"\"Linux\""},"initialPriority":"Low","referrerPolicy":"strict-origin-when-cross-origin"},"frameId":"495BB4A6599EB417BFF7AB88EF62E6A8","resourceType":"Image"}`

func TestParsePaused(t *testing.T) {
	p, err := actions.ParsePaused([]byte(pausedImage))
	if err != nil {
		t.Fatal(err)
	}
	if p.RequestID != "interception-job-4.0" || p.URL != "http://127.0.0.1:40113/img/17.png?x=%22" || p.Method != "GET" ||
		p.FrameID != "495BB4A6599EB417BFF7AB88EF62E6A8" || p.ResourceType != "Image" || p.HasPostData || len(p.Headers) != 7 || p.ResponseStage() {
		t.Errorf("%+v", p)
	}
	if got := p.Header("SEC-CH-UA"); got != `"Not:A-Brand";v="8", "Chromium";v="156"` {
		t.Errorf("sec-ch-ua = %s", got)
	}
	if p.Header("x") != "" || p.ServiceWorkerScript() {
		t.Error("a header that is not there")
	}

	// encoding/json is the other reader: both must see the same.
	var raw struct {
		Request struct{ Headers map[string]string }
	}
	if err := json.Unmarshal([]byte(pausedImage), &raw); err != nil {
		t.Fatal(err)
	}
	for name, value := range raw.Request.Headers {
		if p.Header(name) != value {
			t.Errorf("%s = %q, want %q", name, p.Header(name), value)
		}
	}

	const answer = `{"requestId":"interception-job-4.1","request":{"url":"https://h/sw.js","urlFragment":"#f","method":"POST","hasPostData":true,"postData":"a=\"b\\","headers":{"service-worker":"script"}},
		"frameId":"F","resourceType":"Document","networkId":"N","redirectedRequestId":"interception-job-4.0","responseStatusCode":429,"responseStatusText":"Too Many",
		"responseHeaders":[{"name":"Retry-After","value":"2"},{"name":"Set-Cookie","value":"a"},{"name":"set-cookie","value":"b"}]}`
	if err := json.Unmarshal([]byte(answer), &p); err != nil {
		t.Fatal(err)
	}
	if !p.ResponseStage() || p.ResponseStatusCode != 429 || p.ResponseHeader("retry-after") != "2" || len(p.ResponseHeaders) != 3 ||
		p.URLFragment != "#f" || !p.HasPostData || p.NetworkID != "N" || p.RedirectedRequestID != "interception-job-4.0" || !p.ServiceWorkerScript() {
		t.Errorf("%+v", p)
	}
	p, err = actions.ParsePaused([]byte(`{"requestId":"1","request":{"url":"http://h/"},"responseErrorReason":"Failed"}`))
	if err != nil || !p.ResponseStage() {
		t.Errorf("a failed request is at the response stage: %+v, %v", p, err)
	}
	for _, bad := range []string{``, `{}`, `[]`, `{"requestId":"1"}`, `{"request":{}}`, `{"requestId":"1","request":7}`, `{"requestId":"1","request":{}`} {
		if p, err := actions.ParsePaused([]byte(bad)); err == nil {
			t.Errorf("%s: %+v", bad, p)
		}
	}
}

func TestFromPaused(t *testing.T) {
	for _, c := range []struct {
		name     string
		p        actions.Paused
		topFrame bool
		kind     actions.Kind
		hop      int
	}{
		{"page", actions.Paused{URL: "http://h/", ResourceType: "Document"}, true, actions.Navigation, 0},
		{"iframe", actions.Paused{URL: "http://h/", ResourceType: "Document"}, false, actions.Subresource, 0},
		{"image", actions.Paused{URL: "http://h/", ResourceType: "Image"}, true, actions.Subresource, 0},
		{"preflight", actions.Paused{URL: "https://h/", ResourceType: "XHR", Method: "OPTIONS"}, true, actions.Subresource, 0},
		{"worker script", actions.Paused{URL: "https://h/", ResourceType: "Other"}, false, actions.Subresource, 0},
		{"websocket", actions.Paused{URL: "wss://h/", ResourceType: "WebSocket"}, true, actions.WebSocket, 0},
		{"redirect", actions.Paused{RequestID: "interception-job-4.2", RedirectedRequestID: "interception-job-4.1", URL: "http://h/", ResourceType: "Document"}, true, actions.Navigation, 2},
		{"redirect, odd id", actions.Paused{RequestID: "x", RedirectedRequestID: "y", URL: "http://h/", ResourceType: "Document"}, true, actions.Navigation, 1},
		{"upper case", actions.Paused{URL: "HTTP://h/", ResourceType: "Document"}, true, actions.Navigation, 0},
		{"file", actions.Paused{URL: "file:///etc/hosts", ResourceType: "Document"}, true, "", 0},
		{"data", actions.Paused{URL: "data:,http://h/", ResourceType: "Image"}, true, "", 0},
		{"blob", actions.Paused{URL: "blob:http://h/1", ResourceType: "Image"}, true, "", 0},
		{"about", actions.Paused{URL: "about:srcdoc", ResourceType: "Document"}, false, "", 0},
		{"filesystem", actions.Paused{URL: "filesystem:http://h/t/a"}, false, "", 0},
		{"chrome", actions.Paused{URL: "chrome://version/"}, true, "", 0},
		{"devtools", actions.Paused{URL: "devtools://devtools/a.js"}, false, "", 0},
		{"extension", actions.Paused{URL: "chrome-extension://abc/sw.js"}, false, "", 0},
		{"empty", actions.Paused{}, true, "", 0},
	} {
		a, ok := actions.FromPaused(&c.p, c.topFrame)
		if a.Kind != c.kind || ok != (c.kind != "") || a.Hop != c.hop || ok && (a.URL != c.p.URL || a.Resource != c.p.ResourceType || a.Method != c.p.Method) {
			t.Errorf("%s: %+v, %v", c.name, a, ok)
		}
	}
}

// What encoding/json reads, ParsePaused reads alike.
func FuzzParsePaused(f *testing.F) {
	f.Add([]byte(pausedImage))
	f.Add([]byte(`{"requestId":"1","request":{"url":"\ud83d\ude00\\\"","headers":{"a":"\u00e9"}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := actions.ParsePaused(data)
		if err == nil {
			actions.FromPaused(&p, true)
		}
		var want map[string]json.RawMessage
		var url struct{ Request map[string]json.RawMessage }
		if json.Unmarshal(data, &want) != nil || json.Unmarshal(data, &url) != nil || want["request"] == nil || want["requestId"] == nil {
			return
		}
		var request map[string]json.RawMessage
		var id, address string
		if json.Unmarshal(want["requestId"], &id) != nil || json.Unmarshal(want["request"], &request) != nil || request == nil || id == "" {
			return
		}
		if err != nil {
			t.Fatalf("%s: %v", data, err)
		}
		if p.RequestID != id && json.Valid(data) && validUTF8(data) {
			t.Errorf("requestId %q, want %q", p.RequestID, id)
		}
		if json.Unmarshal(request["url"], &address) == nil && request["url"] != nil && p.URL != address && validUTF8(data) {
			t.Errorf("url %q, want %q", p.URL, address)
		}
	})
}

func BenchmarkParsePaused(b *testing.B) {
	data := []byte(pausedImage)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		p, err := actions.ParsePaused(data)
		if err != nil {
			b.Fatal(err)
		}
		actions.FromPaused(&p, true)
	}
}

func validUTF8(data []byte) bool { return utf8.Valid(data) }
