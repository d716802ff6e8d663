package e2e

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// topLevel is everything that may stand at the top of the repository.
var topLevel = []string{
	".ci", ".gitignore", "LICENSE", "Makefile", "README.md", "actions", "audit", "browser",
	"cmd", "docs", "e2e", "examples", "go.mod", "go.sum", "governor",
}

// machinePath finds absolute paths of the machines this is built on. The dots
// keep this file from finding itself.
var machinePath = regexp.MustCompile(`(?:^|[^A-Za-z0-9._~/-])/(?:w.rk/(?:main|shared|\.[a-z])|r.ot/)`)

// trackedFiles lists what the repository holds, relative to its root.
func trackedFiles(t *testing.T) []string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", "ls-files", "-z", "--cached")
	cmd.Dir = repository(t)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git ls-files: %v", err)
	}
	files := strings.Split(strings.TrimRight(string(out), "\x00"), "\x00")
	if len(files) < 10 {
		t.Fatalf("git lists only %d files", len(files))
	}
	return files
}

func TestTopLevel(t *testing.T) {
	for _, file := range trackedFiles(t) {
		top, _, _ := strings.Cut(file, "/")
		if !slices.Contains(topLevel, top) {
			t.Errorf("%s: nothing but %s stands at the top", file, strings.Join(topLevel, " "))
		}
	}
}

func TestNoMachinePaths(t *testing.T) {
	for _, file := range trackedFiles(t) {
		text, err := os.ReadFile(filepath.Join(repository(t), file))
		if os.IsNotExist(err) {
			continue // deleted, not yet committed
		}
		if err != nil {
			t.Fatal(err)
		}
		for number, line := range bytes.Split(text, []byte("\n")) {
			if found := machinePath.Find(line); found != nil {
				t.Errorf("%s:%d: %q is a path of one machine", file, number+1, found)
			}
		}
	}
}

// Lock files name versions and checksums; where they are fetched from is for
// the machine's own settings to say.
func TestLockFilesNameNoHost(t *testing.T) {
	seen := 0
	for _, file := range trackedFiles(t) {
		if filepath.Base(file) != "package-lock.json" {
			continue
		}
		seen++
		text, err := os.ReadFile(filepath.Join(repository(t), file))
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(text, []byte(`"resolved"`)) {
			t.Errorf("%s records where packages came from; write it with npm install --package-lock-only --omit-lockfile-registry-resolved", file)
		}
		if !bytes.Contains(text, []byte(`"integrity": "sha512-`)) {
			t.Errorf("%s has no checksums", file)
		}
	}
	if seen == 0 {
		t.Error("no lock file found")
	}
}

func TestMachinePath(t *testing.T) {
	for _, c := range []struct {
		text  string
		found bool
	}{
		{"see /w" + "ork/shared/cases", true},
		{`"/r` + `oot/go/pkg"`, true},
		{"Disallow: /work/", false},
		{"http://host/root/x", false},
		{"a/root/b", false},
		{"$HOME/bin", false},
	} {
		if got := machinePath.MatchString(c.text); got != c.found {
			t.Errorf("%q: %v", c.text, got)
		}
	}
}
