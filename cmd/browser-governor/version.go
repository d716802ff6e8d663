package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
)

// version is set by the release build.
var version = "dev"

func cmdVersion(_ context.Context, e env, args []string) error {
	fs := newFlags(e, "version", "")
	asJSON := fs.Bool("json", false, "print JSON")
	if err := parse(fs, args); err != nil {
		return err
	}
	revision := ""
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				revision = s.Value
			}
		}
	}
	if *asJSON {
		return writeJSON(e.stdout, map[string]string{
			"version": version, "revision": revision, "go": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH,
		})
	}
	fmt.Fprintf(e.stdout, "browser-governor %s %s %s %s/%s\n", version, revision, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return nil
}

func pid() int { return os.Getpid() }
