package browser

import (
	"slices"
	"strings"
	"testing"

	"browsergovernor/governor"
)

// flagValues returns the values of every occurrence of a flag.
func flagValues(args []string, name string) (values []string) {
	for _, a := range args {
		if n, v, _ := strings.Cut(a, "="); n == "--"+name {
			values = append(values, v)
		}
	}
	return values
}

func TestCommandLine(t *testing.T) {
	o := Options{ExtraFlags: []string{"--disable-features=Foo,FedCm, Bar,", "--window-size=800,600", "--disable-features=Foo,Baz", "--disable-features="}}
	args, err := commandLine(o, governor.Policy{}, "/profile", "Agent/1 (x; y)", "socks5://127.0.0.1:1")
	if err != nil {
		t.Fatal(err)
	}
	// A second list would replace the first.
	lists := flagValues(args, "disable-features")
	if len(lists) != 1 {
		t.Fatalf("%d lists of disabled features: %q", len(lists), lists)
	}
	features := strings.Split(lists[0], ",")
	for _, want := range append(slices.Clone(disabledFeatures), "Foo", "Bar", "Baz") {
		if n := count(features, want); n != 1 {
			t.Errorf("feature %s stands %d times in %s", want, n, lists[0])
		}
	}
	if len(features) != len(disabledFeatures)+3 || slices.Contains(disabledFeatures, "Foo") {
		t.Errorf("features: %s", lists[0])
	}
	for name, want := range map[string]string{
		"remote-debugging-pipe":     "",
		"no-startup-window":         "",
		"user-data-dir":             "/profile",
		"user-agent":                "Agent/1 (x; y)",
		"proxy-server":              "socks5://127.0.0.1:1",
		"proxy-bypass-list":         "<-loopback>",
		"disable-blink-features":    "BackgroundFetch",
		"webrtc-ip-handling-policy": "disable_non_proxied_udp",
		"headless":                  "new",
		"disable-http2":             "",
		"window-size":               "800,600",
	} {
		if got := flagValues(args, name); len(got) != 1 || got[0] != want {
			t.Errorf("--%s is %q, want %q once", name, got, want)
		}
	}
	for _, name := range []string{"no-sandbox", "remote-debugging-port", "ignore-certificate-errors-spki-list"} {
		if got := flagValues(args, name); got != nil {
			t.Errorf("--%s is set without being asked for", name)
		}
	}
	names := map[string]bool{}
	for _, a := range args {
		n, _, _ := strings.Cut(a, "=")
		if !strings.HasPrefix(n, "--") || len(n) == 2 || names[n] {
			t.Errorf("argument %q is no flag, or stands twice", a)
		}
		names[n] = true
	}
}

func count(list []string, s string) (n int) {
	for _, x := range list {
		if x == s {
			n++
		}
	}
	return n
}

func TestCommandLineOptions(t *testing.T) {
	args, err := commandLine(Options{NoSandbox: true, Headful: true, AcceptTestCerts: []string{"a=", "b="}}, governor.Policy{HTTP2: governor.AllowHTTP2}, "p", "u", "s")
	if err != nil {
		t.Fatal(err)
	}
	if flagValues(args, "no-sandbox") == nil || flagValues(args, "headless") != nil || flagValues(args, "disable-http2") != nil {
		t.Errorf("got %q", args)
	}
	if got := flagValues(args, "ignore-certificate-errors-spki-list"); len(got) != 1 || got[0] != "a=,b=" {
		t.Errorf("certificates: %q", got)
	}
}

func TestCommandLineRefuses(t *testing.T) {
	for _, name := range guardedFlags {
		for _, f := range []string{"--" + name, "--" + name + "=x", "-" + name + "=x"} {
			_, err := commandLine(Options{ExtraFlags: []string{"--mute-audio", f}}, governor.Policy{}, "p", "u", "s")
			if err == nil || !strings.Contains(err.Error(), "--"+name+" belongs to the governor") {
				t.Errorf("%s: %v", f, err)
			}
		}
	}
	// Chrome opens what is no flag, before interception is on.
	for _, f := range []string{"https://evil.test/", "", "--", "-", "--=x", "window-size=1,1", " --mute-audio"} {
		_, err := commandLine(Options{ExtraFlags: []string{f}}, governor.Policy{}, "p", "u", "s")
		if err == nil || !strings.Contains(err.Error(), "want --NAME") {
			t.Errorf("%q: %v", f, err)
		}
	}
}
