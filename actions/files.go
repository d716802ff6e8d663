package actions

// Uploads reports whether a command gives files of this machine to a page:
// DOM.setFileInputFiles, a file chooser that is answered, a drag that carries
// files. An empty list of files gives nothing. Parameters that cannot be read
// count as files: it is Chrome's to say that it does not understand them.
func Uploads(method string, params []byte) bool {
	switch method {
	case "DOM.setFileInputFiles", "Page.handleFileChooser":
		return listsFiles(params)
	case "Input.dispatchDragEvent":
		var data []byte
		ok := eachField(params, func(name, value []byte) {
			if string(name) == "data" {
				data = value
			}
		})
		return !ok || listsFiles(data)
	}
	return false
}

// listsFiles reports whether the last field files of an object names any.
func listsFiles(data []byte) bool {
	files := false
	ok := eachField(data, func(name, value []byte) {
		if string(name) != "files" {
			return
		}
		files = false
		if !eachElement(value, func([]byte) { files = true }) && !null(value) {
			files = true
		}
	})
	return !ok || files
}
