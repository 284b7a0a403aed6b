// Package past opens what commands about history need of a repository: its objects,
// its refs, walks over its commits and revision syntax.
package past

import (
	"context"
	"errors"
	"fmt"

	"gust/internal/engine/status"
	"gust/internal/format/config"
	"gust/internal/format/index"
	"gust/internal/history/revision"
	"gust/internal/history/revwalk"
	"gust/internal/pure/oid"
	"gust/internal/repo"
	"gust/internal/store/odb"
	"gust/internal/store/refs"
)

// A Past is an open repository with its history.
type Past struct {
	Repo     *repo.Repository
	DB       *odb.DB
	Walker   *revwalk.Walker
	Revision *revision.Resolver
	// Whole says that history is as the objects have it: no grafts, no shallow cut,
	// no replacements.
	Whole bool

	ix *index.Index
}

// Open opens the repository that dir, an absolute path, is in. Errors are those of
// repo.Locate, repo.Open and of reading what changes how commits are read.
func Open(dir string, env repo.Env) (*Past, error) {
	loc, err := repo.Locate(dir, false, env)
	if err != nil {
		return nil, err
	}
	r, err := repo.Open(loc, env)
	if err != nil {
		return nil, err
	}
	p := &Past{Repo: r}
	if err := p.open(); err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

func (p *Past) open() (err error) {
	r := p.Repo
	p.DB, err = odb.Open(odb.Options{ObjectDir: r.ObjectDir, Alternates: r.Alternates, Algo: r.Algo})
	if err != nil {
		return err
	}
	overrides, err := r.ParentOverrides()
	if err != nil {
		return err
	}
	if overrides.Grafted && p.hintsOfGrafts() {
		return ErrGrafts
	}
	replaced, err := r.Replacements()
	if err != nil {
		return err
	}
	p.DB.SetReplacements(replaced)
	p.Whole = len(replaced) == 0 && len(overrides.Parents) == 0
	useGraph, set, err := r.Config.Bool("core.commitGraph")
	if err != nil {
		return err
	}
	p.Walker = revwalk.New(p.DB, revwalk.Options{Overrides: overrides.Parents, NoGraph: set && !useGraph})
	warn, set, err := r.Config.Bool("core.warnAmbiguousRefs")
	if err != nil {
		return err
	}
	p.Revision = &revision.Resolver{
		DB: p.DB, Refs: r.Refs, Overrides: overrides.Parents, QuietAmbiguity: set && !warn, Index: p.indexed,
		Upstream: func(branch string) string { return r.Upstream(refs.Head{Branch: branch}).Ref },
	}
	return nil
}

// ErrGrafts says that the repository has grafts, of which Git advises against.
var ErrGrafts = errors.New("repository has grafts")

// hintsOfGrafts reports whether Git prints its advice about grafts.
func (p *Past) hintsOfGrafts() bool {
	if on, ok := config.ParseBool(p.Repo.Env["GIT_ADVICE"]); ok && !on {
		return false
	}
	on, set, err := p.Repo.Config.Bool("advice.graftFileDeprecated")
	return on || !set || err != nil
}

// Close releases the files.
func (p *Past) Close() {
	if p.DB != nil {
		p.DB.Close()
	}
	p.Repo.Close()
}

// indexed returns the object ID of an entry of the index.
func (p *Past) indexed(path string, stage int) (oid.ID, bool, error) {
	if p.ix == nil {
		ix, err := index.Read(p.Repo.IndexPath, p.Repo.GitDir, p.Repo.Algo)
		if err != nil {
			return oid.ID{}, false, err
		}
		p.ix = ix
	}
	i, ok := p.ix.Find(path)
	for ; ok && i < len(p.ix.Entries) && string(p.ix.AppendPath(nil, i)) == path; i++ {
		if p.ix.Entries[i].Stage() == stage {
			return p.ix.ID(i), true, nil
		}
	}
	return oid.ID{}, false, nil
}

// ErrAbbrev says that core.abbrev has a value that Git refuses.
var ErrAbbrev = errors.New("bad value of core.abbrev")

// Abbrev returns how many hexadecimal digits core.abbrev asks of an abbreviated
// object ID, which more are added to where they do not tell it from others.
func (p *Past) Abbrev() (int, error) {
	value, set := p.Repo.Config.Get("core.abbrev")
	if !set || value == "auto" {
		return p.DB.AutoAbbrev(), nil
	}
	hex := p.Repo.Algo.HexSize()
	if n, err := config.ParseInt(value); err == nil {
		if n < odb.MinAbbrev || n > int64(hex) {
			return 0, fmt.Errorf("%w: '%s'", ErrAbbrev, value)
		}
		return int(n), nil
	}
	if on, ok := config.ParseBool(value); ok && !on {
		return hex, nil
	}
	return 0, fmt.Errorf("%w: '%s'", ErrAbbrev, value)
}

// ErrUnlikeStatus says that what git diff-index finds may differ from what git
// status does.
var ErrUnlikeStatus = errors.New("index has submodules or entries to be added later")

// Dirty reports whether a tracked file differs from HEAD, in the index or in the
// working tree, which there must be. The error is ErrUnlikeStatus, or that of
// computing the status.
func (p *Past) Dirty(ctx context.Context, threads int) (bool, error) {
	if _, _, err := p.indexed("", 0); err != nil {
		return false, err
	}
	if len(p.ix.Gitlinks) > 0 || p.ix.IntentToAdd > 0 {
		return false, ErrUnlikeStatus
	}
	s, err := status.New(p.Repo)
	if err != nil {
		return false, err
	}
	defer s.Close()
	sum, err := s.Summary(ctx, status.Request{Threads: threads, Limits: status.Limits{
		Staged: 1, Unstaged: 1, Conflicted: 1, DirtyMaxIndexSize: -1, IgnoreBashShowDirty: true,
	}})
	if err != nil {
		return false, err
	}
	return sum.Staged+sum.Unstaged+sum.Conflicted > 0, nil
}
