// Package robots reads robots.txt the way RFC 9309 says and answers whether a
// browser agent may visit a URL.
//
//	bytes ──Parse──▶ File ──For(token)──▶ Rules ──Ask(url)──▶ Answer
//	                                         ▲
//	URL ──Cache.Check──▶ fetch, keep ────────┘────────────────▶ Verdict
//
// Reading is ours: lines, groups, the choice of the groups that bind us, and
// the canonical form in which a rule and a URL are compared. The matching
// engine is github.com/temoto/robotstxt; engine.go says how it is made to give
// RFC 9309's answer and why it never sees a file as it came from a server.
//
// Everything that cannot be decided refuses: a file that cannot be fetched, an
// address that is not a URL, a question that would cost too much work. The
// zero Answer and the zero Verdict refuse as well.
package robots
