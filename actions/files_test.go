package actions

import "testing"

func TestUploads(t *testing.T) {
	for _, c := range []struct {
		method, params string
		want           bool
	}{
		{"DOM.setFileInputFiles", `{"files":["/etc/passwd"],"nodeId":3}`, true},
		{"DOM.setFileInputFiles", `{"f\u0069les":["/etc/passwd"]}`, true},
		{"DOM.setFileInputFiles", `{"files":[],"files":["/a"]}`, true},
		{"DOM.setFileInputFiles", `{"files":[ ],"nodeId":3}`, false},
		{"DOM.setFileInputFiles", `{"nodeId":3}`, false},
		{"DOM.setFileInputFiles", `{"files":`, true},
		{"DOM.setFileInputFiles", `{"files":"/a"}`, true},
		{"Page.handleFileChooser", `{"action":"accept","files":["/a"]}`, true},
		{"Page.handleFileChooser", `{"action":"cancel"}`, false},
		{"Input.dispatchDragEvent", `{"type":"drop","x":1,"y":1,"data":{"items":[],"files":["/a"],"dragOperationsMask":1}}`, true},
		{"Input.dispatchDragEvent", `{"type":"drop","data":{"items":[{"mimeType":"text/plain","data":"x"}],"files":[]}}`, false},
		{"Input.dispatchDragEvent", `{"type":"drop","data":{"items":[]}}`, false},
		{"Input.dispatchDragEvent", `{"type":"drop","data":[]}`, true},
		{"DOM.getDocument", `{"files":["/a"]}`, false},
	} {
		if got := Uploads(c.method, []byte(c.params)); got != c.want {
			t.Errorf("%s %s: %v", c.method, c.params, got)
		}
	}
}
