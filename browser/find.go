package browser

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
)

// ErrNoChrome is returned when no Chrome or Chromium is found.
var ErrNoChrome = errors.New("no Chrome or Chromium found: install one (Debian and Ubuntu: apt-get install chromium) or name it with --chrome PATH")

// FindChrome returns the Chrome to start: path when it is set, else the first
// one found in the usual places.
func FindChrome(path string) (string, error) {
	if path != "" {
		found, err := exec.LookPath(path)
		if err != nil {
			return "", fmt.Errorf("chrome %q: %w", path, err)
		}
		return found, nil
	}
	for _, name := range chromeNames() {
		if found, err := exec.LookPath(name); err == nil {
			return found, nil
		}
	}
	return "", ErrNoChrome
}

func chromeNames() []string {
	switch runtime.GOOS {
	case "darwin":
		return []string{
			"/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
			"/Applications/Chromium.app/Contents/MacOS/Chromium",
		}
	case "windows":
		return []string{
			"chrome",
			`C:\Program Files\Google\Chrome\Application\chrome.exe`,
			`C:\Program Files (x86)\Google\Chrome\Application\chrome.exe`,
		}
	}
	return []string{"chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome", "headless-shell"}
}

var versionPattern = regexp.MustCompile(`(\d+)\.\d+\.\d+\.\d+`)

// chromeUserAgent returns the User-Agent that this Chrome would send by
// itself, from its version. Client hints then stay consistent with it.
func chromeUserAgent(ctx context.Context, path string, headless bool) (string, error) {
	cmd := exec.CommandContext(ctx, path, "--version")
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("asking %s for its version: %w", path, err)
	}
	m := versionPattern.FindSubmatch(out)
	if m == nil {
		return "", fmt.Errorf("%s --version printed no version: %q", path, strings.TrimSpace(string(out)))
	}
	name := "Chrome"
	if headless {
		name = "HeadlessChrome"
	}
	return fmt.Sprintf("Mozilla/5.0 (%s) AppleWebKit/537.36 (KHTML, like Gecko) %s/%s.0.0.0 Safari/537.36", platformToken(), name, m[1]), nil
}

// platformToken is the frozen platform part of Chrome's reduced User-Agent.
func platformToken() string {
	switch runtime.GOOS {
	case "darwin":
		return "Macintosh; Intel Mac OS X 10_15_7"
	case "windows":
		return "Windows NT 10.0; Win64; x64"
	}
	return "X11; Linux x86_64"
}
