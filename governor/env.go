package governor

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// envPrefix begins the names of all variables of the program.
const envPrefix = "BROWSER_GOVERNOR_"

// EnvName returns the environment variable of a policy key:
// BROWSER_GOVERNOR_CAPS_TOTAL for caps.total.
func EnvName(path string) string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(path, ".", "_"))
}

// ApplyEnv returns the policy with the keys that an environment ("NAME=value",
// as from os.Environ) sets: BROWSER_GOVERNOR_INTERACTIONS_RATE=6/minute. An empty
// value counts: it empties a text or a list.
//
// A name that must have been meant for the policy and is none of its keys is an
// error, because a limit that is misspelt would silently not hold. Other names
// are the program's. All errors are returned together. As with [Policy.Set],
// keys are not compared with each other.
func (p Policy) ApplyEnv(environ []string) (Policy, error) {
	paths := map[string]string{EnvName("hosts"): "hosts"}
	names := []string{EnvName("hosts")}
	for _, s := range settings() {
		paths[EnvName(s.path)] = s.path
		names = append(names, EnvName(s.path))
	}
	next := p
	var errs []error
	for _, variable := range sortedEnv(environ) {
		name, value, ok := strings.Cut(variable, "=")
		if !ok || !strings.HasPrefix(name, envPrefix) {
			continue
		}
		path, known := paths[name]
		if !known {
			if hint, meant := policyVariable(name, names); meant {
				errs = append(errs, fmt.Errorf("%s: no such policy key%s", name, hint))
			}
			continue
		}
		set, err := next.Set(path, value)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", name, err))
			continue
		}
		next = set
	}
	if len(errs) > 0 {
		return p, errors.Join(errs...)
	}
	return next, nil
}

// policyVariable reports whether an unknown name was meant for the policy: it
// says so, it begins like a section, or it is nearly a name there is.
func policyVariable(name string, names []string) (hint string, meant bool) {
	if rest, ok := strings.CutPrefix(name, envPrefix+"POLICY_"); ok {
		if slices.Contains(names, envPrefix+rest) {
			return fmt.Sprintf(" (did you mean %s?)", envPrefix+rest), true
		}
		return didYouMeanVariable(envPrefix+rest, names), true
	}
	hint = didYouMeanVariable(name, names)
	for _, s := range settings() {
		if section, _, ok := strings.Cut(s.path, "."); ok && strings.HasPrefix(name, EnvName(section)+"_") {
			return hint, true
		}
	}
	return hint, hint != ""
}

// didYouMeanVariable compares names without the beginning they share.
func didYouMeanVariable(name string, names []string) string {
	lower := make([]string, len(names))
	for i, n := range names {
		lower[i] = strings.ToLower(strings.TrimPrefix(n, envPrefix))
	}
	hint := didYouMean(strings.TrimPrefix(name, envPrefix), lower)
	for i, l := range lower {
		if hint == fmt.Sprintf(" (did you mean %s?)", l) {
			return fmt.Sprintf(" (did you mean %s?)", names[i])
		}
	}
	return ""
}

// sortedEnv returns the variables in an order that does not depend on the system,
// so that errors come in the same order everywhere.
func sortedEnv(environ []string) []string {
	list := slices.Clone(environ)
	slices.Sort(list)
	return list
}
