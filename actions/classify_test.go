package actions_test

import (
	"strings"
	"testing"

	"browsergovernor/actions"
)

const (
	mouseEvent = "Input.dispatchMouseEvent"
	keyEvent   = "Input.dispatchKeyEvent"
)

// sent is one command and the kind of action it should be, "" for none.
type sent struct {
	method, params string
	kind           actions.Kind
}

// The expectations of clicks and keys are what Chromium 156 did with the same
// commands (DOM events counted in the page).
func TestCommand(t *testing.T) {
	press := func(rest string) string {
		return `{"type":"mousePressed","x":10,"y":20,"button":"left",` + rest + `}`
	}
	for name, steps := range map[string][]sent{
		"click": {
			{mouseEvent, `{"type":"mouseMoved","x":10,"y":20,"button":"none"}`, ""},
			{mouseEvent, press(`"clickCount":1`), actions.Click},
			{mouseEvent, `{"type":"mouseReleased","x":10,"y":20,"button":"left","clickCount":1}`, ""},
		},
		"clickCount 0 makes no click":       {{mouseEvent, press(`"clickCount":0`), ""}},
		"clickCount left out is 0":          {{mouseEvent, press(`"buttons":1`), ""}},
		"button none":                       {{mouseEvent, `{"type":"mousePressed","x":1,"y":1,"button":"none","clickCount":1}`, ""}},
		"button left out is none":           {{mouseEvent, `{"type":"mousePressed","x":1,"y":1,"clickCount":1}`, ""}},
		"middle opens links":                {{mouseEvent, `{"type":"mousePressed","x":1,"y":1,"button":"middle","clickCount":1}`, actions.Click}},
		"wheel":                             {{mouseEvent, `{"type":"mouseWheel","x":1,"y":1,"deltaY":100}`, ""}},
		"clickCount 2 alone":                {{mouseEvent, press(`"clickCount":2`), actions.Click}},
		"every press of a retry":            {{mouseEvent, press(`"clickCount":1`), actions.Click}, {mouseEvent, press(`"clickCount":1`), actions.Click}},
		"double click":                      {{mouseEvent, press(`"clickCount":1`), actions.Click}, {mouseEvent, press(`"clickCount":2`), ""}},
		"a third press is no double":        {{mouseEvent, press(`"clickCount":1`), actions.Click}, {mouseEvent, press(`"clickCount":2`), ""}, {mouseEvent, press(`"clickCount":2`), actions.Click}},
		"second press elsewhere":            {{mouseEvent, press(`"clickCount":1`), actions.Click}, {mouseEvent, `{"type":"mousePressed","x":90,"y":20,"button":"left","clickCount":2}`, actions.Click}},
		"second press with another button":  {{mouseEvent, press(`"clickCount":1`), actions.Click}, {mouseEvent, `{"type":"mousePressed","x":10,"y":20,"button":"right","clickCount":2}`, actions.Click}},
		"second press after another action": {{mouseEvent, press(`"clickCount":1`), actions.Click}, {"Page.reload", "", actions.Navigation}, {mouseEvent, press(`"clickCount":2`), actions.Click}},
		"moves do not part a double click": {
			{mouseEvent, press(`"clickCount":1`), actions.Click},
			{mouseEvent, `{"type":"mouseMoved","x":11,"y":20}`, ""},
			{mouseEvent, press(`"clickCount":2`), ""},
		},
		"a name in other case is another name": {{mouseEvent, press(`"clickCount":1,"TYPE":"mouseMoved","CLICKCOUNT":0`), actions.Click}},
		"the last of two fields counts":        {{mouseEvent, press(`"clickCount":0,"clickCount":1`), actions.Click}},
		"comments are skipped as Chrome does":  {{mouseEvent, `{"type":/* " */"mousePressed","button":"left", // }` + "\n" + `"clickCount":1}`, actions.Click}},
		"an escaped name":                      {{mouseEvent, `{"\u0074ype":"mouse\u0050ressed","button":"left","clickCount":1.0}`, actions.Click}},

		"Enter with text":                {{keyEvent, `{"type":"keyDown","key":"Enter","code":"Enter","text":"\r"}`, actions.Key}, {keyEvent, `{"type":"keyUp","key":"Enter"}`, ""}},
		"Enter raw":                      {{keyEvent, `{"type":"rawKeyDown","key":"Enter"}`, actions.Key}, {keyEvent, `{"type":"keyUp","key":"Enter"}`, ""}},
		"Enter raw and char":             {{keyEvent, `{"type":"rawKeyDown","key":"Enter","text":"\r"}`, actions.Key}, {keyEvent, `{"type":"char","text":"\r"}`, ""}, {keyEvent, `{"type":"char","text":"\r"}`, actions.Key}},
		"Enter as chromedp":              {{keyEvent, `{"type":"keyDown","key":"Enter","code":"Enter","windowsVirtualKeyCode":13}`, actions.Key}, {keyEvent, `{"type":"char","text":"\r","key":"Enter"}`, ""}, {keyEvent, `{"type":"keyUp","key":"Enter"}`, ""}},
		"Enter as char":                  {{keyEvent, `{"type":"char","text":"\r"}`, actions.Key}, {keyEvent, `{"type":"char","text":"\r"}`, actions.Key}},
		"keyDown with text has its char": {{keyEvent, `{"type":"keyDown","key":"Enter","text":"\r"}`, actions.Key}, {keyEvent, `{"type":"char","text":"\r"}`, actions.Key}},
		"Enter as go-rod":                {{keyEvent, `{"type":"keyDown","text":"\r","code":"Enter","key":"\r"}`, actions.Key}},
		"Enter by number":                {{keyEvent, `{"type":"rawKeyDown","windowsVirtualKeyCode":13}`, actions.Key}},
		"text alone submits":             {{keyEvent, `{"type":"keyDown","key":"a","text":"\r"}`, actions.Key}},
		"Enter held down": {
			{keyEvent, `{"type":"rawKeyDown","key":"Enter"}`, actions.Key},
			{keyEvent, `{"type":"char","text":"\r"}`, ""},
			{keyEvent, `{"type":"rawKeyDown","key":"Enter","autoRepeat":true}`, ""},
			{keyEvent, `{"type":"char","text":"\r"}`, ""},
			{keyEvent, `{"type":"keyUp","key":"Enter"}`, ""},
			{keyEvent, `{"type":"rawKeyDown","key":"Enter","autoRepeat":true}`, actions.Key},
		},
		"Enter twice":      {{keyEvent, `{"type":"keyDown","key":"Enter","text":"\r"}`, actions.Key}, {keyEvent, `{"type":"keyDown","key":"Enter","text":"\r"}`, actions.Key}},
		"Space":            {{keyEvent, `{"type":"keyDown","key":" ","text":" "}`, actions.Key}, {keyEvent, `{"type":"keyUp","key":" "}`, ""}},
		"Space and char":   {{keyEvent, `{"type":"rawKeyDown","code":"Space"}`, actions.Key}, {keyEvent, `{"type":"char","text":" "}`, ""}},
		"Space up alone":   {{keyEvent, `{"type":"keyUp","key":" "}`, ""}},
		"a letter":         {{keyEvent, `{"type":"keyDown","key":"a","text":"a"}`, ""}, {keyEvent, `{"type":"char","text":"a","windowsVirtualKeyCode":97}`, ""}},
		"editing command":  {{keyEvent, `{"type":"keyDown","key":"a","commands":["insertNewline"]}`, actions.Key}},
		"other command":    {{keyEvent, `{"type":"keyDown","key":"a","commands":["selectAll"]}`, ""}},
		"command and text": {{keyEvent, `{"type":"keyDown","key":"Enter","text":"\r","commands":["insertNewline"]}`, actions.Key}},

		"newline as text":   {{"Input.insertText", `{"text":"\n"}`, actions.Key}, {"Input.insertText", `{"text":"\u000d\u000a"}`, actions.Key}},
		"text":              {{"Input.insertText", `{"text":"hello"}`, ""}, {"Input.insertText", `{"text":""}`, ""}},
		"newline in a text": {{"Input.insertText", `{"text":"two\nlines"}`, ""}},

		"touch":             {{"Input.dispatchTouchEvent", `{"type":"touchStart","touchPoints":[{"x":1,"y":2}]}`, actions.Tap}, {"Input.dispatchTouchEvent", `{"type":"touchEnd","touchPoints":[]}`, ""}},
		"touch moved":       {{"Input.dispatchTouchEvent", `{"type":"touchMove","touchPoints":[{"x":1,"y":2}]}`, ""}},
		"touch from mouse":  {{"Input.emulateTouchFromMouseEvent", `{"type":"mousePressed","x":1,"y":2,"button":"left"}`, actions.Tap}, {"Input.emulateTouchFromMouseEvent", `{"type":"mouseReleased","x":1,"y":2,"button":"left"}`, ""}},
		"tap gesture":       {{"Input.synthesizeTapGesture", `{"x":1,"y":2}`, actions.Tap}},
		"tap without place": {{"Input.synthesizeTapGesture", `{}`, ""}},

		"navigate":              {{"Page.navigate", `{"url":"http://127.0.0.1:8080/a?b#c"}`, actions.Navigation}},
		"navigate in odd ways":  {{"Page.navigate", `{"url":" HTTP:\\\\Host/ "}`, actions.Navigation}, {"Page.navigate", `{"url":"https://h/100%zz"}`, actions.Navigation}},
		"view-source asks too":  {{"Page.navigate", `{"url":"view-source:http://h/"}`, actions.Navigation}},
		"data":                  {{"Page.navigate", `{"url":"data:text/html,hi"}`, ""}},
		"about":                 {{"Page.navigate", `{"url":"about:blank"}`, ""}},
		"blob":                  {{"Page.navigate", `{"url":"blob:https://h/1"}`, ""}},
		"javascript":            {{"Page.navigate", `{"url":"javascript:location='http://h/'"}`, ""}},
		"file and chrome":       {{"Page.navigate", `{"url":"file:///etc/hosts"}`, ""}, {"Page.navigate", `{"url":"chrome://version"}`, ""}},
		"no address":            {{"Page.navigate", `{"url":""}`, ""}, {"Page.navigate", `{}`, ""}, {"Page.navigate", `{"url":"http://"}`, ""}, {"Page.navigate", `{"url":"example.com"}`, ""}},
		"reload":                {{"Page.reload", ``, actions.Navigation}, {"Page.reload", `{"ignoreCache":true}`, actions.Navigation}},
		"history":               {{"Page.navigateToHistoryEntry", `{"entryId":13}`, actions.Navigation}},
		"history without entry": {{"Page.navigateToHistoryEntry", `{}`, ""}, {"Page.navigateToHistoryEntry", `{"entryId":"13"}`, ""}, {"Page.navigateToHistoryEntry", `{"entryId":-1}`, ""}},
		"new tab":               {{"Target.createTarget", `{"url":"https://h/"}`, actions.Navigation}},
		"new blank tab":         {{"Target.createTarget", `{"url":"about:blank"}`, ""}, {"Target.createTarget", `{"url":""}`, ""}, {"Target.createTarget", `{"url":"chrome-extension://abc/blank.html"}`, ""}},

		"malformed": {
			{"Page.navigate", `{"url":"http://h/"`, ""}, {"Page.navigate", `[]`, ""}, {"Page.navigate", `"`, ""}, {"Page.navigate", `{"url":"http://h/"} x`, ""},
			{mouseEvent, `{"type":`, ""}, {mouseEvent, `{,}`, ""}, {keyEvent, `nonsense`, ""}, {keyEvent, `{}`, ""}, {mouseEvent, ``, ""},
			{"Input.dispatchTouchEvent", `{"type":"touchStart","touchPoints":7}`, ""},
		},
		"not actions": {
			{"Runtime.evaluate", `{"expression":"document.links[0].click()"}`, ""}, {"Input.dispatchDragEvent", `{"type":"drop"}`, ""},
			{"Target.setAutoAttach", `{}`, ""}, {"page.navigate", `{"url":"http://h/"}`, ""},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var c actions.Classifier
			for i, s := range steps {
				a, ok := c.Command(s.method, []byte(s.params))
				if a.Kind != s.kind || ok != (s.kind != "") {
					t.Errorf("step %d: %s %s: got %q %v, want %q", i+1, s.method, s.params, a.Kind, ok, s.kind)
				}
			}
		})
	}
}

func TestCommandTellsWhat(t *testing.T) {
	for _, c := range []struct {
		method, params string
		want           actions.Action
	}{
		{"Page.navigate", `{"url":"view-source:HTTP://Host/a b#c","frameId":"F1"}`, actions.Action{Kind: actions.Navigation, Method: "GET", URL: "HTTP://Host/a b#c", Frame: "F1"}},
		{"Page.navigateToHistoryEntry", `{"entryId":13}`, actions.Action{Kind: actions.Navigation, Method: "GET", Detail: "history entry 13"}},
		{"Target.createTarget", `{"url":"https://h/"}`, actions.Action{Kind: actions.Navigation, Method: "GET", URL: "https://h/", Detail: "new tab"}},
		{mouseEvent, `{"type":"mousePressed","button":"right","clickCount":1,"x":35.328125,"y":-1e300}`, actions.Action{Kind: actions.Click, Detail: "right button at 35,-1000000"}},
		{keyEvent, `{"type":"char","text":"\r"}`, actions.Action{Kind: actions.Key, Detail: "Enter"}},
		{"Input.dispatchTouchEvent", `{"type":"touchStart","touchPoints":[{"x":374.4,"y":90}]}`, actions.Action{Kind: actions.Tap, Detail: "finger at 374,90"}},
	} {
		var classifier actions.Classifier
		if got, ok := classifier.Command(c.method, []byte(c.params)); !ok || got != c.want {
			t.Errorf("%s %s:\n got %+v\nwant %+v", c.method, c.params, got, c.want)
		}
	}
	if id, ok := actions.HistoryEntry([]byte(`{"entryId":13}`)); id != 13 || !ok {
		t.Errorf("HistoryEntry = %d, %v", id, ok)
	}
	if a, ok := actions.JSONNew("http://h/"); !ok || a.URL != "http://h/" {
		t.Errorf("JSONNew = %+v, %v", a, ok)
	}
	if _, ok := actions.JSONNew("about:blank"); ok {
		t.Error("JSONNew(about:blank) is no action")
	}
}

// What belonged to a refused action must not pass in its shadow.
func TestRefusedActionHasNoShadow(t *testing.T) {
	for _, steps := range [][2]sent{
		{{mouseEvent, `{"type":"mousePressed","button":"left","clickCount":1}`, ""}, {mouseEvent, `{"type":"mousePressed","button":"left","clickCount":2}`, ""}},
		{{keyEvent, `{"type":"rawKeyDown","key":"Enter"}`, ""}, {keyEvent, `{"type":"char","text":"\r"}`, ""}},
		{{keyEvent, `{"type":"keyDown","key":"Enter","text":"\r"}`, ""}, {keyEvent, `{"type":"keyDown","key":"Enter","text":"\r","autoRepeat":true}`, ""}},
	} {
		var c actions.Classifier
		if _, ok := c.Command(steps[0].method, []byte(steps[0].params)); !ok {
			t.Fatalf("%+v is an action", steps[0])
		}
		c.Refused()
		if _, ok := c.Command(steps[1].method, []byte(steps[1].params)); !ok {
			t.Errorf("%+v passes after its first half was refused", steps[1])
		}
	}
}

func FuzzCommand(f *testing.F) {
	for _, row := range readTraces(f) {
		for _, detail := range row.Detail {
			method, params := command(detail)
			f.Add(method, params)
		}
	}
	f.Fuzz(func(t *testing.T, method string, params []byte) {
		var c actions.Classifier
		a, ok := c.Command(method, params)
		switch {
		case ok != (a.Kind != ""):
			t.Errorf("%v with kind %q", ok, a.Kind)
		case ok && !a.Kind.Interaction():
			t.Errorf("a command is an interaction, not %q", a.Kind)
		case ok && a.URL != "" && actions.Host(a.URL) == "":
			t.Errorf("%q has no host", a.URL)
		case strings.ContainsAny(a.Detail, "\r\n"):
			t.Errorf("detail %q", a.Detail)
		}
		actions.Denied(method, params, false)
		actions.RootFetchAuth(method, params)
	})
}

func BenchmarkCommand(b *testing.B) {
	var c actions.Classifier
	for _, s := range []sent{
		{"Runtime.callFunctionOn", `{"functionDeclaration":"() => 1"}`, ""},
		{mouseEvent, `{"type":"mouseMoved","button":"none","buttons":0,"x":35.32,"y":89.37,"modifiers":0,"force":0}`, ""},
		{mouseEvent, `{"type":"mousePressed","button":"left","buttons":1,"x":35.32,"y":89.37,"modifiers":0,"clickCount":1,"force":0.5}`, actions.Click},
		{"Page.navigate", `{"url":"http://127.0.0.1:40113/","frameId":"495BB4A6599EB417BFF7AB88EF62E6A8","referrerPolicy":"unsafeUrl"}`, actions.Navigation},
	} {
		params := []byte(s.params)
		b.Run(s.method+string(s.kind), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.Command(s.method, params)
			}
		})
	}
}
