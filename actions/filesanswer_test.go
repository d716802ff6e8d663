package actions

import "testing"

func TestBecomesFile(t *testing.T) {
	for _, c := range []struct {
		status                   int
		disposition, contentType string
		want                     bool
	}{
		{200, `attachment; filename="a.html"`, "text/html", true},
		{200, "ATTACHMENT", "text/html", true},
		{200, `inline; filename=a.pdf`, "application/pdf", false},
		{200, "", "text/html; charset=utf-8", false},
		{200, "", "text/csv", true},
		{200, "", "application/octet-stream", true},
		{200, "", "application/zip; x", true},
		{200, "", "application/ld+json", false},
		{200, "", "font/woff2", true},
		{200, "", "", false},
		{204, "attachment", "", false},
		{404, "attachment", "text/html", false},
	} {
		if got := BecomesFile(c.status, c.disposition, c.contentType); got != c.want {
			t.Errorf("%d %q %q: %v", c.status, c.disposition, c.contentType, got)
		}
	}
}
