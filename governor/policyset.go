package governor

import (
	"fmt"

	"go.yaml.in/yaml/v3"
)

// Set returns the policy with one key set: Set("caps.total", "100"). The value
// is what would stand in a file; elements of a list are parted by commas, hosts
// is written as in YAML: [{match: shop.example, deny: true}].
//
// The value itself is checked. Whether the keys agree with each other is for
// [Policy.Validate], once all are set.
func (p Policy) Set(path, value string) (Policy, error) {
	if path == "hosts" {
		return p.setHosts(value)
	}
	paths := []string{"hosts"}
	for _, s := range settings() {
		paths = append(paths, s.path)
		if s.path != path {
			continue
		}
		next := p
		next.places = p.places.forget(path)
		if err := s.set(&next, value); err != nil {
			return p, fmt.Errorf("%s: %w", path, err)
		}
		if text := s.check(&next); text != "" {
			return p, fmt.Errorf("%s: %s", path, text)
		}
		return next, nil
	}
	return p, fmt.Errorf("%s: unknown key%s", path, didYouMean(path, paths))
}

// setHosts replaces the exceptions.
func (p Policy) setHosts(value string) (Policy, error) {
	f := policyFile{places: map[string]*yaml.Node{}, policy: p}
	f.policy.places = p.places.forget("hosts")
	root, err := decodeYAML([]byte(value))
	switch {
	case err != nil:
		return p, fmt.Errorf("hosts: %w", err)
	case root == nil:
		f.policy.Hosts = nil
	default:
		f.hosts(root, "hosts")
	}
	if f.err.Problems == nil {
		f.policy.ruleProblems(func(key, format string, args ...any) { f.problem(f.place(key), key, format, args...) })
	}
	if len(f.err.Problems) > 0 {
		first := f.err.Problems[0]
		return p, fmt.Errorf("%s: %s", first.Key, first.Text)
	}
	return f.policy, nil
}
