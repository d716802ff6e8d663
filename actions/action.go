// Package actions is the vocabulary of the governor: what a browser can be
// asked to do, as plain values, and how a CDP message becomes one.
//
// The package decides nothing and keeps no clock. It turns a command that a
// client sends ([Classifier.Command]) or a request that Chrome wants to make
// ([FromPaused]) into an [Action], or says that the message is not an action.
package actions

import "time"

// Kind says what sort of thing an action is. Its values are stable: they stand
// in the log, in policies and in metrics.
type Kind string

// The kinds. Navigation, Click, Tap, Key and Upload are interactions: what a person at
// the keyboard would do.
const (
	Navigation  Kind = "navigation"  // a top-level document is asked for
	Click       Kind = "click"       // a mouse button goes down
	Tap         Kind = "tap"         // a finger goes down
	Key         Kind = "key"         // an activating key (Enter, Space) goes down
	Subresource Kind = "subresource" // everything a page loads for itself, iframes included
	WebSocket   Kind = "websocket"   // a WebSocket handshake
	Download    Kind = "download"    // a request whose answer becomes a file
	Upload      Kind = "upload"      // files of this machine are given to a page
)

// Kinds returns all kinds.
func Kinds() []Kind {
	return []Kind{Navigation, Click, Tap, Key, Subresource, WebSocket, Download, Upload}
}

// Interaction reports whether k is charged to the interactions bucket and cap.
// Every other kind is charged to the sub-resources bucket and the total cap only.
func (k Kind) Interaction() bool {
	switch k {
	case Navigation, Click, Tap, Key, Upload:
		return true
	}
	return false
}

// Action is one thing a browser is about to do. The zero value is no action.
type Action struct {
	Kind   Kind
	Method string // HTTP method; "" for clicks, taps and keys
	URL    string // what is asked for, as the browser wrote it; for clicks, taps and keys the page they happen on

	Client  string // who asks: "playwright", "puppeteer", "chromedp", …; "" when unknown
	Session string // CDP session the command came through; "" for requests
	Tab     string // target id of the page; "" when unknown
	Frame   string // frame id; equals Tab for the main frame

	// Cause is the ID of the action that led to this one, "robots" for a
	// robots.txt fetch, or "" when unknown.
	Cause string

	Resource string // Chrome's resource type of a request: "Document", "Image", …
	Attempt  int    // 0 for the first try, n for the n-th retry of the same request
	Hop      int    // 0 for the first request, n for the n-th redirect that followed

	// Hold is the longest time the asker can bear to wait. Zero means the
	// policy's hold for this kind; negative means as long as the context lives.
	Hold time.Duration

	// Detail is free text for the log: which element, which key. It never holds
	// typed text.
	Detail string
}
