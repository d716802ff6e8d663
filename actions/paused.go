package actions

import (
	"errors"
	"strconv"
	"strings"
)

// Header is one header field. Its JSON form is Chrome's HeaderEntry.
type Header struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Paused is what the governor reads of a Fetch.requestPaused event: a request
// that Chrome wants to make and waits with, or an answer that has come.
type Paused struct {
	RequestID           string // names this pause in Fetch.continueRequest and its kin; "interception-job-4.1" is the first redirect of job 4
	NetworkID           string // requestId of the Network domain; often absent on a browser session
	FrameID             string
	ResourceType        string // "Document", "Image", "XHR", …
	RedirectedRequestID string // RequestID of the pause that was answered by a redirect to here

	URL         string // without fragment
	URLFragment string // with its "#"; "" when there is none
	Method      string
	Headers     []Header
	HasPostData bool

	// At the response stage.
	ResponseStatusCode  int
	ResponseErrorReason string
	ResponseHeaders     []Header
}

var errPaused = errors.New("Fetch.requestPaused: parameters are not an object with a requestId and a request")

// ParsePaused reads the parameters of a Fetch.requestPaused event.
func ParsePaused(params []byte) (Paused, error) {
	var p Paused
	err := p.UnmarshalJSON(params)
	return p, err
}

// UnmarshalJSON reads the parameters of a Fetch.requestPaused event. Calling it
// directly is cheaper than by way of encoding/json, which reads everything twice.
func (p *Paused) UnmarshalJSON(params []byte) error {
	*p = Paused{}
	request := false
	start := skipSpace(params, 0)
	end, ok := object(params, start, func(name []byte, i int) (int, bool) {
		if string(name) == "request" {
			end, ok := object(params, i, func(name []byte, i int) (int, bool) { return p.requestField(params, name, i) })
			request = ok
			return end, ok
		}
		end, ok := skipValue(params, i)
		if !ok {
			return end, false
		}
		switch value := params[i:end]; string(name) {
		case "requestId":
			p.RequestID = text(value)
		case "frameId":
			p.FrameID = text(value)
		case "resourceType":
			p.ResourceType = resourceType(value)
		case "networkId":
			p.NetworkID = text(value)
		case "redirectedRequestId":
			p.RedirectedRequestID = text(value)
		case "responseStatusCode":
			p.ResponseStatusCode = int(number(value))
		case "responseErrorReason":
			p.ResponseErrorReason = text(value)
		case "responseHeaders":
			p.ResponseHeaders = headerList(value)
		}
		return end, true
	})
	if !ok || !request || p.RequestID == "" || skipSpace(params, end) != len(params) {
		return errPaused
	}
	return nil
}

// requestField reads the field of the request whose value starts at i, and
// returns the index behind it.
func (p *Paused) requestField(params, name []byte, i int) (end int, ok bool) {
	if string(name) == "headers" {
		p.Headers = make([]Header, 0, 16) // a document request has 10 to 15
		return object(params, i, func(name []byte, i int) (int, bool) {
			end, ok := skipValue(params, i)
			if ok {
				p.Headers = append(p.Headers, Header{Name: headerName(name), Value: text(params[i:end])})
			}
			return end, ok
		})
	}
	end, ok = skipValue(params, i)
	if !ok {
		return end, false
	}
	switch value := params[i:end]; string(name) {
	case "url":
		p.URL = text(value)
	case "urlFragment":
		p.URLFragment = text(value)
	case "method":
		p.Method = httpMethod(value)
	case "hasPostData":
		p.HasPostData = truth(value)
	}
	return end, true
}

// headerList reads an array of HeaderEntry.
func headerList(value []byte) []Header {
	list := make([]Header, 0, 16)
	eachElement(value, func(value []byte) {
		var h Header
		eachField(value, func(name, value []byte) {
			switch string(name) {
			case "name":
				h.Name = text(value)
			case "value":
				h.Value = text(value)
			}
		})
		list = append(list, h)
	})
	return list
}

// ResponseStage reports whether the pause is about an answer, or the lack of
// one, and not about a request.
func (p *Paused) ResponseStage() bool {
	return p.ResponseStatusCode != 0 || p.ResponseErrorReason != ""
}

// Header returns the value of a request header, "" when it is absent. Case does
// not matter.
func (p *Paused) Header(name string) string { return header(p.Headers, name) }

// ResponseHeader returns the first value of a response header, "" when it is
// absent. Case does not matter.
func (p *Paused) ResponseHeader(name string) string { return header(p.ResponseHeaders, name) }

func header(list []Header, name string) string {
	for i := range list {
		if strings.EqualFold(list[i].Name, name) {
			return list[i].Value
		}
	}
	return ""
}

// ServiceWorkerScript reports whether the request fetches the script of a
// service worker, which browsers mark with a header of its own.
func (p *Paused) ServiceWorkerScript() bool {
	return strings.EqualFold(p.Header("Service-Worker"), "script")
}

// FromPaused returns the action that a paused request is, or false when it asks
// no server. TopFrame says that the request's frame is the main frame of its
// tab, which the event itself does not tell.
func FromPaused(p *Paused, topFrame bool) (Action, bool) {
	if !onNetwork(p.URL) {
		return Action{}, false
	}
	a := Action{
		Kind:     Subresource,
		Method:   p.Method,
		URL:      p.URL,
		Frame:    p.FrameID,
		Resource: p.ResourceType,
		Hop:      p.hop(),
	}
	switch {
	case p.ResourceType == "WebSocket":
		a.Kind = WebSocket
	case p.ResourceType == "Document" && topFrame:
		a.Kind = Navigation
	}
	return a, true
}

// hop returns how many redirects led here. Chrome counts them behind the last
// dot of the request id.
func (p *Paused) hop() int {
	if p.RedirectedRequestID == "" {
		return 0
	}
	if i := strings.LastIndexByte(p.RequestID, '.'); i >= 0 {
		if n, err := strconv.Atoi(p.RequestID[i+1:]); err == nil && n > 0 {
			return n
		}
	}
	return 1
}

// onNetwork reports whether a request for the URL leaves the browser. Chrome
// pauses file: too, and cannot ask a server by any other scheme than these.
func onNetwork(url string) bool {
	scheme, _, _ := strings.Cut(url, ":")
	switch scheme {
	case "http", "https", "ws", "wss":
		return true
	case "data", "blob", "file":
		return false
	}
	switch split(url).scheme {
	case "http", "https", "ws", "wss":
		return true
	}
	return false
}

// resourceType, httpMethod and headerName return strings that exist already
// where they can; a page of 200 images would otherwise make 3000 of them.

func resourceType(value []byte) string {
	switch s, _ := rawString(value); string(s) {
	case "Document":
		return "Document"
	case "Stylesheet":
		return "Stylesheet"
	case "Image":
		return "Image"
	case "Media":
		return "Media"
	case "Font":
		return "Font"
	case "Script":
		return "Script"
	case "XHR":
		return "XHR"
	case "Fetch":
		return "Fetch"
	case "Ping":
		return "Ping"
	case "Other":
		return "Other"
	}
	return text(value)
}

func httpMethod(value []byte) string {
	switch s, _ := rawString(value); string(s) {
	case "GET":
		return "GET"
	case "POST":
		return "POST"
	case "HEAD":
		return "HEAD"
	case "OPTIONS":
		return "OPTIONS"
	}
	return text(value)
}

func headerName(name []byte) string {
	switch string(name) {
	case "Accept":
		return "Accept"
	case "Accept-Encoding":
		return "Accept-Encoding"
	case "Accept-Language":
		return "Accept-Language"
	case "Cookie":
		return "Cookie"
	case "Origin":
		return "Origin"
	case "Referer":
		return "Referer"
	case "Sec-Fetch-Dest":
		return "Sec-Fetch-Dest"
	case "Sec-Fetch-Mode":
		return "Sec-Fetch-Mode"
	case "Sec-Fetch-Site":
		return "Sec-Fetch-Site"
	case "Sec-Fetch-User":
		return "Sec-Fetch-User"
	case "Upgrade-Insecure-Requests":
		return "Upgrade-Insecure-Requests"
	case "User-Agent":
		return "User-Agent"
	case "sec-ch-ua":
		return "sec-ch-ua"
	case "sec-ch-ua-mobile":
		return "sec-ch-ua-mobile"
	case "sec-ch-ua-platform":
		return "sec-ch-ua-platform"
	}
	return string(name)
}
