package actions_test

import (
	"bufio"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"browsergovernor/actions"
)

// trace is one row of testdata/client-traces.jsonl: what a client was recorded
// to send for one of its own actions.
type trace struct {
	Client  string   `json:"client"`
	Version string   `json:"version"`
	Action  string   `json:"action"`
	Detail  []string `json:"detail"` // "Method {params}", cut at 220 characters
	Source  string   `json:"source"` // set when the row was read in the client's source instead of recorded
}

func readTraces(t testing.TB) []trace {
	t.Helper()
	f, err := os.Open("testdata/client-traces.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var rows []trace
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var row trace
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			t.Fatalf("row %d: %v", len(rows)+1, err)
		}
		rows = append(rows, row)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	if len(rows) != 472 {
		t.Fatalf("%d rows, want all 472", len(rows))
	}
	return rows
}

// command takes a detail apart. Params that the recording cut are closed behind
// the last whole field; what decides stands in front.
func command(detail string) (method string, params []byte) {
	method, text, _ := strings.Cut(detail, " ")
	if text == "" || json.Valid([]byte(text)) {
		return method, []byte(text)
	}
	for i := strings.LastIndexByte(text, ','); i > 0; i = strings.LastIndexByte(text[:i], ',') {
		if closed := text[:i] + "}"; json.Valid([]byte(closed)) {
			return method, []byte(closed)
		}
	}
	return method, nil
}

type counts struct{ navigation, click, tap, key int }

// meant is what each recorded action is, as a person would count it. Actions
// that stand here under no name, and those of clients that do them by script,
// send no command that counts.
var meant = map[string]counts{
	"goto":                {navigation: 1},
	"connect+goto":        {navigation: 1},
	"goBack":              {navigation: 1},
	"goForward":           {navigation: 1},
	"reload":              {navigation: 1},
	"route":               {navigation: 1}, // the script sets a route, then navigates
	"requestInterception": {navigation: 1},
	"createCDPSession":    {navigation: 1},
	"hijack":              {navigation: 1},
	"browserTarget":       {navigation: 1},
	"click":               {click: 1},
	"clickJsButton":       {click: 1},
	"locatorClick":        {click: 1},
	"coordClick":          {click: 1},
	"iframeClick":         {click: 1},
	"spaClick":            {click: 1},
	"check":               {click: 1},
	"download":            {click: 1},
	"dialog":              {click: 1},
	"popup":               {click: 1},
	"targetBlank":         {click: 1},
	"drag":                {click: 1},
	"dragCoord":           {click: 1},
	"dblclick":            {click: 1},
	"tap":                 {tap: 1},
	"pressEnter":          {key: 1},

	// Where a client goes its own way.
	"playwright-core tap":                       {},                 // sent nothing
	"playwright-core iframeClick":               {click: 2},         // two presses were sent, at two places
	"@playwright/mcp upload":                    {click: 1},         // opens the file chooser by a click
	"chrome-devtools-mcp newTab":                {navigation: 1},    // opens about:blank, then navigates
	"chromedp newTab":                           {navigation: 1},    // the same
	"chrome-devtools-mcp pressEnter":            {click: 1, key: 1}, // clicks the field first
	"stagehand pressEnter":                      {click: 1, key: 1}, // the same
	"agent-browser goBack":                      {},                 // history.back() by script
	"agent-browser goForward":                   {},                 // history.forward() by script
	"agent-browser targetBlank":                 {},                 // sent nothing but a script
	"agent-browser route":                       {},                 // only sets the route
	"go-rod goBack":                             {},                 // history.back() by script
	"go-rod goForward":                          {},                 // history.forward() by script
	"go-rod reload":                             {},                 // location.reload() by script
	"chrome-devtools-mcp (--wsEndpoint) newTab": {navigation: 1},    // as over HTTP
}

func TestCommandsOfRecordedClients(t *testing.T) {
	recorded := 0
	for i, row := range readTraces(t) {
		if row.Source != "" {
			continue
		}
		recorded++
		want, ok := meant[row.Client+" "+row.Action]
		if !ok {
			want = meant[row.Action]
		}
		switch {
		case strings.HasPrefix(row.Action, "refuse:goto:"):
			want = counts{navigation: 1}
		case strings.HasPrefix(row.Action, "refuse:click:"):
			// Clients press again when a press is refused or late, and every press is a try.
			want = counts{click: strings.Count(strings.Join(row.Detail, "\n"), "mousePressed")}
		}
		var got counts
		var classifier actions.Classifier
		for _, detail := range row.Detail {
			a, ok := classifier.Command(command(detail))
			if !ok {
				if a != (actions.Action{}) {
					t.Errorf("row %d: no action, yet %+v", i+1, a)
				}
				continue
			}
			switch a.Kind {
			case actions.Navigation:
				got.navigation++
			case actions.Click:
				got.click++
			case actions.Tap:
				got.tap++
			case actions.Key:
				got.key++
			}
		}
		if got != want {
			t.Errorf("row %d: %s %s: got %+v, want %+v of\n\t%s", i+1, row.Client, row.Action, got, want, strings.Join(row.Detail, "\n\t"))
		}
	}
	if recorded != 456 {
		t.Errorf("%d recorded rows, want 456", recorded)
	}
}

// TestRecordedClientsAreNotDenied: nothing that a client needed on the recorded
// sessions is filtered, but for the escapes the design names.
func TestRecordedClientsAreNotDenied(t *testing.T) {
	known := map[string]bool{
		"Extensions.loadUnpacked": true, // Stagehand 4; the policy may allow it
	}
	for i, row := range readTraces(t) {
		for _, detail := range row.Detail {
			method, params := command(detail)
			why, denied := actions.Denied(method, params, true)
			if denied != known[method] {
				t.Errorf("row %d: %s %s: %s denied=%v: %s", i+1, row.Client, row.Action, method, denied, why)
			}
		}
	}
}
