package robots

import (
	"fmt"
	"strings"
)

// Caps on what a File keeps for people to read.
const (
	maxWarnings = 50
	maxRecords  = 100
	maxShown    = 200 // bytes of a value
)

// A Warning is something odd about a file that did not stop it being read.
type Warning struct {
	Line int // 1 is the first; 0 is the file as a whole
	Text string
}

func (w Warning) String() string {
	if w.Line == 0 {
		return w.Text
	}
	return fmt.Sprintf("line %d: %s", w.Line, w.Text)
}

// A Record is a line that says nothing about access but is worth showing:
// Sitemap, Content-Signal, Request-rate, License and the like.
type Record struct {
	Line       int
	Key, Value string
}

// File is a robots.txt as read. It is immutable and safe for concurrent use.
type File struct {
	// One flat list of each sort, groups hold ranges of them: 36,000 groups in
	// 500 KiB must not cost 36,000 small slices.
	names    []string
	lines    []ruleLine
	delays   []delayLine
	groups   []group
	warnings []Warning
	records  []Record
}

// ruleLine is an allow or disallow line with a value.
type ruleLine struct {
	value string
	line  int32
	allow bool
}

type delayLine struct {
	delay float64 // seconds
	names int32   // end of the names above the line: those below it are not meant
}

type group struct {
	names, lines, delays int32 // where its parts begin; they end where the next group's begin
}

// Parse reads a robots.txt. It never fails: what cannot be understood is left
// out and named in the warnings. Bytes after MaxBytes are not read.
func Parse(body []byte) *File {
	text, cut := decodeText(body)
	f := &File{}
	if cut {
		f.warn(0, "only the first %d KiB are read", MaxBytes>>10)
	}
	r := reader{File: f}
	for n := 1; text != ""; n++ {
		var line string
		line, text = nextLine(text)
		r.line(n, line)
	}
	return f
}

// Warnings lists what was odd, the first 50.
func (f *File) Warnings() []Warning { return f.warnings }

// Records lists the lines that say nothing about access, the first 100.
func (f *File) Records() []Record { return f.records }

func (f *File) warn(line int, format string, args ...any) {
	if len(f.warnings) < maxWarnings {
		f.warnings = append(f.warnings, Warning{line, fmt.Sprintf(format, args...)})
	}
}

// reader keeps what matters from one line to the next.
type reader struct {
	*File
	closed bool // the open group has a rule line: the next user-agent line starts a group
	joined bool // the last line of the open group was a crawl-delay
}

func (r *reader) line(n int, line string) {
	long := len(line) > maxLine
	if long {
		line = line[:maxLine]
	}
	key, value, ok := splitLine(line)
	if !ok {
		if key != "" {
			r.warn(n, "not understood: %s", shown(line))
		}
		return
	}
	what := fieldOf(key)
	if long && what != fieldOther {
		r.warn(n, "only the first %d KiB of the line are read", maxLine>>10)
	}
	switch what {
	case fieldAgent:
		r.agent(n, value)
	case fieldAllow, fieldDisallow:
		r.rule(n, what == fieldAllow, value, long)
	case fieldDelay:
		r.delay(n, value)
	case fieldSignal:
		if len(r.records) < maxRecords {
			r.records = append(r.records, Record{n, shown(key), shown(value)})
		}
	default:
		r.warn(n, "unknown record %q", shown(key))
	}
}

func (r *reader) agent(n int, value string) {
	if r.closed || len(r.groups) == 0 {
		r.groups = append(r.groups, group{int32(len(r.names)), int32(len(r.lines)), int32(len(r.delays))})
		r.closed = false
	} else if r.joined {
		r.warn(n, "this group also holds the names above the crawl-delay, as a crawl-delay does not end a group")
	}
	r.joined = false
	name := agentName(value)
	if name == "" {
		r.warn(n, "user-agent names nobody: %s", shown(value))
		return
	}
	r.names = append(r.names, name)
}

// agentName is the product token of a user-agent line, "*" for everybody, ""
// for a line that names nobody.
func agentName(value string) string {
	if value == "*" || len(value) > 1 && value[0] == '*' && strings.IndexByte(blanks, value[1]) >= 0 {
		return "*"
	}
	return value[:tokenLen(value)]
}

func (r *reader) rule(n int, allow bool, value string, long bool) {
	if len(r.groups) == 0 {
		r.warn(n, "rule before the first user-agent line")
		return
	}
	r.closed, r.joined = true, false
	if long {
		// A cut rule matches more than the whole one. That errs on the strict
		// side for a disallow line only.
		if allow {
			r.warn(n, "allow line longer than %d KiB is left out", maxLine>>10)
			return
		}
		value = strings.TrimRight(value, "$")
	}
	if value == "" {
		return
	}
	if value[0] != '/' && value[0] != '*' {
		r.warn(n, "rule matches nothing, as it starts with neither / nor *: %s", shown(value))
		return
	}
	r.lines = append(r.lines, ruleLine{value, int32(n), allow})
}

func (r *reader) delay(n int, value string) {
	if len(r.groups) == 0 {
		r.warn(n, "crawl-delay before the first user-agent line")
		return
	}
	d, ok := parseDelay(value)
	if !ok {
		r.warn(n, "crawl-delay is not a number of seconds: %s", shown(value))
		return
	}
	r.joined = !r.closed
	r.delays = append(r.delays, delayLine{d, int32(len(r.names))})
}

// span is a group with the ends of its ranges.
func (f *File) span(i int) (g, end group) {
	g = f.groups[i]
	if i+1 < len(f.groups) {
		return g, f.groups[i+1]
	}
	return g, group{int32(len(f.names)), int32(len(f.lines)), int32(len(f.delays))}
}

// shown makes a value fit to be printed on one line.
func shown(s string) string {
	cut := len(s) > maxShown
	if cut {
		s = s[:maxShown]
	}
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == '\u2028' || r == '\u2029' {
			return '?'
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
	if cut {
		s += "…"
	}
	return strings.Clone(s)
}
