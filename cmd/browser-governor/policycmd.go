package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"browsergovernor/governor"
)

func cmdPolicy(_ context.Context, e env, args []string) error {
	if len(args) == 0 {
		return usageError("policy: want init or check")
	}
	switch args[0] {
	case "init":
		return policyInit(e, args[1:])
	case "check":
		return policyCheck(e, args[1:])
	}
	return usageError("policy: unknown %q; want init or check", args[0])
}

// policyInit writes a commented policy. It never overwrites a file.
func policyInit(e env, args []string) error {
	fs := newFlags(e, "policy init", "[flags] [FILE]")
	preset := fs.String("preset", "polite", "preset `NAME`: polite, careful, harness")
	files, err := parseMixed(fs, args)
	if err != nil {
		return err
	}
	if _, err := governor.Preset(*preset); err != nil {
		return coded{exitUsage, err}
	}
	text := governor.PolicyTemplate(*preset)
	switch len(files) {
	case 0:
		fmt.Fprint(e.stdout, text)
		return nil
	case 1:
	default:
		return usageError("policy init: want one FILE")
	}
	f, err := os.OpenFile(files[0], os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, os.ErrExist) {
		return usageError("policy init: %s exists; it is not overwritten", files[0])
	}
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return fmt.Errorf("writing %s: %w", files[0], err)
	}
	fmt.Fprintf(e.stderr, "wrote %s; set agent.contact in it, then: browser-governor serve --policy %s\n", files[0], files[0])
	return nil
}

func policyCheck(e env, args []string) error {
	fs := newFlags(e, "policy check", "FILE…")
	asJSON := fs.Bool("json", false, "print JSON")
	files, err := parseMixed(fs, args)
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return usageError("policy check: no FILE")
	}
	bad := false
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err == nil {
			_, err = governor.ParsePolicy(file, data)
		}
		bad = bad || err != nil
		if *asJSON {
			out := map[string]any{"file": file, "ok": err == nil}
			if err != nil {
				out["error"] = err.Error()
			}
			if werr := writeJSON(e.stdout, out); werr != nil {
				return werr
			}
			continue
		}
		if err != nil {
			fmt.Fprintln(e.stderr, err)
		} else {
			fmt.Fprintf(e.stdout, "%s: ok\n", file)
		}
	}
	if bad {
		return coded{exitUsage, nil}
	}
	return nil
}
