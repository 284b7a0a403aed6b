package watch

import (
	"slices"
	"sync"
	"time"
)

// An instance is one inotify instance with its queue of events, and the Watchers
// that share it.
//
// Reading events and applying them to the marks happen under one lock: an event
// that was read and not yet applied would otherwise be missing from a Take.
type instance struct {
	pool   *Pool
	waiter waiter
	fd     int // immutable
	half   int // bytes in the queue that may mean that it is half full

	mu       sync.Mutex // guards what follows, and the state of the watchers; taken after Pool.mu
	open     bool
	buf      []byte
	watchers []*Watcher // by slot; nil where one is free

	// Who watches a descriptor. Two numbers may share one: the kernel has one
	// descriptor for each inode. No pointers, for the garbage collector's sake.
	owners map[int32]owner
	others map[int32][]owner // further owners, seldom any

	overflows [stormCount]time.Time // the last ones, a ring
	overflow  int                   // the next to replace
	stormEnd  time.Time
}

type owner struct {
	slot uint32
	node Node
}

// bufferSize of one read, in bytes: about 500 events. Larger ones were no
// faster; queues are read until the bytes that were there are consumed.
const bufferSize = 16 << 10

// drain consumes what is in the queue now, no matter what is added meanwhile, so
// that a storm of events cannot hold it. taker, if not nil, is not told on its
// channel. It is called with in.mu held.
func (in *instance) drain(taker *Watcher) {
	left, err := in.pool.sys.pending(in.fd)
	if left == 0 && err == nil {
		return
	}
	if err != nil {
		in.fail()
	}
	if in.buf == nil {
		in.buf = make([]byte, bufferSize)
	}
	for left > 0 && in.open {
		// left ends where an event ends, and what is read is whole events.
		n, err := in.pool.sys.read(in.fd, in.buf[:min(left, len(in.buf))])
		if err != nil || n <= 0 {
			in.fail()
			break
		}
		if in.pool.stall != nil {
			in.pool.stall()
		}
		in.apply(in.buf[:n])
		left -= n
	}
	in.tell(taker)
}

// tell tells the watchers other than taker that there is something to Take.
func (in *instance) tell(taker *Watcher) {
	for _, w := range in.watchers {
		if w != nil && w != taker {
			w.tell()
		}
	}
}

// relieve drains the queue if it may be half full.
func (in *instance) relieve() {
	in.mu.Lock()
	defer in.mu.Unlock()
	if !in.open {
		return
	}
	if n, err := in.pool.sys.pending(in.fd); err != nil || n >= in.half {
		in.drain(nil)
	}
}

// apply marks what the events in buf say.
func (in *instance) apply(buf []byte) {
	for len(buf) > 0 {
		var e event
		rest, ok := next(buf, &e)
		if !ok {
			in.fail()
			return
		}
		in.event(&e)
		buf = rest
	}
}

func (in *instance) event(e *event) {
	if e.mask&inQOverflow != 0 {
		in.overflowed()
		return
	}
	if e.mask&inUnmount != 0 {
		in.lose() // what lies below is another file system's now
	}
	first, ok := in.owners[e.wd]
	if !ok {
		return // removed, while its events were in the queue
	}
	in.watchers[first.slot].mark(first.node, e)
	if len(in.others) > 0 {
		for _, o := range in.others[e.wd] {
			in.watchers[o.slot].mark(o.node, e)
		}
	}
	if e.mask&inIgnored != 0 {
		in.forget(e.wd)
	}
}

// overflowed notes that the kernel dropped events.
func (in *instance) overflowed() {
	in.pool.overflows.Add(1)
	now := in.pool.now()
	if oldest := in.overflows[(in.overflow+1)%stormCount]; !oldest.IsZero() && now.Sub(oldest) < stormSpan {
		in.stormEnd = now.Add(stormRest)
	}
	in.overflows[in.overflow] = now
	in.overflow = (in.overflow + 1) % stormCount
	in.lose()
}

// lose makes every watcher's next Take report a loss.
func (in *instance) lose() {
	for _, w := range in.watchers {
		if w != nil {
			w.lose()
		}
	}
}

// fail gives the instance up: events cannot be read, or make no sense.
func (in *instance) fail() {
	in.lose()
	in.shut()
}

// shut closes the descriptor, which ends all watches.
func (in *instance) shut() {
	if !in.open {
		return
	}
	in.open = false
	in.pool.sys.shut(in.fd)
	in.pool.watches.Add(-int64(len(in.owners)))
	in.owners, in.others = nil, nil
	in.waiter.wake() // its poll still has the descriptor
}

// own makes o an owner of wd.
func (in *instance) own(wd int32, o owner) {
	first, ok := in.owners[wd]
	switch {
	case !ok:
		in.owners[wd] = o
		in.pool.watches.Add(1)
	case first != o:
		if in.others == nil {
			in.others = map[int32][]owner{}
		}
		in.others[wd] = append(in.others[wd], o)
	}
}

// release makes o no owner of wd, and ends the watch if there is no other. Events
// that are in the queue are then of an unknown descriptor. It does not come back:
// the kernel numbers descriptors upwards.
func (in *instance) release(wd int32, o owner) {
	first, ok := in.owners[wd]
	if !ok {
		return // ended by the kernel, or shut
	}
	rest := in.others[wd]
	switch {
	case first != o:
		if i := slices.Index(rest, o); i >= 0 {
			in.setOthers(wd, slices.Delete(rest, i, i+1))
		}
	case len(rest) > 0:
		in.owners[wd] = rest[0]
		in.setOthers(wd, rest[1:])
	default:
		delete(in.owners, wd)
		in.pool.watches.Add(-1)
		in.pool.sys.remove(in.fd, wd)
	}
}

// rename gives an owner of wd another number.
func (in *instance) rename(wd int32, o owner, node Node) {
	if first, ok := in.owners[wd]; ok && first == o {
		in.owners[wd] = owner{o.slot, node}
	} else if i := slices.Index(in.others[wd], o); i >= 0 {
		in.others[wd][i].node = node
	}
}

func (in *instance) setOthers(wd int32, rest []owner) {
	if len(rest) == 0 {
		delete(in.others, wd)
		return
	}
	in.others[wd] = rest
}

// forget drops wd, whose watch the kernel ended.
func (in *instance) forget(wd int32) {
	drop := func(o owner) {
		if w := in.watchers[o.slot]; w.wds[o.node] == wd {
			delete(w.wds, o.node)
		}
	}
	drop(in.owners[wd])
	for _, o := range in.others[wd] {
		drop(o)
	}
	delete(in.owners, wd)
	delete(in.others, wd)
	in.pool.watches.Add(-1)
}

// join gives w a slot.
func (in *instance) join(w *Watcher) {
	in.mu.Lock()
	defer in.mu.Unlock()
	w.in = in
	for i, other := range in.watchers {
		if other == nil {
			w.slot = uint32(i)
			in.watchers[i] = w
			return
		}
	}
	w.slot = uint32(len(in.watchers))
	in.watchers = append(in.watchers, w)
}

// leave frees the slot of w and reports whether it was the last one in use.
func (in *instance) leave(w *Watcher) (last bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.watchers[w.slot] = nil
	for _, other := range in.watchers {
		if other != nil {
			return false
		}
	}
	return true
}
