package governor

// Unplaced returns the policy without the lines of the file it was read from, so
// that it can be compared with one that was read from none.
func (p Policy) Unplaced() Policy {
	p.places = nil
	return p
}
