package refs

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"gust/internal/format/reftable"
	"gust/internal/pure/oid"
)

// tables is the backend that keeps refs in reftables: one stack for what all
// working trees share and for the main one, one for each linked working tree.
type tables struct {
	algo   oid.Algo
	common *reftable.Stack
	own    *reftable.Stack // of this working tree; common in the main one
	loose  *files          // for the refs that are files whatever the storage is

	mu    sync.Mutex // guards what follows
	tags  tableTags
	stash struct {
		serial uint64 // of common, 0 before the first count
		n      int
	}
}

// tableTags is the index of tags of one state of the common stack.
type tableTags struct {
	serial   uint64
	index    tagIndex
	names    []string
	ids      []oid.ID // where the tags lead, or what they name if they could not be peeled
	symbolic []string // tags that name other refs, which are followed every time
	peeled   peeled
}

func newTables(o Options) *tables {
	t := &tables{algo: o.Algo, loose: newFiles(o)}
	t.common = reftable.NewStack(o.CommonDir+"/reftable", o.Algo)
	t.own = t.common
	if o.GitDir != o.CommonDir {
		t.own = reftable.NewStack(o.GitDir+"/reftable", o.Algo)
	}
	return t
}

func (t *tables) close() {
	t.common.Close()
	t.own.Close()
}

// isFile reports whether a pseudoref is a file whatever the ref storage is: these
// hold more than a ref does (gitglossary(7), "pseudoref").
func isFile(name string) bool { return name == "FETCH_HEAD" || name == "MERGE_HEAD" }

func (t *tables) read(name string) (Ref, error) {
	if isFile(name) || strings.HasPrefix(name, "worktrees/") {
		return t.loose.read(name)
	}
	stack, name := t.stack(name)
	var ref Ref
	found, err := stack.Ref(name, func(r *reftable.Ref) { ref = toRef(r) })
	if err == nil && !found {
		err = fmt.Errorf("cannot read ref '%s': %w", name, ErrNotFound)
	}
	return ref, err
}

// stack returns the stack that holds the ref of the given full name, and its name there.
func (t *tables) stack(name string) (*reftable.Stack, string) {
	if rest, ok := strings.CutPrefix(name, "main-worktree/"); ok {
		return t.common, rest
	}
	if perWorktree(name) {
		return t.own, name
	}
	return t.common, name
}

func toRef(r *reftable.Ref) Ref {
	if r.Kind == reftable.Symbolic {
		return Ref{Target: string(r.Target)}
	}
	return Ref{ID: r.ID}
}

func (t *tables) list(prefix string, visit func(*entry) bool) error {
	if t.own == t.common {
		return t.listStack(t.common, prefix, visit)
	}
	// The working tree's own refs are few: they are collected, then merged.
	var own []entry
	err := t.listStack(t.own, prefix, func(e *entry) bool {
		if perWorktree(e.name) {
			own = append(own, *e)
		}
		return true
	})
	if err != nil {
		return err
	}
	more := true
	err = t.listStack(t.common, prefix, func(e *entry) bool {
		if perWorktree(e.name) {
			return true
		}
		for more && len(own) > 0 && own[0].name < e.name {
			more = visit(&own[0])
			own = own[1:]
		}
		more = more && visit(e)
		return more
	})
	for err == nil && more && len(own) > 0 {
		more = visit(&own[0])
		own = own[1:]
	}
	return err
}

// listStack visits the refs of one stack.
func (t *tables) listStack(s *reftable.Stack, prefix string, visit func(*entry) bool) error {
	return s.Refs(prefix, func(r *reftable.Ref) bool {
		e := entry{name: string(r.Name), ref: toRef(r), peeled: oid.Null(t.algo)}
		if r.Kind == reftable.Tag {
			e.peeled = r.Peeled
		}
		e.broken = !ValidName(e.name)
		return visit(&e)
	})
}

func (t *tables) logLength(name string) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	serial, err := t.common.Serial()
	if err != nil {
		return 0, err
	}
	if t.stash.serial == serial {
		return t.stash.n, nil
	}
	n, err := t.common.LogLength(name)
	if err == nil {
		t.stash.serial, t.stash.n = serial, n
	}
	return n, err
}

func (t *tables) tagAt(commit oid.ID, peel peeler) (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	serial, err := t.common.Serial()
	if err != nil {
		return "", err
	}
	x := &t.tags
	if x.serial != serial {
		if err := t.indexTags(peel); err != nil {
			return "", err
		}
		x.serial = serial
	}
	best := ""
	x.index.find(&commit, func(i int) {
		if x.names[i] <= best {
			return
		}
		if x.ids[i] == commit {
			best = x.names[i]
		} else if to, err := x.peeled.get(x.ids[i], peel); err == nil && to == commit {
			best = x.names[i]
		}
	})
	for _, name := range x.symbolic {
		if name <= best {
			continue
		}
		_, id, err := follow(name, t.algo, t.read)
		if errors.Is(err, ErrNotFound) {
			continue
		}
		if to, err := x.peeled.get(id, peel); err == nil && to == commit {
			best = name
		}
	}
	return best, nil
}

// indexTags reads all tags. A record that names no tag object, as the table has
// it, need not be peeled.
func (t *tables) indexTags(peel peeler) error {
	x := &t.tags
	*x = tableTags{peeled: x.peeled}
	err := t.common.Refs(tagPrefix, func(r *reftable.Ref) bool {
		name := string(r.Name)
		if !ValidName(name) {
			return true
		}
		switch r.Kind {
		case reftable.Symbolic:
			x.symbolic = append(x.symbolic, name)
			return true
		case reftable.Tag:
			x.ids = append(x.ids, r.Peeled)
		default:
			x.ids = append(x.ids, r.ID)
		}
		x.names = append(x.names, name)
		return true
	})
	if err != nil {
		return err
	}
	for i := range x.ids {
		x.index.add(i, &x.ids[i])
	}
	x.index.sort()
	return nil
}
