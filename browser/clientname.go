package browser

import "strings"

// clientNames are the clients that name themselves in the User-Agent of their
// WebSocket handshake, by what stands in it.
var clientNames = []struct{ in, name string }{
	{"Playwright", "playwright"},
	{"Puppeteer", "puppeteer"},
	{"Stagehand", "stagehand"},
	{"browser-use", "browser-use"},
	{"chromedp", "chromedp"},
	{"Go-http-client", "go"},
	{"python", "python"},
}

// clientName reads a client's name from a User-Agent; known is false when it
// names none.
func clientName(userAgent string) (name string, known bool) {
	for _, c := range clientNames {
		if strings.Contains(strings.ToLower(userAgent), strings.ToLower(c.in)) {
			return c.name, true
		}
	}
	return "", false
}

// firstMethods are commands that only one of the clients without a User-Agent
// sends, and early.
var firstMethods = map[string]string{
	"WebMCP.enable": "agent-browser",
}

// guessName names a client that did not, from a command only it sends.
func (c *conn) guessName(method string) {
	name := firstMethods[method]
	if name == "" {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.known {
		c.name, c.known = name, true
	}
}
