package governor_test

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"browsergovernor/governor"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

// golden compares got with a file, or writes it with -update.
func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s is not up to date; go test -run '%s' -update writes it. Got:\n%s", file, t.Name(), got)
	}
}

// Each broken file of testdata/policy has its errors beside it, in the words and
// the places a person is shown.
func TestBrokenPolicies(t *testing.T) {
	files, err := filepath.Glob("testdata/policy/*.yaml")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			p, err := governor.ParsePolicy(filepath.Base(file), data)
			var broken *governor.PolicyError
			if !errors.As(err, &broken) {
				t.Fatalf("no *PolicyError but %v", err)
			}
			if !reflect.DeepEqual(p, governor.Policy{}) {
				t.Error("a broken file yields a policy")
			}
			golden(t, strings.TrimSuffix(file, ".yaml")+".err", err.Error()+"\n")
		})
	}
}

func TestParsePolicyKeepsThePreset(t *testing.T) {
	for _, c := range []struct{ file, preset string }{
		{"", "polite"},
		{"# nothing\n", "polite"},
		{"---\n", "polite"},
		{"caps:\n  # all commented out\nhosts:\ni_accept:\n", "polite"},
		{"preset: careful", "careful"},
		{"version: 1\npreset: harness\n", "harness"},
	} {
		want, err := governor.Preset(c.preset)
		if err != nil {
			t.Fatal(err)
		}
		got, err := governor.ParsePolicy("p.yaml", []byte(c.file))
		if err != nil || !reflect.DeepEqual(got.Unplaced(), want) {
			t.Errorf("%q: %v\n got %+v\nwant %+v", c.file, err, got, want)
		}
	}
	// The preset comes first wherever it stands, and a list replaces the preset's.
	p, err := governor.ParsePolicy("p.yaml", []byte("caps: {total: 7}\nrobots: {skip_hosts: []}\npreset: harness\n"))
	if err != nil || p.Caps.Total != 7 || p.Caps.Interactions != 0 || len(p.Robots.SkipHosts) != 0 || p.Interactions.Burst != 50 {
		t.Errorf("%+v, %v", p, err)
	}
	p, err = governor.ParsePolicy("p.yaml", []byte("jitter: &j {min: 1s, max: 1s}\nidentity: off\nrobots: {mode: off}\ni_accept: [identity_off, robots_off]\n"))
	if err != nil || p.Identity != governor.Off || p.Robots.Mode != governor.RobotsOff {
		t.Errorf("%+v, %v", p, err)
	}
}

func TestPolicyTemplate(t *testing.T) {
	for _, name := range governor.Presets() {
		want, _ := governor.Preset(name)
		text := governor.PolicyTemplate(name)
		got, err := governor.ParsePolicy(name, []byte(text))
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		if !reflect.DeepEqual(got.Unplaced(), want) {
			t.Errorf("%s:\n got %+v\nwant %+v", name, got, want)
		}
		// Without the preset line it is still the preset: every key is there.
		if got, err := governor.ParsePolicy(name, []byte(strings.Replace(text, "preset: "+name, "preset: polite", 1))); err != nil || !reflect.DeepEqual(got.Unplaced(), want) {
			t.Errorf("%s leaves keys out: %v", name, err)
		}
	}
	if governor.PolicyTemplate("no such preset") != governor.PolicyTemplate("polite") {
		t.Error("an unknown name is the default preset")
	}
	// The example of hosts is a policy too once its comment signs are gone.
	_, example, _ := strings.Cut(governor.PolicyTemplate("polite"), "# hosts:\n")
	example, _, _ = strings.Cut(example, "hosts: []")
	example = "hosts:\n" + strings.ReplaceAll("\n"+example, "\n# ", "\n")
	p, err := governor.ParsePolicy("example", []byte(example))
	if err != nil || len(p.Hosts) != 1 || p.Hosts[0].Match != "shop.example" || p.Hosts[0].Interactions == nil || p.Hosts[0].HostTotal == nil {
		t.Errorf("%v in\n%s", err, example)
	}
}

// docs/policy.md is written from the same list of keys as everything else.
func TestPolicyReference(t *testing.T) {
	golden(t, "../docs/policy.md", governor.PolicyReference())
}

func FuzzParsePolicy(f *testing.F) {
	for _, name := range governor.Presets() {
		f.Add([]byte(governor.PolicyTemplate(name)))
	}
	files, _ := filepath.Glob("testdata/policy/*.yaml")
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte("a: &a [*a]\nhosts: *a\ncaps: *a"))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := governor.ParsePolicy("f", data)
		var broken *governor.PolicyError
		switch {
		case err == nil:
			if err := p.Validate(); err != nil {
				t.Errorf("parsed, but: %v", err)
			}
		case !errors.As(err, &broken):
			t.Errorf("%T: %v", err, err)
		default:
			for _, problem := range broken.Problems {
				if problem.Line < 1 || problem.Column < 1 || problem.Text == "" {
					t.Errorf("%+v", problem)
				}
			}
		}
	})
}
