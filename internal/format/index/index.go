package index

import (
	"gust/internal/disk/filestat"
	"gust/internal/pure/object"
	"gust/internal/pure/oid"
)

// Flags are the bits of an entry beside its stat.
type Flags uint8

const (
	StageMask       Flags = 3      // 0 merged, 1 base, 2 ours, 3 theirs
	AssumeUnchanged Flags = 1 << 2 // the assume-valid bit
	SkipWorktree    Flags = 1 << 3
	IntentToAdd     Flags = 1 << 4
)

// An Entry is one index entry. The stat fields are stored as Git stores them:
// the low 32 bits of what stat(2) gave.
type Entry struct {
	CtimeSec, CtimeNsec uint32
	MtimeSec, MtimeNsec uint32
	Dev, Ino            uint32
	Mode                uint32 // Git's mode of the entry, an object.Mode
	UID, GID            uint32
	Size                uint32 // bytes; 0 also where the entry was smudged

	Dir   uint32 // its directory's number
	name  uint32 // offset of the base name
	Flags Flags
}

// Stage returns 0 for a merged entry, else 1 to 3.
func (e *Entry) Stage() int { return int(e.Flags & StageMask) }

// A Directory is a directory of the working tree with index entries below it.
// Number 0 is the root. A directory's number is less than those of the
// directories below it, which follow it without a gap.
type Directory struct {
	Parent int    // the parent directory's number; -1 for the root
	End    int    // the number after the last directory below this one
	First  int    // the first entry below this directory …
	Last   int    // … and the number after the last one
	Names  uint64 // a hash of the names and kinds directly in it, good within this process: see HashFile
	Tree   int    // its node in Trees; -1 if it has none

	path, pathLen, base uint32 // in Index.paths
}

// A Tree is one node of the cache tree (the TREE extension): the tree object that
// a directory's entries stand for.
type Tree struct {
	Entries int    // number of index entries covered; negative: invalid, ID says nothing
	ID      oid.ID // null if invalid
}

// An Index is the content of an index file. It is immutable and safe for
// concurrent readers.
type Index struct {
	Algo    oid.Algo
	Version int
	Entries []Entry
	Dirs    []Directory
	Trees   []Tree
	// MtimeSec and MtimeNsec are the index file's modification time, which decides
	// which entries are racily clean; both zero where there is no file.
	MtimeSec  int64
	MtimeNsec uint32
	Sparse    bool     // the sdir extension: entries of mode object.ModeTree stand for whole directories
	Split     bool     // read from a split index and its shared base
	Gitlinks  []uint32 // the entries that are submodules
	// Unread are the signatures of the extensions that were passed over. They are
	// lost when the index is written by AppendFile.
	Unread []string
	// Counts over all entries.
	Unmerged, SkipWorktree, AssumeUnchanged, IntentToAdd int

	ids     []byte // Algo.Size() bytes for each entry
	names   string // base names in entry order, each followed by NUL
	paths   string // directory paths, each followed by NUL
	files   []uint32
	fileOf  []uint32 // files[fileOf[d]:fileOf[d+1]] are the entries directly in directory d
	kids    []uint32
	kidsOf  []uint32 // kids[kidsOf[d]:kidsOf[d+1]] are the directories directly in directory d
	sources []source // the files that this index was read from
}

// A source is a file with the signature it had before it was read.
type source struct {
	path string
	sig  filestat.Signature
}

// Unchanged reports whether every file that ix was read from is still what it
// was then, absent ones included. It costs one stat per file.
func (ix *Index) Unchanged() bool {
	for i := range ix.sources {
		if !ix.sources[i].sig.Matches(ix.sources[i].path) {
			return false
		}
	}
	return true
}

// ID returns the object ID of entry i.
func (ix *Index) ID(i int) oid.ID { return oid.FromBytes(ix.Algo, ix.RawID(i)) }

// RawID returns the raw object ID of entry i. It is the index's own.
func (ix *Index) RawID(i int) []byte {
	n := ix.Algo.Size()
	return ix.ids[i*n : (i+1)*n : (i+1)*n]
}

// NameZ returns the base name of entry i followed by a NUL byte.
func (ix *Index) NameZ(i int) string {
	if i+1 == len(ix.Entries) {
		return ix.names[ix.Entries[i].name:]
	}
	return ix.names[ix.Entries[i].name:ix.Entries[i+1].name]
}

// Name returns the base name of entry i.
func (ix *Index) Name(i int) string {
	z := ix.NameZ(i)
	return z[:len(z)-1]
}

// AppendPath appends the path of entry i, relative to the working tree root, to
// dst. It does not allocate if dst has room.
func (ix *Index) AppendPath(dst []byte, i int) []byte {
	if d := ix.DirPath(int(ix.Entries[i].Dir)); d != "" {
		dst = append(append(dst, d...), '/')
	}
	return append(dst, ix.Name(i)...)
}

// DirPath returns the path of directory d, without a trailing slash; the root's
// is empty.
func (ix *Index) DirPath(d int) string {
	dir := &ix.Dirs[d]
	return ix.paths[dir.path : dir.path+dir.pathLen]
}

// DirNameZ returns the base name of directory d followed by a NUL byte.
func (ix *Index) DirNameZ(d int) string {
	dir := &ix.Dirs[d]
	return ix.paths[dir.path+dir.base : dir.path+dir.pathLen+1]
}

// Files returns the numbers of the entries directly in directory d, sorted by
// name, then by stage. They are the index's own.
func (ix *Index) Files(d int) []uint32 { return ix.files[ix.fileOf[d]:ix.fileOf[d+1]] }

// Kids returns the numbers of the directories directly in directory d, in index
// order. They are the index's own.
func (ix *Index) Kids(d int) []uint32 { return ix.kids[ix.kidsOf[d]:ix.kidsOf[d+1]] }

// FindFile returns the first entry called name directly in directory d.
func (ix *Index) FindFile(d int, name []byte) (int, bool) {
	files := ix.Files(d)
	lo, hi := 0, len(files)
	for lo < hi {
		mid := (lo + hi) / 2
		if ix.Name(int(files[mid])) < string(name) {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo < len(files) && ix.Name(int(files[lo])) == string(name) {
		return int(files[lo]), true
	}
	return 0, false
}

// FindDir returns the directory called name directly in directory d.
func (ix *Index) FindDir(d int, name []byte) (int, bool) {
	kids := ix.Kids(d)
	lo, hi := 0, len(kids)
	for lo < hi {
		mid := (lo + hi) / 2
		k := ix.DirNameZ(int(kids[mid]))
		if lessAsDirs(k[:len(k)-1], name) {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo < len(kids) {
		if k := ix.DirNameZ(int(kids[lo])); k[:len(k)-1] == string(name) {
			return int(kids[lo]), true
		}
	}
	return 0, false
}

// FoldFile is FindFile for a name in any case of its ASCII letters, as
// core.ignoreCase compares names. It looks at each entry of the directory.
func (ix *Index) FoldFile(d int, name []byte) (int, bool) {
	for _, i := range ix.Files(d) {
		if equalFold(ix.Name(int(i)), name) {
			return int(i), true
		}
	}
	return 0, false
}

// FoldDir is FindDir for a name in any case of its ASCII letters; -1 if there is
// none.
func (ix *Index) FoldDir(d int, name []byte) int {
	for _, k := range ix.Kids(d) {
		if z := ix.DirNameZ(int(k)); equalFold(z[:len(z)-1], name) {
			return int(k)
		}
	}
	return -1
}

func equalFold(a string, b []byte) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range b {
		x, y := a[i], b[i]
		if x != y && (x|0x20 != y|0x20 || x|0x20 < 'a' || 'z' < x|0x20) {
			return false
		}
	}
	return true
}

// lessAsDirs compares two names as Git sorts directories: as if each ended in a
// slash.
func lessAsDirs(a string, b []byte) bool {
	n := min(len(a), len(b))
	if a[:n] != string(b[:n]) {
		return a[:n] < string(b[:n])
	}
	ca, cb := byte('/'), byte('/')
	if len(a) > n {
		ca = a[n]
	}
	if len(b) > n {
		cb = b[n]
	}
	// Equal only where one name is the other: names hold no slash.
	return ca < cb
}

// Find returns the first entry with the given path.
func (ix *Index) Find(path string) (int, bool) {
	if len(ix.Entries) == 0 {
		return 0, false
	}
	d, rest := 0, []byte(path)
	for {
		i := 0
		for i < len(rest) && rest[i] != '/' {
			i++
		}
		if i == len(rest) {
			return ix.FindFile(d, rest)
		}
		k, ok := ix.FindDir(d, rest[:i])
		if !ok {
			return 0, false
		}
		d, rest = k, rest[i+1:]
	}
}

// IsSparseDir reports whether entry i stands for a whole directory outside the
// sparse-checkout cone.
func (ix *Index) IsSparseDir(i int) bool { return ix.Entries[i].Mode == uint32(object.ModeTree) }

// Same reports whether e and o record the same of their files: all fields but the
// place of the name.
func (e *Entry) Same(o *Entry) bool {
	a, b := *e, *o
	a.Dir, a.name, b.Dir, b.name = 0, 0, 0, 0
	return a == b
}
