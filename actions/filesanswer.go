package actions

import (
	"mime"
	"slices"
	"strings"
)

// BecomesFile reports whether Chrome saves the answer to a document's request
// instead of showing it: a Content-Disposition other than inline, or a type it
// has no viewer for. A missing type is sniffed by Chrome and is not judged here.
func BecomesFile(status int, disposition, contentType string) bool {
	if status < 200 || status > 299 || status == 204 || status == 205 {
		return false
	}
	if kind, _, _ := strings.Cut(disposition, ";"); strings.TrimSpace(kind) != "" && !strings.EqualFold(strings.TrimSpace(kind), "inline") {
		return true
	}
	kind, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		kind, _, _ = strings.Cut(strings.ToLower(strings.TrimSpace(contentType)), ";")
	}
	top, sub, ok := strings.Cut(kind, "/")
	if !ok {
		return false
	}
	switch top {
	case "text":
		return slices.Contains(savedText, sub)
	case "image", "audio", "video", "multipart", "message":
		return false
	case "application":
		return !slices.Contains(shownApplication, sub) && !strings.HasSuffix(sub, "+xml") && !strings.HasSuffix(sub, "+json")
	}
	return true
}

// savedText are the types of text that Chromium saves
// (third_party/blink/common/mime_util, kUnsupportedTextTypes).
var savedText = []string{
	"calendar", "x-calendar", "x-vcalendar", "vcalendar", "vcard", "x-vcard", "directory", "ldif", "qif", "x-qif", "x-csv", "x-vcf",
	"rtf", "comma-separated-values", "csv", "tab-separated-values", "tsv", "ofx", "vnd.sun.j2me.app-descriptor", "x-ms-iqy", "x-ms-odc", "x-ms-rqy", "x-ms-contact",
}

// shownApplication are the types of application that a tab shows.
var shownApplication = []string{"json", "xml", "javascript", "ecmascript", "x-javascript", "x-ecmascript", "pdf"}
