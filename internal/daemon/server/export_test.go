package server

// Waiting returns how many questions wait for a turn after the one that is worked
// on.
func (s *Server) Waiting() int {
	f := &s.flights
	f.mu.Lock()
	defer f.mu.Unlock()
	n := 0
	for _, l := range f.lanes {
		if l.next != nil {
			n += l.next.waiters
		}
	}
	return n
}
