// Package audit is the append-only log of everything a governor decided: one
// JSON object a line, one file a UTC day, one writer.
//
//	2026-11-30.jsonl    the lines of that day
//	2026-11-30.torn-1   an unfinished last line that a crash left, cut off at Open
//	lock                held by the process that writes; names it
//
// # Lines
//
// Every line starts with "v" (format, 1), "seq" (1, 2, 3, … without a gap, over
// all files), "ts" (RFC 3339, milliseconds, UTC), "day" (the budget's day) and
// "event", and ends with "prev". Three events exist: "action" is what was
// decided, written before anything is released; "outcome" is what came of an
// action that was sent, joined by "id"; "note" is everything else. A field that
// says nothing is left out, except "sent" of an action, "attempt" and
// "waited_ms" of an action that was sent, and "status", "ms" and "from_cache" of
// an outcome. Readers skip fields they do not know, so that newer logs stay
// readable.
//
// A file never holds a line of a later day. It may start with a few lines of
// the day before: the order of the chain wins over the order of the clocks that
// stamped the lines around midnight.
//
// # What the chain proves
//
// "prev" is the SHA-256 of the line before (without its newline), sixty-four
// zeros in the first line of all. [Verify] follows it over all files. It finds
// an edited, inserted, moved or missing line, a missing file in the middle, and
// a missing end of any file but the newest. It cannot find by itself that the
// newest lines are missing, that the newest line of all was edited, or that
// somebody rewrote every line from some point to the end: for that, keep the head ([Log.Head], [Report.Head]) somewhere else
// and hand it to Verify. Deleting the oldest files is how old logs are thrown
// away; it is reported, not refused.
//
// # What is safe when
//
// [Log.Record] returns after write(2) took the whole line, so the end of the
// process at any moment loses nothing that Record reported as written. What the
// end of the machine may lose is up to [Config.Fsync].
//
// Values of query parameters that look like secrets, and passwords in URLs, are
// masked before they are written; see [Mask].
package audit
