package robots

import (
	"fmt"
	"time"
)

// Verdict is what the robots.txt of a URL's origin says about the URL. The zero
// value refuses.
type Verdict struct {
	Allow       bool
	Unavailable bool // the file could not be read, so nothing is known to be allowed; Cause says why

	Rule      string // the line that decided, "Disallow: /private"; "" when none did
	Line      int    // its number, from 1
	Group     string // name the rules were found under: the agent's token, "*", or "" for none
	RobotsURL string // where the file is; "" for URLs that have none
	Cause     string // why it is no although no rule says so: "robots.txt of https://h answered 403"

	Delay      time.Duration // crawl-delay of the group
	HasDelay   bool          // whether the group has one; 0 is a value
	RetryAfter time.Duration // of an unavailable file: when it will be asked for again

	Warnings []Warning // what was odd about the file or its answer
	Records  []Record  // its lines that say nothing about access: Sitemap, Content-Signal
}

// Text is the verdict's reason on one line, for people:
//
//	Disallow: /private (line 2 of http://host/robots.txt)
func (v Verdict) Text() string {
	switch {
	case v.Cause != "" && v.Rule != "":
		return fmt.Sprintf("%s: %s (line %d of %s)", v.Cause, short(v.Rule), v.Line, short(v.RobotsURL))
	case v.Cause != "":
		return v.Cause
	case v.Rule != "":
		return fmt.Sprintf("%s (line %d of %s)", short(v.Rule), v.Line, short(v.RobotsURL))
	case v.RobotsURL == "":
		return "robots.txt does not apply"
	}
	return "no rule of " + short(v.RobotsURL) + " applies"
}

// short keeps a part of a sentence from taking all of it.
func short(s string) string {
	const most = 80
	if len(s) <= most {
		return s
	}
	cut := most
	for cut > 0 && s[cut]&0xc0 == 0x80 { // not inside a character
		cut--
	}
	return s[:cut] + "…"
}
