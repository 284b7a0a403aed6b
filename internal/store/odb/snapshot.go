package odb

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gust/internal/disk/filestat"
	"gust/internal/format/midx"
	"gust/internal/format/packfile"
)

// A snapshot is the files of a database at one moment. It is immutable.
type snapshot struct {
	dirs []*dir
}

// A dir is the files of one object directory. It is immutable.
type dir struct {
	path string

	watched []signed // what the rest was read from
	packs   map[string]*pack
	midx    []*index         // newest first
	single  []*packfile.Pack // in no multi-pack-index, newest first
	covered []*packfile.Pack // the others
	others  []string         // info/alternates
}

// signed is a path and what was found there.
type signed struct {
	path string
	sig  filestat.Signature
}

func sign(path string) signed { return signed{path, filestat.Sign(path)} }

// unchanged reports whether everything watched still is as it was.
func unchanged(watched []signed) bool {
	for i := range watched {
		if !watched[i].sig.Matches(watched[i].path) {
			return false
		}
	}
	return true
}

// same reports whether two signatures show the same file. Packs and their indexes
// are written under another name and never changed, so their stat may be believed
// however young: another file differs in its inode number at least.
func same(a, b filestat.Signature) bool {
	return a.Absent() == b.Absent() && a.Stat() == b.Stat() && (a.Absent() || a.Stat() != filestat.Stat{})
}

// A pack is a pack and the stats it was found with.
type pack struct {
	*packfile.Pack
	packSig, idxSig filestat.Signature
}

// An index is a multi-pack-index and its packs, nil where one is absent.
type index struct {
	file  *midx.File
	sig   filestat.Signature
	packs []*packfile.Pack
}

// rescan replaces old by a new snapshot and reports whether any file differs. If
// old is no longer current it reports true at once.
func (db *DB) rescan(old *snapshot) (changed bool, err error) {
	db.scan.Lock()
	defer db.scan.Unlock()
	if db.closed {
		return false, errors.New("object database is closed")
	}
	if db.current.Load() != old {
		return true, nil
	}
	s, changed, err := db.take(old)
	if err != nil {
		return false, err
	}
	if s != old {
		db.current.Store(s)
		db.hint.Store(nil)
		old.closeExcept(s)
	}
	return changed, nil
}

// Refresh looks for packs that have appeared or gone, so that the files of those
// gone are released. Reads do so themselves when they miss an object.
func (db *DB) Refresh() error {
	_, err := db.rescan(db.current.Load())
	return err
}

// take makes a snapshot, reusing what it can of old, which may be nil. It returns
// old itself if no stat differs.
func (db *DB) take(old *snapshot) (s *snapshot, changed bool, err error) {
	s = &snapshot{}
	t := taking{db: db, s: s, old: old, seen: make(map[string]bool)}
	// Git's order: the environment's alternates before those of the file.
	own := t.add(db.o.ObjectDir, true)
	for _, alt := range db.o.Alternates {
		if d := t.add(alt, false); d != nil {
			t.below(d, 1)
		}
	}
	if own != nil {
		t.below(own, 0)
	}
	if t.err != nil {
		s.closeExcept(old)
		return nil, false, t.err
	}
	if old != nil && len(old.dirs) == len(s.dirs) && slices.Equal(old.dirs, s.dirs) {
		return old, false, nil
	}
	return s, t.changed || old == nil || len(old.dirs) != len(s.dirs), nil
}

// taking is the state of take.
type taking struct {
	db      *DB
	s, old  *snapshot
	seen    map[string]bool // resolved paths, which breaks loops
	changed bool
	err     error
}

// add adds the object directory at path, unless it is there already or, being
// only an alternate, is absent or cannot be read.
func (t *taking) add(path string, own bool) *dir {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		if !own {
			return nil
		}
		real = filepath.Clean(path)
	}
	if t.seen[real] {
		return nil
	}
	t.seen[real] = true
	var old *dir
	if t.old != nil {
		for _, d := range t.old.dirs {
			if d.path == path {
				old = d
			}
		}
	}
	d, changed, err := t.db.readDir(path, old)
	if err != nil {
		if own {
			t.err = err
		}
		return nil
	}
	t.changed = t.changed || changed || old == nil
	t.s.dirs = append(t.s.dirs, d)
	return d
}

// maxDepth is the depth of alternates of alternates that Git follows.
const maxDepth = 5

// below adds the alternates of d, which itself is that deep.
func (t *taking) below(d *dir, depth int) {
	if depth > maxDepth {
		return
	}
	for _, alt := range d.others {
		if !filepath.IsAbs(alt) {
			alt = filepath.Join(d.path, alt)
		}
		if a := t.add(alt, false); a != nil {
			t.below(a, depth+1)
		}
	}
}

// readDir reads what is in the object directory at path, reusing old, which may
// be nil. It returns old itself if no stat differs.
func (db *DB) readDir(path string, old *dir) (d *dir, changed bool, err error) {
	if old != nil && unchanged(old.watched) {
		return old, false, nil
	}
	packDir := filepath.Join(path, "pack")
	alternates := filepath.Join(path, "info", "alternates")
	d = &dir{path: path, packs: make(map[string]*pack)}
	// Signed before they are read: a change in between is then seen next time.
	d.watched = []signed{sign(packDir), sign(alternates),
		sign(filepath.Join(packDir, midx.ChainDir)), sign(filepath.Join(packDir, midx.ChainDir, midx.ChainName))}
	if d.others, err = readAlternates(alternates); err != nil {
		return nil, false, err
	}
	names, err := listPacks(packDir)
	if err != nil {
		return nil, false, err
	}
	for _, name := range names {
		p := &pack{
			packSig: filestat.Sign(filepath.Join(packDir, name+".pack")),
			idxSig:  filestat.Sign(filepath.Join(packDir, name+".idx")),
		}
		if p.packSig.Absent() || p.idxSig.Absent() {
			continue // being written or removed; Git takes neither without the other
		}
		if old != nil {
			if q := old.packs[name]; q != nil && same(p.packSig, q.packSig) && same(p.idxSig, q.idxSig) {
				p = q
			}
		}
		if p.Pack == nil {
			p.Pack = packfile.New(filepath.Join(packDir, name+".pack"), db.o.Algo, db.packs)
			changed = true
		}
		d.packs[name] = p
	}
	changed = db.openIndexes(d, old, packDir) || changed
	d.sortPacks()
	if old != nil && (len(old.packs) != len(d.packs) || !slices.Equal(old.others, d.others)) {
		changed = true
	}
	return d, changed, nil
}

// listPacks returns the names, without extension, of the .pack files in a pack
// directory.
func listPacks(dir string) ([]string, error) {
	f, err := os.Open(dir)
	if err != nil {
		if filestat.IsAbsent(err) {
			return nil, nil
		}
		return nil, err
	}
	defer f.Close()
	all, err := f.Readdirnames(-1)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var names []string
	for _, name := range all {
		if base, ok := strings.CutSuffix(name, ".pack"); ok {
			names = append(names, base)
		}
	}
	return names, nil
}

// openIndexes opens the multi-pack-index of a pack directory, a single file or
// else a chain, and reports whether it differs from old's. One that is invalid is
// passed over: the packs are all there without it.
func (db *DB) openIndexes(d, old *dir, packDir string) (changed bool) {
	paths := []string{filepath.Join(packDir, midx.Name)}
	single := filestat.Sign(paths[0])
	if single.Absent() {
		paths, _, _ = midx.ReadChain(packDir, db.o.Algo)
	} else {
		d.watched = append(d.watched, signed{paths[0], single})
	}
	for _, path := range paths {
		x := &index{sig: filestat.Sign(path)}
		if old != nil {
			for _, o := range old.midx {
				if o.file.Path() == path && same(o.sig, x.sig) {
					x.file = o.file
				}
			}
		}
		if x.file == nil {
			f, err := midx.Open(path, db.o.Algo)
			if err != nil {
				continue
			}
			x.file, changed = f, true
		}
		for _, name := range x.file.Packs() {
			var q *packfile.Pack
			if p := d.packs[strings.TrimSuffix(name, ".idx")]; p != nil {
				q = p.Pack
			}
			x.packs = append(x.packs, q)
		}
		d.midx = append(d.midx, x)
	}
	slices.Reverse(d.midx)
	return changed || old != nil && len(old.midx) != len(d.midx)
}

// sortPacks fills in single and covered, newest first: recent objects are asked
// for most.
func (d *dir) sortPacks() {
	covered := make(map[*packfile.Pack]bool)
	for _, x := range d.midx {
		for _, p := range x.packs {
			covered[p] = true
		}
	}
	all := make([]*pack, 0, len(d.packs))
	for _, p := range d.packs {
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b *pack) int {
		x, y := a.packSig.Stat(), b.packSig.Stat()
		switch {
		case x.Mtime() > y.Mtime():
			return -1
		case x.Mtime() < y.Mtime():
			return 1
		}
		return strings.Compare(a.Path(), b.Path())
	})
	for _, p := range all {
		if covered[p.Pack] {
			d.covered = append(d.covered, p.Pack)
		} else {
			d.single = append(d.single, p.Pack)
		}
	}
}

// closeExcept closes the files of s that kept, which may be nil, does not hold.
func (s *snapshot) closeExcept(kept *snapshot) {
	keep := make(map[any]bool)
	if kept != nil {
		for _, d := range kept.dirs {
			for _, p := range d.packs {
				keep[p.Pack] = true
			}
			for _, x := range d.midx {
				keep[x.file] = true
			}
		}
	}
	for _, d := range s.dirs {
		for _, p := range d.packs {
			if !keep[p.Pack] {
				p.Close()
			}
		}
		for _, x := range d.midx {
			if !keep[x.file] {
				x.file.Close()
			}
		}
	}
}
