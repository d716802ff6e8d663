package audit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"
)

const (
	suffix     = ".jsonl"
	secsPerDay = 24 * 60 * 60
)

// dayOf is the number of the UTC day, 0 for 1970-01-01.
func dayOf(unix int64) int64 {
	day := unix / secsPerDay
	if unix%secsPerDay < 0 {
		day--
	}
	return day
}

func fileName(day int64) string {
	return time.Unix(day*secsPerDay, 0).UTC().Format(time.DateOnly) + suffix
}

// fileDay is the day a log file is named after; ok is false for other names.
func fileDay(name string) (day int64, ok bool) {
	date, found := strings.CutSuffix(name, suffix)
	if !found {
		return 0, false
	}
	t, err := time.Parse(time.DateOnly, date)
	if err != nil {
		return 0, false
	}
	return dayOf(t.Unix()), true
}

// logFiles are the names of the log's files in dir from the day since on
// ("2026-11-30"; "" for all), oldest first.
func logFiles(dir, since string) ([]string, error) {
	if since != "" {
		if _, err := time.Parse(time.DateOnly, since); err != nil {
			return nil, fmt.Errorf("audit: day %q: want YYYY-MM-DD", since)
		}
	}
	entries, err := os.ReadDir(dir) // sorted by name, and so by day
	if err != nil {
		return nil, fmt.Errorf("audit: reading the folder of the log: %w", err)
	}
	var names []string
	for _, e := range entries {
		if _, ok := fileDay(e.Name()); ok && !e.IsDir() && e.Name() >= since {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// noneYet reports whether err says that the folder of a log does not exist. For
// the state of a governor that is an empty log.
func noneYet(err error) bool { return errors.Is(err, fs.ErrNotExist) }
