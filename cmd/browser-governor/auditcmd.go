package main

import (
	"context"
	"flag"
	"fmt"
	"time"

	"browsergovernor/actions"
	"browsergovernor/audit"
	"browsergovernor/governor"
)

func cmdAudit(_ context.Context, e env, args []string) error {
	if len(args) == 0 {
		return usageError("audit: want show, summary or verify")
	}
	sub, args := args[0], args[1:]
	fs := newFlags(e, "audit "+sub, "[flags] DIR")
	asJSON := fs.Bool("json", false, "print JSON")
	var filter audit.Filter
	var head string
	switch sub {
	case "show", "summary":
		filterFlags(fs, &filter)
	case "verify":
		fs.StringVar(&head, "head", "", "the log must have a line with this `HASH` (kept elsewhere: finds a cut-off end)")
	default:
		return usageError("audit: unknown %q; want show, summary or verify", sub)
	}
	dirs, err := parseMixed(fs, args)
	if err != nil {
		return err
	}
	if len(dirs) != 1 {
		return usageError("audit %s: want one DIR, the folder of the log", sub)
	}
	switch sub {
	case "show":
		format := "text"
		if *asJSON {
			format = "json"
		}
		return audit.Show(e.stdout, dirs[0], filter, format)
	case "summary":
		return auditSummary(e, dirs[0], filter, *asJSON)
	}
	return auditVerify(e, dirs[0], head, *asJSON)
}

func filterFlags(fs *flag.FlagSet, f *audit.Filter) {
	fs.StringVar(&f.Host, "host", "", "only this `HOST`")
	fs.StringVar(&f.Client, "client", "", "only this `CLIENT`")
	fs.BoolVar(&f.Refused, "refused", false, "only refusals")
	fs.BoolVar(&f.Sent, "sent", false, "only what was sent")
	fs.Func("kind", "only this `KIND`: navigation, click, tap, key, subresource, websocket, download", func(v string) error {
		f.Kind = actions.Kind(v)
		return nil
	})
	fs.Func("reason", "only refusals for this `REASON`", func(v string) error {
		f.Reason = governor.Reason(v)
		return nil
	})
	fs.Func("since", "from this `TIME` on: RFC 3339, or a duration ago as in 2h", timeFlag(&f.Since))
	fs.Func("until", "up to this `TIME`", timeFlag(&f.Until))
}

func timeFlag(t *time.Time) func(string) error {
	return func(v string) error {
		if d, err := time.ParseDuration(v); err == nil {
			*t = time.Now().Add(-d)
			return nil
		}
		for _, layout := range []string{time.RFC3339Nano, time.DateOnly} {
			if got, err := time.Parse(layout, v); err == nil {
				*t = got
				return nil
			}
		}
		return fmt.Errorf("%q is neither RFC 3339, a date, nor a duration", v)
	}
}

func auditSummary(e env, dir string, f audit.Filter, asJSON bool) error {
	sum, err := audit.Summarize(dir, f)
	if err != nil {
		return err
	}
	if asJSON {
		return writeJSON(e.stdout, sum)
	}
	sum.WriteText(e.stdout)
	return nil
}

func auditVerify(e env, dir, head string, asJSON bool) error {
	rep, err := audit.Verify(dir, head)
	if asJSON {
		if werr := writeJSON(e.stdout, rep); werr != nil {
			return werr
		}
	}
	if err != nil {
		return coded{exitNo, err}
	}
	if !asJSON {
		rep.WriteText(e.stdout)
	}
	return nil
}

// parseMixed parses flags that may stand before, between or behind the
// arguments, and returns the arguments.
func parseMixed(fs *flag.FlagSet, args []string) ([]string, error) {
	var positional []string
	for {
		if err := parse(fs, args); err != nil {
			return nil, err
		}
		if fs.NArg() == 0 {
			return positional, nil
		}
		positional = append(positional, fs.Arg(0))
		args = fs.Args()[1:]
	}
}
