package robots

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// readBody reads at most MaxBytes of the text of a response and one byte more,
// which tells that it is longer. A body that breaks off is an error: half a
// file may lack the rule that says no.
//
// net/http undoes the gzip it asked for by itself. What is left is undone here,
// also when the header does not say so: taken as text it would be a file
// without rules.
func readBody(resp *http.Response) ([]byte, error) {
	src := bufio.NewReader(resp.Body)
	switch encoding := strings.ToLower(strings.TrimSpace(resp.Header.Get("Content-Encoding"))); encoding {
	case "", "identity", "gzip", "x-gzip":
		magic, err := src.Peek(2)
		if err != nil && err != io.EOF {
			return nil, err
		}
		zipped := bytes.Equal(magic, []byte("\x1f\x8b"))
		if !zipped {
			if strings.HasSuffix(encoding, "gzip") && len(magic) > 0 {
				return nil, gzip.ErrHeader
			}
			return io.ReadAll(io.LimitReader(src, MaxBytes+1))
		}
		text, err := gzip.NewReader(src)
		if err != nil {
			return nil, err
		}
		return io.ReadAll(io.LimitReader(text, MaxBytes+1))
	default:
		return nil, fmt.Errorf("content encoding %q is not known", shown(encoding))
	}
}

// looksHTML reports whether a body is a web page where a robots.txt should be.
func looksHTML(contentType string, body []byte) bool {
	if strings.Contains(strings.ToLower(contentType), "html") {
		return true
	}
	head := bytes.ToLower(bytes.TrimSpace(body[:min(len(body), 256)]))
	return bytes.HasPrefix(head, []byte("<!doctype")) || bytes.HasPrefix(head, []byte("<html"))
}
