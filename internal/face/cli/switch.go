package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"gust/internal/daemon/process"
	"gust/internal/engine/checkout"
	"gust/internal/engine/past"
	"gust/internal/pure/object"
	"gust/internal/pure/oid"
	"gust/internal/pure/quote"
	"gust/internal/repo"
	"gust/internal/store/refs"
)

// switching is one run of `gust switch` or of `gust checkout` to a branch or commit.
type switching struct {
	*past.Past
	p    *Program
	a    *switchArgs
	head refs.Head
	old  object.CommitData // HEAD's

	branch string // full name of the branch to be on; "" for a detached HEAD
	name   string // what the reflog calls where it goes
	id     oid.ID // the commit to move to
	to     object.CommitData
	made   bool // the branch is to be made

	out, err strings.Builder
}

// switchTo is `gust switch`, and `gust checkout` without paths.
func (p *Program) switchTo(command string) gitCommand {
	return func(ctx context.Context, args []string) (int, error) {
		if command == "checkout" {
			if parse, ok := p.parseCheckoutPaths(args); ok {
				return p.takePaths(ctx, parse)
			}
		}
		ctx, stop := untilSignal(ctx)
		defer stop()
		code, err := p.trySwitch(ctx, command, args)
		if err == nil {
			return code, nil
		}
		return p.leave(ctx, err)
	}
}

// untilSignal returns a context that is done when the process is asked to end: what
// was begun is then taken back.
func untilSignal(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	signals, stop := process.Terminated()
	go func() {
		select {
		case <-signals:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, func() { stop(); cancel() }
}

// leave hands the command over to git, unless err says that something is half done.
func (p *Program) leave(ctx context.Context, err error) (int, error) {
	var stuck *checkout.StuckError
	switch {
	case errors.As(err, &stuck):
		return p.fail(exitDie, "%v", err), nil
	case ctx.Err() != nil:
		return p.fail(exitDie, "interrupted; everything is as it was"), nil
	}
	return 0, err
}

func (p *Program) trySwitch(ctx context.Context, command string, args []string) (int, error) {
	if command == "switch" && len(args) == 1 && args[0] == "--abort" {
		return p.abortMove(ctx)
	}
	a, err := parseSwitch(command, args)
	if err != nil {
		return 0, err
	}
	opened, err := p.openPast()
	if err != nil {
		return 0, err
	}
	defer opened.Close()
	s := &switching{Past: opened, p: p, a: a}
	if err := p.movable(opened); err != nil {
		return 0, err
	}
	if err := s.resolve(); err != nil {
		return 0, err
	}
	return s.run(ctx)
}

// abortMove is `gust switch --abort`.
func (p *Program) abortMove(ctx context.Context) (int, error) {
	opened, err := p.openPast()
	if err != nil {
		return 0, err
	}
	defer opened.Close()
	label, found, err := checkout.Abort(opened.Repo, opened.DB)
	switch {
	case err != nil:
		return p.fail(exitDie, "cannot take back an interrupted switch: %v", err), nil
	case !found:
		return p.fail(exitFail, "no interrupted switch is there to be taken back"), nil
	}
	fmt.Fprintf(p.Err, "Took back the interrupted '%s'\n", label)
	p.sweep(ctx, opened.Repo)
	return exitOK, nil
}

// resolve finds out where to go.
func (s *switching) resolve() (err error) {
	if s.head, err = s.Repo.Refs.Head(); err != nil {
		return err
	}
	if s.head.ID.IsNull() || s.head.Target != s.head.Branch && s.head.Target != "" {
		return errHandOver
	}
	if s.head.Branch != "" && !strings.HasPrefix(s.head.Branch, "refs/heads/") {
		return errHandOver
	}
	if s.old, err = s.commit(s.head.ID); err != nil {
		return err
	}
	target := s.a.target
	if target == "-" {
		if target, err = s.previous(); err != nil {
			return err
		}
	}
	if s.a.create != "" {
		return s.resolveNew(target)
	}
	if target == "" {
		return errHandOver
	}
	if s.a.checkout && s.p.isPath(target) {
		return errHandOver
	}
	if !s.a.detach && refs.ValidName("refs/heads/"+target) && s.only("refs/heads/"+target) {
		s.branch, s.name = "refs/heads/"+target, target
		r, err := s.Repo.Refs.Read(s.branch)
		if err != nil || r.Target != "" {
			return errHandOver
		}
		s.id = r.ID
		if err := s.elsewhere(); err != nil {
			return err
		}
	} else {
		if s.a.target == "-" || target == "HEAD" && !s.a.detach || !s.a.checkout && !s.a.detach || strings.Contains(target, "...") {
			return errHandOver
		}
		s.name = target
		if s.id, err = s.Revision.Commit(target); err != nil {
			return err
		}
	}
	s.to, err = s.commit(s.id)
	return err
}

// resolveNew is resolve for a branch that is to be made, at target.
func (s *switching) resolveNew(target string) (err error) {
	s.branch, s.name, s.made = "refs/heads/"+s.a.create, s.a.create, true
	if s.a.reset || !refs.ValidName(s.branch) || strings.HasPrefix(s.a.create, "-") || s.a.create == "HEAD" || strings.Contains(s.a.create, "@{") {
		return errHandOver
	}
	if auto, ok := s.Repo.Config.Get("branch.autoSetupMerge"); ok && auto != "true" && auto != "false" {
		return errHandOver
	}
	if _, err := s.Repo.Refs.Read(s.branch); !errors.Is(err, refs.ErrNotFound) {
		return errHandOver
	}
	if target == "" {
		s.id = s.head.ID
	} else {
		if strings.Contains(target, "...") || s.p.isPath(target) && s.a.checkout {
			return errHandOver
		}
		// A branch that starts from a remote's gets an upstream.
		if name, _, err := s.Revision.Ref(target); err != nil || name != "" && strings.HasPrefix(name, "refs/remotes/") {
			if err == nil || !strings.ContainsAny(target, "^~@{:") && !isHex(target) {
				return errHandOver
			}
		}
		if s.id, err = s.Revision.Commit(target); err != nil {
			return err
		}
	}
	s.to, err = s.commit(s.id)
	return err
}

func isHex(s string) bool { return s != "" && strings.Trim(s, "0123456789abcdefABCDEF") == "" }

// previous returns where HEAD was before, as "-" means it: a branch.
func (s *switching) previous() (string, error) {
	log, err := s.Repo.Refs.Log("HEAD")
	if err != nil {
		return "", err
	}
	for i := len(log) - 1; i >= 0; i-- {
		if move, ok := strings.CutPrefix(log[i].Message, "checkout: moving from "); ok {
			from, _, ok := strings.Cut(move, " to ")
			if !ok {
				break
			}
			return from, nil
		}
	}
	return "", errHandOver
}

// isPath reports whether arg may mean a file, as git-checkout(1) wonders.
func (p *Program) isPath(arg string) bool {
	dir, err := p.Dir()
	if err != nil {
		return true
	}
	if !filepath.IsAbs(arg) {
		arg = filepath.Join(dir, arg)
	}
	_, err = os.Lstat(arg)
	return err == nil || strings.ContainsAny(arg, "*?[:")
}

// only reports whether the branch of the given full name is there, and its short
// name means no other ref.
func (s *switching) only(branch string) bool {
	if _, err := s.Repo.Refs.Read(branch); err != nil {
		return false
	}
	short := strings.TrimPrefix(branch, "refs/heads/")
	for _, other := range []string{short, "refs/" + short, "refs/tags/" + short, "refs/remotes/" + short, "refs/remotes/" + short + "/HEAD"} {
		if _, err := s.Repo.Refs.Read(other); err == nil {
			return false
		}
	}
	return !isHex(short) || len(short) < 4
}

// elsewhere hands over a branch that another working tree may have.
func (s *switching) elsewhere() error {
	dirs, err := os.ReadDir(filepath.Join(s.Repo.CommonDir, "worktrees"))
	if err != nil {
		return nil
	}
	places := []string{s.Repo.CommonDir}
	for _, d := range dirs {
		places = append(places, filepath.Join(s.Repo.CommonDir, "worktrees", d.Name()))
	}
	for _, place := range places {
		if place == s.Repo.GitDir {
			continue
		}
		data, err := os.ReadFile(filepath.Join(place, "HEAD"))
		if err != nil || strings.TrimSpace(strings.TrimPrefix(string(data), "ref:")) == s.branch {
			return errHandOver
		}
		for _, name := range []string{"rebase-merge", "rebase-apply", "BISECT_LOG"} {
			if _, err := os.Lstat(filepath.Join(place, name)); err == nil {
				return errHandOver
			}
		}
	}
	return nil
}

// commit reads a commit.
func (s *switching) commit(id oid.ID) (object.CommitData, error) { return readCommit(s.Past, id) }

func readCommit(p *past.Past, id oid.ID) (object.CommitData, error) {
	typ, data, err := p.DB.Read(id, nil)
	if err != nil || typ != object.Commit {
		return object.CommitData{}, errHandOver
	}
	return object.ParseCommit(data, p.Repo.Algo)
}

// run moves index and working tree, then HEAD.
func (s *switching) run(ctx context.Context) (int, error) {
	detached := s.branch == ""
	if detached && s.head.Branch == "" && s.id == s.head.ID {
		return 0, errHandOver // which says nothing of it in the reflog
	}
	line, err := s.p.logLine(s.Repo, s.head.ID, s.id)
	if err != nil {
		return 0, err
	}
	line.Message = "checkout: moving from " + s.from() + " to " + s.name
	if err := s.messages(ctx); err != nil {
		return 0, err
	}
	var move *checkout.Move
	if !s.made || s.a.target != "" {
		if move, err = s.prepare(ctx); err != nil {
			return 0, err
		}
		defer move.Close()
	}
	head, err := s.Repo.Refs.Lock("HEAD")
	if err != nil {
		return 0, err
	}
	defer head.Release()
	var branch *refs.RefLock
	if s.made {
		if branch, err = s.Repo.Refs.Lock(s.branch); err != nil {
			return 0, err
		}
		defer branch.Release()
	}
	if move != nil {
		if err := move.Apply(ctx); err != nil {
			return 0, err
		}
		if err := move.Commit(); err != nil {
			return 0, errors.Join(err, move.Undo())
		}
	}
	// From here on it is done: what fails now is told, and not git's to do again.
	failed := s.setHead(head, branch, line)
	if move != nil && move.Discard() != "" {
		s.p.sweep(ctx, s.Repo)
	}
	if failed != nil {
		return s.p.fail(exitDie, "cannot update HEAD: %v", failed), nil
	}
	fmt.Fprint(s.p.Out, s.out.String())
	fmt.Fprint(s.p.Err, s.err.String())
	if err := s.tracking(ctx); err != nil {
		return s.p.fail(exitFail, "cannot compare with the upstream: %v", err), nil
	}
	return s.p.postCheckout(s.Repo, s.head.ID, s.id, true), nil
}

// from returns what the reflog calls where HEAD was.
func (s *switching) from() string {
	if s.head.Branch == "" {
		return s.head.ID.String()
	}
	return strings.TrimPrefix(s.head.Branch, "refs/heads/")
}

// prepare begins the move and writes the list of local changes.
func (s *switching) prepare(ctx context.Context) (*checkout.Move, error) {
	dir, err := s.p.Dir()
	if err != nil {
		return nil, err
	}
	q := checkout.Request{
		From: s.old.Tree, To: s.to.Tree, Force: s.a.force, Dir: below(s.Repo.WorkTree, dir),
		Label: strings.Join(s.p.Args, " "), Threads: runtime.GOMAXPROCS(0), Progress: s.p.updating(s.a.progress, s.a.quiet),
	}
	move, err := checkout.Prepare(ctx, s.Repo, s.DB, q)
	if err != nil || s.a.quiet || s.a.force {
		return move, err
	}
	escape := quotesHigh(s.Repo)
	for _, c := range move.Local() {
		fmt.Fprintf(&s.out, "%c\t%s\n", c.Status, quote.Path(c.Path, escape))
	}
	return move, nil
}

// below returns dir relative to root, "" if it is root or not below it.
func below(root, dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	rel, err := filepath.Rel(root, dir)
	if err != nil || rel == "." || strings.HasPrefix(rel, "..") {
		return ""
	}
	return filepath.ToSlash(rel)
}

// quotesHigh is core.quotePath.
func quotesHigh(r *repo.Repository) bool {
	on, set, err := r.Config.Bool("core.quotePath")
	return on || !set || err != nil
}

// setHead writes the refs.
func (s *switching) setHead(head, branch *refs.RefLock, line *refs.LogLine) error {
	if branch != nil {
		made := *line
		made.Old = oid.Null(s.Repo.Algo)
		made.Message = "branch: Created from HEAD"
		if s.a.target != "" {
			made.Message = "branch: Created from " + s.a.target
		}
		if err := branch.SetID(s.id, &made, false); err != nil {
			return err
		}
	}
	if s.branch == "" {
		return head.SetID(s.id, line, false)
	}
	return head.SetTarget(s.branch, line, false)
}
