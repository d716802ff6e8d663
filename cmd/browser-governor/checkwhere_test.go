package main

import (
	"strings"
	"testing"
)

// TestCheckNamesTheLine: check says which list and which line of the file decided.
func TestCheckNamesTheLine(t *testing.T) {
	file := write(t, "policy.yaml", "agent: {contact: bot@example.com}\nnavigations:\n  allow: [\"*.example\"]\n  deny:\n    - admin.shop.example\n")
	for url, rule := range map[string]string{
		"http://admin.shop.example/": `navigations.deny "admin.shop.example" (policy.yaml line 5)`,
		"http://other.test/":         `navigations.allow (policy.yaml line 3)`,
	} {
		out, errOut, code := call(t, "", nil, "check", "--policy", file, "--log", t.TempDir(), url)
		if code != exitNo || strings.Count(out, rule) != 2 || !strings.Contains(out, "rule: "+rule+"\n") {
			t.Errorf("%s: exit code %d\n%s%s", url, code, out, errOut)
		}
	}
}
