package actions

import "strconv"

// Classifier tells which commands of one CDP session are actions. It remembers
// the last press and the key held down, because a double click is two commands
// and one action, and so is an Enter sent as rawKeyDown and char.
//
// The zero value is ready. A Classifier is not safe for concurrent use; commands
// must be shown to it in the order in which they go to Chrome.
type Classifier struct {
	press mousePress // a first press that a second one may still join
	held  activating // the activating key that is down
	char  bool       // a char event is still to come for the Enter that is down
}

// Command returns the action that a CDP command is, or false when it is none.
// Params may be empty. Parameters that cannot be read are no action: Chrome does
// not understand them either.
//
// It fills Kind, Method, URL, Frame and Detail. What it cannot know stays empty
// for the caller to fill: the page of a click, tap or key, the address behind
// Page.reload and Page.navigateToHistoryEntry (see [HistoryEntry]), and whether
// Frame, as Page.navigate names it, is the main frame. The method of a reload is
// given as GET although Chrome repeats a POST.
//
// Which commands count, and how often, is what Chromium 156 was seen to do with
// them: one press is one click whatever is released later, Enter acts in three
// spellings, a newline as inserted text submits a form.
func (c *Classifier) Command(method string, params []byte) (Action, bool) {
	var a Action
	var ok bool
	switch method {
	case "Page.navigate":
		a, ok = pageNavigate(params)
	case "Page.reload":
		a, ok = Action{Kind: Navigation, Method: "GET", Detail: "reload"}, true
	case "Page.navigateToHistoryEntry":
		a, ok = pageHistory(params)
	case "Target.createTarget":
		a, ok = createTarget(params)
	case "Input.dispatchMouseEvent":
		return c.mouse(params)
	case "Input.dispatchKeyEvent":
		return c.key(params)
	case "Input.dispatchTouchEvent":
		a, ok = touch(params)
	case "Input.emulateTouchFromMouseEvent":
		a, ok = touchFromMouse(params)
	case "Input.synthesizeTapGesture":
		a, ok = tapGesture(params)
	case "Input.insertText":
		a, ok = insertText(params)
	default:
		return Action{}, false
	}
	if ok {
		c.press = mousePress{}
	}
	return a, ok
}

// Refused tells the classifier that the last action was not let through. What
// would have belonged to it, the second press of a double click or the char of
// an Enter, is then an action of its own.
func (c *Classifier) Refused() { *c = Classifier{} }

// pageNavigate is Page.navigate{url, frameId}.
func pageNavigate(params []byte) (Action, bool) {
	var url, frame string
	if !eachField(params, func(name, value []byte) {
		switch string(name) {
		case "url":
			url = text(value)
		case "frameId":
			frame = text(value)
		}
	}) {
		return Action{}, false
	}
	a, ok := navigation(url)
	a.Frame = frame
	if !ok {
		return Action{}, false
	}
	return a, true
}

// pageHistory is Page.navigateToHistoryEntry{entryId}. The address is known to
// Chrome only.
func pageHistory(params []byte) (Action, bool) {
	id, ok := HistoryEntry(params)
	if !ok {
		return Action{}, false
	}
	return Action{Kind: Navigation, Method: "GET", Detail: "history entry " + strconv.Itoa(id)}, true
}

// HistoryEntry returns the entry that Page.navigateToHistoryEntry asks for: the
// id of an entry in Chrome's answer to Page.getNavigationHistory.
func HistoryEntry(params []byte) (id int, ok bool) {
	valid := eachField(params, func(name, value []byte) {
		if string(name) == "entryId" {
			n := number(value)
			id, ok = int(n), n >= 0 && n <= 1<<31-1 && string(value) != "null" && value[0] != '"'
		}
	})
	if !valid || !ok {
		return 0, false
	}
	return id, true
}

// createTarget is Target.createTarget{url}. Most clients open about:blank and
// navigate it later, which is the action then.
func createTarget(params []byte) (Action, bool) {
	var url string
	if !eachField(params, func(name, value []byte) {
		if string(name) == "url" {
			url = text(value)
		}
	}) {
		return Action{}, false
	}
	a, ok := navigation(url)
	if ok {
		a.Detail = "new tab"
	}
	return a, ok
}

// Opens returns the address that Page.navigate or Target.createTarget opens, as
// written, whether or not it leads to a request; false for other commands and for
// parameters that cannot be read.
func Opens(method string, params []byte) (address string, ok bool) {
	if method != "Page.navigate" && method != "Target.createTarget" {
		return "", false
	}
	ok = eachField(params, func(name, value []byte) {
		if string(name) == "url" {
			address = text(value)
		}
	})
	return address, ok
}

// JSONNew is the HTTP endpoint /json/new?url: a tab opened with an address. The
// argument is the address, already unescaped.
func JSONNew(rawURL string) (Action, bool) {
	a, ok := navigation(rawURL)
	if ok {
		a.Detail = "new tab"
	}
	return a, ok
}

// navigation is a top-level request for an address that reaches a server. Other
// addresses (about:, data:, blob:, javascript:, file:, chrome:, …) ask nobody by
// themselves, and what a browser would not open is nothing either; should Chrome
// think otherwise, the request it makes is judged by [FromPaused].
func navigation(rawURL string) (Action, bool) {
	rawURL = withoutViewSource(rawURL)
	u := split(rawURL)
	if (u.scheme != "http" && u.scheme != "https") || u.host == "" {
		return Action{}, false
	}
	return Action{Kind: Navigation, Method: "GET", URL: rawURL}, true
}
