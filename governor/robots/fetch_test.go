package robots

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

const (
	testUA   = "Mozilla/5.0 (X11; Linux x86_64) Chrome/156.0 ResearchBot/1.0 (+https://lab.example/bot)"
	testFile = "User-agent: *\nDisallow: /private\nCrawl-delay: 3\n"
)

func newCache(t *testing.T, cfg Config) *Cache {
	t.Helper()
	if cfg.UserAgent == "" {
		cfg.UserAgent = testUA
	}
	c, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func zipped(s string) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	io.WriteString(w, s)
	w.Close()
	return b.Bytes()
}

// TestFetchTable holds both modes to the table of results, over a real server.
// The words are what becomes of /open and of /private.
func TestFetchTable(t *testing.T) {
	const (
		rules = "allow deny" // the file was read
		allow = "allow allow"
		deny  = "unavailable unavailable"
	)
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
	}
	send := func(header string, body []byte) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			if k, v, ok := strings.Cut(header, ": "); ok {
				w.Header().Set(k, v)
			}
			w.Write(body)
		}
	}
	redirect := func(hops int, code int) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			n := 0
			fmt.Sscanf(r.URL.Path, "/hop%d", &n)
			if n == hops {
				io.WriteString(w, testFile)
				return
			}
			w.Header().Set("Location", fmt.Sprintf("/hop%d", n+1))
			w.WriteHeader(code)
		}
	}
	to := func(location string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			if location != "" {
				w.Header().Set("Location", location)
			}
			w.WriteHeader(302)
		}
	}
	// raw answers with bytes of our own and closes the connection.
	raw := func(answer string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			conn, _, err := w.(http.Hijacker).Hijack()
			if err != nil {
				return
			}
			defer conn.Close()
			io.WriteString(conn, answer)
		}
	}
	big := append([]byte(testFile), bytes.Repeat([]byte("# padding\n"), 60<<10)...)
	pageBody := []byte("<!DOCTYPE html><title>no</title>\nUser-agent: *\nDisallow: /private\n")

	for _, test := range []struct {
		name        string
		serve       http.HandlerFunc
		strict, rfc string
		warning     string // part of one
	}{
		{"200", send("", []byte(testFile)), rules, rules, ""},
		{"200 empty", send("", nil), allow, allow, ""},
		{"203", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(203); io.WriteString(w, testFile) }, rules, rules, ""},
		{"204", status(204), allow, allow, ""},
		{"205", status(205), allow, allow, ""},
		{"206", status(206), deny, deny, ""},
		{"HTML type", send("Content-Type: text/html", []byte(testFile)), rules, rules, "HTML"},
		{"HTML body", send("Content-Type: text/plain", pageBody), rules, rules, "HTML"},
		{"gzip, asked for", send("Content-Encoding: gzip", zipped(testFile)), rules, rules, ""},
		{"gzip without a header", send("Content-Type: text/plain", zipped(testFile)), rules, rules, ""},
		{"gzip cut", send("Content-Encoding: gzip", zipped(testFile)[:40]), deny, deny, ""},
		{"gzip that is none", send("Content-Encoding: gzip", []byte(testFile)), deny, deny, ""},
		{"gzip bomb", send("Content-Encoding: gzip", zipped(testFile+strings.Repeat("#\n", 4<<20))), rules, rules, "500 KiB"},
		{"brotli", send("Content-Encoding: br", []byte("\x0b\x02\x80")), deny, deny, ""},
		{"oversize", send("", big), rules, rules, "500 KiB"},
		{"rule after 500 KiB", send("", append([]byte("User-agent: *\n"+strings.Repeat("# padding\n", 60<<10)), "Disallow: /private\n"...)), allow, allow, "500 KiB"},
		{"cut by length", raw("HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\nUser-agent: *\n"), deny, deny, ""},
		{"cut in a chunk", raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n64\r\nUser-agent: *\n"), deny, deny, ""},
		{"reset", raw(""), deny, deny, ""},
		{"no HTTP", raw("220 mail ready\r\n"), deny, deny, ""},
		{"300", status(300), deny, deny, ""},
		{"304", status(304), deny, deny, ""},
		{"301", redirect(1, 301), rules, rules, ""},
		{"302", redirect(1, 302), rules, rules, ""},
		{"303", redirect(1, 303), rules, rules, ""},
		{"307", redirect(1, 307), rules, rules, ""},
		{"308 five times", redirect(5, 308), rules, rules, ""},
		{"six hops", redirect(6, 301), deny, allow, ""},
		{"loop", to("/robots.txt"), deny, allow, ""},
		{"no Location", to(""), deny, deny, ""},
		{"bad Location", to("http://[::1"), deny, deny, ""},
		{"to file:", to("file:///etc/passwd"), deny, deny, ""},
		{"400", status(400), allow, allow, "400"},
		{"401", status(401), deny, allow, ""},
		{"402", status(402), deny, allow, ""},
		{"403", status(403), deny, allow, ""},
		{"404", status(404), allow, allow, ""},
		{"405", status(405), allow, allow, "405"},
		{"407", status(407), deny, deny, ""},
		{"408", status(408), deny, allow, ""},
		{"410", status(410), allow, allow, ""},
		{"421", status(421), deny, allow, ""},
		{"425", status(425), deny, allow, ""},
		{"429", status(429), deny, deny, ""},
		{"451", status(451), allow, allow, "451"},
		{"101", status(101), deny, deny, ""},
		{"500", status(500), deny, deny, ""},
		{"503", status(503), deny, deny, ""},
		{"599", status(599), deny, deny, ""},
		{"600", raw("HTTP/1.1 600 What\r\nContent-Length: 0\r\n\r\n"), deny, deny, ""},
	} {
		for mode, want := range map[Mode]string{Strict: test.strict, RFC: test.rfc} {
			t.Run(test.name+" "+string(mode), func(t *testing.T) {
				site := httptest.NewServer(test.serve)
				defer site.Close()
				c := newCache(t, Config{Mode: mode})
				var got []string
				for _, path := range []string{"/open", "/private"} {
					v := c.Check(t.Context(), site.URL+path)
					word := "deny"
					if v.Allow {
						word = "allow"
					} else if v.Unavailable {
						word = "unavailable"
						if !strings.HasPrefix(v.Cause, "robots.txt of "+site.URL+" ") || v.RetryAfter <= 0 {
							t.Errorf("cause %q, retry after %v", v.Cause, v.RetryAfter)
						}
					} else if want := "Disallow: /private (line "; !strings.HasPrefix(v.Text(), want) || v.RobotsURL != site.URL+"/robots.txt" {
						t.Errorf("text %q, want %q…; robots URL %q", v.Text(), want, v.RobotsURL)
					}
					if len(v.Text()) > 160 || strings.ContainsAny(v.Text(), "\r\n") {
						t.Errorf("text is no short line: %q", v.Text())
					}
					if test.warning != "" && !strings.Contains(fmt.Sprint(v.Warnings), test.warning) {
						t.Errorf("warnings %q, want %q in one", v.Warnings, test.warning)
					}
					got = append(got, word)
				}
				if s := strings.Join(got, " "); s != want {
					v := c.Check(t.Context(), site.URL+"/open")
					t.Errorf("%s, want %s (%s)", s, want, v.Text())
				}
			})
		}
	}
}

func TestRequestIsHonest(t *testing.T) {
	var asked atomic.Int32
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if ua := r.Header.Values("User-Agent"); len(ua) != 1 || ua[0] != testUA {
			t.Errorf("User-Agent %q", ua)
		}
		for _, k := range []string{"Cookie", "Referer", "Authorization"} {
			if v := r.Header.Get(k); v != "" {
				t.Errorf("%s: %s", k, v)
			}
		}
		if r.URL.Path == "/robots.txt" {
			http.SetCookie(w, &http.Cookie{Name: "a", Value: "b"})
			http.Redirect(w, r, "http://u:p@"+r.Host+"/moved", http.StatusFound)
		}
	}))
	defer site.Close()
	newCache(t, Config{}).Check(t.Context(), strings.Replace(site.URL, "http://", "http://u:p@", 1)+"/x")
	if asked.Load() != 2 {
		t.Errorf("asked %d times, want 2", asked.Load())
	}
}

// canned answers requests by their URL, without a network.
type canned map[string]func(*http.Request) (*http.Response, error)

func (c canned) RoundTrip(r *http.Request) (*http.Response, error) {
	if f := c[r.URL.String()]; f != nil {
		return f(r)
	}
	return nil, fmt.Errorf("no such address: %s", r.URL)
}

func answer(status int, header, body string) func(*http.Request) (*http.Response, error) {
	return func(r *http.Request) (*http.Response, error) {
		resp := &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), Request: r}
		if k, v, ok := strings.Cut(header, ": "); ok {
			resp.Header.Set(k, v)
		}
		return resp, nil
	}
}

// connected says to the trace that the connection went to addr, then answers.
func connected(addr string, then func(*http.Request) (*http.Response, error)) func(*http.Request) (*http.Response, error) {
	return func(r *http.Request) (*http.Response, error) {
		trace := httptrace.ContextClientTrace(r.Context())
		trace.GetConn(r.URL.Host)
		trace.GotConn(httptrace.GotConnInfo{Conn: fakeConn{addr: addr}})
		if err := r.Context().Err(); err != nil {
			return nil, err
		}
		return then(r)
	}
}

type fakeConn struct {
	net.Conn
	addr string
}

func (c fakeConn) RemoteAddr() net.Addr {
	a, _ := net.ResolveTCPAddr("tcp", c.addr)
	return a
}

func TestRedirectsThatAreRefused(t *testing.T) {
	const public, private = "203.0.113.5:443", "10.0.0.7:443"
	file := answer(200, "", testFile)
	for _, test := range []struct {
		name string
		net  canned
		want string // "" is allowed, else part of the cause
	}{
		{"https to http", canned{
			"https://h.example/robots.txt": answer(301, "Location: http://h.example/robots.txt", ""),
			"http://h.example/robots.txt":  file}, "from https to http"},
		{"https to http later", canned{
			"http://h.example/robots.txt":  answer(301, "Location: https://h.example/robots.txt", ""),
			"https://h.example/robots.txt": answer(301, "Location: http://h.example/r", ""),
			"http://h.example/r":           file}, "from https to http"},
		{"http to https", canned{
			"http://h.example/robots.txt":  answer(301, "Location: https://h.example/robots.txt", ""),
			"https://h.example/robots.txt": file}, ""},
		{"another host", canned{
			"https://h.example/robots.txt": answer(301, "Location: //o.example/robots.txt", ""),
			"https://o.example/robots.txt": file}, ""},
		{"public to 10.x", canned{
			"https://h.example/robots.txt": answer(301, "Location: https://10.0.0.7/robots.txt", ""),
			"https://10.0.0.7/robots.txt":  file}, "private address"},
		{"public to metadata service", canned{
			"https://h.example/robots.txt":   answer(301, "Location: https://169.254.169.254/latest", ""),
			"https://169.254.169.254/latest": file}, "private address"},
		{"public to ::ffff:127.0.0.1", canned{
			"https://h.example/robots.txt":          answer(301, "Location: https://[::ffff:127.0.0.1]/robots.txt", ""),
			"https://[::ffff:127.0.0.1]/robots.txt": file}, "private address"},
		{"public to localhost.", canned{
			"https://h.example/robots.txt":  answer(301, "Location: https://LOCALHOST./robots.txt", ""),
			"https://LOCALHOST./robots.txt": file}, "private address"},
		{"public to a name that is private", canned{
			"https://h.example/robots.txt":  connected(public, answer(301, "Location: https://in.example/robots.txt", "")),
			"https://in.example/robots.txt": connected(private, file)}, "private address"},
		{"private to private", canned{
			"https://in.example/robots.txt": connected(private, answer(301, "Location: https://h.example/robots.txt", "")),
			"https://h.example/robots.txt":  connected(private, file)}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			host := "h.example"
			if strings.HasPrefix(test.name, "private") {
				host = "in.example"
			}
			scheme := "https"
			if test.net["http://h.example/robots.txt"] != nil && test.name != "https to http" {
				scheme = "http"
			}
			v := newCache(t, Config{RoundTripper: test.net}).Check(t.Context(), scheme+"://"+host+"/open")
			if v.Allow != (test.want == "") || !strings.Contains(v.Cause, test.want) {
				t.Errorf("allow %t, cause %q, want %q", v.Allow, v.Cause, test.want)
			}
			// The rules count for the origin that was asked first.
			if v.Allow && v.RobotsURL != scheme+"://"+host+"/robots.txt" {
				t.Errorf("robots URL %q", v.RobotsURL)
			}
		})
	}
}

func TestTimeLimits(t *testing.T) {
	wait := func(r *http.Request) (*http.Response, error) {
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	for _, test := range []struct {
		name  string
		serve func(*http.Request) (*http.Response, error)
		took  time.Duration
		cause string
	}{
		{"no answer", wait, 10 * time.Second, "no answer within 10s"},
		{"no connection", func(r *http.Request) (*http.Response, error) {
			httptrace.ContextClientTrace(r.Context()).GetConn("h.example:80")
			return wait(r)
		}, 5 * time.Second, "no connection within 5s"},
		{"connection, no answer", connected("203.0.113.5:80", wait), 10 * time.Second, "no answer within 10s"},
		{"slow body", func(r *http.Request) (*http.Response, error) {
			resp, err := answer(200, "", "")(r)
			pr, pw := io.Pipe()
			context.AfterFunc(r.Context(), func() { pw.CloseWithError(r.Context().Err()) })
			go func() {
				for {
					if _, err := io.WriteString(pw, "#"); err != nil {
						return
					}
					select {
					case <-time.After(time.Second): // the server's pace, on the bubble's clock
					case <-r.Context().Done():
						return
					}
				}
			}()
			resp.Body = pr
			return resp, err
		}, 10 * time.Second, "no answer within 10s"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCache(t, Config{RoundTripper: canned{"http://h.example/robots.txt": test.serve}})
				start := time.Now()
				v := c.Check(t.Context(), "http://h.example/")
				if v.Allow || !v.Unavailable || !strings.Contains(v.Cause, test.cause) {
					t.Errorf("%+v, want cause %q", v, test.cause)
				}
				if took := time.Since(start); took != test.took {
					t.Errorf("took %v, want %v", took, test.took)
				}
			})
		})
	}
}

func TestLocalServerThatIsDown(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	v := newCache(t, Config{}).Check(context.Background(), "http://"+l.Addr().String()+"/")
	if v.Allow || !strings.Contains(v.Cause, "connection refused") || !strings.Contains(v.Cause, "skip_hosts") {
		t.Errorf("%+v", v)
	}
}
