package e2e

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"browsergovernor/actions"
	"browsergovernor/governor"
)

// TestUploadsAreDenied: with uploads denied no command gives a page a file, each
// attempt is one line of the log, and asking again and again trips the breaker.
func TestUploadsAreDenied(t *testing.T) {
	file := filepath.Join(t.TempDir(), "private.txt")
	if err := os.WriteFile(file, []byte("private"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, denied := range []bool{false, true} {
		s := newSite(t, map[string]http.HandlerFunc{"/form": html(`<title>form</title><input type=file id=f>`)})
		p := testPolicy()
		p.MaxDenials = 3
		if denied {
			p.Deny = []string{"upload"}
		}
		w := newWorld(t, s, p)
		c := dialRaw(t, w.endpoint())
		_, page := c.page()
		c.visit(page, "http://a.test/form")
		var object struct{ Result struct{ ObjectID string } }
		c.must(page, "Runtime.evaluate", args{"expression": `document.getElementById("f")`}, &object)
		give := args{"files": []string{file}, "objectId": object.Result.ObjectID}
		answers := []string{}
		for range 4 {
			text := ""
			if m := c.ask(page, "DOM.setFileInputFiles", give); m.Error != nil {
				text = m.Error.Message
			}
			answers = append(answers, text)
		}
		files := c.eval(page, `String(document.getElementById("f").files.length)`)
		if !denied {
			if answers[0] != "" || files != "1" {
				t.Fatalf("allowed: %q, %v files", answers, files)
			}
			continue
		}
		if files != "0" {
			t.Errorf("the page has %v files", files)
		}
		drop := args{"type": "drop", "x": 20, "y": 20, "data": args{"items": []any{}, "files": []string{file}, "dragOperationsMask": 1}}
		if m := c.ask(page, "Input.dispatchDragEvent", drop); m.Error == nil || !strings.HasPrefix(m.Error.Message, "refused by browser-governor: ") {
			t.Errorf("drag: %+v", m)
		}
		if m := c.ask(page, "DOM.setFileInputFiles", args{"files": []string{}, "objectId": object.Result.ObjectID}); m.Error != nil {
			t.Errorf("no files: %+v", m.Error)
		}
		if !strings.HasPrefix(answers[0], "refused by browser-governor: ") || !strings.Contains(answers[0], `deny "upload"`) {
			t.Errorf("the agent reads %q", answers[0])
		}
		reasons := map[governor.Reason]int{}
		for _, ev := range w.refusals() {
			if ev.Kind == actions.Upload {
				reasons[ev.Reason]++
			}
		}
		if reasons[governor.PolicyDenied] != 3 || reasons[governor.RepeatedDenial] != 2 {
			t.Errorf("%v", reasons)
		}
		w.agree()
	}
}
