package audit

// Concurrent Records share writes. The first to come leads: it owns the writer
// until its write is done, without holding the mutex. Whoever comes meanwhile
// queues up, and the first of the queue leads next, for all of them at once.
// Nobody leads twice for one Record, so nobody works for others for ever.

// entry is one line on its way into the file.
type entry struct {
	body []byte // the line's fields between "seq" and "prev"
	unix int64  // seconds of the line's time: which day's file
	err  error  // set by the leader before it wakes the entry's owner

	// wake gets the batch to lead, or nil when the entry's fate is in err.
	wake chan []*entry
}

// submit writes e, alone, with others or by another's hand.
func (l *Log) submit(e *entry) error {
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return ErrClosed
	}
	if l.led {
		l.queue = append(l.queue, e)
		l.mu.Unlock()
		if batch := <-e.wake; batch != nil {
			l.lead(batch)
		}
		return e.err
	}
	l.led = true
	batch := append(l.spare, e)
	l.spare = nil
	l.mu.Unlock()
	l.lead(batch)
	return e.err
}

// lead writes batch, whose first entry is the caller's own, wakes the owners of
// the others and hands the lead on.
func (l *Log) lead(batch []*entry) {
	l.w.write(batch)
	err := batch[len(batch)-1].err
	for _, e := range batch[1:] {
		e.wake <- nil
	}
	clear(batch)

	l.mu.Lock()
	l.err, l.seq, l.head = err, l.w.seq, l.w.prev
	if l.w.fsync == FsyncInterval && l.w.f != nil {
		l.file = l.w.f
	}
	next := l.queue
	if len(next) == 0 {
		l.led, l.spare = false, batch[:0]
		if l.closed {
			l.idle.Broadcast()
		}
		l.mu.Unlock()
		return
	}
	l.queue = batch[:0]
	l.mu.Unlock()
	next[0].wake <- next
}
