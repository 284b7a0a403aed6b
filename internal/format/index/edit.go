package index

import (
	"slices"
	"strings"

	"gust/internal/pure/oid"
)

// An Edit is an index in the making: an existing one with changes. It is not safe
// for concurrent use.
type Edit struct {
	ix      *Index
	entries []Entry // ix's, perhaps with other stats
	gone    []bool  // by number in ix
	added   []addition
	newAt   map[string]int  // of the paths in added
	newDirs map[string]bool // directories that some of them are in, or were
	dirty   []bool          // directories of ix whose content, or that of one below, has changed
}

type addition struct {
	path  string
	entry Entry
	id    oid.ID
}

// Edit begins an edit of ix, which itself stays as it is.
func (ix *Index) Edit() *Edit {
	return &Edit{ix: ix, entries: slices.Clone(ix.Entries), gone: make([]bool, len(ix.Entries)), dirty: make([]bool, len(ix.Dirs))}
}

// Entry returns entry i of the edited index, so that its stat and flags can be
// changed: other changes are not seen.
func (e *Edit) Entry(i int) *Entry { return &e.entries[i] }

// Drop removes entry i of the edited index.
func (e *Edit) Drop(i int) {
	e.gone[i] = true
	e.touch(int(e.entries[i].Dir))
}

// touch makes directory d and those above it dirty.
func (e *Edit) touch(d int) {
	for d >= 0 && !e.dirty[d] {
		e.dirty[d] = true
		d = e.ix.Dirs[d].Parent
	}
}

// Set makes entry, whose stage must be 0, that of path, in the place of all stages
// that there are, of entries below path, and of those that path is below. A path
// that is set twice has the last entry.
func (e *Edit) Set(path string, entry Entry, id oid.ID) {
	e.Remove(path)
	if e.newDirs[path] {
		e.forget(func(p string) bool { return below(p, path) })
	}
	if e.newAt == nil {
		e.newAt, e.newDirs = make(map[string]int), make(map[string]bool)
	}
	for dir := path; ; {
		i := strings.LastIndexByte(dir, '/')
		if i < 0 {
			break
		}
		dir = dir[:i]
		if _, ok := e.newAt[dir]; ok {
			e.forget(func(p string) bool { return p == dir })
		}
		e.newDirs[dir] = true
	}
	e.newAt[path] = len(e.added)
	e.added = append(e.added, addition{path, entry, id})
	d := 0
	e.touch(0)
	for rest := path; ; {
		name, inner, more := strings.Cut(rest, "/")
		k, ok := e.ix.FindDir(d, []byte(name))
		if !more {
			if ok {
				for i := e.ix.Dirs[k].First; i < e.ix.Dirs[k].Last; i++ {
					e.Drop(i)
				}
			}
			return
		}
		e.dropFile(d, name)
		if !ok {
			return
		}
		e.touch(k)
		d, rest = k, inner
	}
}

// forget takes back the additions whose paths gone picks.
func (e *Edit) forget(gone func(path string) bool) {
	e.added = slices.DeleteFunc(e.added, func(a addition) bool { return gone(a.path) })
	clear(e.newAt)
	for i := range e.added {
		e.newAt[e.added[i].path] = i
	}
}

// below reports whether path is in the directory dir.
func below(path, dir string) bool {
	return len(path) > len(dir) && path[len(dir)] == '/' && path[:len(dir)] == dir
}

// Remove removes all stages of path.
func (e *Edit) Remove(path string) {
	if _, ok := e.newAt[path]; ok {
		e.forget(func(p string) bool { return p == path })
	}
	d := 0
	for rest := path; ; {
		name, inner, more := strings.Cut(rest, "/")
		if !more {
			e.dropFile(d, name)
			return
		}
		k, ok := e.ix.FindDir(d, []byte(name))
		if !ok {
			return
		}
		d, rest = k, inner
	}
}

// dropFile drops all stages of name in directory d.
func (e *Edit) dropFile(d int, name string) {
	i, ok := e.ix.FindFile(d, []byte(name))
	if !ok {
		return
	}
	for ; i < len(e.entries) && int(e.entries[i].Dir) == d && e.ix.Name(i) == name; i++ {
		e.Drop(i)
	}
}

// Index returns the edited index. Its cache tree is valid for the directories
// that nothing changed in, and for others whose trees known names; known may be
// nil. It has no file yet: no entry of it is racily clean.
func (e *Edit) Index(known func(dir string) (oid.ID, bool)) (*Index, error) {
	b := newBuilder(e.ix.Algo)
	b.expect(len(e.entries) + len(e.added))
	slices.SortFunc(e.added, func(x, y addition) int { return strings.Compare(x.path, y.path) })
	added := e.added
	var path, last []byte
	for i := range e.entries {
		if e.gone[i] {
			continue
		}
		path, last = e.ix.appendRawPath(last[:0], i), path
		for len(added) > 0 && added[0].path < string(path) {
			if err := b.addNew(&added[0]); err != nil {
				return nil, err
			}
			added = added[1:]
		}
		entry := e.entries[i]
		if err := b.add(&entry, e.ix.RawID(i), path, 0); err != nil {
			return nil, err
		}
	}
	for i := range added {
		if err := b.addNew(&added[i]); err != nil {
			return nil, err
		}
	}
	ix := b.finish(&fileData{version: e.ix.Version, sparse: e.ix.Sparse})
	e.trees(ix, known)
	return ix, nil
}

func (b *builder) addNew(a *addition) error {
	return b.add(&a.entry, a.id.Raw(), []byte(a.path), 0)
}

// trees gives ix the cache tree that is known.
func (e *Edit) trees(ix *Index, known func(dir string) (oid.ID, bool)) {
	old := make([]int, len(ix.Dirs)) // the same directories in e.ix; -1 for new ones
	for d := range ix.Dirs {
		dir := &ix.Dirs[d]
		if d > 0 {
			old[d] = -1
			z := ix.DirNameZ(d)
			if p := old[dir.Parent]; p >= 0 {
				if k, ok := e.ix.FindDir(p, []byte(z[:len(z)-1])); ok {
					old[d] = k
				}
			}
		}
		id, ok := oid.ID{}, false
		if old[d] >= 0 && !e.dirty[old[d]] && e.ix.Dirs[old[d]].Tree >= 0 {
			id, ok = e.ix.Trees[e.ix.Dirs[old[d]].Tree].ID, true
		} else if known != nil {
			id, ok = known(ix.DirPath(d))
		}
		if ok {
			dir.Tree = len(ix.Trees)
			ix.Trees = append(ix.Trees, Tree{dir.Last - dir.First, id})
		}
	}
}
