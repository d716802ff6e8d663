package browser

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
)

func TestHostRules(t *testing.T) {
	const rules = "MAP *.test 127.0.0.1:8080, map exact.example [::1], MAP six.example [::1]:81, MAP ?x.wild 10.0.0.1," +
		"MAP a*z.wild 10.0.0.2, MAP port.example:8443 10.0.0.3, EXCLUDE keep.test, MAP two.test 10.0.0.4,,MAP to.name other.example:1"
	r, err := ParseHostRules(rules)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ host, port, want string }{
		{"a.test", "80", "127.0.0.1:8080"},
		{"A.B.TEST", "443", "127.0.0.1:8080"},
		{"a.test.", "80", "127.0.0.1:8080"},
		{"test", "80", "test:80"},
		{"a.test.example", "80", "a.test.example:80"},
		{"two.test", "80", "127.0.0.1:8080"}, // the first rule counts
		{"keep.test", "80", "keep.test:80"},  // EXCLUDE counts wherever it stands
		{"exact.example", "443", "[::1]:443"},
		{"xexact.example", "443", "xexact.example:443"},
		{"six.example", "443", "[::1]:81"},
		{"1x.wild", "1", "10.0.0.1:1"},
		{"11x.wild", "1", "11x.wild:1"},
		{"abcz.wild", "1", "10.0.0.2:1"},
		{"az.wild", "1", "10.0.0.2:1"},
		{"azq.wild", "1", "azq.wild:1"},
		{"port.example", "8443", "10.0.0.3:8443"},
		{"port.example", "443", "port.example:443"},
		{"to.name", "2", "other.example:1"},
		{"::1", "80", "[::1]:80"},
	} {
		host, port := r.Map(tt.host, tt.port)
		if got := net.JoinHostPort(host, port); got != tt.want {
			t.Errorf("%s port %s is reached at %s, want %s", tt.host, tt.port, got, tt.want)
		}
	}
	if host, port := (HostRules{}).Map("a.test", "80"); host != "a.test" || port != "80" {
		t.Errorf("no rules map a.test to %s %s", host, port)
	}
}

func TestParseHostRulesErrors(t *testing.T) {
	for in, problem := range map[string]string{
		"MAP a.test":                "want MAP PATTERN",
		"MAP a.test b.test c.test":  "want MAP PATTERN",
		"EXCLUDE":                   "want MAP PATTERN",
		"DROP a.test":               "want MAP PATTERN",
		"MAP a.test ::1":            "too many colons",
		"MAP a.test [::1":           "missing ']'",
		"MAP a.test 127.0.0.1:http": `port "http"`,
		"MAP a.test 127.0.0.1:":     `port ""`,
		"MAP a.test 127.0.0.1:0":    `port "0"`,
		"MAP a.test 1.2.3.4:65536":  `port "65536"`,
		"MAP a.test :80":            "no host",
		"MAP a.test []":             "no host",
	} {
		_, err := ParseHostRules("MAP ok.test 127.0.0.1, " + in)
		if err == nil || !strings.Contains(err.Error(), problem) || !strings.Contains(err.Error(), in) {
			t.Errorf("%q: %v, want %q", in, err, problem)
		}
	}
}

func TestHostRulesNotFound(t *testing.T) {
	r, err := ParseHostRules("MAP * ~NOTFOUND, EXCLUDE localhost")
	if err != nil {
		t.Fatal(err)
	}
	_, err = r.DialWith(context.Background(), &net.Dialer{}, "tcp", "a.test:80")
	var dns *net.DNSError
	if !errors.As(err, &dns) || !dns.IsNotFound || dns.Name != "a.test" {
		t.Errorf("dialling gave %v", err)
	}
	if _, err := r.DialWith(context.Background(), &net.Dialer{}, "tcp", "a.test"); err == nil {
		t.Error("dialled an address without a port")
	}
	port := listenEcho(t, "tcp", "127.0.0.1:0")
	mapped, err := ParseHostRules("MAP a.test 127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	c, err := mapped.DialWith(context.Background(), &net.Dialer{}, "tcp", net.JoinHostPort("a.test", itoa(port)))
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
}

// Patterns come from the user and names from pages: matching must not take
// exponential time.
func TestMatchGlobIsBounded(t *testing.T) {
	if matchGlob(strings.Repeat("*a", 200)+"b", strings.Repeat("a", 20000)) {
		t.Error("matched")
	}
	if !matchGlob("***", "") || !matchGlob("*", "x") || matchGlob("", "x") || !matchGlob("", "") || matchGlob("?", "") {
		t.Error("edges")
	}
}
