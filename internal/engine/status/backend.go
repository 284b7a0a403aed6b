package status

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"gust/internal/engine/submodule"
	"gust/internal/format/index"
	"gust/internal/pure/object"
	"gust/internal/repo"
	"gust/internal/rules/filter"
	"gust/internal/worktree/scan"
)

// backend answers what a scan asks. One is made for each scan.
type backend struct {
	s         *Repo
	ix        *index.Index
	untracked scan.UntrackedMode // of the superproject
	filters   filter.Settings    // s.filters with a Runner for this scan

	warns atomic.Bool // a comparison may have met what Git warns of

	subs sync.Mutex // guards s.subs and the submodules in it
	mu   sync.Mutex // guards s.comparers
}

func (s *Repo) backend(untracked scan.UntrackedMode) (*backend, error) {
	b := &backend{s: s, ix: s.ix, untracked: untracked, filters: *s.filters}
	if len(b.filters.Drivers) > 0 {
		b.filters.Runner = filter.NewRunner(s.r.WorkTree, filterEnv(s.r.Env))
	}
	key := ""
	i, ok := s.ix.Find(".gitmodules")
	if ok {
		key = s.ix.ID(i).String()
	}
	err := s.modules.Update(s.r, key, func() ([]byte, error) { return b.ReadBlob(i) })
	if err != nil {
		return nil, fmt.Errorf("cannot read .gitmodules: %w", err)
	}
	return b, nil
}

// close ends the filter commands that were started.
func (b *backend) close() {
	if b.filters.Runner != nil {
		b.filters.Runner.Close()
	}
}

// ReadBlob returns the content of entry i's blob.
func (b *backend) ReadBlob(i int) ([]byte, error) {
	typ, data, err := b.s.db.Read(b.ix.ID(i), nil)
	if err == nil && typ != object.Blob {
		err = fmt.Errorf("object %s is a %s, not a blob", b.ix.ID(i), typ)
	}
	return data, err
}

// IsRepository reports whether the directory at path is a repository.
func (b *backend) IsRepository(path string) bool {
	return repo.IsRepository(b.s.r.WorkTree+"/"+path, b.s.r.Env)
}

// A sub is a submodule that was looked into.
type sub struct {
	repo *Repo
	loc  repo.Location
}

func (s *sub) close() {
	if s.repo != nil {
		s.repo.Close()
	}
}

// SubmoduleModified reports whether git status lists the submodule at entry i.
func (b *backend) SubmoduleModified(ctx context.Context, i int, path string, missing bool) bool {
	b.subs.Lock()
	defer b.subs.Unlock()
	ignore := b.s.modules.Ignore(b.s.r, path, b.s.settings.ignoreSubs)
	if gi, ok := b.ix.Find(".gitmodules"); ok && b.ix.Entries[gi].Stage() != 0 {
		ignore = submodule.All // Git cannot tell what an unmerged .gitmodules says
	}
	if ignore == submodule.All {
		return false
	}
	if missing {
		return true
	}
	sub, err := b.open(path)
	if err != nil {
		return false // not populated
	}
	head, err := sub.r.Refs.Head()
	if err != nil {
		return false
	}
	if !head.ID.IsNull() && head.ID != b.ix.ID(i) {
		return true
	}
	if ignore == submodule.Dirty {
		return false
	}
	return sub.dirty(ctx, ignore < submodule.Untracked && b.untracked != scan.UntrackedNo)
}

// open returns the repository of the submodule at path.
func (b *backend) open(path string) (*Repo, error) {
	dir := b.s.r.WorkTree + "/" + path
	loc, env, err := submodule.Locate(dir, b.s.r.Env)
	if err != nil {
		return nil, err
	}
	if known := b.s.subs[path]; known != nil {
		if known.loc == loc && known.repo.Unchanged() {
			return known.repo, nil
		}
		known.close()
		delete(b.s.subs, path)
	}
	r, err := repo.Open(loc, env)
	if err != nil {
		return nil, err
	}
	if r.WorkTree == "" {
		r.Close()
		return nil, errors.New("submodule has no working tree")
	}
	opened, err := New(r)
	if err != nil {
		r.Close()
		return nil, err
	}
	opened.watching.ready = b.s.watching.ready
	opened.watch(b.s.watching.open)
	b.s.subs[path] = &sub{opened, loc}
	return opened, nil
}

// dirty reports whether git status says anything in the submodule s.
func (s *Repo) dirty(ctx context.Context, untracked bool) bool {
	q := Request{Threads: 1, Limits: Limits{Staged: 1, Unstaged: 1, Conflicted: 1, DirtyMaxIndexSize: -1, IgnoreBashShowDirty: true, IgnoreBashShowUntracked: true}}
	if untracked {
		q.Limits.Untracked = 1
	}
	sum, err := s.Summary(ctx, q)
	return err != nil || sum.Staged+sum.Unstaged+sum.Conflicted+sum.Untracked > 0
}
