package actions

import (
	"math"
	"strconv"
)

// mousePress is a press that a second press may join to a double click. The
// zero value is no press.
type mousePress struct {
	button string
	x, y   float64
}

// doubleClickSlop is how far, in CSS pixels, the second press of a double click
// may be from the first: the distance desktop systems allow. Clients send the
// same point twice; a press elsewhere is another click whatever its clickCount.
const doubleClickSlop = 5

// mouse is Input.dispatchMouseEvent. A click is its press: button state lives on
// between commands, so any later release completes it. clickCount 0 makes no
// click, and neither does the button "none".
func (c *Classifier) mouse(params []byte) (Action, bool) {
	var kind, button string
	var count, x, y float64
	if !eachField(params, func(name, value []byte) {
		switch string(name) {
		case "type":
			kind = eventType(value)
		case "button":
			button = mouseButton(value)
		case "clickCount":
			count = number(value)
		case "x":
			x = number(value)
		case "y":
			y = number(value)
		}
	}) || kind != "mousePressed" || button == "" || count < 1 {
		return Action{}, false
	}
	first := c.press
	c.press = mousePress{}
	if count == 2 && first.button == button &&
		math.Abs(first.x-x) <= doubleClickSlop && math.Abs(first.y-y) <= doubleClickSlop {
		return Action{}, false
	}
	if count == 1 {
		c.press = mousePress{button: button, x: x, y: y}
	}
	return Action{Kind: Click, Detail: button + " button at " + point(x, y)}, true
}

// touch is Input.dispatchTouchEvent. Chrome makes a click of a touchStart and
// its touchEnd even where touch is not emulated.
func touch(params []byte) (Action, bool) {
	var kind string
	var points int
	var x, y float64
	if !eachField(params, func(name, value []byte) {
		switch string(name) {
		case "type":
			kind = eventType(value)
		case "touchPoints":
			points = 0
			eachElement(value, func(value []byte) {
				points++
				x, y = coordinates(value)
			})
		}
	}) || kind != "touchStart" || points == 0 {
		return Action{}, false
	}
	return Action{Kind: Tap, Detail: "finger at " + point(x, y)}, true
}

// touchFromMouse is Input.emulateTouchFromMouseEvent. It has no use for
// clickCount: every press is a finger.
func touchFromMouse(params []byte) (Action, bool) {
	var kind, button string
	if !eachField(params, func(name, value []byte) {
		switch string(name) {
		case "type":
			kind = eventType(value)
		case "button":
			button = mouseButton(value)
		}
	}) || kind != "mousePressed" || button == "" {
		return Action{}, false
	}
	x, y := coordinates(params)
	return Action{Kind: Tap, Detail: "finger at " + point(x, y)}, true
}

// tapGesture is Input.synthesizeTapGesture, one action however many taps it
// asks for. Not every source type was seen to click; all are counted.
func tapGesture(params []byte) (Action, bool) {
	var hasX, hasY bool
	if !eachField(params, func(name, _ []byte) {
		switch string(name) {
		case "x":
			hasX = true
		case "y":
			hasY = true
		}
	}) || !hasX || !hasY {
		return Action{}, false
	}
	x, y := coordinates(params)
	return Action{Kind: Tap, Detail: "gesture at " + point(x, y)}, true
}

// coordinates returns the fields x and y of an object.
func coordinates(object []byte) (x, y float64) {
	eachField(object, func(name, value []byte) {
		switch string(name) {
		case "x":
			x = number(value)
		case "y":
			y = number(value)
		}
	})
	return x, y
}

// point writes a position in whole CSS pixels.
func point(x, y float64) string {
	return strconv.Itoa(pixel(x)) + "," + strconv.Itoa(pixel(y))
}

func pixel(v float64) int {
	const far = 1e6
	return int(math.Round(min(max(v, -far), far)))
}

// eventType returns the type of an input event without allocating for those
// that matter.
func eventType(value []byte) string {
	switch s, _ := rawString(value); string(s) {
	case "mousePressed":
		return "mousePressed"
	case "mouseMoved":
		return "mouseMoved"
	case "mouseReleased":
		return "mouseReleased"
	case "touchStart":
		return "touchStart"
	case "keyDown":
		return "keyDown"
	case "rawKeyDown":
		return "rawKeyDown"
	case "char":
		return "char"
	case "keyUp":
		return "keyUp"
	}
	return text(value)
}

// mouseButton returns the name of a button, "" for "none" and for names that
// Chrome does not know.
func mouseButton(value []byte) string {
	switch text(value) {
	case "left":
		return "left"
	case "middle":
		return "middle"
	case "right":
		return "right"
	case "back":
		return "back"
	case "forward":
		return "forward"
	}
	return ""
}
