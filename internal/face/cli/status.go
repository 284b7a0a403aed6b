package cli

import (
	"context"
	"errors"
	"path/filepath"
	"runtime"
	"strings"

	"gust/internal/engine/status"
	"gust/internal/face/porcelain"
	"gust/internal/format/config"
	"gust/internal/repo"
	"gust/internal/store/refs"
	"gust/internal/worktree/scan"
)

// A statusRun is one run of `gust status`.
type statusRun struct {
	p    *Program
	a    *statusArgs
	r    *repo.Repository
	s    *status.Repo
	o    porcelain.Options
	show porcelain.Status
}

// status is `gust status`.
func (p *Program) status(ctx context.Context, args []string) (int, error) {
	a, err := parseStatus(args)
	if err != nil {
		return 0, err
	}
	dir, err := p.Dir()
	if err != nil {
		return 0, err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return 0, err
	}
	env := repo.EnvFrom(p.Env)
	loc, err := repo.Locate(dir, false, env)
	if err != nil {
		return 0, err
	}
	r, err := repo.Open(loc, env)
	if err != nil {
		return 0, err
	}
	if tracedBy(r.Config) {
		return 0, errHandOver
	}
	s := &statusRun{p: p, a: a, r: r}
	out, err := s.run(ctx, dir)
	if err != nil {
		return 0, err
	}
	if _, err := p.Out.Write(out); err != nil {
		return exitDie, nil
	}
	return exitOK, nil
}

// run returns the output. Nothing is closed: the process ends.
func (s *statusRun) run(ctx context.Context, dir string) ([]byte, error) {
	if s.r.WorkTree == "" || !within(dir, s.r.WorkTree) || within(dir, s.r.GitDir) || s.r.Env["GIT_NAMESPACE"] != "" {
		return nil, errHandOver
	}
	if err := s.settings(dir); err != nil {
		return nil, err
	}
	filters, err := status.RepositoryFilters(s.r)
	if err != nil {
		return nil, err
	}
	for i := range filters {
		if !filters[i].Trusted {
			return nil, errHandOver // git runs them
		}
	}
	overrides, err := s.r.ParentOverrides()
	if err != nil || overrides.Grafted {
		return nil, errors.Join(err, errHandOver)
	}
	if s.s, err = status.New(s.r); err != nil {
		return nil, err
	}
	s.show.Report, err = s.s.Report(ctx, status.ReportRequest{Threads: runtime.GOMAXPROCS(0), Untracked: s.a.untracked})
	if err != nil {
		return nil, err
	}
	s.show.Algo = s.r.Algo
	if err := s.branch(ctx); err != nil {
		return nil, err
	}
	if s.o.Stash {
		if s.show.Stashes, err = s.r.Refs.StashCount(); err != nil {
			return nil, err
		}
	}
	if err := s.renames(ctx); err != nil {
		return nil, err
	}
	switch s.a.format {
	case formatShort, formatV1:
		return porcelain.AppendShort(nil, &s.show, &s.o), nil
	case formatV2:
		return porcelain.AppendV2(nil, &s.show, &s.o), nil
	}
	if u := &s.show.Upstream; s.o.Hints && (s.r.Env["GIT_ADVICE"] != "" || u.Ahead > 0 && u.Behind > 0) {
		if err := s.wording(); err != nil {
			return nil, err
		}
	}
	if err := s.progress(); err != nil {
		return nil, err
	}
	return porcelain.AppendLong(nil, &s.show, &s.o), nil
}

// branch fills in where HEAD is and what it follows.
func (s *statusRun) branch(ctx context.Context) error {
	head := s.show.Head
	if head.Branch != "" && !strings.HasPrefix(head.Branch, "refs/heads/") {
		return errHandOver
	}
	s.show.Branch = strings.TrimPrefix(head.Branch, "refs/heads/")
	if s.show.Branch == "" || !s.o.Branch && s.a.format != formatLong {
		return nil
	}
	t := s.r.Upstream(head)
	if t.Ref == "" {
		return nil
	}
	u := &s.show.Upstream
	if u.Name = shortRef(t.Ref); s.ambiguous(t.Ref, u.Name) {
		return errHandOver
	}
	id, err := s.r.Refs.Resolve(t.Ref)
	switch {
	case errors.Is(err, refs.ErrNotFound):
		u.Gone = true
		return nil
	case err != nil:
		return err
	case head.ID.IsNull():
		return nil
	case !s.a.aheadBehind:
		u.Uncounted, u.Equal = true, id == head.ID
		return nil
	}
	u.Ahead, u.Behind, err = s.s.AheadBehind(ctx, head.ID, id)
	return err
}

// ambiguous reports whether short may mean another ref than name.
func (s *statusRun) ambiguous(name, short string) bool {
	for _, prefix := range []string{"", "refs/", "refs/tags/", "refs/heads/", "refs/remotes/"} {
		if full := prefix + short; full != name {
			if _, err := s.r.Refs.Read(full); err == nil {
				return true
			}
		}
	}
	return false
}

// renames finds out which of the new files were there under another name.
func (s *statusRun) renames(ctx context.Context) error {
	if !s.a.renames {
		return nil
	}
	var staged, unstaged struct{ added, deleted bool }
	for i := range s.show.Files {
		f := &s.show.Files[i]
		// A file may have been renamed to one that is unmerged, too.
		staged.added = staged.added || f.Staged.Kind == 'A' || f.Unmerged
		staged.deleted = staged.deleted || f.Staged.Kind == 'D'
		unstaged.added = unstaged.added || f.Unstaged.Kind == 'A' || f.Unmerged
		unstaged.deleted = unstaged.deleted || f.Unstaged.Kind == 'D'
	}
	if staged.added && staged.deleted || unstaged.added && unstaged.deleted {
		return errHandOver
	}
	return nil
}

// settings reads the configuration.
func (s *statusRun) settings(dir string) error {
	c := s.r.Config
	for _, key := range []string{"status.submoduleSummary", "status.displayCommentPrefix", "status.compareBranches", "column.ui", "column.status", "core.fsmonitor"} {
		if v, set := c.Get(key); set && v != "false" && v != "never" {
			return errHandOver
		}
	}
	var bad error
	flag := func(key string, standard bool) bool {
		on, set, err := c.Bool(key)
		bad = errors.Join(bad, err)
		return on || !set && standard
	}
	a, o := s.a, &s.o
	if a.format == formatNone {
		switch {
		case a.null:
			a.format = formatV1
		case flag("status.short", false):
			a.format = formatShort
		default:
			a.format = formatLong
		}
	}
	machine := a.format == formatV1 || a.format == formatV2
	fixed := machine || a.null // some settings do not hold then
	if a.null && a.format == formatLong || !machine && !s.p.english() {
		return errHandOver
	}
	o.Null, o.Plain, o.QuoteHigh = a.null, machine, flag("core.quotePath", true)
	o.Branch, o.Stash = a.branch == yes, a.stash == yes
	if a.branch == unset && !fixed {
		o.Branch = flag("status.branch", false)
	}
	if a.stash == unset {
		o.Stash = flag("status.showStash", false)
	}
	a.aheadBehind = a.aheadBehindFlag == yes || a.aheadBehindFlag == unset && (fixed || flag("status.aheadBehind", true))
	if relative := flag("status.relativePaths", true); relative && a.format != formatV1 && dir != s.r.WorkTree {
		o.Prefix = strings.TrimPrefix(strings.TrimPrefix(dir, s.r.WorkTree), "/") + "/"
	}
	if err := s.untrackedMode(); err != nil {
		return err
	}
	o.Untracked, o.Sparse = a.untracked != scan.UntrackedNo, flag("core.sparseCheckout", false)
	if err := s.renameSettings(); err != nil {
		return err
	}
	if bad != nil {
		return bad
	}
	if !machine {
		if err := s.colors(); err != nil {
			return err
		}
	}
	return s.hints()
}

// hints reads whether advice is wanted.
func (s *statusRun) hints() error {
	on, set, err := s.r.Config.Bool("advice.statusHints")
	s.o.Hints = on || !set
	return err
}

// wording finds out which git's words are wanted, where they are not always the same.
func (s *statusRun) wording() (err error) {
	if s.o.Version, err = s.p.GitVersion(); err != nil {
		return err
	}
	if v := s.r.Env["GIT_ADVICE"]; v != "" && s.o.Version.AtLeast(2, 46) {
		on, ok := config.ParseBool(v)
		if !ok {
			return errHandOver
		}
		s.o.Hints = s.o.Hints && on
	}
	return nil
}

// untrackedMode reads which untracked files are shown.
func (s *statusRun) untrackedMode() error {
	if s.a.untrackedGiven {
		return nil
	}
	switch v, set := s.r.Config.Get("status.showUntrackedFiles"); {
	case !set || v == "normal":
		s.a.untracked = scan.UntrackedNormal
	case v == "no":
		s.a.untracked = scan.UntrackedNo
	case v == "all":
		s.a.untracked = scan.UntrackedAll
	default:
		return errHandOver // words that versions of git take in different ways
	}
	return nil
}

// renameSettings reads whether renames are looked for.
func (s *statusRun) renameSettings() error {
	if s.a.renamesGiven {
		return nil
	}
	for _, key := range []string{"status.renames", "diff.renames"} {
		on, set, err := s.r.Config.Bool(key)
		if err != nil {
			return errHandOver // copies
		}
		if set {
			s.a.renames = on
			return nil
		}
	}
	s.a.renames = true
	return nil
}
