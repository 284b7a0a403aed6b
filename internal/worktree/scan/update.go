package scan

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"gust/internal/disk/filestat"
	"gust/internal/rules/attr"
	"gust/internal/rules/ignore"
)

// An Event is what a watcher tells of one watched directory.
type Event struct {
	ID uint32 // as Watch.Add had it
	// Name is the file in it whose content or stat may have changed; empty if the
	// names in the directory may have.
	Name string
	// Below says that anything may have changed in the directory and below it.
	Below bool
	// Made says that Name may be the name of another file now, or if it is "" that any
	// name may be. The event beside it that the names may have changed says all else.
	Made bool
}

// A Mark says what in a directory of the index may have changed. Name and Below
// are as in Event; without both, anything in a directory below that has no index
// entry may have changed too.
type Mark struct {
	Node  uint32
	Name  string
	Below bool
	Made  bool
}

// An owner is the directory of the index that a watch's events are marks of. The
// watched directory is that itself, or one below it that has no index entry.
type owner struct {
	dir  int32 // -1: none, the watch is dropped
	self bool
}

// incremental is what Update builds on.
type incremental struct {
	whole      bool       // every result holds, under conditions
	conditions conditions // of the last whole scan
	root       filestat.Stat
	owners     []owner         // by the number of the watch; 0 is none
	free       []uint32        // numbers without an owner, to be given again
	ended      map[uint32]bool // watches that may have ended since the last pass
	stale      []Mark          // what Carry found to be looked at again
	always     []uint32        // entries that every update looks at: submodules and hard links
	written    []written       // files with a mark in the last minutes
}

// A written file had a mark: it may be mapped into memory, and a write through a
// mapping says nothing until it ends.
type written struct {
	node uint32
	name string
	when time.Time
}

const (
	// writtenFor is how long a written file is looked at in every update.
	writtenFor = 10 * time.Minute
	// maxWritten bounds the written files; more make every update a scan.
	maxWritten = 1000
	// maxLinked bounds the entries with several hard links that an update looks at,
	// since a write through another name raises no event here.
	maxLinked = 1000
)

// conditions are the options that results depend on.
type conditions struct {
	untracked  UntrackedMode
	stat       StatRules
	ignore     *ignore.Stack
	attrs      *attr.Stack
	noCase     bool
	sparse     bool
	contentKey any
}

func conditionsOf(o *Options) conditions {
	return conditions{o.Untracked, o.Stat, o.Ignore, o.Attrs, o.IgnoreCase, o.SparseCheckout, o.ContentKey}
}

// ErrStale says that an update is not possible: the working tree must be scanned.
var ErrStale = errors.New("results of the last scan do not hold")

// Update answers what Scan would, by looking at what changed since the last Scan
// or Update alone: what events name, and what a watcher cannot tell of. o must
// have no limits and the events must be all since that answer began; directories
// are then believed by their watch and not by their times. It returns ErrStale
// where there was no whole scan under the same options.
func (t *Tree) Update(ctx context.Context, root string, o *Options, back Backend, events []Event) (Result, error) {
	return t.update(ctx, root, o, back, t.marks(events))
}

// marks returns what events mean.
func (t *Tree) marks(events []Event) []Mark {
	marks := make([]Mark, 0, len(events))
	for _, e := range events {
		if int(e.ID) >= len(t.owners) || t.owners[e.ID].dir < 0 {
			continue // a directory that no answer depends on any more
		}
		if e.Below {
			// The directory may be gone, its watch with it, and another one in its place,
			// with the same inode number: the file system gives it again at once.
			if t.ended == nil {
				t.ended = make(map[uint32]bool)
			}
			t.ended[e.ID] = true
		}
		m := Mark{Node: uint32(t.owners[e.ID].dir)}
		if t.owners[e.ID].self {
			m.Name, m.Below, m.Made = e.Name, e.Below, e.Made
		}
		marks = append(marks, m)
	}
	return marks
}

// newID returns the number of a new watch.
func (t *Tree) newID(mu *sync.Mutex, o owner) uint32 {
	mu.Lock()
	defer mu.Unlock()
	if n := len(t.free); n > 0 {
		// What its last owner's marks still say costs a look, no more.
		id := t.free[n-1]
		t.free = t.free[:n-1]
		t.owners[id] = o
		return id
	}
	if len(t.owners) == 0 {
		t.owners = append(t.owners, owner{dir: -1}) // 0 is no watch
	}
	t.owners = append(t.owners, o)
	return uint32(len(t.owners) - 1)
}

// freeID notes that the watch under id has ended.
func (t *Tree) freeID(mu *sync.Mutex, id uint32) {
	mu.Lock()
	defer mu.Unlock()
	t.owners[id].dir = -1
	t.free = append(t.free, id)
}

// Distrust makes the next answer one of a whole scan, which keeps the watches.
func (t *Tree) Distrust() { t.whole = false }

// Unwatch forgets every watch: the next pass adds them anew.
func (t *Tree) Unwatch() {
	for i := range t.nodes {
		t.nodes[i].unwatch()
	}
	t.owners, t.free, t.ended, t.whole = nil, nil, nil, false
}

func (n *node) unwatch() {
	n.id = 0
	for i := range n.kids {
		if k := n.kids[i].node; k != nil {
			k.unwatch()
		}
	}
}

// dropOwners ends the watches that Carry left without an owner.
func (t *Tree) dropOwners(unwatch Watch) {
	t.free = nil
	for id := 1; id < len(t.owners); id++ {
		if t.owners[id].dir < 0 {
			t.free = append(t.free, uint32(id))
			if unwatch != nil {
				unwatch.Remove(uint32(id))
			}
		}
	}
}

func (t *Tree) update(ctx context.Context, root string, o *Options, back Backend, marks []Mark) (Result, error) {
	if !t.whole || t.conditions != conditionsOf(o) {
		return Result{}, ErrStale
	}
	p, err := t.start(ctx, root, o, back)
	if err != nil {
		return Result{}, err
	}
	defer p.root.Close()
	if p.rootStat.Ino != t.root.Ino || p.rootStat.Dev != t.root.Dev {
		return Result{}, ErrStale
	}
	if !t.remember(marks) {
		return Result{}, ErrStale
	}
	t.whole = false // until all was looked at
	p.update = true
	p.sum()
	u := updater{worker: worker{pass: p}}
	u.marks = append(append(u.marks, marks...), t.stale...)
	u.collect()
	u.run()
	p.work.add(&u.work)
	for _, i := range u.linked {
		if !slices.Contains(t.always, i) {
			// A file became a hard link of another, which may be any entry.
			return Result{}, ErrStale
		}
	}
	return p.finish()
}

// remember keeps the files that marks name for later updates. It reports whether
// there are few enough.
func (t *Tree) remember(marks []Mark) bool {
	now := time.Now()
	t.written = slices.DeleteFunc(t.written, func(w written) bool { return now.Sub(w.when) > writtenFor })
	for _, m := range marks {
		if _, ok := t.ix.FindFile(int(m.Node), []byte(m.Name)); m.Name == "" || m.Below || m.Made || !ok {
			continue
		}
		i := slices.IndexFunc(t.written, func(w written) bool { return w.node == m.Node && w.name == m.Name })
		if i < 0 {
			if len(t.written) == maxWritten {
				return false
			}
			i = len(t.written)
			t.written = append(t.written, written{})
		}
		t.written[i] = written{m.Node, m.Name, now}
	}
	return true
}

// sum makes the pass's counts those of all results.
func (p *pass) sum() {
	for i := range p.tree.results {
		p.count(&p.tree.results[i], 1)
	}
}

// count adds r to the pass's counts, sign times.
func (p *pass) count(r *result, sign int64) {
	if len(r.dirty) > 0 {
		p.unstaged.Add(sign * int64(len(r.dirty)))
		p.deleted.Add(sign * int64(r.deleted()))
	}
	if r.untracked != 0 {
		p.untracked.Add(sign * int64(r.untracked))
	}
	if r.present != 0 {
		p.present.Add(sign * int64(r.present))
	}
}

// An updater is the worker of one update.
type updater struct {
	worker
	marks []Mark
}

// collect adds what is looked at every time, and puts the marks in the order of
// directories, the widest of each first.
func (u *updater) collect() {
	t := u.tree
	for _, i := range t.always {
		u.marks = append(u.marks, Mark{Node: t.ix.Entries[i].Dir, Name: t.ix.Name(int(i))})
	}
	for _, w := range t.written {
		u.marks = append(u.marks, Mark{Node: w.node, Name: w.name})
	}
	for d := range t.results {
		if t.results[d].nested {
			u.marks = append(u.marks, Mark{Node: uint32(d)})
		}
	}
	u.sort()
}

// sort puts the marks into the order of directories, the widest of each first.
func (u *updater) sort() {
	slices.SortFunc(u.marks, func(a, b Mark) int {
		switch {
		case a.Node != b.Node:
			return int(a.Node) - int(b.Node)
		case a.Below != b.Below:
			if a.Below {
				return -1
			}
			return 1
		case a.Name < b.Name:
			return -1
		case a.Name > b.Name:
			return 1
		}
		return 0
	})
}

// run looks at what the marks name, directory after directory.
func (u *updater) run() {
	defer u.closeLevels(0)
	next := 0 // directories before it are done with
	for i := 0; i < len(u.marks) && u.ctx.Err() == nil; {
		m := u.marks[i]
		j := i + 1
		for j < len(u.marks) && u.marks[j].Node == m.Node {
			j++
		}
		if d := int(m.Node); d >= next && d < len(u.ix.Dirs) {
			next = u.directory(d, u.marks[i:j])
		}
		i = j
	}
}

// directory looks at directory d, which marks are of, and returns the directory
// to go on with at the earliest.
func (u *updater) directory(d int, marks []Mark) int {
	if end, ok := u.reach(d); !ok {
		return end
	}
	if marks[0].Below {
		return u.below(d, u.ix.Dirs[d].End)
	}
	if marks[0].Name == "" || slices.ContainsFunc(marks, func(m Mark) bool { return isRuleFile(m.Name) }) {
		made := slices.Clone(marks) // names adds to the marks
		made = slices.DeleteFunc(made, func(m Mark) bool { return !m.Made || m.Name == "" })
		u.wide = slices.ContainsFunc(marks, func(m Mark) bool { return m.Made && m.Name == "" })
		next := u.names(d)
		u.wide = false
		switch top := len(u.levels) - 1; {
		case top >= 0 && u.levels[top].d == d:
			u.made(made)
		case len(made) > 0:
			u.linked = append(u.linked, noEntry) // perhaps: the directory is closed again
		}
		return next
	}
	if !u.enterKnown(d) {
		return u.vanished(d)
	}
	top := u.levels[len(u.levels)-1]
	for k, m := range marks {
		if k > 0 && marks[k-1].Name == m.Name {
			continue
		}
		if i, ok := u.ix.FindFile(d, []byte(m.Name)); ok {
			u.recheck(i, top)
		} else {
			u.perhapsLinked(top.dir, m.Name+"\x00")
		}
	}
	return d
}

// made looks at the files that marks name in the innermost directory. One that was a
// hard link before may be one of another file now.
func (u *updater) made(marks []Mark) {
	for _, m := range marks {
		u.perhapsLinked(u.levels[len(u.levels)-1].dir, m.Name+"\x00")
	}
}

func isRuleFile(name string) bool {
	return name+"\x00" == gitignoreZ || name+"\x00" == gitattributesZ
}

// reach opens the parents of d. ok is false where one is gone, with all that is
// before directory end.
func (u *updater) reach(d int) (end int, ok bool) {
	for _, a := range slices.Backward(u.missingLevels(d)) {
		if !u.enterKnown(a) {
			return u.vanished(a), false
		}
	}
	return 0, true
}

// enterKnown opens directory d as the innermost level without looking at it.
func (u *updater) enterKnown(d int) bool {
	dir := u.root
	if d > 0 {
		var err error
		u.work.Opened++
		if dir, err = u.levels[len(u.levels)-1].dir.OpenDir(u.ix.DirNameZ(d)); err != nil {
			return false
		}
	}
	u.path = append(u.path[:0], u.ix.DirPath(d)...)
	u.levels = append(u.levels, level{d, dir, &u.tree.nodes[d]})
	return true
}

// vanished counts everything in directory d as gone and returns the directory
// after it.
func (u *updater) vanished(d int) int {
	end := u.ix.Dirs[d].End
	u.gone(d, end)
	return end
}

// below visits directories d to end-1 as a scan does.
func (u *updater) below(d, end int) int {
	wide := u.wide
	u.wide = true
	defer func() { u.wide = wide }()
	for d < end && u.ctx.Err() == nil {
		d = u.visit(d, end)
	}
	return end
}

// names visits directory d, whose names may have changed, and those of the
// directories in it that are others now, or for which other rules hold.
func (u *updater) names(d int) int {
	n := &u.tree.nodes[d]
	n.listed = false
	out, attrs, excluded := n.out, n.attrOut, n.excluded
	if end := u.visit(d, u.ix.Dirs[d].End); end != d+1 || len(u.levels) == 0 || u.levels[len(u.levels)-1].d != d {
		return end // it is gone
	}
	if n.out != out || n.attrOut != attrs || n.excluded != excluded {
		return u.below(d+1, u.ix.Dirs[d].End)
	}
	top := u.levels[len(u.levels)-1]
	for _, k := range u.ix.Kids(d) {
		var st filestat.Stat
		u.work.Stats++
		err := top.dir.StatName(&st, u.ix.DirNameZ(int(k)))
		known := &u.tree.nodes[k].stat
		if err != nil || st.Ino != known.Ino || st.Dev != known.Dev || !st.IsDir() {
			u.marks = append(u.marks, Mark{Node: k, Below: true})
		}
	}
	u.sort() // those done with stay in front
	return d + 1
}

// recheck looks at entry i alone.
func (u *updater) recheck(i int, top level) {
	r := &u.tree.results[top.d]
	for k, x := range r.dirty {
		if int(x&^goneBit) == i {
			u.unstaged.Add(-1)
			u.deleted.Add(-int64(x >> 31))
			r.dirty = slices.Delete(r.dirty, k, k+1)
			break
		}
	}
	u.early = true // a skip-worktree entry was counted as present before, or is marked by its directory
	u.entry(i, top)
	u.early = false
}

// settle notes after a pass what later updates build on.
func (p *pass) settle(update bool) {
	t := p.tree
	if !update {
		t.always, t.written = append(t.always[:0], p.ix.Gitlinks...), nil
	}
	for _, i := range p.linked {
		if !slices.Contains(t.always, i) {
			t.always = append(t.always, i)
		}
	}
	t.stale, t.ended = nil, nil
	t.root, t.conditions = p.rootStat, conditionsOf(p.o)
	t.whole = len(p.linked) <= maxLinked && (update || p.o.MaxUnstaged < 0 && (p.o.MaxUntracked < 0 || p.o.Untracked == UntrackedNo))
}

// renumber brings what is kept by the number of a directory to the numbers after
// Carry. What was noted of a directory that is gone is noted of the whole tree.
func (t *Tree) renumber(number []int32, stale []Mark) {
	for _, m := range stale {
		if n := number[m.Node]; n >= 0 {
			m.Node = uint32(n)
			t.stale = append(t.stale, m)
		}
	}
	t.written = slices.DeleteFunc(slices.Clone(t.written), func(w written) bool { return number[w.node] < 0 })
	for i := range t.written {
		t.written[i].node = uint32(number[t.written[i].node])
	}
}
