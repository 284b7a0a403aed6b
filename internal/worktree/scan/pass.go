package scan

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"gust/internal/disk/dirlist"
	"gust/internal/disk/filestat"
	"gust/internal/format/index"
	"gust/internal/pure/object"
	"gust/internal/pure/oid"
	"gust/internal/rules/attr"
	"gust/internal/rules/ignore"
)

// A pass is one scan.
type pass struct {
	tree     *Tree
	ix       *index.Index
	o        *Options
	back     Backend
	ctx      context.Context
	now      int64 // nanoseconds since 1970, before anything was looked at
	root     dirlist.Dir
	rootStat filestat.Stat
	empty    oid.ID // of the empty blob
	trusts   bool   // the root's file system has exact directory times

	wantUnstaged, wantUntracked  bool
	wantPresent                  bool
	unstaged, deleted, untracked atomic.Int64
	present                      atomic.Int64
	expand, warns                atomic.Bool

	checked []uint32 // entries that dirtyFirst looked at
	update  bool     // the counts are those of all results

	mu        sync.Mutex // guards what follows
	work      Work
	dirty     []uint32
	found     []uint32
	linked    []uint32 // entries with several hard links
	unwatched error
	err       error
}

// remembered is how many modified entries, and how many directories with
// untracked files, are looked at first by the next scan: enough for any limit
// that a prompt sets, few enough to cost nothing.
const remembered = 16

func (p *pass) unstagedWanted() bool {
	return p.wantUnstaged && (p.o.MaxUnstaged < 0 || p.unstaged.Load() < int64(p.o.MaxUnstaged))
}

func (p *pass) untrackedWanted() bool {
	return p.wantUntracked && (p.o.MaxUntracked < 0 || p.untracked.Load() < int64(p.o.MaxUntracked))
}

// done reports whether every limit is reached. Result.Present has no limit.
func (p *pass) done() bool { return !p.unstagedWanted() && !p.untrackedWanted() && !p.wantPresent }

func (p *pass) result() Result {
	p.tree.dirty, p.tree.found = p.dirty, p.found
	r := Result{
		Unstaged: clamp(p.unstaged.Load(), p.o.MaxUnstaged), Untracked: clamp(p.untracked.Load(), p.o.MaxUntracked),
		Deleted: int(p.deleted.Load()), Present: int(p.present.Load()), Expand: p.expand.Load(), Warns: p.warns.Load(), Unwatched: p.unwatched, Work: p.work,
	}
	r.Deleted = min(r.Deleted, r.Unstaged)
	return r
}

func clamp(n int64, limit int) int {
	if limit >= 0 && n > int64(limit) {
		return limit
	}
	return int(n)
}

// fail notes an error that makes the result unknown.
func (p *pass) fail(path []byte, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err == nil {
		p.err = fmt.Errorf("cannot scan '%s': %w", path, err)
	}
}

// A worker scans directories. What it holds is its own.
type worker struct {
	st filestat.Stat // of the entry being looked at
	*pass
	work    Work
	listing dirlist.Listing
	picked  []int
	names   []byte
	path    []byte // of the directory being looked at
	levels  []level
	linked  []uint32
	owner   uint32 // the directory of the index that is looked at
	nested  bool   // a repository was found below it
	blocked bool   // the directory that could not be entered is there, but is none: perhaps a link
	early   bool   // looking at single entries, beside or before the pass proper
	wide    bool   // of an update: nobody knows which names of the directory may stand for other files now
}

// A level is an open directory of the index.
type level struct {
	d   int
	dir dirlist.Dir
	n   *node
}

// shard scans directories lo to hi-1 of the index. The levels stay open, for the
// next shard to go on from.
func (w *worker) shard(lo, hi int) {
	if end, ok := w.open(lo); !ok {
		// A parent is gone, and everything below it with it.
		w.gone(lo, min(end, hi))
		if lo = end; lo < hi {
			w.shard(lo, hi)
		}
		return
	}
	for d, seen := lo, 0; d < hi; {
		if w.ctx.Err() != nil || w.done() {
			return
		}
		next := w.visit(d, hi)
		if seen += dirCost + len(w.ix.Files(d)); seen > yieldAfter {
			seen = 0
			runtime.Gosched()
		}
		d = next
	}
}

// yieldAfter is how many system calls a worker makes before it lets others run:
// a few milliseconds. Else the runtime would interrupt it with a signal, which is
// dearer.
const yieldAfter = 2000

// open makes the levels the parents of directory d, refreshed. ok is false where
// one cannot be opened: everything before directory end then lies below it.
func (w *worker) open(d int) (end int, ok bool) {
	for _, a := range slices.Backward(w.missingLevels(d)) {
		if !w.enter(a) {
			return w.ix.Dirs[a].End, false
		}
	}
	return 0, true
}

// missingLevels closes the levels that are not above directory d and returns the
// parents of d that are not open, the innermost first.
func (w *worker) missingLevels(d int) (chain []int) {
	keep := len(w.levels)
	for keep > 0 && (w.ix.Dirs[w.levels[keep-1].d].End <= d || w.levels[keep-1].d >= d) {
		keep--
	}
	w.closeLevels(keep)
	for a := w.ix.Dirs[d].Parent; a >= 0 && (keep == 0 || a != w.levels[keep-1].d); a = w.ix.Dirs[a].Parent {
		chain = append(chain, a)
	}
	return chain
}

// enter opens directory d, whose parent is the innermost level, and refreshes it.
func (w *worker) enter(d int) bool {
	n := &w.tree.nodes[d]
	w.path = append(w.path[:0], w.ix.DirPath(d)...)
	dir, in, attrs, under := w.root, w.o.Ignore, w.o.Attrs, false
	if d > 0 {
		top := &w.levels[len(w.levels)-1]
		var err error
		w.work.Opened++
		if dir, err = top.dir.OpenDir(w.ix.DirNameZ(d)); err != nil {
			w.unreadable(err)
			w.blocked = dirlist.IsNotDir(err)
			return false
		}
		in, attrs, under = top.n.out, top.n.attrOut, top.n.excluded
	}
	w.owner = uint32(d)
	w.refresh(n, dir, d, in, attrs, under)
	w.levels = append(w.levels, level{d, dir, n})
	return true
}

// unreadable notes an error on opening the directory at w.path. A directory that
// is not there, or that we may not read, is nothing to a scan; that the system
// has run out of descriptors or memory, or fails to read, makes the result
// unknown.
func (w *worker) unreadable(err error) {
	if filestat.IsDenied(err) {
		w.warns.Store(true)
	}
	if !filestat.IsAbsent(err) && !dirlist.IsNotDir(err) && !filestat.IsDenied(err) {
		w.fail(w.path, err)
	}
}

// refresh brings n, the directory dir at w.path, up to date, once for each scan.
func (w *worker) refresh(n *node, dir dirlist.Dir, d int, in *ignore.Stack, attrs *attr.Stack, under bool) {
	if n.scan == w.tree.scan {
		return
	}
	n.scan = w.tree.scan
	var st filestat.Stat
	if err := dir.Stat(&st); err != nil {
		w.fail(w.path, err)
		return
	}
	if w.o.Watch != nil && w.watch(n, dir, &st) {
		n.listed = false // what was listed before the watch may be others by now
	}
	if !n.listed || !n.settled || n.stat != st {
		// Before the listing: a change after this stat is seen by the next scan.
		n.stat = st
		n.settled = st.Settled(w.now) && w.trusted(dir, &st)
		n.listed = true
		if err := w.list(n, dir, d); err != nil {
			w.unreadable(err)
		}
	}
	w.rules(n, dir, d, in, attrs, under)
}

// watch makes sure that the directory n is watched, and reports whether it was
// not before.
func (w *worker) watch(n *node, dir dirlist.Dir, st *filestat.Stat) bool {
	if n.id != 0 && n.stat.Ino == st.Ino && n.stat.Dev == st.Dev && !w.tree.ended[n.id] {
		return false
	}
	err := errUntrusted
	if w.trusted(dir, st) {
		id := n.id
		if id == 0 {
			id = w.tree.newID(&w.mu, owner{int32(w.owner), n == &w.tree.nodes[w.owner]})
		}
		if err = w.o.Watch.Add(dir, id); err == nil {
			n.id = id
		}
	}
	if err != nil {
		w.mu.Lock()
		w.unwatched = err
		w.mu.Unlock()
		return false
	}
	// Whatever changed before the watch is seen by what follows.
	return dir.Stat(st) == nil
}

var errUntrusted = errors.New("file system is not one whose events are known to be exact")

// trusted reports whether the directory times of dir's file system are exact.
func (w *worker) trusted(dir dirlist.Dir, st *filestat.Stat) bool {
	if st.Dev == w.rootStat.Dev {
		return w.trusts
	}
	_, exact := dir.Local() // another file system is mounted here
	return exact
}

func (w *worker) closeLevels(keep int) {
	for i := len(w.levels) - 1; i >= keep; i-- {
		if w.levels[i].d > 0 {
			w.levels[i].dir.Close()
		}
	}
	w.levels = w.levels[:keep]
}

// visit scans directory d and returns the next one to visit, before hi.
func (w *worker) visit(d, hi int) int {
	dir := &w.ix.Dirs[d]
	keep := len(w.levels)
	for keep > 0 && w.levels[keep-1].d != dir.Parent {
		keep--
	}
	w.closeLevels(keep)
	if !w.enter(d) {
		w.gone(d, min(dir.End, hi))
		return dir.End
	}
	top := w.levels[len(w.levels)-1]
	w.forget(d)
	if w.untrackedWanted() {
		w.countUntracked(d, top)
	}
	if w.unstagedWanted() || w.wantPresent {
		for _, i := range w.ix.Files(d) {
			w.entry(int(i), top)
		}
	}
	return d + 1
}

// forget takes back what the last visit of directory d found.
func (w *worker) forget(d int) {
	r := &w.tree.results[d]
	if w.update {
		w.count(r, -1)
	}
	*r = result{dirty: r.dirty[:0]}
}

// countUntracked adds the untracked files of directory d, and of the directories
// in it that have no index entry.
func (w *worker) countUntracked(d int, top level) {
	n := top.n
	if n.excluded || n.counted == w.tree.scan {
		return
	}
	n.counted = w.tree.scan
	if len(n.kids) == 0 {
		return
	}
	if !n.judged {
		w.judge(n)
	}
	count := n.files
	w.owner, w.nested = uint32(d), false
	for i := range n.kids {
		if k := &n.kids[i]; k.dir && !k.ignored {
			count += w.untrackedDir(top.dir, n, k)
		}
	}
	w.tree.results[d].untracked, w.tree.results[d].nested = count, w.nested
	if count > 0 {
		w.untrackedFound(d, count)
	}
}

func (p *pass) untrackedFound(d, count int) {
	p.untracked.Add(int64(count))
	p.mu.Lock()
	if len(p.found) < remembered {
		p.found = append(p.found, uint32(d))
	}
	p.mu.Unlock()
}

// untrackedDir counts the untracked files in k, a directory in parent without an
// index entry below it: as one, or each, as Options.Untracked says.
func (w *worker) untrackedDir(parent dirlist.Dir, pn *node, k *kid) int {
	if k.hides && w.o.Untracked == UntrackedNormal {
		return 0 // Git leaves out the name, which the index has
	}
	keep := len(w.path)
	defer func() { w.path = w.path[:keep] }()
	w.push(k.nameZ)
	w.work.Opened++
	dir, err := parent.OpenDir(k.nameZ)
	if err != nil {
		w.unreadable(err)
		if k.node != nil {
			k.node.repository, k.node.below = false, 0
		}
		return 0
	}
	defer dir.Close()
	if k.node == nil {
		k.node = new(node)
	}
	n := k.node
	w.refresh(n, dir, int(k.like), pn.out, pn.attrOut, false)
	if n.hasGit {
		w.nested = true // or may become a repository without an event here
	}
	n.repository = n.hasGit && w.back.IsRepository(string(w.path))
	if n.repository {
		if k.hides {
			return 0
		}
		return 1
	}
	if !n.judged {
		w.judge(n)
	}
	count := n.files
	folded := k.folds(w.o.Untracked)
	defer func() { n.below = count }()
	for i := range n.kids {
		if count > 0 && folded {
			return 1
		}
		if k := &n.kids[i]; k.dir && !k.ignored {
			count += w.untrackedDir(dir, n, k)
		}
	}
	if folded {
		return min(count, 1)
	}
	return count
}

// gone counts the entries of directories lo to hi-1 as deleted. What was known of the
// directories is forgotten: others that come in their places may well get the same
// inode numbers.
func (w *worker) gone(lo, hi int) {
	for d := lo; d < hi; d++ {
		w.forget(d)
		w.tree.nodes[d].stat, w.tree.nodes[d].listed = filestat.Stat{}, false
		for _, i := range w.ix.Files(d) {
			if !w.unstagedWanted() && !w.wantPresent {
				return
			}
			if w.blocked && w.wantPresent && w.throughLink(int(i)) {
				continue
			}
			if w.unstagedWanted() {
				w.missing(int(i))
			}
		}
	}
}

// throughLink reports whether entry i is a skip-worktree entry whose path leads,
// through a link in a directory's place, to a file. Git takes it for present, and
// then says that it is deleted.
func (w *worker) throughLink(i int) bool {
	e := &w.ix.Entries[i]
	if e.Flags&index.SkipWorktree == 0 || e.Stage() != 0 || e.Flags&index.AssumeUnchanged != 0 || w.ix.IsSparseDir(i) {
		return false
	}
	var st filestat.Stat
	w.work.Stats++
	if w.root.StatName(&st, string(w.ix.AppendPath(nil, i))+"\x00") != nil {
		return false
	}
	if !w.early {
		w.present.Add(1)
		w.tree.results[e.Dir].present++
	}
	if w.unstagedWanted() {
		w.absent(i)
	}
	return true
}

// missing counts entry i, which has no file.
func (w *worker) missing(i int) {
	e := &w.ix.Entries[i]
	if e.Stage() != 0 || e.Flags&(index.SkipWorktree|index.AssumeUnchanged) != 0 || w.ix.IsSparseDir(i) || slices.Contains(w.checked, uint32(i)) {
		return
	}
	if e.Mode == uint32(object.ModeGitlink) &&
		!w.back.SubmoduleModified(w.ctx, i, string(w.ix.AppendPath(nil, i)), true) {
		return
	}
	w.absent(i)
}

// absent counts entry i as deleted.
func (p *pass) absent(i int) {
	p.deleted.Add(1)
	p.differs(uint32(i) | goneBit)
}

// differs counts an entry as unstaged; with goneBit it has no file.
func (p *pass) differs(x uint32) {
	i := x &^ goneBit
	p.unstaged.Add(1)
	r := &p.tree.results[p.ix.Entries[i].Dir]
	r.dirty = append(r.dirty, x)
	p.mu.Lock()
	if len(p.dirty) < remembered {
		p.dirty = append(p.dirty, i)
	}
	p.mu.Unlock()
}

// spine refreshes, before the shards start, the directories that lie above more
// than one of them: afterwards each node has one writer.
func (p *pass) spine(bounds []int) {
	w := &worker{pass: p}
	for _, d := range bounds[1 : len(bounds)-1] {
		w.open(d)
	}
	w.closeLevels(0)
	p.work.add(&w.work)
}

// dirtyFirst looks at what the last scan found, where a limit may then end this
// one before it begins.
func (p *pass) dirtyFirst() {
	t := p.tree
	w := &worker{pass: p, early: true}
	if p.wantUnstaged && p.o.MaxUnstaged >= 0 {
		for _, i := range t.dirty {
			if !p.unstagedWanted() {
				break
			}
			w.single(int(i))
			p.checked = append(p.checked, i)
		}
	}
	if p.wantUntracked && p.o.MaxUntracked >= 0 {
		for _, d := range t.found {
			if !p.untrackedWanted() {
				break
			}
			if _, ok := w.open(int(d)); ok && w.enter(int(d)) {
				w.countUntracked(int(d), w.levels[len(w.levels)-1])
			}
			w.closeLevels(0)
		}
	}
	p.work.add(&w.work)
}

// single looks at entry i alone.
func (w *worker) single(i int) {
	d := int(w.ix.Entries[i].Dir)
	if _, ok := w.open(d); ok && w.enter(d) {
		w.entry(i, w.levels[len(w.levels)-1])
	} else {
		w.missing(i)
	}
	w.closeLevels(0)
}
