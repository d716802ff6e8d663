package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"browsergovernor/audit"
)

// endpointNames are the environment variables in which tools look for a CDP
// endpoint. BROWSER_GOVERNOR_CDP_URL is ours.
var endpointNames = []string{
	"BROWSER_GOVERNOR_CDP_URL",
	"CDP_URL",                     // many scripts' own name
	"BROWSER_USE_CDP_URL",         // browser-use
	"PLAYWRIGHT_MCP_CDP_ENDPOINT", // @playwright/mcp
	"BROWSER_WS_ENDPOINT",
}

func cmdRun(ctx context.Context, e env, args []string) error {
	var f serveFlags
	fs := newFlags(e, "run", "[flags] -- CMD [ARG…]")
	f.policyFlags(fs)
	f.chromeFlags(fs)
	f.endpointFlags(fs, "127.0.0.1:0")
	if err := parse(fs, args); err != nil {
		return err
	}
	if fs.NArg() == 0 {
		return usageError("run: no command; usage: browser-governor run [flags] -- CMD [ARG…]")
	}
	sctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s, err := f.start(sctx, e)
	if err != nil {
		return err
	}
	began := time.Now()
	runErr := s.runCommand(ctx, e, fs.Args())
	cancel()
	stopErr := s.stop()
	if err := f.summary(e, s, began); err != nil && stopErr == nil {
		stopErr = err
	}
	if runErr != nil {
		return runErr
	}
	return stopErr
}

// runCommand runs CMD and gives its exit code on. On Ctrl-C the command gets the
// signal too and five seconds to end.
func (s *served) runCommand(ctx context.Context, e env, argv []string) error {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = e.stdin, e.stdout, e.stderr
	cmd.Env = e.environ
	for _, name := range endpointNames {
		cmd.Env = append(cmd.Env, name+"="+s.url)
	}
	// Clients that honour a proxy variable would send their CDP traffic there.
	cmd.Env = append(cmd.Env, "NO_PROXY="+joinNoProxy(e.environ), "no_proxy="+joinNoProxy(e.environ))
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 5 * time.Second
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return coded{130, nil}
	case errors.As(err, &exit):
		code := exit.ExitCode()
		if st, ok := exit.Sys().(syscall.WaitStatus); ok && st.Signaled() {
			code = 128 + int(st.Signal())
		}
		return coded{code, nil}
	}
	return usageError("run: %v", err)
}

func joinNoProxy(environ []string) string {
	list := []string{"127.0.0.1", "localhost", "::1"}
	for _, kv := range environ {
		if name, value, _ := strings.Cut(kv, "="); (name == "NO_PROXY" || name == "no_proxy") && value != "" {
			list = append(list, value)
			break
		}
	}
	return strings.Join(list, ",")
}

// summary says what was done since began.
func (f *serveFlags) summary(e env, s *served, began time.Time) error {
	sum, err := audit.Summarize(s.gov.Policy().Log.Dir, audit.Filter{Since: began})
	if err != nil {
		return fmt.Errorf("summing up the log: %w", err)
	}
	if f.json {
		return writeJSON(e.stderr, sum)
	}
	sum.WriteText(e.stderr)
	return nil
}
