package actions

import "strings"

// activating is a key that activates what has the focus: it follows links,
// presses buttons, submits forms.
type activating uint8

const (
	noKey activating = iota
	enterKey
	spaceKey
)

// String returns the key's name for the log.
func (k activating) String() string {
	switch k {
	case enterKey:
		return "Enter"
	case spaceKey:
		return "Space"
	}
	return ""
}

// keyEvent is what is read of Input.dispatchKeyEvent.
type keyEvent struct {
	kind    string
	text    string
	key     string
	code    string
	vk      int
	repeat  bool
	newline bool // an editing command inserts a newline, which submits a form
}

// key is Input.dispatchKeyEvent. Enter comes as keyDown with text, as rawKeyDown
// (or keyDown without text) followed by char, or as char alone; each of them is
// one action, and so is a key held down until it repeats.
func (c *Classifier) key(params []byte) (Action, bool) {
	var e keyEvent
	if !eachField(params, e.field) {
		return Action{}, false
	}
	switch e.kind {
	case "keyDown", "rawKeyDown":
		k := e.activates()
		if k == noKey {
			break
		}
		repeated := e.repeat && c.held == k
		c.held = k
		c.char = k == enterKey && (e.kind == "rawKeyDown" || e.text == "")
		if repeated {
			return Action{}, false
		}
		return c.pressed(k.String())
	case "char":
		if !newlines(e.text) {
			break
		}
		if c.char {
			c.char = false
			return Action{}, false
		}
		return c.pressed("Enter")
	case "keyUp":
		if e.activates() == c.held {
			c.held, c.char = noKey, false
		}
	default:
		return Action{}, false
	}
	if e.newline {
		return c.pressed("insertNewline")
	}
	return Action{}, false
}

// pressed is the action of an activating key.
func (c *Classifier) pressed(name string) (Action, bool) {
	c.press = mousePress{}
	return Action{Kind: Key, Detail: name}, true
}

// field reads one parameter.
func (e *keyEvent) field(name, value []byte) {
	switch string(name) {
	case "type":
		e.kind = eventType(value)
	case "text":
		e.text = text(value)
	case "key":
		e.key = text(value)
	case "code":
		e.code = text(value)
	case "windowsVirtualKeyCode":
		e.vk = int(number(value))
	case "autoRepeat":
		e.repeat = truth(value)
	case "commands":
		e.newline = false
		eachElement(value, func(value []byte) {
			if newlineCommand(text(value)) {
				e.newline = true
			}
		})
	}
}

// activates returns which activating key a key event is about. Clients agree on
// no single field: go-rod calls Enter "\r", and Chrome submits a form for the
// text alone.
func (e *keyEvent) activates() activating {
	const (
		vkReturn = 13 // VK_RETURN
		vkSpace  = 32 // VK_SPACE
	)
	switch {
	case e.key == "Enter" || e.code == "Enter" || e.code == "NumpadEnter" || e.vk == vkReturn || newlines(e.text) || newlines(e.key):
		return enterKey
	case e.key == " " || e.code == "Space" || e.vk == vkSpace || e.text == " ":
		return spaceKey
	}
	return noKey
}

// insertText is Input.insertText{text}. Blink submits a form for a text that is
// a newline and nothing else; newlines inside a longer text are only typed.
func insertText(params []byte) (Action, bool) {
	var s string
	if !eachField(params, func(name, value []byte) {
		if string(name) == "text" {
			// The typed text itself is of no interest, and may be long.
			s = ""
			if len(value) <= len(`"\u000d\u000a"`) {
				s = text(value)
			}
		}
	}) || !newlines(s) {
		return Action{}, false
	}
	return Action{Kind: Key, Detail: "newline as text"}, true
}

// newlines reports whether s consists of line ends.
func newlines(s string) bool {
	return s != "" && strings.Trim(s, "\r\n") == ""
}

// newlineCommand reports whether an editing command ends a line. Blink's command
// names are not case-sensitive.
func newlineCommand(name string) bool {
	name = strings.ToLower(name)
	return strings.HasPrefix(name, "insertnewline") || name == "insertlinebreak" || name == "insertparagraph"
}
