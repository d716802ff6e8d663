package browser

import (
	"fmt"
	"slices"
	"strings"

	"browsergovernor/governor"
)

// disabledFeatures are switched off in one list, since a second
// --disable-features on a command line replaces the first. Each fetches behind
// the page's back where interception does not see it, or breaks what clients
// expect.
var disabledFeatures = []string{
	"BackForwardCache",            // clients' goBack waits for a load that a cached page never has
	"Reporting",                   // CSP report-to and Network Error Logging are sent unseen
	"NetworkErrorLogging",         // as above, where Reporting is split
	"FedCm",                       // fetches identity provider files unseen
	"WebPayments",                 // fetches payment manifests unseen
	"Translate",                   // asks translate servers
	"OptimizationHints",           // asks Google's servers
	"MediaRouter",                 // looks for devices on the local network
	"AutofillServerCommunication", // asks content-autofill servers
	"CertificateTransparencyComponentUpdater",
	"DialMediaRouteProvider",
	"InterestFeedContentSuggestions",
	"HttpsUpgrades",            // would turn http URLs into https ones that nobody asked for
	"LocalNetworkAccessChecks", // prompts that nobody can answer in a headless browser
}

// quietFlags keep Chrome from traffic and prompts of its own.
var quietFlags = []string{
	"--no-first-run",
	"--no-default-browser-check",
	"--disable-background-networking",
	"--disable-background-timer-throttling",
	"--disable-backgrounding-occluded-windows",
	"--disable-breakpad",
	"--disable-client-side-phishing-detection",
	"--disable-component-extensions-with-background-pages",
	"--disable-component-update",
	"--disable-default-apps",
	"--disable-dev-shm-usage",
	"--disable-domain-reliability",
	"--disable-hang-monitor",
	"--disable-ipc-flooding-protection",
	"--disable-popup-blocking",
	"--disable-prompt-on-repost",
	"--disable-renderer-backgrounding",
	"--disable-search-engine-choice-screen",
	"--disable-sync",
	"--enable-automation",
	"--force-color-profile=srgb",
	"--metrics-recording-only",
	"--no-service-autorun",
	"--password-store=basic",
	"--use-mock-keychain",
}

// guardedFlags may not be passed by the user: interception, identity or the
// egress guard stand on them, or they would open a page before interception is
// on or in a profile where prediction is.
var guardedFlags = []string{
	"remote-debugging-pipe", "remote-debugging-port", "remote-debugging-address", "remote-debugging-io-pipes",
	"user-agent", "proxy-server", "proxy-bypass-list", "proxy-pac-url", "proxy-auto-detect", "no-proxy-server",
	"user-data-dir", "profile-directory", "guest", "no-startup-window", "app", "app-id", "restore-last-session", "enable-unsafe-extension-debugging",
	"host-resolver-rules", "host-rules", "enable-quic", "origin-to-force-quic-on", "disable-blink-features",
	"webrtc-ip-handling-policy", "force-webrtc-ip-handling-policy",
}

// commandLine returns Chrome's arguments. proxy is what --proxy-server is told.
func commandLine(o Options, p governor.Policy, profile, userAgent, proxy string) ([]string, error) {
	features := disabledFeatures
	var extra []string
	for _, f := range o.ExtraFlags {
		name, value, _ := strings.Cut(strings.TrimLeft(f, "-"), "=")
		// Chrome opens what is no flag, and takes all behind a bare "--" for such.
		if !strings.HasPrefix(f, "-") || name == "" {
			return nil, fmt.Errorf("chrome flag %q: want --NAME or --NAME=VALUE", f)
		}
		if name == "disable-features" {
			features = mergeFeatures(features, value)
			continue
		}
		if slices.Contains(guardedFlags, strings.ToLower(name)) {
			return nil, fmt.Errorf("chrome flag --%s belongs to the governor and cannot be set", name)
		}
		extra = append(extra, f)
	}
	args := append([]string{}, quietFlags...)
	args = append(args,
		"--remote-debugging-pipe",
		// No page may exist before interception is on: what such a page asks
		// for would never be seen.
		"--no-startup-window",
		"--user-data-dir="+profile,
		"--user-agent="+userAgent,
		"--disable-features="+strings.Join(features, ","),
		"--disable-blink-features=BackgroundFetch",
		"--webrtc-ip-handling-policy=disable_non_proxied_udp",
		"--disable-quic",
		"--proxy-server="+proxy,
		"--proxy-bypass-list=<-loopback>",
	)
	if !o.Headful {
		args = append(args, "--headless=new", "--hide-scrollbars", "--mute-audio")
	}
	if p.HTTP2 != governor.AllowHTTP2 {
		// Early hints (103) are taken over HTTP/2 only, and what they name is
		// asked for without a pause.
		args = append(args, "--disable-http2")
	}
	if o.NoSandbox {
		args = append(args, "--no-sandbox")
	}
	if len(o.AcceptTestCerts) > 0 {
		args = append(args, "--ignore-certificate-errors-spki-list="+strings.Join(o.AcceptTestCerts, ","))
	}
	return append(args, extra...), nil
}

// mergeFeatures adds a comma-separated list to features, each name once.
func mergeFeatures(features []string, list string) []string {
	out := slices.Clone(features)
	for name := range strings.SplitSeq(list, ",") {
		if name = strings.TrimSpace(name); name != "" && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}
