package governor

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxPolicyFile bounds a policy file; the template has 6 kB.
const maxPolicyFile = 1 << 20

// ParsePolicy reads a policy file. Keys that it leaves out keep the value of the
// preset it names with preset: NAME, or of [DefaultPolicy].
//
// It is strict: an unknown key, a key written twice, an impossible value or a
// protection switched off by half is an error, and all of them are returned at
// once as a [*PolicyError]. Name stands in the errors only.
func ParsePolicy(name string, data []byte) (Policy, error) {
	f := policyFile{places: map[string]*yaml.Node{}, policy: DefaultPolicy()}
	f.parse(data)
	f.validate()
	if len(f.err.Problems) > 0 {
		f.err.File = name
		slices.SortStableFunc(f.err.Problems, func(a, b Problem) int {
			if a.Line != b.Line {
				return a.Line - b.Line
			}
			return a.Column - b.Column
		})
		return Policy{}, &f.err
	}
	f.policy.places = newPlaces(name, f.places)
	return f.policy, nil
}

// policyFile is a policy file while it is read.
type policyFile struct {
	policy Policy
	places map[string]*yaml.Node // where each key's value stands
	err    PolicyError
}

// parse reads the file into f.policy.
func (f *policyFile) parse(data []byte) {
	if len(data) > maxPolicyFile {
		f.problem(nil, "", "expected at most %d bytes", maxPolicyFile)
		return
	}
	root, err := decodeYAML(data)
	if err != nil {
		f.syntax(err)
		return
	}
	if root == nil { // nothing but comments
		return
	}
	if preset := yamlField(root, "preset"); preset != nil {
		p, err := Preset(preset.Value)
		if err != nil || preset.Kind != yaml.ScalarNode {
			f.problem(preset, "preset", "expected %s%s", oneOf(Presets()), didYouMean(preset.Value, Presets()))
		} else {
			f.policy = p
		}
	}
	leaves := map[string]func(*yaml.Node, string){
		"preset": func(*yaml.Node, string) {}, // read above: it comes before all others wherever it stands
		"hosts":  f.hosts,
	}
	for _, s := range settings() {
		leaves[s.path] = func(n *yaml.Node, key string) { f.setting(s, n, key) }
	}
	f.mapping(root, "", "", leaves)
}

// validate adds what is wrong with the values, at the places where they stand. It
// is silent about what could not be read, and about what should agree with that.
func (f *policyFile) validate() {
	unread := map[string]bool{}
	for _, p := range f.err.Problems {
		unread[p.Key] = true
	}
	partner := map[string]string{"jitter.min": "jitter.max", "backoff.base": "backoff.max"}
	for _, p := range f.policy.problems() {
		silent := unread[partner[p.Key]]
		for key := p.Key; key != ""; key = parentKey(key) {
			silent = silent || unread[key]
		}
		if !silent {
			f.problem(f.place(p.Key), p.Key, "%s", p.Text)
		}
	}
}

// parentKey returns the key that holds another: hosts[0] for hosts[0].match.
func parentKey(key string) string { return key[:max(0, strings.LastIndexAny(key, ".["))] }

// place returns where a key, or what holds it, stands in the file.
func (f *policyFile) place(key string) *yaml.Node {
	for ; key != ""; key = parentKey(key) {
		if n := f.places[key]; n != nil {
			return n
		}
	}
	return nil
}

// problem adds what is wrong at a node, or with the file as a whole.
func (f *policyFile) problem(n *yaml.Node, key, format string, args ...any) {
	p := Problem{Line: 1, Column: 1, Key: key, Text: fmt.Sprintf(format, args...)}
	if n != nil {
		p.Line, p.Column = n.Line, n.Column
	}
	f.err.Problems = append(f.err.Problems, p)
}

// syntax adds an error of the YAML reader, which writes "yaml: line 3: what".
func (f *policyFile) syntax(err error) {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	line := 1
	if rest, ok := strings.CutPrefix(text, "line "); ok {
		if number, what, ok := strings.Cut(rest, ": "); ok {
			if n, err := strconv.Atoi(number); err == nil && n > 0 {
				line, text = n, what
			}
		}
	}
	f.err.Problems = append(f.err.Problems, Problem{Line: line, Column: 1, Text: "not YAML: " + text})
}

// mapping reads the keys of a mapping. Leaves are the readers of all keys there
// are, by path; path is the mapping's own, key the same with the index of the
// list element it is in.
func (f *policyFile) mapping(n *yaml.Node, path, key string, leaves map[string]func(*yaml.Node, string)) {
	n = yamlResolve(n)
	if n.Kind != yaml.MappingNode {
		if !yamlEmpty(n) { // a section whose keys are all commented out is fine
			f.problem(n, key, "expected keys and values%s", expectedKeys(path, leaves))
		}
		return
	}
	seen := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		name, value := n.Content[i], yamlResolve(n.Content[i+1])
		sub, where := joinPath(path, name.Value), joinPath(key, name.Value)
		if line, ok := seen[name.Value]; ok {
			f.problem(name, where, "expected once: it stands in line %d already", line)
			continue
		}
		seen[name.Value] = name.Line
		// The value's place is the key's, which also exists where the value is empty.
		f.places[where] = n.Content[i+1]
		switch read := leaves[sub]; {
		case name.Kind == yaml.ScalarNode && read != nil:
			read(value, where)
		case name.Kind == yaml.ScalarNode && hasChildren(sub, leaves):
			f.mapping(value, sub, where, leaves)
		default:
			f.problem(name, where, "unknown key%s%s", didYouMean(name.Value, childKeys(path, leaves)), expectedKeys(path, leaves))
		}
	}
}

// setting reads the value of a key.
func (f *policyFile) setting(s setting, n *yaml.Node, key string) {
	value, ok := yamlScalar(n)
	switch {
	case s.list && n.Kind == yaml.SequenceNode:
		elements := make([]string, 0, len(n.Content))
		for i, e := range n.Content {
			e = yamlResolve(e)
			element, ok := yamlScalar(e)
			if !ok || element == "" || strings.Contains(element, ",") {
				f.problem(e, fmt.Sprintf("%s[%d]", key, i), "expected a name")
				return
			}
			f.places[fmt.Sprintf("%s[%d]", key, i)] = e
			elements = append(elements, element)
		}
		value = strings.Join(elements, ",")
	case s.list && yamlEmpty(n):
		value = ""
	case s.list:
		f.problem(n, key, "expected a list, like [a, b]")
		return
	case !ok:
		f.problem(n, key, "expected %s", s.values)
		return
	}
	if err := s.set(&f.policy, value); err != nil {
		f.problem(n, key, "%s", err)
	}
}

// hosts reads the list of exceptions.
func (f *policyFile) hosts(n *yaml.Node, key string) {
	f.policy.Hosts = nil
	if yamlEmpty(n) {
		return
	}
	if n.Kind != yaml.SequenceNode {
		f.problem(n, key, "expected a list of exceptions, like - {match: shop.example, deny: true}")
		return
	}
	for i, e := range n.Content {
		e = yamlResolve(e)
		where := fmt.Sprintf("%s[%d]", key, i)
		f.places[where] = e
		if e.Kind != yaml.MappingNode {
			f.problem(e, where, "expected keys and values, like {match: shop.example, deny: true}")
			f.policy.Hosts = append(f.policy.Hosts, HostRule{}) // keeps the index of those that follow
			continue
		}
		var rule HostRule
		leaves := map[string]func(*yaml.Node, string){}
		for _, s := range ruleSettings() {
			leaves[s.path] = func(n *yaml.Node, key string) {
				value, ok := yamlScalar(n)
				if !ok {
					f.problem(n, key, "expected %s", s.values)
				} else if err := s.set(&rule, value); err != nil {
					f.problem(n, key, "%s", err)
				}
			}
		}
		f.mapping(e, "", where, leaves)
		f.policy.Hosts = append(f.policy.Hosts, rule)
	}
}

// decodeYAML returns the top node of the one document in data, nil when there is none.
func decodeYAML(data []byte) (*yaml.Node, error) {
	d := yaml.NewDecoder(bytes.NewReader(data))
	var doc, more yaml.Node
	switch err := d.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return nil, nil
	case err != nil:
		return nil, err
	}
	switch err := d.Decode(&more); {
	case err == nil:
		return nil, fmt.Errorf("yaml: line %d: a second document begins", max(1, more.Line))
	case !errors.Is(err, io.EOF):
		return nil, err
	}
	if len(doc.Content) == 0 {
		return nil, nil
	}
	if root := yamlResolve(doc.Content[0]); !yamlEmpty(root) {
		return root, nil
	}
	return nil, nil
}

// yamlResolve follows an alias to what it stands for.
func yamlResolve(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode && n.Alias != nil {
		return n.Alias
	}
	return n
}

// yamlEmpty reports whether nothing stands where a value could.
func yamlEmpty(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!null" }

// yamlScalar returns the value of a node that holds a single one.
func yamlScalar(n *yaml.Node) (string, bool) {
	return n.Value, n.Kind == yaml.ScalarNode && !yamlEmpty(n)
}

// yamlField returns the value of a key of a mapping, nil when there is none.
func yamlField(n *yaml.Node, key string) *yaml.Node {
	if n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return yamlResolve(n.Content[i+1])
		}
	}
	return nil
}

// hasChildren reports whether path holds keys.
func hasChildren(path string, leaves map[string]func(*yaml.Node, string)) bool {
	return len(childKeys(path, leaves)) > 0
}

// childKeys returns the names directly below path, sorted.
func childKeys(path string, leaves map[string]func(*yaml.Node, string)) []string {
	var names []string
	for leaf := range leaves {
		rest, ok := leaf, true
		if path != "" {
			rest, ok = strings.CutPrefix(leaf, path+".")
		}
		if name, _, _ := strings.Cut(rest, "."); ok && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// expectedKeys says which keys may stand where an unknown one does.
func expectedKeys(path string, leaves map[string]func(*yaml.Node, string)) string {
	return "; expected " + oneOf(childKeys(path, leaves))
}

func joinPath(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
