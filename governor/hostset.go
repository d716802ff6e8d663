package governor

import "strings"

// hostSet is a list of host patterns made ready for lookup: the time it takes
// depends on the dots in the host, not on the length of the list. The zero value
// is the empty list. It is immutable and therefore safe for concurrent use.
type hostSet struct {
	exact map[string]int // "shop.example", "shop.example:8080"
	below map[string]int // ".example" for "*.example"
	all   int            // where "*" stands, from 1; 0: nowhere
	size  int
}

// newHostSet compiles patterns that [hostPatternProblem] finds nothing wrong with.
func newHostSet(patterns []string) hostSet {
	s := hostSet{exact: map[string]int{}, below: map[string]int{}, size: len(patterns)}
	for i, p := range patterns {
		in, name := s.exact, p
		if suffix, ok := strings.CutPrefix(p, "*"); ok {
			in, name = s.below, suffix
		}
		switch _, again := in[name]; {
		case p == "*" && s.all == 0:
			s.all = i + 1
		case p != "*" && !again:
			in[name] = i + 1
		}
	}
	return s
}

// find returns the place in the list of the first pattern that means a host, with
// or without port, or -1. It agrees with [matchHost].
func (s *hostSet) find(host string) int {
	if s.size == 0 {
		return -1
	}
	first := s.all
	better := func(at int) {
		if at != 0 && (first == 0 || at < first) {
			first = at
		}
	}
	name, port := cutPort(host)
	better(s.exact[host])
	if port != "" {
		better(s.exact[name])
	}
	if len(s.below) > 0 {
		for i := 1; i < len(name); i++ {
			if name[i] != '.' {
				continue
			}
			better(s.below[name[i:]])
			if port != "" {
				better(s.below[host[i:]])
			}
		}
	}
	return first - 1
}
