package scan

import (
	"gust/internal/disk/dirlist"
	"gust/internal/disk/filestat"
	"gust/internal/format/index"
	"gust/internal/rules/attr"
	"gust/internal/rules/ignore"
)

// A Tree is what is remembered of a working tree between scans. It serves one
// scan at a time.
type Tree struct {
	ix       *index.Index
	nodes    []node     // of the index's directories, by number
	verdicts []*verdict // by entry; nil where nothing was compared
	dirty    []uint32   // entries found modified by the last scan, a few
	found    []uint32   // directories below which the last scan found untracked files, a few
	key      any        // Options.ContentKey of the last scan
	noCase   bool       // Options.IgnoreCase of the last scan
	scan     uint32     // number of the current scan
}

// A node is a directory: one of the index, or one without an index entry below
// it.
type node struct {
	stat    filestat.Stat // when it was listed
	listed  bool          // kids and the has… fields hold
	settled bool          // stat was old enough to be believed
	scan    uint32        // the scan that last refreshed it
	hasGit  bool          // there is a name .git

	kids []kid // names that are not in the index, sorted

	// The directory's own rules, and the stacks that hold in it: out is in with the
	// list on top. A stack is replaced only when a pattern may have changed.
	ignoreFile, attrFile ruleSource
	ignoreList           *ignore.List
	attrList             *attr.List
	in, out              *ignore.Stack
	attrIn, attrOut      *attr.Stack

	under    bool   // a parent directory is ignored
	excluded bool   // the directory itself is, or a parent
	judged   bool   // files and kids[].ignored hold
	files    int    // kids that are untracked files
	counted  uint32 // the scan that last counted untracked files here
}

// A kid is a name in a directory that is not in the index.
type kid struct {
	nameZ   string
	dir     bool
	hides   bool // a directory in the place of a file of the index
	ignored bool
	node    *node // of a directory that was looked into
}

// A verdict is the result of one comparison of content.
type verdict struct {
	stat    filestat.Stat
	attrs   *attr.Stack
	settled bool
	same    bool
}

// NewTree returns a tree for ix that remembers nothing.
func NewTree(ix *index.Index) *Tree {
	return &Tree{ix: ix, nodes: make([]node, len(ix.Dirs)), verdicts: make([]*verdict, len(ix.Entries))}
}

// Index returns the index that t is for.
func (t *Tree) Index() *index.Index { return t.ix }

// Carry makes t a tree for ix, another index of the same working tree, keeping
// what still holds: listings of directories with the same names in the index,
// and verdicts on entries with the same path and object ID.
func (t *Tree) Carry(ix *index.Index) {
	old := *t
	*t = *NewTree(ix)
	t.key, t.noCase, t.scan = old.key, old.noCase, old.scan
	t.carryDir(&old, 0, 0)
}

// carryDir carries directory n of t from directory o of old. It recurses as deep
// as the tree is, which the length of paths bounds.
func (t *Tree) carryDir(old *Tree, o, n int) {
	from, to := &old.ix.Dirs[o], &t.ix.Dirs[n]
	t.nodes[n] = old.nodes[o]
	if from.Names != to.Names {
		t.nodes[n].listed = false
	}
	// The index may say another thing now of a rule file that is not on disk.
	t.nodes[n].ignoreFile.absent, t.nodes[n].attrFile.absent = false, false
	of, nf := old.ix.Files(o), t.ix.Files(n)
	for i, j := 0, 0; i < len(of) && j < len(nf); {
		a, b := int(of[i]), int(nf[j])
		switch an, bn := old.ix.NameZ(a), t.ix.NameZ(b); {
		case an < bn:
			i++
		case an > bn:
			j++
		default:
			if v := old.verdicts[a]; v != nil && old.ix.ID(a) == t.ix.ID(b) && old.ix.Entries[a].Mode == t.ix.Entries[b].Mode {
				t.verdicts[b] = v
			}
			i++
			j++
		}
	}
	ok, nk := old.ix.Kids(o), t.ix.Kids(n)
	for i, j := 0, 0; i < len(ok) && j < len(nk); {
		a, b := int(ok[i]), int(nk[j])
		switch an, bn := old.ix.DirNameZ(a), t.ix.DirNameZ(b); {
		case an == bn:
			t.carryDir(old, a, b)
			i++
			j++
		case lessDir(an, bn):
			i++
		default:
			j++
		}
	}
}

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
		clear(t.nodes)
	}
}

// shards cuts the index's directories into runs of about the same work and
// returns their bounds: shard i is [bounds[i], bounds[i+1]).
func (t *Tree) shards(threads int) []int {
	dirs := len(t.ix.Dirs)
	count := 2 * threads // so that a thread that is done early takes another
	if threads <= 1 || dirs < 8*count {
		return []int{0, dirs}
	}
	total := len(t.ix.Entries) + 3*dirs
	bounds, sum := []int{0}, 0
	for d := range t.ix.Dirs {
		if sum >= len(bounds)*total/count && d > bounds[len(bounds)-1] {
			bounds = append(bounds, d)
		}
		sum += 3 + len(t.ix.Files(d))
	}
	return append(bounds, dirs)
}

// list fills n's kids from a listing of dir, which is directory d of the index,
// or in no index entry's path if d is negative.
func (w *worker) list(n *node, dir dirlist.Dir, d int) error {
	l := &w.listing
	w.work.Listed++
	if err := dir.List(l); err != nil {
		n.listed = false
		return err
	}
	l.Sort()
	old := n.kids
	n.kids, n.judged, n.hasGit = nil, false, false
	n.ignoreFile.present, n.attrFile.present = false, false
	n.ignoreFile.absent, n.attrFile.absent = false, false
	w.picked = w.picked[:0]
	size := 0
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
			size += len(name) + 1
		}
	}
	if len(w.picked) == 0 {
		return nil
	}
	// One string for all names of the directory: one allocation.
	w.names = w.names[:0]
	for _, i := range w.picked {
		w.names = append(append(w.names, l.Name(i)...), 0)
	}
	all := string(w.names)
	n.kids = make([]kid, len(w.picked))
	for k, i := range w.picked {
		end := len(l.Name(i)) + 1
		n.kids[k] = kid{nameZ: all[:end], dir: l.Kind(i) == dirlist.Directory}
		if d >= 0 && n.kids[k].dir {
			_, n.kids[k].hides = w.ix.FindFile(d, l.Name(i))
		}
		all = all[end:]
		for len(old) > 0 && old[0].nameZ < n.kids[k].nameZ {
			old = old[1:]
		}
		if len(old) > 0 && old[0].nameZ == n.kids[k].nameZ && old[0].dir && n.kids[k].dir {
			n.kids[k].node = old[0].node
		}
	}
	return nil
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
		i, ok := w.ix.FindFile(d, name)
		return !ok || !isDirEntry(w.ix, i)
	case dirlist.Regular, dirlist.Symlink:
		if d < 0 {
			return true
		}
		_, ok := w.ix.FindFile(d, name)
		return !ok
	}
	return false
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
