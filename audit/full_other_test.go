//go:build !(linux || darwin || freebsd)

package audit

import "os"

func childFill(string) { os.Exit(2) }
