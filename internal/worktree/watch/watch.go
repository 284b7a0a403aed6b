// Package watch reports which paths may have changed: inotify, FSEvents, or
// polling.
//
// Today that is inotify(7) on Linux; elsewhere New returns ErrUnsupported and
// the caller polls. A Watcher watches the directories of one repository, each
// under a number that the caller chose, and Take says which of them, and which
// files in them, may have changed. The kernel queues an event before the system
// call that caused it returns, and Take empties the queue, so its answer covers
// every change that finished before it was called, but for what raises no event:
//
//   - a write through a memory mapping, until it is unmapped;
//   - a write through a hard link in a directory that is not watched;
//   - mounting over a watched directory, or renaming a parent of the topmost one:
//     see MountTable, and compare its device and inode numbers;
//   - what other machines, or a FUSE server, do to a file system: see Watchable.
package watch

import (
	"errors"
	"fmt"
	"time"
)

// A Node is a directory: the number that the caller watches it under.
type Node uint32

// A Mark is a directory, or a file in one, that may have changed.
type Mark struct {
	Node   Node
	Name   string // of a file or directory in Node; "" stands for Node itself
	Change Change
}

// A Change is what may have happened, a set of bits. They came together over
// time, so no order can be read from them: look at the disk.
type Change uint8

const (
	// Content, with a name: the file's content or attributes.
	Content Change = 1 << iota
	// Names, with a name: it appeared, vanished, or stands for another file now.
	// Without one: that happened to some name in the directory. Each such name has
	// a mark of its own, unless All is set.
	Names
	// Dir, with a name: what appeared or vanished was, at some time, a directory.
	Dir
	// Attributes, without a name: the directory's own (owner, permissions, times).
	Attributes
	// All, without a name: too many names changed to be told one by one. Any file
	// in the directory may have changed in any way.
	All
	// Gone, without a name: the directory was moved or deleted. The caller first
	// removes it and all it watches below it, then looks at its name in its parent,
	// as if that were marked: the mark of a rename's end may come in a later Take
	// than those of the names, when the directory has been added where it is now.
	Gone
)

// Errors that callers tell apart. Each of them means: poll.
var (
	// ErrUnsupported: the system has no way to watch directories.
	ErrUnsupported = errors.New("watching directories is not supported on this system")
	// ErrClosed: the Watcher or its Pool was closed, or the kernel failed to
	// deliver events.
	ErrClosed = errors.New("the watcher is closed")
)

// A LimitError says which limit left no room for a watch.
type LimitError struct {
	Limit string // "budget", or the kernel's: "max_user_watches", "max_user_instances"
	Err   error  // the system's error, nil for the budget
}

func (e *LimitError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("limit '%s' of watched directories is reached", e.Limit)
	}
	return fmt.Sprintf("limit '%s' of watched directories is reached: %v", e.Limit, e.Err)
}

func (e *LimitError) Unwrap() error { return e.Err }

// Options are what New may be told. The zero value ignores nothing.
type Options struct {
	// Ignore reports whether changes of content or attributes of the file with that
	// name in node are of no interest; it is not asked about names that appear or
	// vanish, nor about directories. It is called for each event, with locks held
	// and from any goroutine: it must be quick, must not allocate, must not call the
	// Watcher, and must not keep name.
	Ignore func(node Node, name []byte) bool
}

// A Watcher watches the directories of one repository. Its methods are safe for
// concurrent use; those that change which node means what (Renumber, Reset) are
// the caller's to keep apart from Add and Remove.
type Watcher struct {
	in   *instance
	slot uint32 // in in.watchers

	// Guarded by in.mu.
	wds     map[Node]int32 // watch descriptors
	marks   pending
	ignore  func(Node, []byte) bool
	ready   chan<- struct{}
	fresh   bool // something to tell on ready
	lost    bool // events were lost since the last Take
	limited bool // a limit kept a directory from being watched
	closed  bool
}

// New returns a Watcher that watches nothing yet. It shares an inotify instance
// of p with others once p has as many as it may have. It returns ErrUnsupported,
// ErrClosed if p is closed, or a *LimitError. Close it.
func New(p *Pool, o Options) (*Watcher, error) {
	w := &Watcher{wds: map[Node]int32{}, ignore: o.Ignore}
	if err := p.join(w); err != nil {
		return nil, err
	}
	return w, nil
}

// Add watches the directory that is open as descriptor dir, under the number
// node, before the caller reads it: what changes from then on is marked. The
// descriptor may be closed afterwards. A directory may be watched under several
// numbers, as bind mounts make necessary; a number that was in use is given to
// the new directory. Adding again what is watched already is right, and needed
// after a loss: a watch may have ended unnoticed.
//
// A *LimitError makes every Take report a loss until Reset. ErrClosed is as it
// says; other errors are the system's, about this directory.
func (w *Watcher) Add(dir int, node Node) error {
	in := w.in
	in.mu.Lock()
	defer in.mu.Unlock()
	if w.closed || !in.open {
		return ErrClosed
	}
	old, had := w.wds[node]
	if !had && in.pool.full() {
		w.limited = true
		return &LimitError{Limit: "budget"}
	}
	// Under the lock: an event for the new descriptor must not be read before the
	// descriptor is known.
	wd, err := in.pool.sys.add(in.fd, dir)
	if err != nil {
		if limit := in.pool.sys.limit(err); limit != "" {
			w.limited = true
			return &LimitError{limit, err}
		}
		return fmt.Errorf("cannot watch a directory: %w", err)
	}
	if had {
		if old == wd {
			return nil
		}
		in.release(old, owner{w.slot, node})
	}
	w.wds[node] = wd
	in.own(wd, owner{w.slot, node})
	return nil
}

// AddPath is Add for the directory at path. A symbolic link there is not
// followed: that is an error, as for every other file that is not a directory.
func (w *Watcher) AddPath(path string, node Node) error {
	dir, err := w.in.pool.sys.openDir(path)
	if err != nil {
		return fmt.Errorf("cannot watch '%s': %w", path, err)
	}
	defer w.in.pool.sys.shut(dir)
	return w.Add(dir, node)
}

// Remove ends the watch of node, if it has one. Marks that it already has are
// still reported.
func (w *Watcher) Remove(node Node) {
	w.in.mu.Lock()
	defer w.in.mu.Unlock()
	if wd, ok := w.wds[node]; ok {
		delete(w.wds, node)
		w.in.release(wd, owner{w.slot, node})
	}
}

// Renumber gives every node another number, at one moment: events before and
// after it arrive under the number that holds then. to is called for each node
// that is watched or marked, with the lock held; where keep is false the watch
// and the marks are dropped. No two nodes may get the same number. ignore
// replaces Options.Ignore, since it is asked with the new numbers.
func (w *Watcher) Renumber(to func(old Node) (node Node, keep bool), ignore func(Node, []byte) bool) {
	in := w.in
	in.mu.Lock()
	defer in.mu.Unlock()
	wds := make(map[Node]int32, len(w.wds))
	for old, wd := range w.wds {
		node, keep := to(old)
		if !keep {
			in.release(wd, owner{w.slot, old})
			continue
		}
		if _, ok := wds[node]; ok {
			panic(fmt.Sprintf("watch: Renumber gives number %d to two nodes", node))
		}
		wds[node] = wd
		in.rename(wd, owner{w.slot, old}, node)
	}
	w.wds = wds
	w.marks.renumber(to)
	w.ignore = ignore
}

// Take appends to dst what may have changed since the previous Take and forgets
// it, each node and name at most once, in the order of their first change. If
// whole is false the kernel dropped events, or a limit was hit, and dst says
// nothing: the caller must scan everything, and Add each directory again before
// it reads it.
//
// Take does not block, and it is the only source of staleness: a change made
// before Take was called is either in its result or reported as a loss.
//
// Hot path: once per request. Does not allocate if nothing changed.
func (w *Watcher) Take(dst []Mark) (marks []Mark, whole bool) {
	in := w.in
	in.mu.Lock()
	defer in.mu.Unlock()
	if w.closed || !in.open {
		return dst, false
	}
	in.drain(w)
	w.fresh = false
	if w.lost || w.limited || !in.open {
		w.lost = false
		w.marks.reset()
		return dst, false
	}
	return w.marks.take(dst), true
}

// Ready makes w send to ready, without waiting, whenever something to Take has
// arrived that was not there before. A channel with room for one value misses
// nothing. nil, as at the start, ends it.
func (w *Watcher) Ready(ready chan<- struct{}) {
	w.in.mu.Lock()
	defer w.in.mu.Unlock()
	w.ready = ready
	w.fresh = w.lost || len(w.marks.marks) > 0
	w.tell()
}

// tell sends the token that is due.
func (w *Watcher) tell() {
	if w.fresh && w.ready != nil {
		select {
		case w.ready <- struct{}{}:
		default:
		}
	}
	w.fresh = false
}

// Storm reports whether events were lost so often, three times in a minute, that
// the caller better polls: for five minutes.
func (w *Watcher) Storm() bool {
	w.in.mu.Lock()
	defer w.in.mu.Unlock()
	return w.in.pool.now().Before(w.in.stormEnd)
}

// Len returns the number of nodes that are watched.
func (w *Watcher) Len() int {
	w.in.mu.Lock()
	defer w.in.mu.Unlock()
	return len(w.wds)
}

// Reset ends every watch and forgets what was marked or lost, as if w were new.
func (w *Watcher) Reset() {
	w.removeAll()
	w.in.mu.Lock()
	defer w.in.mu.Unlock()
	w.marks.reset()
	w.lost, w.limited, w.fresh = false, false, false
}

// removeBatch is how many watches end while the lock is held: under a
// millisecond, so that another Watcher's Take is not held up.
const removeBatch = 256

func (w *Watcher) removeAll() {
	in := w.in
	in.mu.Lock()
	defer in.mu.Unlock()
	wds, n := w.wds, 0
	w.wds = map[Node]int32{}
	for node, wd := range wds {
		in.release(wd, owner{w.slot, node})
		if n++; n%removeBatch == 0 {
			in.mu.Unlock()
			in.mu.Lock()
		}
	}
}

// Close ends every watch. Afterwards Take reports a loss.
func (w *Watcher) Close() { w.in.pool.leave(w) }

// mark notes event e, of a directory watched as node.
func (w *Watcher) mark(node Node, e *event) {
	if w.lost || w.limited {
		return // Take says that all may have changed
	}
	switch {
	case len(e.name) == 0:
		c := Attributes
		if e.mask&(inDeleteSelf|inMoveSelf|inIgnored) != 0 {
			c = Gone
		}
		w.marks.add(node, nil, c)
	case e.mask&(inCreate|inDelete|inMovedFrom|inMovedTo) != 0:
		c := Names
		if e.mask&inIsDir != 0 {
			c |= Dir
		}
		w.marks.add(node, nil, Names)
		w.marks.add(node, e.name, c)
	case e.mask&inIsDir != 0:
		w.marks.add(node, e.name, Content|Dir)
	case w.ignore != nil && w.ignore(node, e.name):
		return
	default:
		w.marks.add(node, e.name, Content)
	}
	w.fresh = true
}

// lose notes that events were lost.
func (w *Watcher) lose() {
	w.lost, w.fresh = true, true
	w.marks.reset()
}

// Three losses of events in stormSpan make a storm of stormRest.
const (
	stormCount = 3
	stormSpan  = time.Minute
	stormRest  = 5 * time.Minute
)
