// Package governor decides what a browser may do, and when.
//
//	actions.Action ──▶ Admit ─ 1 operator, policy   judge.go
//	                           2 robots.txt          judge.go, robotsfetch.go
//	                           3 cool-down, caps     budget.go
//	                           4 bucket, wait        wait.go, queue.go, bucket.go
//	                           5 log                 record.go
//	                     ◀── Decision
//	Outcome ─────────▶ Settle  cool-down, credit     settle.go
//	log ─────────────▶ Restore                       restore.go
//
// [Governor.Admit] is asked before every action and answers once and finally: it
// waits inside, for as long as the asker can bear it, and writes the answer to
// the log before it gives it. The zero [Decision] refuses. [Governor.Settle]
// closes what was allowed, and is where the governor learns what a host asks for.
//
// Budgets are per host: two token buckets on golang.org/x/time/rate, one for
// what a person at the keyboard would do and one for what pages load by
// themselves, and counts for the day. A token and its place in the counts are
// taken together, at the moment an action is released; a refused or abandoned
// action has cost nothing. All of it is a fold over the log, see
// [Governor.Restore].
package governor
