package reach

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"gust/internal/pure/object"
	"gust/internal/pure/oid"
	"gust/internal/store/odb"
)

// An Object is one that the tips reach.
type Object struct {
	ID   oid.ID
	Type object.Type
	Name []byte // a tag's own, or the path; valid during the visit only
}

// A MissingError says that an object is missing or broken.
type MissingError struct {
	ID   oid.ID
	Type object.Type // 0 if it is not known
	Err  error
}

func (e *MissingError) Error() string {
	kind := "object"
	if e.Type != 0 {
		kind = e.Type.String()
	}
	if errors.Is(e.Err, odb.ErrNotFound) {
		return fmt.Sprintf("missing %s %s", kind, e.ID)
	}
	return fmt.Sprintf("cannot read %s %s: %v", kind, e.ID, e.Err)
}

func (e *MissingError) Unwrap() error { return e.Err }

// Flags of objects other than commits.
const (
	met    = 1 << iota // visited, or left out by a filter
	behind             // behind the boundary
)

// List visits the objects other than commits that s reaches, in git's order: tags,
// trees and blobs among the tips, then the tree of each commit with what is in it.
// The error is a *MissingError, or that of visit.
func (w *Walk) List(ctx context.Context, s *Selection, visit func(o *Object) error) error {
	t := w.newTrees(ctx)
	t.visit, t.names = visit, true
	if err := t.boundary(s); err != nil {
		return err
	}
	for i := range s.pending {
		if err := t.pending(&s.pending[i]); err != nil {
			return err
		}
	}
	for i := range s.Commits {
		if err := t.tree(&s.Commits[i].Tree, nil); err != nil {
			return err
		}
	}
	return nil
}

// Count counts the objects that s reaches, commits too, on all processors. Errors
// are List's.
func (w *Walk) Count(ctx context.Context, s *Selection) (int, error) {
	n := 0
	for i := range s.Commits {
		if w.Options.Filter.Keeps(object.Commit) || s.Commits[i].Tip {
			n++
		}
	}
	if !w.Options.Objects {
		return n, nil
	}
	t := w.newTrees(ctx)
	if err := t.boundary(s); err != nil {
		return 0, err
	}
	t.visit = func(*Object) error {
		n++
		return nil
	}
	for i := range s.pending {
		if err := t.pending(&s.pending[i]); err != nil {
			return 0, err
		}
	}
	more, err := t.parallel(len(s.Commits), func(t *trees, i int) error { return t.tree(&s.Commits[i].Tree, nil) })
	return n + more, err
}

// trees walks trees.
type trees struct {
	w     *Walk
	ctx   context.Context
	met   *set
	visit func(o *Object) error
	flag  uint8 // met, or behind
	names bool  // paths are wanted
	bufs  [][]byte
	path  []byte
	o     Object
	steps int
}

func (w *Walk) newTrees(ctx context.Context) *trees {
	return &trees{w: w, ctx: ctx, met: newSet(w.DB.Algo()), flag: met}
}

// boundary marks what is in the trees on the boundary.
func (t *trees) boundary(s *Selection) error {
	t.flag = behind
	defer func() { t.flag = met }()
	for i := range s.without {
		p := &s.without[i]
		if p.typ == object.Blob {
			t.met.add(p.id.Raw(), behind)
		} else if err := t.tree(&p.id, nil); err != nil {
			return err
		}
	}
	_, err := t.parallel(len(s.edges), func(t *trees, i int) error { return t.tree(&s.edges[i], nil) })
	return err
}

// chunk is how many commits a worker takes at a time. Trees of neighbours share most
// of what they hold, and are deltas of one another.
const chunk = 32

// parallel calls do for each number below n, on all processors, and counts what is
// visited.
func (t *trees) parallel(n int, do func(t *trees, i int) error) (int, error) {
	var next, count atomic.Int64
	var failed atomic.Pointer[error]
	var wg sync.WaitGroup
	for range max(1, min(runtime.GOMAXPROCS(0), n/chunk)) {
		wg.Go(func() {
			mine, visited := *t, 0
			mine.bufs, mine.path = nil, nil
			mine.visit = func(*Object) error {
				visited++
				return nil
			}
			for failed.Load() == nil {
				from := int(next.Add(chunk)) - chunk
				if from >= n {
					break
				}
				for i := from; i < min(from+chunk, n); i++ {
					if err := do(&mine, i); err != nil {
						failed.CompareAndSwap(nil, &err)
						return
					}
				}
			}
			count.Add(int64(visited))
		})
	}
	wg.Wait()
	if err := failed.Load(); err != nil {
		return 0, *err
	}
	return int(count.Load()), nil
}

// pending visits a tag, tree or blob among the tips. A filter lets it pass.
func (t *trees) pending(p *pending) error {
	if p.typ == object.Tree {
		t.path = append(t.path[:0], p.name...)
		return t.tree(&p.id, t.path)
	}
	if t.met.add(p.id.Raw(), met) != 0 {
		return nil
	}
	if p.typ == object.Blob {
		if err := t.w.DB.Has(p.id); err != nil {
			return &MissingError{p.id, p.typ, err}
		}
	}
	t.o = Object{p.id, p.typ, []byte(p.name)}
	return t.visit(&t.o)
}

// tree visits the tree id, which is at path, and what is in it.
func (t *trees) tree(id *oid.ID, path []byte) error {
	if t.met.add(id.Raw(), t.flag) != 0 {
		return nil
	}
	if t.steps++; t.steps&255 == 0 && t.ctx.Err() != nil {
		return t.ctx.Err()
	}
	if t.flag == met && t.w.Options.Filter.Keeps(object.Tree) {
		t.o = Object{*id, object.Tree, path}
		if err := t.visit(&t.o); err != nil {
			return err
		}
	}
	if t.w.Options.Filter.NoTrees && t.flag == met {
		return nil
	}
	var buf []byte
	if n := len(t.bufs); n > 0 {
		buf, t.bufs = t.bufs[n-1], t.bufs[:n-1]
	}
	typ, data, err := t.w.DB.ReadLinked(*id, buf[:0])
	if err == nil && typ != object.Tree {
		err = fmt.Errorf("object is a %v", typ)
	}
	if err == nil {
		err = t.entries(data, path)
	} else if t.flag == met { // what is behind the boundary need not be there
		err = &MissingError{*id, object.Tree, err}
	} else {
		err = nil
	}
	t.bufs = append(t.bufs, data)
	return err
}

// entries visits what is in a tree.
func (t *trees) entries(data, path []byte) error {
	r := object.NewTreeReader(data, t.w.DB.Algo())
	var e object.TreeEntry
	if len(path) > 0 {
		path = append(path, '/')
	}
	depth := len(path)
	for {
		ok, err := r.Next(&e)
		if err != nil || !ok {
			return err
		}
		if e.Mode == object.ModeGitlink {
			continue
		}
		if t.names {
			path = append(path[:depth], e.Name...)
		}
		if e.Mode.IsTree() {
			err = t.tree(&e.ID, path)
		} else {
			err = t.blob(&e.ID, path)
		}
		if err != nil {
			return err
		}
	}
}

func (t *trees) blob(id *oid.ID, path []byte) error {
	if t.met.add(id.Raw(), t.flag) != 0 || t.flag == behind || !t.w.Options.Filter.Keeps(object.Blob) {
		return nil
	}
	if err := t.w.DB.Has(*id); err != nil {
		return &MissingError{*id, object.Blob, err}
	}
	t.o = Object{*id, object.Blob, path}
	return t.visit(&t.o)
}
