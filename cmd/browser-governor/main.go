// Command browser-governor paces, limits and records what browser agents do. It
// starts a Chrome of its own and stands between it and any CDP client.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	_ "time/tzdata" // budget days in time zones of machines without zone files
)

const usage = `browser-governor stands between browser agents and Chrome: it paces, limits and logs.

Usage:
  browser-governor serve  [flags]             a CDP endpoint for any client
  browser-governor run    [flags] -- CMD …    run CMD against a governed Chrome, then print a summary
  browser-governor check  [flags] URL…        would this be allowed now, and why
  browser-governor robots FILE|URL --agent NAME URL…   what robots.txt says (--jsonl: cases on stdin)
  browser-governor status [flags]             budgets, waits and refusals of a running governor
  browser-governor audit  show|summary|verify DIR      read the log
  browser-governor policy init|check [FILE]   a commented policy file; its errors
  browser-governor version

Every command takes --json, and --help for its flags.

Exit codes: 0 done · 1 something failed · 2 wrong usage or policy · 3 the answer is no
(refused, disallowed, log broken) · 4 Chrome missing, not starting, or ending for good.
run exits with the code of CMD.
`

// The exit codes. Programs may rely on them.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
	exitNo     = 3
	exitChrome = 4
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Environ()))
}

// env is what a command may touch of the world.
type env struct {
	stdin   io.Reader
	stdout  io.Writer
	stderr  io.Writer
	environ []string
}

var commands = map[string]func(ctx context.Context, e env, args []string) error{
	"serve":   cmdServe,
	"run":     cmdRun,
	"check":   cmdCheck,
	"robots":  cmdRobots,
	"status":  cmdStatus,
	"audit":   cmdAudit,
	"policy":  cmdPolicy,
	"version": cmdVersion,
}

// run is the program without the process around it.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer, environ []string) int {
	e := env{stdin: stdin, stdout: stdout, stderr: stderr, environ: environ}
	if len(args) == 0 {
		fmt.Fprint(stderr, usage)
		return exitUsage
	}
	switch args[0] {
	case "help", "-h", "--help":
		fmt.Fprint(stdout, usage)
		return exitOK
	}
	cmd, ok := commands[args[0]]
	if !ok {
		fmt.Fprintf(stderr, "browser-governor: unknown command %q\n\n%s", args[0], usage)
		return exitUsage
	}
	return exitCode(cmd(ctx, e, args[1:]), stderr)
}

// coded is an error that knows its exit code. A nil err prints nothing.
type coded struct {
	code int
	err  error
}

func (c coded) Error() string {
	if c.err == nil {
		return fmt.Sprintf("exit code %d", c.code)
	}
	return c.err.Error()
}

func (c coded) Unwrap() error { return c.err }

func exitCode(err error, stderr io.Writer) int {
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return exitOK
	}
	var c coded
	if errors.As(err, &c) {
		if c.err != nil {
			fmt.Fprintf(stderr, "browser-governor: %v\n", c.err)
		}
		return c.code
	}
	fmt.Fprintf(stderr, "browser-governor: %v\n", err)
	return exitFailed
}

func usageError(format string, args ...any) error {
	return coded{exitUsage, fmt.Errorf(format, args...)}
}
