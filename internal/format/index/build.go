package index

import (
	"hash/maphash"
	"strings"

	"gust/internal/pure/object"
	"gust/internal/pure/oid"
)

// nameSeed makes Directory.Names unpredictable: a repository must not be able to
// craft two sets of names with one hash.
var nameSeed = maphash.MakeSeed()

// A builder turns the records of a file into the columns of an Index.
type builder struct {
	algo  oid.Algo
	ix    *Index
	names strings.Builder
	paths strings.Builder
	open  []int // the directories that hold the entry before, from the root down
}

// build makes b.ix of f's records, which must be sorted.
func (b *builder) build(f *fileData) error {
	n := len(f.records)
	b.ix = &Index{Algo: b.algo, Version: f.version, Sparse: f.sparse, Entries: make([]Entry, n), ids: make([]byte, 0, n*b.algo.Size())}
	b.addDir(-1, "", 0)
	for i := range f.records {
		r := &f.records[i]
		if err := b.checkOrder(f, i); err != nil {
			return err
		}
		path := r.path
		if r.Mode == uint32(object.ModeTree) {
			if !f.sparse || !strings.HasSuffix(path, "/") {
				return corruptIn(f, r, "directory entry '%s' outside a sparse index", path)
			}
			path = path[:len(path)-1]
		}
		base := strings.LastIndexByte(path, '/') + 1
		if !safePath(path) {
			return corruptIn(f, r, "unsafe path '%s'", path)
		}
		d := b.enter(i, path[:max(base-1, 0)])
		e := &b.ix.Entries[i]
		*e = r.Entry
		e.Dir, e.name = uint32(d), uint32(b.names.Len())
		b.names.WriteString(path[base:])
		b.names.WriteByte(0)
		b.ix.ids = append(b.ix.ids, f.ids[r.id:int(r.id)+b.algo.Size()]...)
		b.hashName(d, path[base:], e)
		b.count(e, i == 0 || f.records[i-1].path != r.path)
	}
	for len(b.open) > 0 {
		b.leave(n)
	}
	b.ix.names, b.ix.paths = b.names.String(), b.paths.String()
	b.index()
	b.ix.attachTrees(f.trees)
	return nil
}

func corruptIn(f *fileData, r *record, format string, args ...any) error {
	err := corrupt(r.off, format, args...).(*object.CorruptError)
	err.Path = f.source.path
	return err
}

// checkOrder refuses entries that are not in strictly ascending order, and a
// merged entry beside unmerged ones.
func (b *builder) checkOrder(f *fileData, i int) error {
	if i == 0 {
		return nil
	}
	prev, cur := &f.records[i-1], &f.records[i]
	switch c := strings.Compare(prev.path, cur.path); {
	case c > 0:
		return corruptIn(f, cur, "entry '%s' is out of order", cur.path)
	case c == 0 && (prev.Stage() >= cur.Stage() || prev.Stage() == 0):
		return corruptIn(f, cur, "stages of '%s' are out of order", cur.path)
	}
	return nil
}

// safePath reports whether each component of path names something below the
// root. Git never writes another path, and a scan must not leave the tree.
func safePath(path string) bool {
	for rest := path; ; {
		c, after, more := strings.Cut(rest, "/")
		if c == "" || c == "." || c == ".." {
			return false
		}
		if !more {
			return true
		}
		rest = after
	}
}

// enter makes dir the innermost open directory before entry i and returns its
// number.
func (b *builder) enter(i int, dir string) int {
	paths := b.paths.String() // shares the builder's memory: no copy
	for {
		d := b.open[len(b.open)-1]
		x := &b.ix.Dirs[d]
		open := paths[x.path : x.path+x.pathLen]
		if open == dir {
			return d
		}
		if open == "" || strings.HasPrefix(dir, open) && dir[len(open)] == '/' {
			break
		}
		b.leave(i)
	}
	for {
		d := b.open[len(b.open)-1]
		from := int(b.ix.Dirs[d].pathLen)
		if from == len(dir) {
			return d
		}
		if from > 0 {
			from++
		}
		end := strings.IndexByte(dir[from:], '/')
		if end < 0 {
			end = len(dir)
		} else {
			end += from
		}
		b.ix.Dirs[d].Names += mix(maphash.String(nameSeed, dir[from:end]), 1)
		b.addDir(d, dir[:end], from)
		b.ix.Dirs[len(b.ix.Dirs)-1].First = i
	}
}

func (b *builder) addDir(parent int, path string, base int) {
	b.open = append(b.open, len(b.ix.Dirs))
	b.ix.Dirs = append(b.ix.Dirs, Directory{Parent: parent, Tree: -1,
		path: uint32(b.paths.Len()), pathLen: uint32(len(path)), base: uint32(base)})
	b.paths.WriteString(path)
	b.paths.WriteByte(0)
}

// leave closes the innermost open directory before entry i.
func (b *builder) leave(i int) {
	d := b.open[len(b.open)-1]
	b.open = b.open[:len(b.open)-1]
	b.ix.Dirs[d].Last, b.ix.Dirs[d].End = i, len(b.ix.Dirs)
}

// hashName adds a name to its directory's hash. A submodule or sparse directory
// is another name than a file: it hides a directory of the working tree.
func (b *builder) hashName(d int, name string, e *Entry) {
	kind := uint64(2)
	if m := object.Mode(e.Mode); m == object.ModeGitlink || m == object.ModeTree {
		kind = 3
	}
	b.ix.Dirs[d].Names += mix(maphash.String(nameSeed, name), kind)
}

// mix spreads h so that sums of such values keep their bits apart.
func mix(h, kind uint64) uint64 {
	h ^= kind * 0x9e3779b97f4a7c15
	h *= 0xbf58476d1ce4e5b9
	return h ^ h>>29
}

func (b *builder) count(e *Entry, firstOfPath bool) {
	if e.Stage() != 0 && firstOfPath {
		b.ix.Unmerged++
	}
	if e.Flags&SkipWorktree != 0 {
		b.ix.SkipWorktree++
	}
	if e.Flags&AssumeUnchanged != 0 {
		b.ix.AssumeUnchanged++
	}
	if e.Flags&IntentToAdd != 0 {
		b.ix.IntentToAdd++
	}
}

// index sorts entries and directories by the directory that holds them.
func (b *builder) index() {
	ix := b.ix
	ix.fileOf, ix.kidsOf = make([]uint32, len(ix.Dirs)+1), make([]uint32, len(ix.Dirs)+1)
	for i := range ix.Entries {
		ix.fileOf[ix.Entries[i].Dir+1]++
	}
	for d := 1; d < len(ix.Dirs); d++ {
		ix.kidsOf[ix.Dirs[d].Parent+1]++
	}
	for d := range ix.Dirs {
		ix.fileOf[d+1] += ix.fileOf[d]
		ix.kidsOf[d+1] += ix.kidsOf[d]
	}
	ix.files, ix.kids = make([]uint32, len(ix.Entries)), make([]uint32, max(len(ix.Dirs)-1, 0))
	next := append([]uint32(nil), ix.fileOf...)
	for i := range ix.Entries {
		d := ix.Entries[i].Dir
		ix.files[next[d]] = uint32(i)
		next[d]++
	}
	copy(next, ix.kidsOf)
	for d := 1; d < len(ix.Dirs); d++ {
		p := ix.Dirs[d].Parent
		ix.kids[next[p]] = uint32(d)
		next[p]++
	}
}
