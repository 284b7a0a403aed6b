// Package status computes a repository's status and its prompt summary.
package status

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"gust/internal/engine/submodule"
	"gust/internal/engine/treediff"
	"gust/internal/format/index"
	"gust/internal/pure/oid"
	"gust/internal/pure/summary"
	"gust/internal/repo"
	"gust/internal/rules/filter"
	"gust/internal/store/odb"
	"gust/internal/store/refs"
	"gust/internal/worktree/scan"
)

// Limits bound the work of an answer and what it counts. The zero value counts
// nothing; negative numbers have no limit.
type Limits struct {
	Staged, Unstaged, Conflicted, Untracked int

	DirtyMaxIndexSize int // an index with more entries: unstaged and untracked are not looked for; negative: never
	SummaryLen        int // bytes of Summary.Subject

	RecurseUntracked          bool // count the files in untracked directories
	IgnoreStatusShowUntracked bool // status.showUntrackedFiles=no does not matter
	IgnoreBashShowUntracked   bool // bash.showUntrackedFiles does not matter
	IgnoreBashShowDirty       bool // bash.showDirtyState does not matter
}

// A Request asks for one summary.
type Request struct {
	NoIndex bool // compute nothing that reads the index: its counts are 0
	Threads int  // goroutines that scan the working tree; at least 1
	Limits  Limits
}

// IndexError is the action of a Summary whose index could not be read: its
// counts are unknown, and it must not look clean.
const IndexError = "index-error"

// ObjectError is the action of a Summary for which an object could not be read.
const ObjectError = "object-error"

// ErrClosed says that a Repo was closed.
var ErrClosed = errors.New("repository is closed")

// A Repo is one open repository with a working tree and what is remembered of it
// between answers. It is safe for concurrent use: answers are computed one after
// the other.
type Repo struct {
	mu     sync.Mutex // guards everything below
	closed bool

	r        *repo.Repository
	settings settings
	filters  *filter.Settings // its identity stands for the settings in it
	db       *odb.DB
	files    ruleFiles
	modules  submodule.Modules
	subs     map[string]*sub // submodules that were looked into, by path

	ix   *index.Index
	tree *scan.Tree

	comparers []*comparer // that no scan uses
	watching  watching
	lost      atomic.Pointer[error] // watching.why, for who does not wait for mu
	full      *index.Index          // the expanded form of a sparse ix, once it was needed
	cone      coneFile

	history history
	staged  stagedCache
}

// New returns a Repo for r, which has a working tree. Close it.
func New(r *repo.Repository) (*Repo, error) {
	s := &Repo{subs: make(map[string]*sub)}
	if err := s.configure(r); err != nil {
		return nil, err
	}
	var err error
	s.db, err = odb.Open(odb.Options{ObjectDir: r.ObjectDir, Alternates: r.Alternates, Algo: r.Algo})
	if err != nil {
		return nil, fmt.Errorf("cannot open the objects of '%s': %w", r.GitDir, err)
	}
	return s, nil
}

// configure makes s one for r.
func (s *Repo) configure(r *repo.Repository) error {
	settings, err := readSettings(r)
	if err != nil {
		return err
	}
	filters, err := readFilters(r)
	if err != nil {
		return err
	}
	s.r, s.settings, s.filters = r, settings, filters
	s.history.walker = nil // core.commitGraph may be another
	return nil
}

// Reload makes s one for r, the same repository with another configuration, and
// keeps what does not depend on that. ok is false if another Repo must be made.
func (s *Repo) Reload(r *repo.Repository) (ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.r
	same := !s.closed && r.GitDir == o.GitDir && r.CommonDir == o.CommonDir && r.WorkTree == o.WorkTree && r.IndexPath == o.IndexPath &&
		r.ObjectDir == o.ObjectDir && slices.Equal(r.Alternates, o.Alternates) && r.Algo == o.Algo && r.RefFormat == o.RefFormat
	if !same || s.configure(r) != nil {
		return false
	}
	o.Close()
	return true
}

// Close releases what s holds. It waits for an answer in progress.
func (s *Repo) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.unwatch(nil)
	for _, sub := range s.subs {
		sub.close()
	}
	s.db.Close()
	s.r.Close()
}

// Unchanged reports whether the repository that s was made for would be opened
// in the same way again.
func (s *Repo) Unchanged() bool { return s.r.Unchanged() }

// Summary answers q. It reflects every change of the repository that was complete
// when it was called. The error is that of a repository which Git refuses too, or
// ctx's; an index or object that cannot be read makes an answer with the action
// IndexError or ObjectError and is returned beside it, for the log.
func (s *Repo) Summary(ctx context.Context, q Request) (*summary.Summary, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, ErrClosed
	}
	sum := &summary.Summary{WorkDir: s.r.WorkTree}
	head, err := s.r.Refs.Head()
	if err != nil {
		return nil, err
	}
	sum.Branch = shortBranch(head.Branch)
	if sum.Action, err = s.r.Action(); err != nil {
		return nil, err
	}
	if sum.Stashes, err = s.r.Refs.StashCount(); err != nil {
		return nil, err
	}
	if err := s.history.update(s.r, s.db); err != nil {
		return nil, err
	}
	// What cannot be known is noted and told, and does not keep the rest back.
	problem := s.past(ctx, head, sum, q.Limits.SummaryLen)
	if problem != nil {
		sum.Action = ObjectError
	}
	if !q.NoIndex {
		if err := s.present(ctx, q, sum); err != nil {
			problem = errors.Join(problem, err)
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return sum, problem
}

func shortBranch(ref string) string {
	return strings.TrimPrefix(ref, "refs/heads/")
}

// present fills in what depends on the index and the working tree.
func (s *Repo) present(ctx context.Context, q Request, sum *summary.Summary) error {
	if err := s.loadIndex(); err != nil {
		sum.Action = IndexError
		return err
	}
	ix := s.ix
	if s.expanded() {
		if err := s.expand(); err != nil {
			sum.Action = ObjectError
			return err
		}
		ix = s.full
	}
	sum.IndexSize = len(ix.Entries)
	sum.SkipWorktree, sum.AssumeUnchanged = ix.SkipWorktree, ix.AssumeUnchanged
	l := &q.Limits
	dirty := s.settings.bashDirty || l.IgnoreBashShowDirty
	if dirty {
		sum.Conflicted = clamp(s.ix.Unmerged, l.Conflicted)
		if err := s.countStaged(ctx, l.Staged, sum); err != nil {
			sum.Action = ObjectError
			return err
		}
	}
	tooLarge := l.DirtyMaxIndexSize >= 0 && len(ix.Entries) > l.DirtyMaxIndexSize
	if tooLarge && !(s.settings.sparseCheckout && ix.SkipWorktree > 0) {
		return nil
	}
	o := s.scanOptions(q)
	if !dirty {
		o.MaxUnstaged = 0
	}
	if tooLarge {
		// Git looks whether files outside of the sparse checkout are present, and how
		// many entries it then counts depends on that.
		o.MaxUnstaged, o.MaxUntracked = 0, 0
	}
	res, err := s.scan(ctx, o)
	if err != nil {
		if ctx.Err() == nil {
			sum.Action = IndexError
		}
		return err
	}
	sum.Unstaged, sum.UnstagedDeleted, sum.Untracked = res.Unstaged, res.Deleted, res.Untracked
	if s.full != nil {
		sum.IndexSize, sum.SkipWorktree, sum.AssumeUnchanged = len(s.full.Entries), s.full.SkipWorktree, s.full.AssumeUnchanged
		if l.DirtyMaxIndexSize >= 0 && sum.IndexSize > l.DirtyMaxIndexSize {
			sum.Unstaged, sum.UnstagedDeleted, sum.Untracked = 0, 0, 0
		}
	}
	sum.SkipWorktree -= res.Present
	return nil
}

func clamp(n, limit int) int {
	if limit >= 0 && n > limit {
		return limit
	}
	return n
}

// scanOptions returns what q and the settings ask of a scan.
func (s *Repo) scanOptions(q Request) scan.Options {
	l := &q.Limits
	o := scan.Options{
		Threads: q.Threads, Untracked: s.settings.untracked,
		MaxUnstaged: l.Unstaged, MaxUntracked: l.Untracked,
		Stat: s.settings.stat, IgnoreCase: s.settings.ignoreCase, SparseCheckout: s.settings.sparseCheckout,
	}
	if o.Untracked == scan.UntrackedNo && l.IgnoreStatusShowUntracked {
		o.Untracked = scan.UntrackedNormal
	}
	if l.RecurseUntracked && o.Untracked == scan.UntrackedNormal {
		o.Untracked = scan.UntrackedAll
	}
	if !s.settings.bashUntracked && !l.IgnoreBashShowUntracked {
		o.MaxUntracked = 0
	}
	return o
}

// loadIndex makes s.ix the index as it is now.
func (s *Repo) loadIndex() error {
	if s.ix != nil && s.ix.Unchanged() {
		return nil
	}
	ix, err := index.Read(s.r.IndexPath, s.r.GitDir, s.r.Algo)
	if err != nil {
		s.ix = nil
		return err
	}
	s.ix, s.full = ix, nil
	return nil
}

// scan compares the working tree with the index.
func (s *Repo) scan(ctx context.Context, o scan.Options) (scan.Result, error) {
	s.files.update(&s.settings, s.r.CommonDir, s.r.Env["GIT_ATTR_NOSYSTEM"] == "")
	o.Ignore, o.Attrs = s.files.ignore, s.files.attrs
	back, err := s.backend(o.Untracked)
	if err != nil {
		return scan.Result{}, err
	}
	defer back.close()
	o.ContentKey = s.filters
	if s.full != nil && !s.expanded() && !s.sparseDirPresent() {
		s.full = nil // what was present when it was expanded is gone
	}
	ix := s.ix
	if s.full != nil {
		ix = s.full
	}
	for {
		s.carry(ix)
		back.ix = ix
		res, err := s.pass(ctx, &o, back)
		res.Warns = res.Warns || back.warns.Load()
		if err != nil || !res.Expand || s.full != nil {
			return res, err
		}
		// A directory outside of the cone is there: its files must be compared.
		if err := s.expand(); err != nil {
			return res, err
		}
		ix = s.full
	}
}

// carry makes s.tree one for ix.
func (s *Repo) carry(ix *index.Index) {
	switch {
	case s.tree == nil:
		s.tree = scan.NewTree(ix)
	case s.tree.Index() != ix:
		s.tree.Carry(ix, s.watching.watch)
	}
}

// A stagedCache is the last comparison of HEAD with the index.
type stagedCache struct {
	ix     *index.Index
	tree   oid.ID
	gen    int
	limit  int
	counts treediff.Counts
}

// countStaged compares HEAD's tree with the index.
func (s *Repo) countStaged(ctx context.Context, limit int, sum *summary.Summary) error {
	if limit == 0 || s.history.unknown() {
		return nil
	}
	c := &s.staged
	tree := s.history.tree(s.r.Algo)
	if c.ix != s.ix || c.tree != tree || c.gen != s.history.gen || c.limit != limit {
		_, replaced := s.history.replaced[tree]
		counts, err := treediff.Index(ctx, s.db, tree, s.ix, treediff.Options{Limit: max(limit, 0), RootReplaced: replaced})
		if err != nil {
			return err
		}
		*c = stagedCache{s.ix, tree, s.history.gen, limit, counts}
	}
	sum.Staged, sum.StagedNew, sum.StagedDeleted = c.counts.Changed, c.counts.New, c.counts.Deleted
	return nil
}

// past fills in what depends on HEAD, refs and commits.
func (s *Repo) past(ctx context.Context, head refs.Head, sum *summary.Summary, summaryLen int) error {
	h := &s.history
	if err := h.readHead(s.db, head.ID); err != nil {
		return err
	}
	if !head.ID.IsNull() {
		sum.Commit = head.ID.String()
		sum.Encoding = h.encoding
		sum.Subject = h.subject[:clamp(len(h.subject), summaryLen)]
		tag, err := s.r.Refs.TagAt(head.ID, s.db.Peel)
		if err != nil {
			return err
		}
		sum.Tag = tag
	}
	return errors.Join(s.upstream(ctx, head, sum), s.pushRemote(ctx, head, sum))
}

func (s *Repo) upstream(ctx context.Context, head refs.Head, sum *summary.Summary) error {
	t := s.r.Upstream(head)
	if t.Remote == "" {
		return nil
	}
	if t.Ref == "" && !head.ID.IsNull() {
		return nil // nothing can track it
	}
	sum.RemoteName, sum.RemoteURL = t.Remote, t.URL
	if t.Ref == "" {
		return nil
	}
	id, err := s.r.Refs.Resolve(t.Ref)
	if err != nil {
		return ignoreMissing(err)
	}
	sum.UpstreamBranch = shortBranch(t.Merge)
	sum.Ahead, sum.Behind, err = s.history.aheadBehind(ctx, head.ID, id)
	return err
}

func (s *Repo) pushRemote(ctx context.Context, head refs.Head, sum *summary.Summary) error {
	t := s.r.PushRemote(head)
	if t.Remote == "" {
		return nil
	}
	sum.PushRemoteName, sum.PushRemoteURL = t.Remote, t.URL
	if t.Ref == "" {
		return nil
	}
	id, err := s.r.Refs.Resolve(t.Ref)
	if err != nil {
		return ignoreMissing(err)
	}
	sum.PushAhead, sum.PushBehind, err = s.history.aheadBehind(ctx, head.ID, id)
	return err
}

func ignoreMissing(err error) error {
	if errors.Is(err, refs.ErrNotFound) {
		return nil
	}
	return err
}
