package checkout

import (
	"context"
	"fmt"

	"gust/internal/disk/filestat"
	"gust/internal/engine/treediff"
	"gust/internal/format/index"
	"gust/internal/pure/object"
	"gust/internal/pure/oid"
)

// An op is what is done to the file of a path.
type op uint8

const (
	opCreate  op = iota // there is no entry: the path must be free
	opReplace           // the file of an entry gives way to another one
	opRemove            // the file of an entry goes
	opForget            // there is no file; an entry, if there is one, goes
	opStage             // the entry changes and the file does not
)

// A step is one path that changes.
type step struct {
	path  string
	op    op
	entry int           // its first entry in the old index; -1 if there is none
	to    treediff.Side // what the target has; zero for opRemove
}

// A stagedChange is a path at which the index differs from HEAD's tree and will
// differ from the target.
type stagedChange struct {
	path  string
	entry int           // -1: removed from the index
	to    treediff.Side // what HEAD, and the target, have
}

// plan decides what is done to each path, by the table of docs/checkout.md; the
// working tree is looked at later.
func (m *Move) plan(ctx context.Context) error {
	if m.q.Limit != nil {
		return m.planPaths(ctx)
	}
	if m.q.Force {
		return treediff.Entries(ctx, m.db, m.q.To, m.ix, func(path []byte, to treediff.Side, at int) error {
			return m.forced(string(path), to, at)
		})
	}
	differs := make(map[string]bool)
	err := treediff.Trees(ctx, m.db, m.q.From, m.q.To, func(path []byte, from, to treediff.Side) error {
		p := string(path)
		differs[p] = true
		return m.decide(p, from, to)
	}, nil)
	if err != nil {
		return m.unreadable(err)
	}
	err = treediff.Entries(ctx, m.db, m.q.From, m.ix, func(path []byte, from treediff.Side, at int) error {
		if !differs[string(path)] {
			m.staged = append(m.staged, stagedChange{string(path), at, from})
		}
		return nil
	})
	return m.unreadable(err)
}

// unreadable makes a failed read of trees git's to report.
func (m *Move) unreadable(err error) error {
	if err == nil {
		return nil
	}
	if r, ok := err.(*Refusal); ok {
		return r
	}
	return &Refusal{Reason: "cannot read a tree", Err: err}
}

// sideOfEntry returns what the index has; the zero Side for no entry.
func sideOfEntry(ix *index.Index, i int) treediff.Side {
	if i < 0 {
		return treediff.Side{}
	}
	return treediff.Side{Mode: object.Mode(ix.Entries[i].Mode), ID: ix.ID(i)}
}

// decide is one row of the table of git-read-tree(1), "Two Tree Merge", for a path
// at which the trees differ. Row numbers are docs/checkout.md's.
func (m *Move) decide(path string, from, to treediff.Side) error {
	at, ok := m.ix.Find(path)
	if !ok {
		at = -1
	}
	have := sideOfEntry(m.ix, at)
	none := treediff.Side{}
	if from.Mode == object.ModeGitlink {
		return refuse("is a submodule", path)
	}
	switch {
	case have == none && to == none: // row 2
		return m.add(step{path, opForget, -1, to})
	case have == none && from == none: // row 1
		return m.add(step{path, opCreate, -1, to})
	case have == none: // row 3
		return refuse("is removed from the index and differs in the target", path)
	case have == to: // rows 6, 7, 18, 19
		return nil
	case have == from && to == none: // rows 10, 11
		return m.add(step{path, opRemove, at, to})
	case have == from: // rows 20, 21
		return m.add(step{path, opReplace, at, to})
	}
	return refuse("has staged changes", path) // rows 8, 9, 12, 13, 16, 17
}

// forced is decide for a move that drops local changes, for a path at which the
// index differs from the target.
func (m *Move) forced(path string, to treediff.Side, at int) error {
	switch {
	case to == treediff.Side{}:
		return m.add(step{path, opRemove, at, to})
	case at < 0:
		return m.add(step{path, opCreate, -1, to})
	}
	return m.add(step{path, opReplace, at, to})
}

func (m *Move) add(s step) error {
	if s.to.Mode != 0 {
		if err := checkPath(s.path, s.to.Mode); err != nil {
			return err
		}
	}
	if s.entry >= 0 && object.Mode(m.ix.Entries[s.entry].Mode) == object.ModeGitlink {
		return refuse("is a submodule", s.path)
	}
	m.steps = append(m.steps, s)
	return nil
}

// index makes the new index, once the new files' stats are known.
func (m *Move) index() error {
	e := m.ix.Edit()
	m.look.settle(e.Entry)
	for i := range m.steps {
		s := &m.steps[i]
		if s.op == opRemove || s.op == opForget {
			e.Remove(s.path)
			continue
		}
		entry := index.Entry{Mode: uint32(s.to.Mode)}
		if s.op != opStage {
			entry.SetStat(&m.work.stats[i])
		}
		if s.entry >= 0 && m.ix.Entries[s.entry].Stage() == 0 && s.to == sideOfEntry(m.ix, s.entry) {
			*e.Entry(s.entry) = entryWithStat(m.ix.Entries[s.entry], &m.work.stats[i])
			continue
		}
		e.Set(s.path, entry, s.to.ID)
	}
	next, err := e.Index(m.knownTrees())
	if err != nil {
		return fmt.Errorf("cannot make the new index: %w", err)
	}
	m.next = next
	return nil
}

func entryWithStat(e index.Entry, st *filestat.Stat) index.Entry {
	e.SetStat(st)
	return e
}

// knownTrees returns a function that tells the trees of directories in which the new
// index is the target's; nil if it is that nowhere for sure.
func (m *Move) knownTrees() func(dir string) (oid.ID, bool) {
	if l := m.q.Limit; l != nil && (l.FromIndex || l.Match != nil || l.Overlay) {
		return nil
	}
	diverged := make(map[string]bool)
	for _, s := range m.staged {
		for p := s.path; p != ""; {
			p = parent(p)
			diverged[p] = true
		}
	}
	trees := &treeFinder{db: m.db, root: m.q.To, known: make(map[string]oid.ID)}
	return func(dir string) (oid.ID, bool) {
		if diverged[dir] {
			return oid.ID{}, false
		}
		return trees.find(dir)
	}
}

// parent returns the directory that path is in, "" for the root.
func parent(path string) string {
	for i := len(path) - 1; i >= 0; i-- {
		if path[i] == '/' {
			return path[:i]
		}
	}
	return ""
}

// A treeFinder finds the trees of directories in a tree.
type treeFinder struct {
	db    objectReader
	root  oid.ID
	known map[string]oid.ID // the subtrees of each directory that was read, by path
	read  map[string]bool
}

type objectReader interface {
	Read(id oid.ID, dst []byte) (object.Type, []byte, error)
}

// find returns the tree of dir, and whether there is one.
func (f *treeFinder) find(dir string) (oid.ID, bool) {
	if dir == "" {
		return f.root, !f.root.IsNull()
	}
	if id, ok := f.known[dir]; ok {
		return id, true
	}
	up := parent(dir)
	if f.read == nil {
		f.read = make(map[string]bool)
	}
	if f.read[up] {
		return oid.ID{}, false
	}
	f.read[up] = true
	id, ok := f.find(up)
	if !ok {
		return oid.ID{}, false
	}
	typ, data, err := f.db.Read(id, nil)
	if err != nil || typ != object.Tree {
		return oid.ID{}, false
	}
	prefix := ""
	if up != "" {
		prefix = up + "/"
	}
	r := object.NewTreeReader(data, id.Algo())
	var te object.TreeEntry
	for {
		if more, err := r.Next(&te); err != nil || !more {
			break
		}
		if te.Mode.IsTree() {
			f.known[prefix+string(te.Name)] = te.ID
		}
	}
	id, ok = f.known[dir]
	return id, ok
}
