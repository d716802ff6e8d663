package governor

import (
	"fmt"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"
)

// places are the lines of a policy file at which keys and elements of lists
// stand. They are kept so that a refusal can name the line that decided.
type places struct {
	file  string // without directory
	lines map[string]int
}

// newPlaces keeps the lines of nodes, nil when there are none.
func newPlaces(file string, nodes map[string]*yaml.Node) *places {
	p := &places{file: filepath.Base(file), lines: make(map[string]int, len(nodes))}
	for key, n := range nodes {
		p.lines[key] = n.Line
	}
	return p
}

// placeOf returns " (policy.yaml line 12)", or "" for what stands in no file: a
// value of a preset, of the environment or of a flag.
func (p *Policy) placeOf(key string) string {
	if p.places == nil {
		return ""
	}
	line, ok := p.places.lines[key]
	if !ok {
		return ""
	}
	return fmt.Sprintf(" (%s line %d)", clean(p.places.file, 30), line)
}

// forget returns the places without those of a key that was set again elsewhere.
func (p *places) forget(key string) *places {
	if p == nil {
		return nil
	}
	next := &places{file: p.file, lines: make(map[string]int, len(p.lines))}
	for k, line := range p.lines {
		if k != key && !strings.HasPrefix(k, key+"[") {
			next.lines[k] = line
		}
	}
	return next
}
