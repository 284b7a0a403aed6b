package index

import (
	"bytes"
	"hash/maphash"
	"math"
	"slices"
	"strings"

	"gust/internal/disk/mmap"
	"gust/internal/pure/object"
	"gust/internal/pure/oid"
)

// nameSeed makes Directory.Names unpredictable: a repository must not be able to
// craft two sets of names with one hash.
var nameSeed = maphash.MakeSeed()

// A builder turns entries, in order, into the columns of an Index.
type builder struct {
	algo  oid.Algo
	ix    *Index
	names strings.Builder
	paths []byte
	open  []int  // the directories that hold the entry before, from the root down
	last  []byte // the entry before's path, the caller's own
	stage int    // … and stage

	follows bool // there is an entry before the first one, which another builder has
	sorted  bool // sort was called
}

func newBuilder(algo oid.Algo) *builder {
	b := &builder{algo: algo, ix: &Index{Algo: algo}}
	b.addDir(-1, nil, 0)
	return b
}

// expect makes room for that many entries; 24 bytes are a long base name.
func (b *builder) expect(entries int) {
	b.ix.Entries = mmap.Huge(make([]Entry, 0, entries))
	b.ix.ids = mmap.Huge(make([]byte, 0, entries*b.algo.Size()))
	b.names.Grow(24 * entries)
	dirs := entries/8 + 8 // what large trees have, or more
	b.ix.Dirs = append(make([]Directory, 0, dirs), b.ix.Dirs...)
	b.paths = append(make([]byte, 0, 64*dirs), b.paths...)
}

// add takes the next entry. It keeps nothing of id, and path until the next call.
// Its errors are *object.CorruptErrors without a path.
func (b *builder) add(e *Entry, id, path []byte, off int64) error {
	i := len(b.ix.Entries)
	if i > 0 || b.follows {
		switch c := bytes.Compare(b.last, path); {
		case c > 0:
			return corrupt(off, "entry '%s' is out of order", path)
		case c == 0 && (b.stage >= e.Stage() || b.stage == 0):
			return corrupt(off, "stages of '%s' are out of order", path)
		case c == 0:
			b.ix.Unmerged-- // one path, counted again below
		}
	}
	b.last, b.stage = path, e.Stage()
	if e.Mode == uint32(object.ModeTree) {
		if len(path) == 0 || path[len(path)-1] != '/' {
			return corrupt(off, "directory entry '%s' without a slash", path)
		}
		path = path[:len(path)-1]
	}
	base := bytes.LastIndexByte(path, '/') + 1
	d := b.enter(i, path[:max(base-1, 0)])
	if d < 0 || !safeName(path[base:]) {
		return corrupt(off, "unsafe path '%s'", path)
	}
	if b.names.Len()+len(path) >= math.MaxInt32 {
		return corrupt(off, "paths are too long together")
	}
	e.Dir, e.name = uint32(d), uint32(b.names.Len())
	b.ix.Entries = append(b.ix.Entries, *e)
	b.names.Write(path[base:])
	b.names.WriteByte(0)
	b.ix.ids = append(b.ix.ids, id...)
	b.hashName(d, path[base:], e)
	if e.Mode == uint32(object.ModeGitlink) {
		b.ix.Gitlinks = append(b.ix.Gitlinks, uint32(i))
	}
	b.count(e)
	return nil
}

// finish returns the index of all entries, with what f says beside them.
func (b *builder) finish(f *fileData) *Index {
	if !b.sorted {
		b.sort()
	}
	ix := b.ix
	ix.Version, ix.Sparse, ix.Split, ix.Unread = f.version, f.sparse, f.link != nil, f.unread
	st := f.source.sig.Stat()
	ix.MtimeSec, ix.MtimeNsec = st.MtimeSec, st.MtimeNsec
	if ix.Sparse {
		// A sparse directory stands where its path with a slash belongs, but is looked
		// for by its name.
		for d := range ix.Dirs {
			slices.SortStableFunc(ix.Files(d), func(a, b uint32) int { return strings.Compare(ix.Name(int(a)), ix.Name(int(b))) })
		}
	}
	ix.attachTrees(f.trees)
	return ix
}

// safeName reports whether name is one component of a path below the root. Git
// never writes another, and a scan must not leave the tree.
func safeName(name []byte) bool {
	switch len(name) {
	case 0:
		return false
	case 1:
		return name[0] != '.'
	case 2:
		return name[0] != '.' || name[1] != '.'
	}
	return true
}

// enter makes dir the innermost open directory before entry i and returns its
// number; a negative one if dir is unsafe.
func (b *builder) enter(i int, dir []byte) int {
	for {
		d := b.open[len(b.open)-1]
		x := &b.ix.Dirs[d]
		open := b.paths[x.path : x.path+x.pathLen]
		if bytes.Equal(open, dir) {
			return d
		}
		if len(open) == 0 || len(dir) > len(open) && dir[len(open)] == '/' && bytes.HasPrefix(dir, open) {
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
		end := bytes.IndexByte(dir[from:], '/')
		if end < 0 {
			end = len(dir)
		} else {
			end += from
		}
		if !safeName(dir[from:end]) {
			return -1
		}
		b.ix.Dirs[d].Names += HashDir(dir[from:end])
		b.addDir(d, dir[:end], from)
		b.ix.Dirs[len(b.ix.Dirs)-1].First = i
	}
}

func (b *builder) addDir(parent int, path []byte, base int) {
	b.open = append(b.open, len(b.ix.Dirs))
	b.ix.Dirs = append(b.ix.Dirs, Directory{Parent: parent, Tree: -1,
		path: uint32(len(b.paths)), pathLen: uint32(len(path)), base: uint32(base)})
	b.paths = append(append(b.paths, path...), 0)
}

// leave closes the innermost open directory before entry i.
func (b *builder) leave(i int) {
	d := b.open[len(b.open)-1]
	b.open = b.open[:len(b.open)-1]
	b.ix.Dirs[d].Last, b.ix.Dirs[d].End = i, len(b.ix.Dirs)
}

// hashName adds a name to its directory's hash. A submodule or sparse directory
// is another name than a file: it hides a directory of the working tree.
func (b *builder) hashName(d int, name []byte, e *Entry) {
	h := HashFile(name)
	if m := object.Mode(e.Mode); m == object.ModeGitlink || m == object.ModeTree {
		h = mix(h, 3)
	}
	b.ix.Dirs[d].Names += h
}

// HashFile returns what a file's name adds to Directory.Names, once for each
// entry.
func HashFile(name []byte) uint64 { return mix(maphash.Bytes(nameSeed, name), 2) }

// HashDir returns what a directory's name adds to Directory.Names of its parent.
func HashDir(name []byte) uint64 { return mix(maphash.Bytes(nameSeed, name), 1) }

// mix spreads h so that sums of such values keep their bits apart.
func mix(h, kind uint64) uint64 {
	h ^= kind * 0x9e3779b97f4a7c15
	h *= 0xbf58476d1ce4e5b9
	return h ^ h>>29
}

func (b *builder) count(e *Entry) {
	if e.Stage() != 0 {
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

// sort ends the entries, and sorts them and the directories by the directory that
// holds them.
func (b *builder) sort() {
	for len(b.open) > 0 {
		b.leave(len(b.ix.Entries))
	}
	ix := b.ix
	b.sorted, ix.names, ix.paths = true, b.names.String(), string(b.paths)
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
