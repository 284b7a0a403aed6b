package revwalk

import (
	"runtime"
	"sync"

	"gust/internal/pure/object"
	"gust/internal/pure/oid"
)

// Inflating commits takes most of the time of a walk without a commit-graph, and a
// commit's parents are known only then. But history has more than one line: while
// the walk follows first parents, others read what merges brought in, the latest
// commits first, as the walk will ask for them.

// An ahead reads commits before a walk asks for them. Its methods are safe for
// concurrent use.
type ahead struct {
	w       *Walker
	readers sync.WaitGroup

	mu      sync.Mutex // guards what follows
	more    sync.Cond  // asked, line, unread or stop changed
	known   map[oid.ID]int32
	heads   []aheadHead
	parents []oid.ID // of the heads
	asked   []oid.ID // to be read first
	line    Queue    // of heads whose parents were not yet looked at
	unread  int      // heads that nobody has taken
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
	if a.unread--; a.unread == aheadUnread-1 {
		a.more.Broadcast()
	}
	return true
}

// ask wants commits read that a merge brought in.
func (a *ahead) ask(ids []oid.ID) {
	a.mu.Lock()
	for _, id := range ids {
		if _, ok := a.known[id]; !ok {
			a.asked = append(a.asked, id)
		}
	}
	a.mu.Unlock()
	a.more.Signal()
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
			a.more.Wait()
			continue
		}
		for _, id := range next {
			a.mu.Unlock()
			// An error is for the walk to find, if it comes this way.
			err := a.w.read(&r, id)
			a.mu.Lock()
			if err == nil {
				a.add(id, a.w.parentsOf(&r, id), &r.head)
			}
		}
	}
}

// next appends what is to be read next to ids.
func (a *ahead) next(ids []oid.ID) []oid.ID {
	for len(ids) == 0 && !a.stop && a.unread < aheadUnread {
		if n := len(a.asked); n > 0 {
			ids = a.claim(ids, a.asked[n-1:])
			a.asked = a.asked[:n-1]
			continue
		}
		if a.line.Len() == 0 {
			break
		}
		h := &a.heads[a.line.Pop()]
		ids = a.claim(ids, a.parents[h.parent:h.parent+h.count])
	}
	return ids
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

func (a *ahead) add(id oid.ID, parents []oid.ID, head *object.CommitHead) {
	k := len(a.heads)
	a.heads = append(a.heads, aheadHead{head.Tree, head.CommitTime, len(a.parents), len(parents)})
	a.parents = append(a.parents, parents...)
	a.known[id] = int32(k)
	a.line.Push(head.CommitTime, uint32(k))
	a.unread++
}

// A headReader is the memory of reading commits.
type headReader struct {
	buf  []byte
	head object.CommitHead
}
