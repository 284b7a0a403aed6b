package revwalk

// A Queue holds commits to be walked: the latest come out first, of those with
// one commit time the one that went in first. The zero Queue is empty.
type Queue struct {
	items []dated // a heap
	next  uint32  // order of the next one
}

type dated struct {
	time  int64
	order uint32
	i     uint32
}

func (a *dated) before(b *dated) bool {
	return a.time > b.time || a.time == b.time && a.order < b.order
}

// Len returns the number of commits in the queue.
func (q *Queue) Len() int { return len(q.items) }

// Reset empties the queue and keeps its memory.
func (q *Queue) Reset() { q.items, q.next = q.items[:0], 0 }

// Each visits the commits in the queue, in no order, until visit returns false.
func (q *Queue) Each(visit func(i uint32) bool) {
	for k := range q.items {
		if !visit(q.items[k].i) {
			return
		}
	}
}

// Push adds commit i, which has the given commit time.
func (q *Queue) Push(time int64, i uint32) {
	d := dated{time, q.next, i}
	q.next++
	q.items = append(q.items, d)
	h := q.items
	k := len(h) - 1
	for k > 0 {
		up := (k - 1) / 2
		if h[up].before(&d) {
			break
		}
		h[k] = h[up]
		k = up
	}
	h[k] = d
}

// First returns the first commit. The queue must not be empty.
func (q *Queue) First() (i uint32) { return q.items[0].i }

// Pop removes the first commit. The queue must not be empty.
func (q *Queue) Pop() (i uint32) { return q.remove(0).i }

// popEarliest removes the commit with the earliest time. It takes time linear in
// the length of the queue.
func (q *Queue) popEarliest() (i uint32) {
	k := 0
	for j := range q.items {
		if q.items[j].time < q.items[k].time {
			k = j
		}
	}
	return q.remove(k).i
}

func (q *Queue) remove(k int) dated {
	h := q.items
	out := h[k]
	last := h[len(h)-1]
	h = h[:len(h)-1]
	q.items = h
	if k == len(h) {
		return out
	}
	for {
		c := 2*k + 1
		if c >= len(h) {
			break
		}
		if c+1 < len(h) && h[c+1].before(&h[c]) {
			c++
		}
		if last.before(&h[c]) {
			break
		}
		h[k] = h[c]
		k = c
	}
	// If k was not the top, the last item comes from another branch, and may be
	// later than what is above k.
	for k > 0 && last.before(&h[(k-1)/2]) {
		h[k] = h[(k-1)/2]
		k = (k - 1) / 2
	}
	h[k] = last
	return out
}
