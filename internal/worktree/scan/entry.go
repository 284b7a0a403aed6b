package scan

import (
	"errors"
	"slices"

	"gust/internal/disk/dirlist"
	"gust/internal/disk/filestat"
	"gust/internal/format/index"
	"gust/internal/pure/object"
	"gust/internal/rules/attr"
)

// A File is a working tree file whose content must be compared with its entry.
// It is valid during the call that it is passed to.
type File struct {
	Dir   dirlist.Dir
	NameZ string // in Dir
	Path  []byte // from the root of the working tree
	Entry int
	Stat  *filestat.Stat
	Attrs *attr.Stack // of the file's directory
}

// entry compares entry i with its file in the directory of top.
//
// Hot path: once per index entry. One fstatat where that settles the matter.
func (w *worker) entry(i int, top level) {
	e := &w.ix.Entries[i]
	if e.Flags != 0 && w.skipped(i, e, top) {
		return
	}
	if len(w.checked) > 0 && slices.Contains(w.checked, uint32(i)) {
		return
	}
	// A sparse directory that is there changes the counts of entries at any limit.
	if !w.unstagedWanted() && !(w.wantPresent && object.Mode(e.Mode) == object.ModeTree) {
		return
	}
	st := &w.st
	w.work.Stats++
	if err := top.dir.StatName(st, w.ix.NameZ(i)); err != nil {
		if filestat.IsAbsent(err) {
			w.missing(i)
		} else if !filestat.IsDenied(err) {
			w.fail(w.path, err)
		}
		return
	}
	if st.Nlink > 1 && st.IsRegular() {
		w.linked = append(w.linked, uint32(i))
		if w.wide {
			w.linked = append(w.linked, noEntry) // perhaps of another file than before
		}
	}
	switch object.Mode(e.Mode) {
	case object.ModeGitlink:
		w.submodule(i, st)
		return
	case object.ModeTree:
		// Git looks for the path with a slash at its end, which leads through a link.
		if st.IsDir() || st.IsSymlink() && top.dir.StatName(st, w.ix.Name(i)+"/\x00") == nil {
			w.expand.Store(true)
		}
		return
	}
	verdict := w.o.Stat.Match(e, st, w.emptyBlob(i), w.ix)
	if e.Flags&index.IntentToAdd != 0 {
		verdict = Modified // an empty file is as new as any, though the entry is of an empty blob
	}
	switch verdict {
	case Modified:
		if st.IsDir() && !w.back.IsRepository(string(w.ix.AppendPath(nil, i))) {
			w.absent(i) // a directory in a file's place: the file is gone
			return
		}
		w.differs(uint32(i))
	case Unsure:
		if !w.same(i, top, st) {
			w.differs(uint32(i))
		}
	}
}

// skipped reports whether e, which has flags, is not looked at: an unmerged path
// is no change, and the user promised that others have none.
func (w *worker) skipped(i int, e *index.Entry, top level) bool {
	if e.Stage() != 0 || e.Flags&index.AssumeUnchanged != 0 {
		return true
	}
	if e.Flags&index.SkipWorktree == 0 {
		return false
	}
	if w.ix.IsSparseDir(i) {
		return false
	}
	if !w.o.SparseCheckout {
		return true
	}
	var st filestat.Stat
	w.work.Stats++
	if top.dir.StatName(&st, w.ix.NameZ(i)) != nil {
		return true
	}
	if !w.early {
		w.present.Add(1)
		w.tree.results[e.Dir].present++
	}
	return false
}

// emptyBlob reports whether entry i is of the empty blob: only then is a recorded
// size of zero what it says.
func (w *worker) emptyBlob(i int) bool {
	return w.ix.Entries[i].Size == 0 && w.empty.EqualRaw(w.ix.RawID(i))
}

// submodule looks at the submodule of entry i. Anything but a directory in its
// place is a change like any other of a submodule.
func (w *worker) submodule(i int, st *filestat.Stat) {
	if w.back.SubmoduleModified(w.ctx, i, string(w.ix.AppendPath(nil, i)), !st.IsDir()) {
		w.differs(uint32(i))
	}
}

// same compares the content of entry i's file, or remembers that it did.
func (w *worker) same(i int, top level, st *filestat.Stat) bool {
	if v := w.tree.verdicts[i]; v != nil && v.settled && v.stat == *st && v.attrs == top.n.attrOut {
		return v.same
	}
	w.work.Compared++
	keep := len(w.path)
	w.push(w.ix.NameZ(i))
	same, err := w.back.Same(w.ctx, &File{top.dir, w.ix.NameZ(i), w.path, i, st, top.n.attrOut})
	w.path = w.path[:keep]
	if err != nil {
		// A file that vanished is deleted; one that cannot be read counts as modified,
		// as it does to Git.
		if filestat.IsAbsent(err) {
			w.missing(i)
			return true
		}
		if !errors.Is(err, w.ctx.Err()) || w.ctx.Err() == nil {
			return false
		}
		return true // the scan is cancelled: its result is not used
	}
	w.tree.verdicts[i] = &verdict{stat: *st, attrs: top.n.attrOut, settled: st.Settled(w.now), same: same}
	return same
}

func isDirEntry(ix *index.Index, i int) bool {
	m := object.Mode(ix.Entries[i].Mode)
	return m == object.ModeGitlink || m == object.ModeTree
}
