package refs

import (
	"cmp"
	"encoding/binary"
	"errors"
	"os"
	"slices"
	"strings"

	"gust/internal/disk/filestat"
	"gust/internal/pure/oid"
)

const tagPrefix = "refs/tags/"

// A peeler follows an object ID through tag objects.
type peeler func(oid.ID) (oid.ID, error)

// TagAt returns the short name of the last, in byte order, of the tags that
// lead to commit, "" if there is none. peel follows an object ID through tag
// objects; it is asked only about what the ref storage does not say, once for
// each object. A tag that it cannot follow is passed over.
//
// Hot path: once per prompt. The tags of packed-refs are parsed and sorted once;
// loose tags cost one stat each.
func (s *Store) TagAt(commit oid.ID, peel func(oid.ID) (oid.ID, error)) (string, error) {
	name, err := s.b.tagAt(commit, peel)
	return strings.TrimPrefix(name, tagPrefix), err
}

// peeled is a memory of what objects peel to, which never changes. It is bounded.
type peeled map[oid.ID]oid.ID

// maxPeeled bounds the memory of a peeled: 66 bytes each.
const maxPeeled = 1 << 17

func (m *peeled) get(id oid.ID, peel peeler) (oid.ID, error) {
	if to, ok := (*m)[id]; ok {
		return to, nil
	}
	to, err := peel(id)
	if err != nil {
		return to, err
	}
	if *m == nil || len(*m) >= maxPeeled {
		*m = make(peeled)
	}
	(*m)[id] = to
	return to, nil
}

// A tagIndex finds tags by the ID that they lead to. It keeps eight bytes of
// each ID; its user compares the rest.
type tagIndex struct {
	rows   []tagRow // sorted by key
	failed []int32  // tags that could not be peeled
}

type tagRow struct {
	key uint64
	tag int32 // the user's number for the tag
}

// maxRetries is how many tags that could not be peeled are tried again each time:
// an object may arrive later.
const maxRetries = 64

func tagKey(id *oid.ID) uint64 { return binary.BigEndian.Uint64(id.Raw()) }

func (x *tagIndex) add(tag int, id *oid.ID) {
	x.rows = append(x.rows, tagRow{tagKey(id), int32(tag)})
}

func (x *tagIndex) sort() {
	slices.SortFunc(x.rows, func(a, b tagRow) int { return cmp.Compare(a.key, b.key) })
}

// find calls visit for each tag whose ID may be id.
func (x *tagIndex) find(id *oid.ID, visit func(tag int)) {
	key := tagKey(id)
	i, _ := slices.BinarySearchFunc(x.rows, key, func(r tagRow, key uint64) int { return cmp.Compare(r.key, key) })
	for ; i < len(x.rows) && x.rows[i].key == key; i++ {
		visit(int(x.rows[i].tag))
	}
	if len(x.failed) <= maxRetries {
		for _, tag := range x.failed {
			visit(int(tag))
		}
	}
}

// fileTags is what the files backend keeps of tags.
type fileTags struct {
	packed *packed // the file that index is of
	index  tagIndex
	dirs   map[string]*tagDir // directories below the common dir, by name
	peeled peeled
}

// A tagDir is one directory of loose tags.
type tagDir struct {
	sig  filestat.Signature
	tags []looseTag
	subs []string
}

type looseTag struct {
	name   string // full
	sig    filestat.Signature
	ref    Ref
	broken bool
	// missing: the file was deleted after its directory was listed
	missing bool
}

func (f *files) tagAt(commit oid.ID, peel peeler) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	t := &f.tags
	// Loose tags first, as in list.
	best := ""
	err := t.walk(f, strings.TrimSuffix(tagPrefix, "/"), func(tag *looseTag) {
		if tag.broken || tag.name <= best {
			return
		}
		id := tag.ref.ID
		if tag.ref.Target != "" {
			var err error
			if _, id, err = follow(tag.name, f.algo, f.readLocked); err != nil {
				return
			}
		}
		if to, err := t.peeled.get(id, peel); err == nil && to == commit {
			best = tag.name
		}
	})
	if err != nil {
		return "", err
	}
	p, err := f.packedLocked()
	if err != nil {
		return "", err
	}
	t.build(p, peel)
	t.index.find(&commit, func(i int) {
		name := p.nameAt(p.lines[i])
		if string(name) <= best || t.has(string(name)) || !ValidName(string(name)) {
			return
		}
		to, known := p.peeledOrSelf(i)
		if !known {
			to, err = t.peeled.get(p.id(i), peel)
			if err != nil {
				return
			}
		}
		if to == commit {
			best = string(name)
		}
	})
	return best, nil
}

// has reports whether there is a loose tag of this name.
func (t *fileTags) has(name string) bool {
	d := t.dirs[name[:strings.LastIndexByte(name, '/')]]
	return d != nil && slices.ContainsFunc(d.tags, func(tag looseTag) bool { return tag.name == name && !tag.missing })
}

// build makes the index of p's tags unless it is there.
func (t *fileTags) build(p *packed, peel peeler) {
	if t.packed != nil && t.packed.same(p) {
		return
	}
	t.packed, t.index = p, tagIndex{}
	lo, hi := p.span(tagPrefix)
	t.index.rows = make([]tagRow, 0, hi-lo)
	for i := lo; i < hi; i++ {
		to, known := p.peeledOrSelf(i)
		if !known {
			var err error
			if to, err = t.peeled.get(p.id(i), peel); err != nil {
				t.index.failed = append(t.index.failed, int32(i))
				continue
			}
		}
		t.index.add(i, &to)
	}
	t.index.sort()
}

// walk visits the loose tags in the directory dir and below, reading again what
// has changed.
func (t *fileTags) walk(f *files, dir string, visit func(*looseTag)) error {
	d := t.dirs[dir]
	if d == nil || !d.sig.Matches(f.commonDir+"/"+dir) {
		var err error
		if d, err = t.readDir(f, dir); err != nil {
			return err
		}
	}
	for i := range d.tags {
		tag := &d.tags[i]
		if !tag.sig.Matches(f.commonDir + "/" + tag.name) {
			tag.read(f)
		}
		if !tag.missing {
			visit(tag)
		}
	}
	for _, sub := range d.subs {
		if err := t.walk(f, sub, visit); err != nil {
			return err
		}
	}
	return nil
}

// readDir lists the directory dir and forgets what was known of it.
func (t *fileTags) readDir(f *files, dir string) (*tagDir, error) {
	path := f.commonDir + "/" + dir
	d := &tagDir{sig: filestat.Sign(path)}
	names, err := os.ReadDir(path)
	if err != nil && !unlistable(err) {
		return nil, err
	}
	for _, entry := range names {
		name := dir + "/" + entry.Name()
		if notARef(entry.Name()) {
			continue
		}
		if isDir(entry, f.commonDir+"/"+name) {
			d.subs = append(d.subs, name)
		} else {
			d.tags = append(d.tags, looseTag{name: name})
		}
	}
	if t.dirs == nil {
		t.dirs = make(map[string]*tagDir)
	}
	if old := t.dirs[dir]; old != nil {
		for _, sub := range old.subs {
			if !slices.Contains(d.subs, sub) {
				t.forget(sub)
			}
		}
	}
	t.dirs[dir] = d
	return d, nil
}

func (t *fileTags) forget(dir string) {
	if d := t.dirs[dir]; d != nil {
		for _, sub := range d.subs {
			t.forget(sub)
		}
		delete(t.dirs, dir)
	}
}

// read reads the tag's file. A symbolic link may be a symbolic ref, whose
// signature would be that of something else: it is read every time.
func (tag *looseTag) read(f *files) {
	path := f.commonDir + "/" + tag.name
	tag.sig = filestat.Sign(path)
	var err error
	tag.ref, err = f.readLoose(tag.name, path)
	tag.missing = errors.Is(err, ErrNotFound)
	tag.broken = err != nil || !ValidName(tag.name)
	if _, err := os.Readlink(path); err == nil {
		tag.missing = tag.missing || dangling(path)
		tag.sig = filestat.Signature{}
	}
}
