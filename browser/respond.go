package browser

import (
	"encoding/base64"
	"html"
	"net/http"
	"net/textproto"
	"strconv"
	"strings"
	"time"

	"browsergovernor/actions"
	"browsergovernor/governor"
)

// answered handles the response stage of a navigation: it learns the outcome
// and, where the server asked for patience and the client can wait, asks again
// inside the browser, for any client.
func (b *Browser) answered(p *actions.Paused) {
	b.loginRefused(p)
	if b.downloadDenied(p) {
		b.refuseDownload(p)
		return
	}
	h := b.hops.get(p.RequestID)
	if h == nil {
		b.passResponse(p)
		return
	}
	latency := time.Since(h.started)
	if p.ResponseErrorReason != "" {
		b.hops.take(p.RequestID)
		b.gov.Settle(h.id, governor.Outcome{Latency: latency, Err: p.ResponseErrorReason})
		b.passResponse(p)
		return
	}
	status := p.ResponseStatusCode
	if p.ResponseHeader("Non-Authoritative-Reason") != "" {
		b.passResponse(p) // Chrome's own redirect, for HSTS: no server said it
		return
	}
	h.answered = true
	switch {
	case status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable:
		retry := b.gov.Settle(h.id, governor.Outcome{Status: status, Header: entriesToHeader(p.ResponseHeaders), Latency: latency})
		if retry.OK && retry.After <= h.remaining() {
			h.retrying = true // the hop stays: the retry that pauses next belongs to it
			b.askAgain(p)
			return
		}
		b.hops.take(p.RequestID)
	case status >= 300 && status < 400 && status != http.StatusNotModified:
		// The hop stays for the redirect that follows it.
		b.gov.Settle(h.id, governor.Outcome{Status: status, Header: entriesToHeader(p.ResponseHeaders), Latency: latency})
	default:
		b.hops.take(p.RequestID)
		// The disk cache shows only in the Network event that follows.
		b.requests.wait(&request{
			id: h.id, url: p.URL, tab: h.action.Tab,
			started: h.started, status: status, latency: latency,
		})
	}
	b.passResponse(p)
}

// passResponse lets a response through as it is.
func (b *Browser) passResponse(p *actions.Paused) {
	params := append([]byte(`{"requestId":`), appendJSON(nil, p.RequestID)...)
	b.root.tell("Fetch.continueResponse", append(params, '}'))
}

// askAgain turns the response into a redirect to the same URL. Chrome keeps the
// cookies of the response and asks again, which pauses, is admitted (there it
// waits) and counted like any request. The body of one blank is needed:
// without a body only the headers are replaced and nothing is asked again.
func (b *Browser) askAgain(p *actions.Paused) {
	b.fulfill(p, http.StatusTemporaryRedirect, "retry paced by browser-governor", []actions.Header{
		{Name: "Location", Value: p.URL},
		{Name: "Cache-Control", Value: "no-store"},
		{Name: "Content-Type", Value: "text/plain"},
	}, " ")
}

// refuseRequest answers a request with the refusal, in a form its asker can
// read. The request never leaves Chrome.
func (b *Browser) refuseRequest(p *actions.Paused, a actions.Action, r *governor.Refusal) {
	b.refusals.add(r)
	headers := []actions.Header{
		{Name: "Cache-Control", Value: "no-store"},
		{Name: "X-Governor-Reason", Value: string(r.Reason)},
		{Name: "X-Governor-Id", Value: r.ID},
	}
	if r.RetryAfter > 0 {
		headers = append(headers, actions.Header{Name: "Retry-After", Value: strconv.Itoa(ceilSeconds(r.RetryAfter))})
	}
	body := r.Sentence + "\n"
	if p.ResourceType == "Document" {
		headers = append(headers, actions.Header{Name: "Content-Type", Value: "text/html; charset=utf-8"})
		body = refusalPage(r)
	} else {
		headers = append(headers, actions.Header{Name: "Content-Type", Value: "text/plain; charset=utf-8"})
		// The asking script must be able to read why, whatever its origin.
		if origin := p.Header("Origin"); origin != "" {
			headers = append(headers,
				actions.Header{Name: "Access-Control-Allow-Origin", Value: origin},
				actions.Header{Name: "Access-Control-Allow-Credentials", Value: "true"},
				actions.Header{Name: "Access-Control-Expose-Headers", Value: "X-Governor-Reason, X-Governor-Id, Retry-After"})
		}
	}
	b.fulfill(p, http.StatusForbidden, r.Sentence, headers, body)
}

func (b *Browser) fulfill(p *actions.Paused, status int, phrase string, headers []actions.Header, body string) {
	b.root.tell("Fetch.fulfillRequest", appendJSON(nil, map[string]any{
		"requestId":       p.RequestID,
		"responseCode":    status,
		"responsePhrase":  phrase,
		"responseHeaders": headers,
		"body":            base64.StdEncoding.EncodeToString([]byte(body)),
	}))
}

// refusalPage says the sentence in the title, a heading and the text: different
// clients show their model different ones. It is never empty, since browser-use
// reloads an empty page by itself.
func refusalPage(r *governor.Refusal) string {
	sentence := html.EscapeString(r.Sentence)
	var s strings.Builder
	s.WriteString("<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><link rel=\"icon\" href=\"data:,\"><title>")
	s.WriteString(sentence)
	s.WriteString("</title><style>body{font:16px/1.5 system-ui,sans-serif;max-width:44rem;margin:12vh auto;padding:0 1.5rem;color:#222;background:#fff}" +
		"h1{font-size:1.35rem;line-height:1.35}dl{display:grid;grid-template-columns:max-content 1fr;gap:.35rem 1rem;color:#444}dt{font-weight:600}dd{margin:0;overflow-wrap:anywhere}" +
		"footer{margin-top:2rem;color:#666;font-size:.9rem}</style></head><body><main><h1>")
	s.WriteString(sentence)
	s.WriteString("</h1><dl>")
	row := func(name, value string) {
		if value != "" {
			s.WriteString("<dt>" + name + "</dt><dd>" + html.EscapeString(value) + "</dd>")
		}
	}
	row("Address", r.URL)
	row("Reason", string(r.Reason))
	row("Rule", r.Rule)
	if r.RetryAfter > 0 {
		row("Try again", "in "+strconv.Itoa(ceilSeconds(r.RetryAfter))+" s")
	} else if !r.Retryable {
		row("Try again", "no")
	}
	row("Log entry", r.ID)
	s.WriteString("</dl><footer>The request was not sent. This page comes from browser-governor on this machine, not from the site.</footer></main></body></html>")
	return s.String()
}

func ceilSeconds(d time.Duration) int {
	return int((d + time.Second - 1) / time.Second)
}

func entriesToHeader(entries []actions.Header) map[string][]string {
	h := make(map[string][]string, len(entries))
	for _, e := range entries {
		name := textproto.CanonicalMIMEHeaderKey(e.Name)
		h[name] = append(h[name], e.Value)
	}
	return h
}

// canonicalHeaders turns the headers of a Network event into a header map;
// several field lines of one name stand there as one value with line breaks.
func canonicalHeaders(in map[string]string) map[string][]string {
	h := make(map[string][]string, len(in))
	for name, value := range in {
		h[textproto.CanonicalMIMEHeaderKey(name)] = strings.Split(value, "\n")
	}
	return h
}
