package actions

import (
	"bytes"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// The readers of this file take CDP parameters apart the way Chrome does, which
// is not quite the way encoding/json does: names match in their exact case, of
// two fields with one name the last counts, and comments are skipped. A client
// that could make the two readers disagree could send a click that is not seen.

// eachField calls f with the name and the raw value of every field of the JSON
// object in data. It reports whether data is an object as far as it looked:
// values are passed over, not checked. Empty data is an object without fields.
func eachField(data []byte, f func(name, value []byte)) bool {
	i := skipSpace(data, 0)
	if i == len(data) {
		return true
	}
	end, ok := object(data, i, func(name []byte, i int) (int, bool) {
		end, ok := skipValue(data, i)
		if ok {
			f(name, data[i:end])
		}
		return end, ok
	})
	return ok && skipSpace(data, end) == len(data)
}

// object walks the object that starts at i and returns the index behind it. For
// every field it calls f with the name and the index of the value; f returns the
// index behind the value, which lets nested objects be read in a single pass.
func object(data []byte, i int, f func(name []byte, i int) (end int, ok bool)) (end int, ok bool) {
	if i >= len(data) || data[i] != '{' {
		return i, false
	}
	i = skipSpace(data, i+1)
	if i < len(data) && data[i] == '}' {
		return i + 1, true
	}
	for {
		if i >= len(data) || data[i] != '"' {
			return i, false
		}
		end, ok := skipString(data, i)
		if !ok {
			return end, false
		}
		name := data[i+1 : end-1]
		if bytes.IndexByte(name, '\\') >= 0 {
			name = []byte(unescape(name))
		}
		i = skipSpace(data, end)
		if i >= len(data) || data[i] != ':' {
			return i, false
		}
		i, ok = f(name, skipSpace(data, i+1))
		if !ok {
			return i, false
		}
		i = skipSpace(data, i)
		if i >= len(data) {
			return i, false
		}
		switch data[i] {
		case ',':
			i = skipSpace(data, i+1)
		case '}':
			return i + 1, true
		default:
			return i, false
		}
	}
}

// eachElement calls f with the raw value of every element of the JSON array in
// data, and reports whether data is an array as far as it looked.
func eachElement(data []byte, f func(value []byte)) bool {
	i := skipSpace(data, 0)
	if i >= len(data) || data[i] != '[' {
		return false
	}
	i = skipSpace(data, i+1)
	if i < len(data) && data[i] == ']' {
		return true
	}
	for {
		end, ok := skipValue(data, i)
		if !ok {
			return false
		}
		f(data[i:end])
		i = skipSpace(data, end)
		if i >= len(data) {
			return false
		}
		switch data[i] {
		case ',':
			i = skipSpace(data, i+1)
		case ']':
			return true
		default:
			return false
		}
	}
}

// skipSpace returns the index of the first byte at or after i that is neither
// white space nor in a comment.
func skipSpace(data []byte, i int) int {
	for i < len(data) {
		switch data[i] {
		case ' ', '\t', '\n', '\r':
			i++
		case '/':
			end := skipComment(data, i)
			if end == i {
				return i
			}
			i = end
		default:
			return i
		}
	}
	return i
}

// skipComment returns the index behind the comment that starts at i, or i when
// none does.
func skipComment(data []byte, i int) int {
	if i+1 >= len(data) {
		return i
	}
	switch data[i+1] {
	case '/':
		if n := bytes.IndexByte(data[i:], '\n'); n >= 0 {
			return i + n + 1
		}
		return len(data)
	case '*':
		if n := bytes.Index(data[i+2:], []byte("*/")); n >= 0 {
			return i + 2 + n + 2
		}
	}
	return i
}

// skipString returns the index behind the string whose opening quote is at i.
func skipString(data []byte, i int) (int, bool) {
	for from := i + 1; ; {
		n := bytes.IndexByte(data[from:], '"')
		if n < 0 {
			return len(data), false
		}
		quote := from + n
		back := quote
		for back > from && data[back-1] == '\\' {
			back--
		}
		if (quote-back)%2 == 0 {
			return quote + 1, true
		}
		from = quote + 1
	}
}

// skipValue returns the index behind the value that starts at i.
func skipValue(data []byte, i int) (int, bool) {
	if i >= len(data) {
		return i, false
	}
	switch data[i] {
	case '"':
		return skipString(data, i)
	case '{', '[':
		return skipNested(data, i)
	}
	start := i
	for i < len(data) {
		switch data[i] {
		case ',', '}', ']', ' ', '\t', '\n', '\r', '/', '"', '{', '[', ':':
			return i, i > start
		}
		i++
	}
	return i, i > start
}

// skipNested returns the index behind the object or array that starts at i. It
// counts brackets instead of calling itself, so depth costs no stack.
func skipNested(data []byte, i int) (int, bool) {
	depth := 0
	for i < len(data) {
		switch data[i] {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
			if depth == 0 {
				return i + 1, true
			}
		case '"':
			end, ok := skipString(data, i)
			if !ok {
				return end, false
			}
			i = end
			continue
		case '/':
			if end := skipComment(data, i); end > i {
				i = end
				continue
			}
		}
		i++
	}
	return i, false
}

// rawString returns the bytes between the quotes of a string without escapes.
func rawString(value []byte) ([]byte, bool) {
	if len(value) < 2 || value[0] != '"' || value[len(value)-1] != '"' {
		return nil, false
	}
	value = value[1 : len(value)-1]
	return value, bytes.IndexByte(value, '\\') < 0
}

// text returns the string that value spells, "" when it is not a string.
func text(value []byte) string {
	s, plain := rawString(value)
	if plain || len(s) == 0 {
		return string(s)
	}
	return unescape(s)
}

// number returns the number that value spells, 0 when it is not one.
func number(value []byte) float64 {
	n, err := strconv.ParseFloat(string(value), 64)
	if err != nil || n != n {
		return 0
	}
	return n
}

// truth reports whether value is true.
func truth(value []byte) bool { return string(value) == "true" }

// null reports whether value is null.
func null(value []byte) bool { return string(value) == "null" }

// unescape resolves the escapes of JSON, and \v, which Chrome takes too.
func unescape(s []byte) string {
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			out = append(out, s[i])
			continue
		}
		i++
		switch s[i] {
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 't':
			out = append(out, '\t')
		case 'v':
			out = append(out, '\v')
		case 'u':
			r, ok := hex4(s, i+1)
			if !ok {
				out = append(out, 'u')
				continue
			}
			i += 4
			if utf16.IsSurrogate(r) {
				low, ok := rune(0), false
				if i+2 < len(s) && s[i+1] == '\\' && s[i+2] == 'u' {
					low, ok = hex4(s, i+3)
				}
				r = utf16.DecodeRune(r, low)
				if ok && r != utf8.RuneError {
					i += 6
				}
			}
			out = utf8.AppendRune(out, r)
		default:
			out = append(out, s[i])
		}
	}
	return string(out)
}

// hex4 reads four hexadecimal digits at i.
func hex4(s []byte, i int) (rune, bool) {
	if i+4 > len(s) {
		return 0, false
	}
	var r rune
	for _, c := range s[i : i+4] {
		d, ok := hexDigit(c)
		if !ok {
			return 0, false
		}
		r = r<<4 | rune(d)
	}
	return r, true
}

func hexDigit(c byte) (byte, bool) {
	switch {
	case '0' <= c && c <= '9':
		return c - '0', true
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10, true
	case 'A' <= c && c <= 'F':
		return c - 'A' + 10, true
	}
	return 0, false
}
