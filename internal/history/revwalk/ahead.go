package revwalk

import (
	"runtime"
	"sync"

	"gust/internal/pure/object"
	"gust/internal/pure/oid"
)

// Inflating commits takes most of the time of a walk without a commit-graph, and a
// commit's parents are known only then. But history has more than one line: while
// the walk reads the parents of the latest commit, others read those of the next
// ones, which it will ask for soon.

// An ahead reads commits before a walk asks for them. Its methods are safe for
// concurrent use.
type ahead struct {
	w       *Walker
	readers sync.WaitGroup

	mu      sync.Mutex // guards what follows
	more    sync.Cond  // line, unread or stop changed
	known   map[oid.ID]int32
	heads   []aheadHead
	parents []oid.ID // of the heads
	line    Queue    // of heads, some of whose parents may not have been read
	unread  int      // heads that nobody has taken
	full    bool     // too many are unread: wait until half of them are taken
	idle    int      // readers that wait
	stop    bool
}

// An aheadHead is a commit that was read.
type aheadHead struct {
	tree          oid.ID
	time          int64
	parent, count int // in ahead.parents
}

// claimed is the value in ahead.known of a commit that someone else reads.
const claimed = -1

const (
	aheadFrom    = 200     // commits read one by one before others help: a walk of half a millisecond
	aheadReaders = 3       // at most: the walk itself takes a part of the time too
	aheadUnread  = 1 << 10 // commits read too early at most: the walk may end before it needs them
)

// help starts the readers once the walk has read some commits; it returns nil where
// there is one processor.
func (w *Walker) help() *ahead {
	if w.ahead != nil || w.objects < aheadFrom {
		return w.ahead
	}
	n := min(runtime.GOMAXPROCS(0)-1, aheadReaders)
	if n <= 0 {
		return nil
	}
	a := &ahead{w: w, known: make(map[oid.ID]int32)}
	a.more.L = &a.mu
	w.ahead = a
	for range n {
		a.readers.Add(1)
		go a.run()
	}
	return a
}

// end stops the readers and waits for them.
func (a *ahead) end() {
	a.mu.Lock()
	a.stop = true
	a.mu.Unlock()
	a.more.Broadcast()
	a.readers.Wait()
}

// take returns the commit id in head if it was read, and otherwise leaves it to the
// caller to read it.
func (a *ahead) take(id oid.ID, head *object.CommitHead) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	k, ok := a.known[id]
	if !ok || k == claimed {
		a.known[id] = claimed
		return false
	}
	h := &a.heads[k]
	head.Tree, head.CommitTime = h.tree, h.time
	head.Parents = append(head.Parents[:0], a.parents[h.parent:h.parent+h.count]...)
	if a.unread--; a.full && a.unread <= aheadUnread/2 { // not at each one: to wake somebody takes longer than to read
		a.full = false
		a.more.Broadcast()
	}
	return true
}

// tell adds a commit that the walk has read itself: its parents are wanted.
func (a *ahead) tell(parents []oid.ID, head *object.CommitHead) {
	a.mu.Lock()
	a.add(parents, head)
	wake := a.idle > 0 && !a.full
	a.mu.Unlock()
	if wake {
		a.more.Signal()
	}
}

// run is one reader.
func (a *ahead) run() {
	defer a.readers.Done()
	var r headReader
	var next []oid.ID
	a.mu.Lock()
	defer a.mu.Unlock()
	for {
		if next = a.next(next[:0]); len(next) == 0 {
			if a.stop {
				return
			}
			a.idle++
			a.more.Wait()
			a.idle--
			continue
		}
		for _, id := range next {
			a.mu.Unlock()
			// An error is for the walk to find, if it comes this way.
			err := a.w.read(&r, id)
			a.mu.Lock()
			if err == nil {
				a.known[id] = int32(len(a.heads))
				a.unread++
				a.add(a.w.parentsOf(&r, id), &r.head)
			}
		}
	}
}

// next appends what is to be read next to ids.
func (a *ahead) next(ids []oid.ID) []oid.ID {
	a.full = a.full || a.unread >= aheadUnread
	if a.stop || a.full {
		return ids
	}
	// The parents of the latest commit are what the walk reads itself.
	first, ok := a.open()
	if !ok {
		return ids
	}
	second, ok := a.open()
	a.line.Push(a.heads[first].time, first)
	if !ok {
		return ids
	}
	h := &a.heads[second]
	return a.claim(ids, a.parents[h.parent:h.parent+h.count])
}

// open takes the latest commit out of the line that has a parent which nobody reads.
func (a *ahead) open() (uint32, bool) {
	for a.line.Len() > 0 {
		k := a.line.Pop()
		h := &a.heads[k]
		for _, id := range a.parents[h.parent : h.parent+h.count] {
			if _, ok := a.known[id]; !ok {
				return k, true
			}
		}
	}
	return 0, false
}

// claim appends those of the commits that nobody reads to dst.
func (a *ahead) claim(dst, commits []oid.ID) []oid.ID {
	for _, id := range commits {
		if _, ok := a.known[id]; !ok {
			a.known[id] = claimed
			dst = append(dst, id)
		}
	}
	return dst
}

// add puts a commit that was read into the line.
func (a *ahead) add(parents []oid.ID, head *object.CommitHead) {
	k := len(a.heads)
	a.heads = append(a.heads, aheadHead{head.Tree, head.CommitTime, len(a.parents), len(parents)})
	a.parents = append(a.parents, parents...)
	a.line.Push(head.CommitTime, uint32(k))
}

// A headReader is the memory of reading commits.
type headReader struct {
	buf  []byte
	head object.CommitHead
}
