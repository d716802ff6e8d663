package browser

import (
	"log/slog"
	"time"
)

// Options says how Chrome is started. The zero value starts the Chrome found on
// the machine, headless, sandboxed, with a profile of its own that is removed
// at the end.
type Options struct {
	ChromePath string   // executable; "" looks in the usual places
	NoSandbox  bool     // start Chrome without its sandbox; needed as root, never a default
	Headful    bool     // show a window
	ExtraFlags []string // appended to the command line; a flag the governor depends on is an error
	ProfileDir string   // profile to use and keep; "" makes one and removes it
	TempDir    string   // where profiles and large messages are put; "" is the system's

	// HostRules maps invented host names to addresses, for Chrome and for the
	// governor's own robots.txt requests alike. The syntax is that of Chrome's
	// --host-resolver-rules: "MAP *.test 127.0.0.1:8080".
	HostRules HostRules

	// AcceptTestCerts makes Chrome trust the certificates whose public keys
	// have these base64 SHA-256 hashes, for test servers.
	AcceptTestCerts []string

	StartTimeout time.Duration // for Chrome to answer; 0 is 30 s
	Logger       *slog.Logger  // nil discards
}

func (o Options) startTimeout() time.Duration {
	if o.StartTimeout <= 0 {
		return 30 * time.Second
	}
	return o.StartTimeout
}

func (o Options) logger() *slog.Logger {
	if o.Logger == nil {
		return slog.New(slog.DiscardHandler)
	}
	return o.Logger
}
