package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "browsergovernor"

// A rule says what one package of the module may import outside its tests. The
// standard library is allowed unless never names it.
type rule struct {
	own    []string // our packages, relative to the module; "*" is any but cmd
	others []string // modules of others
	never  []string // packages that may not even be imported by what it imports
}

// rules are the arrows of the design: the vocabulary at the bottom, the
// decision above it, Chrome and the log above that, the program on top. A new
// package needs a line here; a new arrow is a decision to write down in
// docs/decisions.
var rules = map[string]rule{
	"actions": {
		others: []string{"github.com/go-json-experiment/json", "golang.org/x/net"},
		never:  []string{"net/http", "os/exec", "github.com/chromedp/chromedp"},
	},
	"governor": {
		own:    []string{"actions", "governor/robots", "governor/limits"},
		others: []string{"golang.org/x/time", "golang.org/x/sync", "golang.org/x/net", "go.yaml.in/yaml/v3"},
		never:  []string{"os/exec", "github.com/chromedp/chromedp", "github.com/redis/go-redis/v9"},
	},
	"governor/robots": {
		others: []string{"github.com/temoto/robotstxt", "golang.org/x/sync", "golang.org/x/net", "golang.org/x/text"},
		never:  []string{"os/exec", "github.com/chromedp/chromedp", "github.com/redis/go-redis/v9"},
	},
	"governor/limits": {
		others: []string{"github.com/dunglas/httpsfv"},
		never:  []string{"os/exec", "net/http/httptest", "github.com/chromedp/chromedp", "github.com/redis/go-redis/v9"},
	},
	"governor/storetest": {
		own: []string{"actions", "governor", "governor/limits"},
	},
	"governor/redisstore": {
		own:    []string{"actions", "governor", "governor/limits"},
		others: []string{"github.com/redis/go-redis/v9", "golang.org/x/time"},
		never:  []string{"os/exec", "github.com/chromedp/chromedp"},
	},
	"audit": {
		own:    []string{"actions", "governor"},
		others: []string{"golang.org/x/sys"},
		never:  []string{"os/exec", "github.com/chromedp/chromedp", "github.com/redis/go-redis/v9"},
	},
	"browser": {
		own: []string{"actions", "governor"},
		others: []string{
			"github.com/chromedp/chromedp", "github.com/chromedp/cdproto", "github.com/coder/websocket",
			"github.com/go-json-experiment/json", "golang.org/x/net", "golang.org/x/sync", "golang.org/x/sys",
		},
		never: []string{"github.com/redis/go-redis/v9"},
	},
	"cmd/browser-governor": {own: []string{"*"}, others: []string{"*"}},
	"examples":             {own: []string{"*"}, others: []string{"*"}},
	"e2e":                  {own: []string{"*"}, others: []string{"*"}},
}

// ruleFor finds the line of a package: its own, or that of the folder above.
// examples and e2e hold programs; an internal folder belongs to its parent.
func ruleFor(name string) (rule, bool) {
	if r, ok := rules[name]; ok {
		return r, true
	}
	top, _, _ := strings.Cut(name, "/")
	if top == "examples" || top == "e2e" {
		return rules[top], true
	}
	if parent, _, found := strings.Cut(name, "/internal/"); found {
		return ruleFor(parent)
	}
	return rule{}, false
}

// goPackage is the part of go list's answer that the rules are about.
type goPackage struct {
	ImportPath string
	Standard   bool
	Module     *struct{ Path string }
	Imports    []string
	Deps       []string
}

func TestArrows(t *testing.T) {
	packages := listPackages(t)
	checked := 0
	for _, p := range packages {
		name, ours := strings.CutPrefix(p.ImportPath, module+"/")
		if !ours {
			continue
		}
		r, ok := ruleFor(name)
		if !ok {
			t.Errorf("package %s has no line in rules: say what it may import", name)
			continue
		}
		checked++
		for _, imported := range p.Imports {
			if why := r.fault(name, packages[imported]); why != "" {
				t.Errorf("%s imports %s: %s", name, imported, why)
			}
		}
		for _, never := range r.never {
			if slices.Contains(p.Deps, never) {
				t.Errorf("%s depends on %s, itself or by what it imports; it must not", name, never)
			}
		}
	}
	if checked == 0 {
		t.Error("no package of the module was checked")
	}
}

// fault says why a package under this rule may not import p, or "".
func (r rule) fault(name string, p *goPackage) string {
	if p == nil || p.Standard {
		return ""
	}
	if own, ours := strings.CutPrefix(p.ImportPath, module+"/"); ours {
		switch {
		case strings.HasPrefix(own, "cmd/"):
			// A program may be split into packages under its own folder.
			if strings.HasPrefix(own, name+"/") {
				return ""
			}
			return "nobody imports the program"
		case strings.HasPrefix(own, name+"/internal/"):
			return ""
		case slices.Contains(r.own, "*"), slices.Contains(r.own, own):
			return ""
		}
		return "not an arrow of the design; allowed: " + strings.Join(r.own, ", ")
	}
	if p.Module == nil || slices.Contains(r.others, "*") || slices.Contains(r.others, p.Module.Path) {
		return ""
	}
	return "module " + p.Module.Path + " is not allowed here; allowed: " + strings.Join(r.others, ", ")
}

// listPackages asks the go command for every package of the module and all they
// depend on, by import path. Test files are left out: tests may import what
// they like. What does not compile is left to the compiler to report.
func listPackages(t *testing.T) map[string]*goPackage {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-e", "-deps", "-json=ImportPath,Standard,Module,Imports,Deps", "./...")
	cmd.Dir = repository(t)
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, complaints.Bytes())
	}
	packages := map[string]*goPackage{}
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p goPackage
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return packages
		} else if err != nil {
			t.Fatalf("go list: %v", err)
		}
		packages[p.ImportPath] = &p
	}
}

// repository is the folder that holds go.mod; tests run in their package's.
func repository(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	return root
}

func TestRulesRefuse(t *testing.T) {
	foreign := &goPackage{ImportPath: "github.com/redis/go-redis/v9", Module: &struct{ Path string }{"github.com/redis/go-redis/v9"}}
	own := func(name string) *goPackage { return &goPackage{ImportPath: module + "/" + name} }
	for _, c := range []struct {
		name     string
		imported *goPackage
		refused  bool
	}{
		{"actions", own("governor"), true},
		{"governor", own("actions"), false},
		{"governor", own("browser"), true},
		{"governor", foreign, true},
		{"governor/redisstore", foreign, false},
		{"browser", own("browser/internal/pipe"), false},
		{"audit", own("browser/internal/pipe"), true},
		{"examples/demo", own("browser"), false},
		{"examples/demo", own("cmd/browser-governor"), true},
		{"cmd/browser-governor", own("cmd/browser-governor/flags"), false},
		{"governor", &goPackage{ImportPath: "net/http", Standard: true}, false},
	} {
		r, ok := ruleFor(c.name)
		if !ok {
			t.Fatalf("no rule for %s", c.name)
		}
		if got := r.fault(c.name, c.imported); (got != "") != c.refused {
			t.Errorf("%s importing %s: %q, refused should be %v", c.name, c.imported.ImportPath, got, c.refused)
		}
	}
	if _, ok := ruleFor("governor/surprise"); ok {
		t.Error("a package without a line got a rule")
	}
}
