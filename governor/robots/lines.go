package robots

import (
	"bytes"
	"encoding/binary"
	"strings"
	"unicode/utf16"
)

const (
	// MaxBytes is how much of a file is read. RFC 9309 2.5 asks for at least
	// 500 KiB.
	MaxBytes = 500 << 10

	// maxLine is how much of one line is read, in bytes; Google's library
	// stops at about the same place (8 times a 2083 character URL).
	maxLine = 16 << 10
)

// decodeText removes a byte order mark, turns UTF-16 into UTF-8 and cuts the
// text at MaxBytes, on a line end. It reports whether it cut.
func decodeText(body []byte) (text string, cut bool) {
	switch {
	case bytes.HasPrefix(body, []byte("\xff\xfe")):
		body = fromUTF16(body[2:], binary.LittleEndian)
	case bytes.HasPrefix(body, []byte("\xfe\xff")):
		body = fromUTF16(body[2:], binary.BigEndian)
	default:
		// A cut mark is skipped too, as Google's library does.
		for _, b := range []byte("\xef\xbb\xbf") {
			if len(body) == 0 || body[0] != b {
				break
			}
			body = body[1:]
		}
	}
	if len(body) <= MaxBytes {
		return string(body), false
	}
	body = body[:MaxBytes]
	// A last line longer than maxLine would have been cut anyway.
	if i := bytes.LastIndexAny(body, "\r\n"); len(body)-i <= maxLine {
		body = body[:i+1]
	}
	return string(body), true
}

func fromUTF16(b []byte, order binary.ByteOrder) []byte {
	if len(b) > MaxBytes*2+2 {
		b = b[:MaxBytes*2+2]
	}
	units := make([]uint16, 0, len(b)/2)
	for ; len(b) >= 2; b = b[2:] {
		units = append(units, order.Uint16(b))
	}
	return []byte(string(utf16.Decode(units)))
}

// nextLine splits the first line off text. Lines end at LF, CR or CR LF.
func nextLine(text string) (line, rest string) {
	i := strings.IndexAny(text, "\r\n")
	if i < 0 {
		return text, ""
	}
	line, rest = text[:i], text[i+1:]
	if text[i] == '\r' && strings.HasPrefix(rest, "\n") {
		rest = rest[1:]
	}
	return line, rest
}

// splitLine takes a line apart. ok is false when the line holds no record:
// blank, a comment, or no colon and not exactly two words.
func splitLine(line string) (key, value string, ok bool) {
	if i := strings.IndexByte(line, 0); i >= 0 {
		line = line[:i]
	}
	if i := strings.IndexByte(line, '#'); i >= 0 {
		line = line[:i]
	}
	line = trimBlanks(line)
	key, value, ok = strings.Cut(line, ":")
	if ok {
		return trimBlanks(key), trimBlanks(value), true
	}
	i := strings.IndexAny(line, blanks)
	if i < 0 {
		return line, "", false
	}
	key, value = line[:i], trimBlanks(line[i:])
	return key, value, !strings.ContainsAny(value, blanks)
}

// blanks are the ASCII blanks; Unicode ones belong to the value.
const blanks = " \t\v\f"

func trimBlanks(s string) string { return strings.Trim(s, blanks) }

type field uint8

const (
	fieldOther field = iota
	fieldAgent
	fieldAllow
	fieldDisallow
	fieldDelay
	fieldSignal // kept and shown, changes nothing
)

// fieldOf names a record. Names that begin like a known one count
// (user-agents, disallowed), and so do the misspellings Google accepts.
func fieldOf(key string) field {
	switch {
	case hasAnyPrefixFold(key, "user-agent", "useragent", "user agent"):
		return fieldAgent
	case hasAnyPrefixFold(key, "allow"):
		return fieldAllow
	case hasAnyPrefixFold(key, "disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw"):
		return fieldDisallow
	case strings.EqualFold(key, "crawl-delay"), strings.EqualFold(key, "crawldelay"):
		return fieldDelay
	case hasAnyPrefixFold(key, "sitemap", "site-map", "request-rate", "visit-time", "noindex", "host",
		"clean-param", "content-signal", "content-usage", "license"):
		return fieldSignal
	}
	return fieldOther
}

func hasAnyPrefixFold(s string, prefixes ...string) bool {
	for _, p := range prefixes {
		if len(s) >= len(p) && strings.EqualFold(s[:len(p)], p) {
			return true
		}
	}
	return false
}
