package scan

import (
	"gust/internal/disk/filestat"
	"gust/internal/disk/mmap"
	"gust/internal/format/index"
	"gust/internal/rules/attr"
	"gust/internal/rules/ignore"
)

// A Tree is what is remembered of a working tree between scans. It serves one
// scan at a time.
type Tree struct {
	ix       *index.Index
	nodes    []node     // of the index's directories, by number
	results  []result   // what the last visit of each found
	verdicts []*verdict // by entry; nil where nothing was compared
	dirty    []uint32   // entries found modified by the last scan, a few
	found    []uint32   // directories below which the last scan found untracked files, a few
	key      any        // Options.ContentKey of the last scan
	noCase   bool       // Options.IgnoreCase of the last scan
	scan     uint32     // number of the current scan
	bounds   []int      // of the shards for threads threads
	threads  int

	incremental // see Update
}

// A node is a directory: one of the index, or one without an index entry below
// it.
type node struct {
	stat    filestat.Stat // when it was listed
	scan    uint32        // the scan that last refreshed it
	counted uint32        // the scan that last counted untracked files here
	id      uint32        // its watch, see Options.Watch; 0 if this very directory has none
	listed  bool          // kids and the has… fields hold
	settled bool          // stat was old enough to be believed
	hasGit  bool          // there is a name .git

	under    bool // a parent directory is ignored
	excluded bool // the directory itself is, or a parent
	judged   bool // files and kids[].ignored hold
	files    int  // kids that are untracked files

	// Of a directory without an index entry below it, as the last count found it.
	repository bool // it is one of its own
	below      int  // the untracked files in and below it, as far as they were counted

	kids []kid // names that are not in the index, sorted

	// The directory's own rules, and the stacks that hold in it: out is in with the
	// list on top. A stack is replaced only when a pattern may have changed.
	ignoreFile, attrFile ruleSource
	ignoreList           *ignore.List
	attrList             *attr.List
	in, out              *ignore.Stack
	attrIn, attrOut      *attr.Stack
}

// A result is what a visit of one directory of the index found.
type result struct {
	dirty     []uint32 // entries that differ, in no order; those without a file with goneBit
	untracked int      // in it, and in the directories without an index entry below it
	present   int      // as Result.Present
	nested    bool     // a repository that is not in the index is among the untracked
}

// goneBit marks an entry without a file. An index with so many entries does not
// fit the largest file that is read.
const goneBit = 1 << 31

func (r *result) deleted() int {
	n := 0
	for _, i := range r.dirty {
		n += int(i >> 31)
	}
	return n
}

// A kid is a name in a directory that is not in the index.
type kid struct {
	nameZ   string
	dir     bool
	hides   bool // a directory in the place of a file of the index
	outside bool // a directory with the name of a sparse directory in another case: Git counts what is in it
	ignored bool
	like    int32 // the directory of the index with its name in another case, under core.ignoreCase; else noDir
	node    *node // of a directory that was looked into
}

// folds reports whether the untracked files of k, a directory, count as one.
func (k *kid) folds(mode UntrackedMode) bool {
	return mode == UntrackedNormal && k.like == noDir && !k.outside
}

// noDir is the number of no directory.
const noDir = -1

// A verdict is the result of one comparison of content.
type verdict struct {
	stat    filestat.Stat
	attrs   *attr.Stack
	settled bool
	same    bool
}

// NewTree returns a tree for ix that remembers nothing.
func NewTree(ix *index.Index) *Tree {
	return &Tree{ix: ix, nodes: mmap.Huge(make([]node, len(ix.Dirs))), results: make([]result, len(ix.Dirs)), verdicts: make([]*verdict, len(ix.Entries))}
}

// Index returns the index that t is for.
func (t *Tree) Index() *index.Index { return t.ix }

// lessDir compares two NUL-terminated names as Git sorts directories.
func lessDir(a, b string) bool {
	n := min(len(a), len(b)) - 1
	if a[:n] != b[:n] {
		return a[:n] < b[:n]
	}
	ca, cb := a[n], b[n]
	if ca == 0 {
		ca = '/'
	}
	if cb == 0 {
		cb = '/'
	}
	return ca < cb
}

// begin prepares t for a scan with o: it forgets what o no longer allows to be
// believed.
func (t *Tree) begin(o *Options) {
	t.scan++
	if t.key != o.ContentKey {
		t.key = o.ContentKey
		clear(t.verdicts)
	}
	if t.noCase != o.IgnoreCase {
		// Ignore lists are parsed for one of both; .git is recognised by it too.
		t.noCase = o.IgnoreCase
		for id := 1; id < len(t.owners) && o.Watch != nil; id++ {
			o.Watch.Remove(uint32(id))
		}
		clear(t.nodes)
		t.owners, t.free, t.ended = nil, nil, nil
	}
}
