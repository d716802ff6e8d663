package main

import (
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"strings"

	"browsergovernor/browser"
	"browsergovernor/governor"
)

// config is what the commands that govern have in common.
type config struct {
	policyFile string
	preset     string
	sets       []string
	agent      string
	contact    string
	logDir     string

	chrome    string
	noSandbox bool
	headful   bool
	profile   string
	hostRules string
	certs     string
	flags     []string

	json    bool
	verbose bool
}

// listFlag collects a flag that may be given several times.
func listFlag(list *[]string) func(string) error {
	return func(v string) error {
		*list = append(*list, v)
		return nil
	}
}

func newFlags(e env, name, args string) *flag.FlagSet {
	fs := flag.NewFlagSet("browser-governor "+name, flag.ContinueOnError)
	fs.SetOutput(e.stderr)
	fs.Usage = func() {
		fmt.Fprintf(e.stderr, "Usage: browser-governor %s %s\n\n", name, args)
		fs.PrintDefaults()
	}
	return fs
}

// parse reads flags; a wrong flag is a usage error.
func parse(fs *flag.FlagSet, args []string) error {
	if err := fs.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return err
		}
		return coded{code: exitUsage} // flag has printed it
	}
	return nil
}

func (c *config) policyFlags(fs *flag.FlagSet) {
	fs.StringVar(&c.policyFile, "policy", "", "policy `FILE` (see: browser-governor policy init)")
	fs.StringVar(&c.preset, "preset", "", "start from the policy preset `NAME`: polite (default), careful, harness")
	fs.Func("set", "set one policy key, as in `KEY=VALUE` caps.interactions=100; may be repeated", listFlag(&c.sets))
	fs.StringVar(&c.agent, "agent", "", "agent `NAME` in the User-Agent and for robots.txt, as in ResearchBot/1.0")
	fs.StringVar(&c.contact, "contact", "", "`URL` or e-mail address where site operators reach you")
	fs.StringVar(&c.logDir, "log", "", "`DIR` of the action log (default from the policy: browser-governor-log)")
	fs.BoolVar(&c.json, "json", false, "print JSON for programs")
	fs.BoolVar(&c.verbose, "verbose", false, "say more on standard error")
	fs.StringVar(&c.hostRules, "host-rules", "", "map host names to addresses, as in `RULES` \"MAP *.test 127.0.0.1:8080\"")
}

func (c *config) chromeFlags(fs *flag.FlagSet) {
	fs.StringVar(&c.chrome, "chrome", "", "`PATH` of Chrome or Chromium (default: the first found)")
	fs.BoolVar(&c.noSandbox, "no-sandbox", false, "start Chrome without its sandbox; only where it cannot work, as in containers as root")
	fs.BoolVar(&c.headful, "headful", false, "show a window")
	fs.StringVar(&c.profile, "profile", "", "Chrome profile `DIR` to use and keep (default: a fresh one, removed at the end)")
	fs.StringVar(&c.certs, "trust-spki", "", "`HASHES` of test certificates' keys to trust, comma-separated base64 SHA-256")
	fs.Func("chrome-flag", "pass `FLAG` to Chrome; may be repeated", listFlag(&c.flags))
}

// policy builds the policy: file (or preset), then environment, then flags.
func (c *config) policy(environ []string) (governor.Policy, error) {
	p, err := c.basePolicy()
	if err != nil {
		return p, coded{exitUsage, err}
	}
	if p, err = p.ApplyEnv(environ); err != nil {
		return p, coded{exitUsage, err}
	}
	for _, set := range c.flagSettings() {
		key, value, ok := strings.Cut(set, "=")
		if !ok {
			return p, usageError("--set %q: want KEY=VALUE", set)
		}
		if p, err = p.Set(key, value); err != nil {
			return p, coded{exitUsage, fmt.Errorf("--set: %w", err)}
		}
	}
	if err := p.Validate(); err != nil {
		return p, coded{exitUsage, err}
	}
	return p, nil
}

func (c *config) basePolicy() (governor.Policy, error) {
	if c.policyFile == "" {
		name := c.preset
		if name == "" {
			name = "polite"
		}
		return governor.Preset(name)
	}
	if c.preset != "" {
		return governor.Policy{}, errors.New("--policy and --preset exclude each other: write preset: NAME into the file")
	}
	data, err := os.ReadFile(c.policyFile)
	if err != nil {
		return governor.Policy{}, err
	}
	return governor.ParsePolicy(c.policyFile, data)
}

func (c *config) flagSettings() []string {
	var sets []string
	for _, f := range []struct{ key, value string }{
		{"agent.name", c.agent}, {"agent.contact", c.contact}, {"log.dir", c.logDir},
	} {
		if f.value != "" {
			sets = append(sets, f.key+"="+f.value)
		}
	}
	return append(sets, c.sets...)
}

func (c *config) rules() (browser.HostRules, error) {
	rules, err := browser.ParseHostRules(c.hostRules)
	if err != nil {
		return rules, coded{exitUsage, fmt.Errorf("--host-rules: %w", err)}
	}
	return rules, nil
}

func (c *config) browserOptions(log *slog.Logger) (browser.Options, error) {
	rules, err := c.rules()
	if err != nil {
		return browser.Options{}, err
	}
	o := browser.Options{
		ChromePath: c.chrome, NoSandbox: c.noSandbox, Headful: c.headful,
		ProfileDir: c.profile, ExtraFlags: c.flags, HostRules: rules, Logger: log,
	}
	if c.certs != "" {
		o.AcceptTestCerts = strings.Split(c.certs, ",")
	}
	return o, nil
}

func (c *config) logger(e env) *slog.Logger {
	level := slog.LevelWarn
	if c.verbose {
		level = slog.LevelDebug
	}
	return slog.New(slog.NewTextHandler(e.stderr, &slog.HandlerOptions{Level: level}))
}
