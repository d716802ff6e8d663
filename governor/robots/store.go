package robots

import "container/list"

// maxStored bounds what the entries of a cache take together, in bytes: a
// thousand hostile files must not fill the memory.
const maxStored = 64 << 20

// store keeps the entries used last. It is not safe for concurrent use.
type store struct {
	most  int // entries
	bytes int
	byKey map[string]*list.Element
	used  list.List // of *entry, the one used last in front
}

func newStore(most int) *store {
	return &store{most: most, byKey: map[string]*list.Element{}}
}

func (s *store) get(origin string) *entry {
	el := s.byKey[origin]
	if el == nil {
		return nil
	}
	s.used.MoveToFront(el)
	return el.Value.(*entry)
}

func (s *store) put(e *entry) {
	if el := s.byKey[e.origin]; el != nil {
		s.drop(el)
	}
	s.byKey[e.origin] = s.used.PushFront(e)
	s.bytes += e.size()
	for s.used.Len() > 1 && (s.used.Len() > s.most || s.bytes > maxStored) {
		s.drop(s.used.Back())
	}
}

func (s *store) drop(el *list.Element) {
	e := s.used.Remove(el).(*entry)
	delete(s.byKey, e.origin)
	s.bytes -= e.size()
}
