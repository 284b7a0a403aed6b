package cli

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"gust/internal/engine/checkout"
	"gust/internal/engine/past"
	"gust/internal/pure/object"
	"gust/internal/pure/oid"
	"gust/internal/store/refs"
)

// resetArgs is the command line of git-reset(1) where it does not name paths.
type resetArgs struct {
	hard, soft, quiet bool
	target            string   // as given, or "HEAD"
	paths             []string // of which only the entries are reset
}

// parseReset parses the options that gust knows, spelled out; the error says that
// there are others.
func (p *Program) parseReset(args []string) (*resetArgs, error) {
	a := &resetArgs{}
	mode := ""
	rest, dashes := args, slices.Index(args, "--")
	if dashes >= 0 {
		rest = args[:dashes]
		a.paths = args[dashes+1:]
	}
	var names []string
	for _, arg := range rest {
		switch {
		case arg == "--hard", arg == "--soft", arg == "--mixed":
			mode = arg
		case arg == "-q", arg == "--quiet":
			a.quiet = true
		case strings.HasPrefix(arg, "-"):
			return nil, errHandOver
		default:
			names = append(names, arg)
		}
	}
	if len(names) > 0 && (dashes >= 0 || !p.isPath(names[0])) {
		a.target, names = names[0], names[1:]
	}
	if len(names) > 0 && dashes >= 0 {
		return nil, errHandOver
	}
	a.paths = append(a.paths, names...)
	for _, path := range names {
		if !p.isPath(path) {
			return nil, errHandOver
		}
	}
	if a.hard, a.soft = mode == "--hard", mode == "--soft"; a.target == "" {
		a.target = "HEAD"
	}
	if len(a.paths) > 0 && mode != "" {
		return nil, errHandOver
	}
	return a, nil
}

// reset is `gust reset`.
func (p *Program) reset(ctx context.Context, args []string) (int, error) {
	ctx, stop := untilSignal(ctx)
	defer stop()
	code, err := p.tryReset(ctx, args)
	if err == nil {
		return code, nil
	}
	return p.leave(ctx, err)
}

// resetting is one run of `gust reset`.
type resetting struct {
	*past.Past
	p    *Program
	a    *resetArgs
	head refs.Head
	id   oid.ID // the commit to move to
	to   object.CommitData
}

func (p *Program) tryReset(ctx context.Context, args []string) (int, error) {
	a, err := p.parseReset(args)
	if err != nil {
		return 0, err
	}
	opened, err := p.openPast()
	if err != nil {
		return 0, err
	}
	defer opened.Close()
	s := &resetting{Past: opened, p: p, a: a}
	if len(a.paths) > 0 {
		return s.paths(ctx)
	}
	if err := p.movable(opened); err != nil {
		return 0, err
	}
	if s.head, err = s.Repo.Refs.Head(); err != nil {
		return 0, err
	}
	if s.head.ID.IsNull() || s.head.Target != s.head.Branch || strings.Contains(a.target, "...") || a.target != "HEAD" && p.isPath(a.target) {
		return 0, errHandOver
	}
	if s.id, err = s.Revision.Commit(a.target); err != nil {
		return 0, err
	}
	if s.to, err = readCommit(s.Past, s.id); err != nil {
		return 0, err
	}
	return s.run(ctx)
}

func (s *resetting) run(ctx context.Context) (int, error) {
	line, err := s.p.logLine(s.Repo, s.head.ID, s.id)
	if err != nil {
		return 0, err
	}
	if line.Policy == refs.LogAlways {
		return 0, errHandOver // ORIG_HEAD has a reflog then
	}
	line.Message = "reset: moving to " + s.a.target
	line.HeadToo = s.head.Branch != ""
	text := ""
	if s.a.hard && !s.a.quiet {
		if text, err = oneLine(s.Past, s.id, &s.to); err != nil {
			return 0, err
		}
		text = "HEAD is now at " + text + "\n"
	}
	locks, err := s.lock()
	if err != nil {
		return 0, err
	}
	defer locks.release()
	switch {
	case s.a.hard:
		err = s.move(ctx)
	case !s.a.soft:
		text, err = s.mixed(ctx, nil)
	}
	if err != nil {
		return 0, err
	}
	if err := locks.set(s, line); err != nil {
		return s.p.fail(exitDie, "cannot update HEAD: %v", err), nil
	}
	fmt.Fprint(s.p.Out, text)
	return exitOK, nil
}

// move makes index and working tree those of the commit.
func (s *resetting) move(ctx context.Context) error {
	dir, err := s.p.Dir()
	if err != nil {
		return err
	}
	move, err := checkout.Prepare(ctx, s.Repo, s.DB, checkout.Request{
		To: s.to.Tree, Force: true, Dir: below(s.Repo.WorkTree, dir), Label: strings.Join(s.p.Args, " "),
		Threads: runtime.GOMAXPROCS(0), Progress: s.p.updating(progressAuto, s.a.quiet),
	})
	if err != nil {
		return err
	}
	defer move.Close()
	return s.p.carryOut(ctx, s.Past, move)
}

// mixed makes entries of the index what the target has, those of the given paths or
// all, and returns the list of what differs from them then.
func (s *resetting) mixed(ctx context.Context, specs literals) (string, error) {
	if _, set := s.Repo.Config.Get("reset.quiet"); set {
		return "", errHandOver
	}
	limit := &checkout.Limit{Index: true, Refresh: true}
	if specs != nil {
		limit.Match = specs.match
	}
	q, err := s.p.request(s.Past, limit, s.a.target)
	if err != nil {
		return "", err
	}
	move, err := checkout.Prepare(ctx, s.Repo, s.DB, q)
	if err != nil {
		return "", err
	}
	defer move.Close()
	if err := s.p.carryOut(ctx, s.Past, move); err != nil || s.a.quiet || len(move.Local()) == 0 {
		return "", err
	}
	var b strings.Builder
	b.WriteString("Unstaged changes after reset:\n")
	for _, c := range move.Local() {
		fmt.Fprintf(&b, "%c\t%s\n", c.Status, c.Path) // never quoted
	}
	return b.String(), nil
}

// paths resets the entries of some paths.
func (s *resetting) paths(ctx context.Context) (int, error) {
	if err := s.p.writable(s.Past); err != nil {
		return 0, err
	}
	specs, err := s.p.literalPathspecs(s.Repo, s.a.paths)
	if err != nil {
		return 0, err
	}
	if head, err := s.Repo.Refs.Head(); err != nil || head.ID.IsNull() {
		return 0, errHandOver
	}
	for _, arg := range s.a.paths {
		if _, err := s.Revision.Resolve(arg); err == nil && s.a.target == "HEAD" {
			return 0, errHandOver // which of the two it is is not clear without "--"
		}
	}
	text, err := s.mixed(ctx, specs)
	if err == nil {
		fmt.Fprint(s.p.Out, text)
	}
	return exitOK, err
}

// resetLocks are the locks of the refs that a reset changes.
type resetLocks struct{ orig, ref *refs.RefLock }

// lock locks ORIG_HEAD and the ref that is to move: the branch, or HEAD where it is
// detached or gets nothing but a line in its reflog.
func (s *resetting) lock() (l resetLocks, err error) {
	name := "HEAD"
	if s.head.Branch != "" && s.id != s.head.ID {
		name = s.head.Branch
	}
	if l.orig, err = s.Repo.Refs.Lock("ORIG_HEAD"); err != nil {
		return l, err
	}
	if l.ref, err = s.Repo.Refs.Lock(name); err != nil {
		l.release()
	}
	return l, err
}

func (l *resetLocks) release() {
	for _, lock := range []*refs.RefLock{l.orig, l.ref} {
		if lock != nil {
			lock.Release()
		}
	}
}

func (l *resetLocks) set(s *resetting, line *refs.LogLine) error {
	if err := l.orig.SetID(s.head.ID, &refs.LogLine{Policy: refs.LogNever, Old: s.head.ID, New: s.head.ID, Committer: line.Committer}, false); err != nil {
		return err
	}
	if s.id != s.head.ID {
		return l.ref.SetID(s.id, line, false)
	}
	if s.head.Branch == "" {
		return nil
	}
	return l.ref.Note(line)
}
