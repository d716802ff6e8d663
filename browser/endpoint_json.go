package browser

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"browsergovernor/governor"
)

// serveJSON answers the HTTP paths of Chrome's debugging port, and
// /governor/status. path has no trailing slash: Playwright asks with one.
func (ep *Endpoint) serveJSON(w http.ResponseWriter, r *http.Request, path string) {
	switch {
	case path == "/json/version":
		ep.serveVersion(w, r)
	case path == "/json" || path == "/json/list":
		ep.serveList(w, r)
	case path == "/json/protocol":
		ep.serveProtocol(w, r)
	case path == "/json/new":
		ep.serveNew(w, r)
	case strings.HasPrefix(path, "/json/activate/"):
		ep.serveTarget(w, r, strings.TrimPrefix(path, "/json/activate/"), "Target activated", ep.e.activate)
	case strings.HasPrefix(path, "/json/close/"):
		ep.serveTarget(w, r, strings.TrimPrefix(path, "/json/close/"), "Target is closing", ep.e.closeTarget)
	case path == "/governor/status" && ep.cfg.Status != nil:
		writeJSONBody(w, http.StatusOK, ep.cfg.Status())
	default:
		http.Error(w, "browser-governor: nothing here. There are /json/version, /json/list, /json/protocol, "+
			"/json/new?URL (PUT), /json/activate/ID, /json/close/ID, /governor/status, and WebSockets at "+
			"/devtools/browser and /devtools/page/ID", http.StatusNotFound)
	}
}

func (ep *Endpoint) serveVersion(w http.ResponseWriter, r *http.Request) {
	v, err := ep.e.version(r.Context())
	if err != nil {
		unavailable(w, err)
		return
	}
	writeJSONBody(w, http.StatusOK, struct {
		versionInfo
		WebSocket string `json:"webSocketDebuggerUrl"`
	}{v, ep.socketURL(r, "/devtools/browser/"+v.BrowserID)})
}

// socketURL names the address under which the client reached us, which behind a
// forwarded port is not the one we listen on.
func (ep *Endpoint) socketURL(r *http.Request, path string) string {
	u := "ws://" + r.Host + path
	if ep.cfg.Token != "" {
		u += "?token=" + url.QueryEscape(ep.cfg.Token)
	}
	return u
}

// listed is a target as Chrome lists it.
type listed struct {
	Description string `json:"description"`
	DevTools    string `json:"devtoolsFrontendUrl"`
	ID          string `json:"id"`
	Title       string `json:"title"`
	Type        string `json:"type"`
	URL         string `json:"url"`
	WebSocket   string `json:"webSocketDebuggerUrl"`
}

func (ep *Endpoint) listed(r *http.Request, t targetInfo) listed {
	ws := ep.socketURL(r, "/devtools/page/"+t.ID)
	return listed{
		ID: t.ID, Title: t.Title, Type: t.Type, URL: t.URL, WebSocket: ws,
		DevTools: "/devtools/inspector.html?ws=" + escapeQuery(strings.TrimPrefix(ws, "ws://")),
	}
}

// escapeQuery escapes what would end a query parameter, and no more: Chrome
// writes its addresses plainly.
func escapeQuery(s string) string {
	return strings.NewReplacer("%", "%25", "&", "%26", "?", "%3F", "#", "%23").Replace(s)
}

func (ep *Endpoint) serveList(w http.ResponseWriter, r *http.Request) {
	ts, err := ep.e.targets(r.Context())
	if err != nil {
		unavailable(w, err)
		return
	}
	out := make([]listed, 0, len(ts))
	for _, t := range ts {
		out = append(out, ep.listed(r, t))
	}
	writeJSONBody(w, http.StatusOK, out)
}

func (ep *Endpoint) serveProtocol(w http.ResponseWriter, r *http.Request) {
	p, err := ep.e.protocol(r.Context())
	if err != nil {
		unavailable(w, err)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	w.Write(p)
}

// serveNew opens a tab. Its argument is the whole query, as in Chrome.
func (ep *Endpoint) serveNew(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPut {
		w.Header().Set("Allow", http.MethodPut)
		http.Error(w, "Using unsafe HTTP verb "+r.Method+" to invoke /json/new. This action supports only PUT verb.", http.StatusMethodNotAllowed)
		return
	}
	raw := ep.stripToken(r.URL.RawQuery)
	if !schemePattern.MatchString(raw) {
		// Encoded as a whole, which Chrome takes, too. A plus stays a plus.
		if plain, err := url.PathUnescape(raw); err == nil {
			raw = plain
		}
	}
	t, err := ep.e.newTab(r.Context(), raw, r.UserAgent())
	var refusal *governor.Refusal
	if errors.As(err, &refusal) {
		w.Header().Set("X-Governor-Reason", string(refusal.Reason))
		body := refusalData(refusal)
		body["message"] = refusal.Sentence
		writeJSONBody(w, http.StatusForbidden, body)
		return
	}
	if err != nil {
		unavailable(w, err)
		return
	}
	writeJSONBody(w, http.StatusOK, ep.listed(r, t))
}

// schemePattern is the beginning of a URL that is not encoded.
var schemePattern = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*:`)

// stripToken takes our own parameter out of a query that is otherwise a URL, so
// that no site is told it. A token of the URL's own stays.
func (ep *Endpoint) stripToken(query string) string {
	if ep.cfg.Token == "" {
		return query
	}
	parts := strings.Split(query, "&")
	parts = slices.DeleteFunc(parts, func(p string) bool {
		value, ok := strings.CutPrefix(p, "token=")
		if !ok {
			return false
		}
		plain, err := url.QueryUnescape(value)
		return err == nil && plain == ep.cfg.Token
	})
	return strings.Join(parts, "&")
}

func (ep *Endpoint) serveTarget(w http.ResponseWriter, r *http.Request, id, done string, do targetCommand) {
	err := do(r.Context(), id)
	var cdp *CDPError
	switch {
	case errors.As(err, &cdp):
		http.Error(w, "No such target id: "+id, http.StatusNotFound)
		return
	case err != nil:
		unavailable(w, err)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=UTF-8")
	w.Write([]byte(done))
}

func unavailable(w http.ResponseWriter, err error) {
	http.Error(w, "browser-governor: Chrome does not answer: "+err.Error(), http.StatusServiceUnavailable)
}

func writeJSONBody(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	w.WriteHeader(status)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "   ")
	enc.Encode(v)
}
