// Package checkout moves index and working tree to a target tree without losing
// work.
//
// It does so in steps that each can be taken back. Prepare locks the index, decides
// what is to be done to each path (docs/checkout.md has the table) and looks at
// every file that the decision depends on: nothing is written before all of that is
// known. Apply changes the working tree; a file that goes is kept in a staging
// directory, and if anything fails they all come back. Commit writes the index, and
// from then on the move is done.
//
// What this package does not do exactly as Git would, Prepare refuses with a
// *Refusal before anything is changed: the caller hands the command over to git,
// which also knows best how to say why it will not do it.
package checkout

import (
	"context"
	"errors"
	"fmt"

	"gust/internal/disk/lockfile"
	"gust/internal/disk/workfile"
	"gust/internal/format/index"
	"gust/internal/pure/oid"
	"gust/internal/repo"
	"gust/internal/store/odb"
)

// A Refusal says that a move is left to git. Nothing was changed, or everything
// is as it was.
type Refusal struct {
	Reason string // what it is that gust does not do
	Path   string // where, if one path is the reason
	Err    error  // that made it so; may be nil
}

func (r *Refusal) Error() string {
	s := r.Reason
	if r.Path != "" {
		s = fmt.Sprintf("'%s': %s", r.Path, s)
	}
	if r.Err != nil {
		s += ": " + r.Err.Error()
	}
	return s
}

func (r *Refusal) Unwrap() error { return r.Err }

func refuse(reason, path string) error { return &Refusal{Reason: reason, Path: path} }

// A Request says where to move to.
type Request struct {
	From oid.ID // the tree that HEAD names; null for an unborn branch
	To   oid.ID // the tree to move to
	// Force drops local changes, as git reset --hard does; From then does not
	// matter.
	Force bool
	// Limit, if not nil, makes the move one of some paths, or of the index alone: Force
	// is to be set then.
	Limit *Limit
	// Dir is where the user is, relative to the working tree: it and its parents are
	// not removed.
	Dir string
	// Label says what the move is for, so that a run that was killed can be told from
	// another one: the command's own words.
	Label string
	// Progress, if not nil, is told how many of all files are written.
	Progress func(done, total int)
	Threads  int // goroutines; at least 1
}

// A Limit says which paths are made what they are in Request.To, or in the index, as
// git-restore(1) and git-reset(1) do.
type Limit struct {
	// Match picks the paths; nil picks all.
	Match func(path []byte) bool
	// FromIndex takes what is wanted from the index; Request.To does not matter then.
	FromIndex bool
	// Index and Files say what is changed: entries, files, or both.
	Index, Files bool
	// Overlay leaves paths alone that To does not have.
	Overlay bool
	// Refresh compares all files with the new index: Local has what differs once the
	// move is applied. Files must not be set.
	Refresh bool
}

// A Change is one line of what git switch lists: a path at which the index or the
// working tree will differ from the target.
type Change struct {
	Status byte // 'A', 'D', 'M' or 'T', as git diff --name-status has it
	Path   string
}

// A Move is a move in the making. It is not safe for concurrent use.
type Move struct {
	// Recovered says what an earlier run was for that was killed, and whose changes
	// Prepare has taken back; "" if there was none.
	Recovered string

	r      *repo.Repository
	db     *odb.DB
	q      Request
	lock   *lockfile.Lock
	ix     *index.Index
	write  index.WriteOptions
	rules  *rules
	steps  []step
	order  []int           // of the steps, by directory
	there  map[string]bool // directories, and whether they are there
	skip   []bool          // by entry: what a Limit leaves alone
	look   *look
	staged []stagedChange
	local  []Change
	next   *index.Index
	work   *work
}

// Prepare begins a move. The error is a *Refusal, lockfile.ErrLocked if another
// process writes the index, or tells why the repository cannot be read; the index
// is not locked then. Close the Move.
func Prepare(ctx context.Context, r *repo.Repository, db *odb.DB, q Request) (_ *Move, err error) {
	if q.Threads < 1 {
		q.Threads = 1
	}
	m := &Move{r: r, db: db, q: q}
	if err := m.eligible(); err != nil {
		return nil, err
	}
	if m.lock, err = lockfile.Acquire(r.IndexPath); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			m.Close()
		}
	}()
	if m.ix, err = index.Read(r.IndexPath, r.GitDir, r.Algo); err != nil {
		return nil, err
	}
	if err := eligibleIndex(m.ix, q.Force); err != nil {
		return nil, err
	}
	if m.rules, err = newRules(r, db, m.ix); err != nil {
		return nil, err
	}
	if m.rules.root, err = workfile.Open(r.WorkTree); err != nil {
		return nil, err
	}
	if m.Recovered, _, err = m.recover(); err != nil {
		return nil, err
	}
	if err := m.plan(ctx); err != nil {
		return nil, err
	}
	if err := m.inspect(ctx); err != nil {
		return nil, err
	}
	return m, nil
}

// Local returns the paths at which index or working tree will differ from the
// target, sorted.
func (m *Move) Local() []Change { return m.local }

// Written returns how many files the move writes.
func (m *Move) Written() int {
	n := 0
	for i := range m.steps {
		if op := m.steps[i].op; op == opCreate || op == opReplace {
			n++
		}
	}
	return n
}

// Apply changes the working tree and makes the new index ready. If it fails, with
// a *Refusal where git may still succeed, everything is as it was, unless the error
// is a *StuckError.
func (m *Move) Apply(ctx context.Context) error {
	w, err := m.begin()
	if err != nil {
		return err
	}
	m.work = w
	if err = w.run(ctx); err == nil && m.writesIndex() {
		err = m.newIndex(ctx)
	}
	if err == nil {
		err = ctx.Err()
	}
	if err == nil {
		return nil
	}
	m.work = nil
	defer w.close()
	if stuck := w.rollback(); stuck != nil {
		return &StuckError{Staging: w.journal.dir, Err: errors.Join(err, stuck)}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return &Refusal{Reason: "cannot write the working tree", Err: err}
}

// writesIndex reports whether the index changes, be it by the stats that were found.
func (m *Move) writesIndex() bool {
	switch l := m.q.Limit; {
	case l == nil, l.Index:
		return true
	default:
		return l.FromIndex && len(m.steps)+len(m.look.fresh) > 0
	}
}

// newIndex makes the new index and writes it behind the lock.
func (m *Move) newIndex(ctx context.Context) error {
	if err := m.index(); err != nil {
		return err
	}
	if m.q.Limit != nil && m.q.Limit.Refresh {
		if err := m.refresh(ctx); err != nil {
			return err
		}
	}
	if _, err := m.lock.Write(m.next.AppendFile(nil, m.write)); err != nil {
		return err
	}
	return m.lock.Close(m.write.Sync)
}

// Undo takes back what Apply did, before Commit. The error is a *StuckError.
func (m *Move) Undo() error {
	if m.work == nil {
		return nil
	}
	w := m.work
	m.work = nil
	defer w.close()
	if err := w.rollback(); err != nil {
		return &StuckError{Staging: w.journal.dir, Err: err}
	}
	return nil
}

// Commit makes the new index the index. After an error Undo is to be called.
func (m *Move) Commit() error {
	if m.next == nil {
		return nil
	}
	return m.lock.Commit(false)
}

// Discard gives up the files that were replaced, once everything is done: they are
// put away to be removed later, and where they are is returned; "" if there are
// none.
func (m *Move) Discard() string {
	if m.work == nil {
		return ""
	}
	return m.work.journal.discard()
}

// Close releases what m holds. It does not take back anything.
func (m *Move) Close() {
	if m.lock != nil {
		m.lock.Rollback()
	}
	if m.rules != nil && m.rules.root != (workfile.Dir{}) {
		m.rules.root.Close()
	}
	if m.work != nil {
		m.work.close()
	}
}

// A StuckError says that a failed move could not be taken back wholly: the files
// that are missing are in the directory Staging.
type StuckError struct {
	Staging string
	Err     error
}

func (e *StuckError) Error() string {
	return fmt.Sprintf("cannot take back what was begun: %v; what is missing is in '%s'", e.Err, e.Staging)
}

func (e *StuckError) Unwrap() error { return e.Err }
