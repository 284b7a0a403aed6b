package scan

import (
	"slices"

	"gust/internal/disk/dirlist"
	"gust/internal/disk/filestat"
	"gust/internal/format/index"
)

// list fills n's kids from a listing of dir, which is directory d of the index,
// or in no index entry's path if d is negative.
func (w *worker) list(n *node, dir dirlist.Dir, d int) error {
	l := &w.listing
	w.work.Listed++
	if err := dir.List(l); err != nil {
		n.listed = false
		return err
	}
	old := n.kids
	defer func() { w.dropKids(old, n.kids) }()
	n.kids, n.judged, n.hasGit = nil, false, false
	n.ignoreFile.present, n.attrFile.present = false, false
	n.ignoreFile.absent, n.attrFile.absent = false, false
	w.picked = w.picked[:0]
	if d >= 0 && w.tracked(n, d) {
		// What is not listed is not in the index either.
		for _, r := range []*ruleSource{&n.ignoreFile, &n.attrFile} {
			r.absent = !r.present && r.file == nil
		}
		return nil
	}
	for i := range l.Len() {
		name := l.Name(i)
		if l.Kind(i) == dirlist.Unknown {
			l.SetKind(i, w.kindOf(dir, l.NameZ(i)))
		}
		if w.isDotGit(name) {
			n.hasGit = true
			continue
		}
		switch string(name) {
		case ".gitignore":
			n.ignoreFile.present = true
		case ".gitattributes":
			n.attrFile.present = true
		}
		if w.untracked(d, name, l.Kind(i)) {
			w.picked = append(w.picked, i)
		}
	}
	if len(w.picked) == 0 {
		return nil
	}
	slices.SortFunc(w.picked, l.Compare)
	// One string for all names of the directory: one allocation.
	w.names = w.names[:0]
	for _, i := range w.picked {
		w.names = append(append(w.names, l.Name(i)...), 0)
	}
	all := string(w.names)
	n.kids = make([]kid, len(w.picked))
	rest := old
	for k, i := range w.picked {
		end := len(l.Name(i)) + 1
		n.kids[k] = kid{nameZ: all[:end], dir: l.Kind(i) == dirlist.Directory, like: noDir}
		if d >= 0 && n.kids[k].dir {
			e, ok := w.findFile(d, l.Name(i))
			n.kids[k].outside = ok && w.otherCase(e, l.Name(i))
			n.kids[k].hides = ok && !n.kids[k].outside
			if w.o.IgnoreCase {
				n.kids[k].like = int32(w.ix.FoldDir(d, l.Name(i)))
			}
		}
		all = all[end:]
		for len(rest) > 0 && rest[0].nameZ < n.kids[k].nameZ {
			rest = rest[1:]
		}
		known := len(rest) > 0 && rest[0].nameZ == n.kids[k].nameZ && rest[0].dir == n.kids[k].dir
		switch {
		case known && n.kids[k].dir:
			n.kids[k].node, rest[0].node = rest[0].node, nil
		case w.update && (d < 0 || !known || w.wide) && !n.kids[k].dir:
			w.perhapsLinked(dir, n.kids[k].nameZ)
		}
	}
	return nil
}

// perhapsLinked looks at a file that is not in the index, and that was written or
// made: it may be a hard link, even to an entry's file.
func (w *worker) perhapsLinked(dir dirlist.Dir, nameZ string) {
	var st filestat.Stat
	w.work.Stats++
	if dir.StatName(&st, nameZ) == nil && st.IsRegular() && st.Nlink > 1 {
		w.linked = append(w.linked, noEntry)
	}
}

// noEntry stands for a hard link that no entry is known to be.
const noEntry = ^uint32(0)

// tracked reports whether the names listed in directory d are those that the index
// has, so that nobody has to look for each: their hashes agree. It is false where
// that is not so simple.
func (w *worker) tracked(n *node, d int) bool {
	l := &w.listing
	var sum uint64
	for i := range l.Len() {
		name := l.Name(i)
		if name[0] == '.' {
			if w.isDotGit(name) {
				n.hasGit = true
				continue
			}
			n.ignoreFile.present = n.ignoreFile.present || string(name) == ".gitignore"
			n.attrFile.present = n.attrFile.present || string(name) == ".gitattributes"
		}
		switch l.Kind(i) {
		case dirlist.Regular, dirlist.Symlink:
			sum += index.HashFile(name)
		case dirlist.Directory:
			sum += index.HashDir(name)
		default:
			return false
		}
	}
	return sum == w.ix.Dirs[d].Names
}

// untracked reports whether a name in directory d is not in the index. A file
// where the index has a directory, or a directory where it has a file, is not.
func (w *worker) untracked(d int, name []byte, kind dirlist.Kind) bool {
	switch kind {
	case dirlist.Directory:
		if d < 0 {
			return true
		}
		if _, ok := w.ix.FindDir(d, name); ok {
			return false
		}
		i, ok := w.findFile(d, name)
		return !ok || !isDirEntry(w.ix, i) || w.otherCase(i, name)
	case dirlist.Regular, dirlist.Symlink:
		if d < 0 {
			return true
		}
		i, ok := w.findFile(d, name)
		return !ok || w.ix.IsSparseDir(i)
	}
	return false
}

// findFile returns the first entry called name directly in directory d, in any
// case under core.ignoreCase.
func (w *worker) findFile(d int, name []byte) (int, bool) {
	i, ok := w.ix.FindFile(d, name)
	if !ok && w.o.IgnoreCase {
		return w.ix.FoldFile(d, name)
	}
	return i, ok
}

// otherCase reports whether entry i is a sparse directory with name in another
// case.
func (w *worker) otherCase(i int, name []byte) bool {
	return w.ix.IsSparseDir(i) && w.ix.Name(i) != string(name)
}

func (w *worker) kindOf(dir dirlist.Dir, nameZ string) dirlist.Kind {
	w.work.Stats++
	var st filestat.Stat
	if dir.StatName(&st, nameZ) != nil {
		return dirlist.Other
	}
	switch {
	case st.IsRegular():
		return dirlist.Regular
	case st.IsDir():
		return dirlist.Directory
	case st.IsSymlink():
		return dirlist.Symlink
	}
	return dirlist.Other
}

func (w *worker) isDotGit(name []byte) bool {
	if len(name) != 4 || name[0] != '.' {
		return false
	}
	return string(name) == ".git" ||
		w.o.IgnoreCase && name[1]|0x20 == 'g' && name[2]|0x20 == 'i' && name[3]|0x20 == 't'
}

// dropKids ends the watches of directories that are no longer kids: those that
// old still holds, unless kids is old.
func (w *worker) dropKids(old, kids []kid) {
	if w.o.Watch == nil || len(old) > 0 && len(kids) > 0 && &old[0] == &kids[0] {
		return
	}
	for i := range old {
		if n := old[i].node; n != nil {
			if n.id != 0 {
				w.o.Watch.Remove(n.id)
				w.tree.freeID(&w.mu, n.id)
			}
			w.dropKids(n.kids, nil)
		}
	}
}
