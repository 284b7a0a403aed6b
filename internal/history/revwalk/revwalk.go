// Package revwalk holds commit walks: ahead/behind, merge bases, reachability.
package revwalk

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"gust/internal/format/commitgraph"
	"gust/internal/pure/oid"
	"gust/internal/store/odb"
)

// Options say how history is read. The zero value is Git's default for a
// repository that is whole.
type Options struct {
	// Overrides are the commits whose parents are not those that their objects
	// name: grafts, and the commits that a shallow repository is cut off at, which
	// have none. As in Git, any of them forbids the use of a commit-graph.
	Overrides map[oid.ID][]oid.ID
	// NoGraph forbids the use of a commit-graph, as core.commitGraph=false does.
	NoGraph bool
}

// A Walker answers questions about the history in one object database. It keeps
// a bounded number of commits from one question to the next. It is safe for
// concurrent use; questions wait for one another.
type Walker struct {
	db *odb.DB
	o  Options

	mu       sync.Mutex // guards what follows
	commits  table
	replaced uint64 // version of the replacements that commits were read under
	queue    Queue
	touched  []uint32 // commits whose flags are set
	stack    []uint32
	levels   levelWalk
	r        headReader
	objects  int    // commit objects read since the walk began
	ahead    *ahead // those who help; nil as long as nobody does
}

// New returns a Walker over the commits in db.
func New(db *odb.DB, o Options) *Walker {
	return &Walker{db: db, o: o, commits: newTable(db.Algo())}
}

// keepCommits is the number of commits a Walker keeps between questions, at some
// 60 bytes each: enough for a branch that is tens of thousands behind.
const keepCommits = 1 << 16

// AheadBehind returns how many commits are reachable from a but not from b, and
// from b but not from a, as `git rev-list --left-right --count a...b` counts
// them. Tags stand for the commits they lead to. The error is the context's, or
// of reading a commit: odb.ErrNotFound wrapped, or an *odb.CorruptError. A
// commit-graph that is invalid is not used.
//
// The result is exact where a commit-graph covers the commits that both reach,
// and where commit times ascend from parent to child. Clocks that were wrong are
// tolerated as far as Git tolerates them, and further.
func (w *Walker) AheadBehind(ctx context.Context, a, b oid.ID) (ahead, behind int, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if a == b {
		return 0, 0, nil
	}
	w.begin()
	err = w.withGraph(ctx, func(v *commitgraph.View) error {
		ahead, behind, err = w.aheadBehind(ctx, v, a, b)
		return err
	})
	return ahead, behind, err
}

// begin forgets what was read under other replacements.
func (w *Walker) begin() {
	if v := w.db.ReplacementsVersion(); v != w.replaced {
		w.commits.reset()
		w.replaced = v
	}
}

// withGraph calls use with the commit-graph, or with nil where there is none or it
// is found broken.
func (w *Walker) withGraph(ctx context.Context, use func(v *commitgraph.View) error) error {
	w.objects = 0
	defer w.tidy()
	if graph := w.graph(); graph != nil {
		err := graph.Do(use)
		if err == nil || errors.Is(err, errObject) || ctx.Err() != nil {
			return err
		}
		// The graph is broken, or its files were replaced this moment.
		w.forget()
	}
	return use(nil)
}

// graph returns the commit-graph if it may be used, or nil.
func (w *Walker) graph() *commitgraph.Graph {
	if w.o.NoGraph || len(w.o.Overrides) > 0 || w.db.Replaced() {
		return nil
	}
	g, _ := w.db.CommitGraph() // whoever opened the database logs the error
	return g
}

// errObject marks errors of reading objects, as opposed to the graph.
var errObject = errors.New("cannot read commit")

// An objectError is an error of reading a commit.
type objectError struct {
	id  oid.ID
	err error
}

// Unreadable returns the commit that err, of a walk, says cannot be read, and why.
func Unreadable(err error) (id oid.ID, why error, ok bool) {
	var o *objectError
	if ok = errors.As(err, &o); ok {
		id, why = o.id, o.err
	}
	return id, why, ok
}

func (e *objectError) Error() string        { return fmt.Sprintf("cannot read commit %s: %v", e.id, e.err) }
func (e *objectError) Unwrap() error        { return e.err }
func (e *objectError) Is(target error) bool { return target == errObject }

// Flags of a commit during a walk.
const (
	fromA  = 1 << iota // reachable from a
	fromB              // reachable from b
	queued             // in the queue
	walked             // its parents have its flags

	both = fromA | fromB
)

func (w *Walker) aheadBehind(ctx context.Context, v *commitgraph.View, a, b oid.ID) (ahead, behind int, err error) {
	i, err := w.start(v, a)
	if err != nil {
		return 0, 0, err
	}
	j, err := w.start(v, b)
	if err != nil || i == j {
		return 0, 0, err
	}
	if v != nil {
		ahead, behind, ok, err := w.byLevel(ctx, v, i, j)
		if ok || err != nil {
			return ahead, behind, err
		}
		w.forget() // the graph is too old to help
	}
	return w.byDate(ctx, v, i, j)
}

// start returns the number in w.commits of the commit that id, perhaps a tag, is
// or leads to.
func (w *Walker) start(v *commitgraph.View, id oid.ID) (uint32, error) {
	if v != nil {
		if _, ok := v.Lookup(&id); ok {
			return w.commits.add(id.Raw()), nil
		}
	}
	if i, ok := w.commits.find(id.Raw()); ok && w.commits.nodes[i].loaded {
		return i, nil
	}
	peeled, err := w.db.Peel(id)
	if err != nil {
		return 0, &objectError{id, err}
	}
	i := w.commits.add(peeled.Raw())
	return i, w.load(v, i)
}

// forget clears the flags of a walk.
func (w *Walker) forget() {
	for _, i := range w.touched {
		w.commits.nodes[i].flags = 0
	}
	w.touched = w.touched[:0]
	w.queue.Reset()
	w.levels.reset()
}

// tidy prepares w for the next question.
func (w *Walker) tidy() {
	if w.ahead != nil {
		w.ahead.end()
		w.ahead = nil
	}
	w.forget()
	if len(w.commits.nodes) > keepCommits {
		w.commits = newTable(w.db.Algo())
		w.touched, w.stack, w.queue = nil, nil, Queue{}
	}
}

// mark adds flags to commit i and returns what they were before.
func (w *Walker) mark(i uint32, flags uint8) (before uint8) {
	n := &w.commits.nodes[i]
	before = n.flags
	if before == 0 {
		w.touched = append(w.touched, i)
	}
	n.flags |= flags
	return before
}

// count counts the commits walked that are reachable from one side only.
func (w *Walker) count() (ahead, behind int) {
	for _, i := range w.touched {
		switch w.commits.nodes[i].flags & both {
		case fromA:
			ahead++
		case fromB:
			behind++
		}
	}
	return ahead, behind
}
