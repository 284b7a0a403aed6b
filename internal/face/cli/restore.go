package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"gust/internal/engine/checkout"
	"gust/internal/engine/past"
	"gust/internal/pure/oid"
)

// pathArgs is the command line of git-restore(1), or of git-checkout(1) where it names
// paths.
type pathArgs struct {
	quiet    bool
	progress progressMode
	overlay  bool
	staged   bool   // entries of the index change
	files    bool   // … and files
	source   string // where from, as given; "" for the index
	tells    bool   // how many paths were updated is told
	paths    []string
}

// parseRestore parses the options that gust knows, spelled out; the error says that
// there are others.
func parseRestore(args []string) (*pathArgs, error) {
	a := &pathArgs{}
	worktree, rest := false, false
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if rest || !strings.HasPrefix(arg, "-") || arg == "-" {
			a.paths = append(a.paths, arg)
			continue
		}
		switch arg {
		case "--":
			rest = true
		case "-q", "--quiet":
			a.quiet = true
		case "--progress":
			a.progress = progressOn
		case "--no-progress":
			a.progress = progressOff
		case "-S", "--staged":
			a.staged = true
		case "-W", "--worktree":
			worktree = true
		case "-SW", "-WS":
			a.staged, worktree = true, true
		case "--overlay":
			a.overlay = true
		case "--no-overlay":
			a.overlay = false
		case "-s", "--source":
			if i++; i == len(args) {
				return nil, errHandOver
			}
			a.source = args[i]
		default:
			var ok bool
			if a.source, ok = strings.CutPrefix(arg, "--source="); !ok {
				return nil, errHandOver
			}
		}
		if a.source == "" && (arg == "-s" || strings.HasPrefix(arg, "--source")) {
			return nil, errHandOver
		}
	}
	a.files = worktree || !a.staged
	if a.staged && a.source == "" {
		a.source = "HEAD"
	}
	if len(a.paths) == 0 {
		return nil, errHandOver
	}
	return a, nil
}

// restore is `gust restore`.
func (p *Program) restore(ctx context.Context, args []string) (int, error) {
	a, err := parseRestore(args)
	if err != nil {
		return 0, err
	}
	return p.takePaths(ctx, func(*past.Past) (*pathArgs, error) { return a, nil })
}

// takePaths is a command that changes paths and leaves HEAD where it is; parse
// returns its command line once the repository is open.
func (p *Program) takePaths(ctx context.Context, parse func(*past.Past) (*pathArgs, error)) (int, error) {
	ctx, stop := untilSignal(ctx)
	defer stop()
	code, err := p.tryPaths(ctx, parse)
	if err == nil {
		return code, nil
	}
	return p.leave(ctx, err)
}

func (p *Program) tryPaths(ctx context.Context, parse func(*past.Past) (*pathArgs, error)) (int, error) {
	opened, err := p.openPast()
	if err != nil {
		return 0, err
	}
	defer opened.Close()
	if err := p.writable(opened); err != nil {
		return 0, err
	}
	a, err := parse(opened)
	if err != nil {
		return 0, err
	}
	specs, err := p.literalPathspecs(opened.Repo, a.paths)
	if err != nil {
		return 0, err
	}
	head, err := opened.Repo.Refs.Head()
	if err != nil || head.ID.IsNull() {
		return 0, errHandOver
	}
	limit := &checkout.Limit{Match: specs.match, FromIndex: a.source == "", Index: a.staged, Files: a.files, Overlay: a.overlay}
	q, err := p.request(opened, limit, a.source)
	if err != nil {
		return 0, err
	}
	q.Progress = p.updating(a.progress, a.quiet)
	move, err := checkout.Prepare(ctx, opened.Repo, opened.DB, q)
	if err != nil {
		return 0, err
	}
	defer move.Close()
	if specs.unused() {
		return 0, errHandOver
	}
	if err := p.carryOut(ctx, opened, move); err != nil {
		return 0, err
	}
	if a.tells && !a.quiet {
		if err := p.tell(opened, &q, a.source, move.Written()); err != nil {
			return p.fail(exitFail, "cannot tell what was done: %v", err), nil
		}
	}
	return p.postCheckout(opened.Repo, head.ID, head.ID, false), nil
}

// request returns what moves the paths of limit to what source, a tree-ish, has.
func (p *Program) request(o *past.Past, limit *checkout.Limit, source string) (q checkout.Request, err error) {
	q = checkout.Request{Force: true, Limit: limit, Label: strings.Join(p.Args, " "), Threads: runtime.GOMAXPROCS(0)}
	dir, err := p.Dir()
	if err != nil {
		return q, err
	}
	q.Dir = below(o.Repo.WorkTree, dir)
	if source == "" {
		return q, nil
	}
	if strings.Contains(source, "...") {
		return q, errHandOver
	}
	id, err := o.Revision.Resolve(source)
	if err == nil {
		q.To, err = treeOf(o, id)
	}
	return q, err
}

// treeOf returns the tree that id, a commit, tag or tree, leads to.
func treeOf(o *past.Past, id oid.ID) (oid.ID, error) {
	id, err := o.DB.Peel(id)
	if err != nil {
		return id, err
	}
	return o.Revision.Resolve(id.String() + "^{tree}")
}

// carryOut does what was prepared; nothing is changed if it fails.
func (p *Program) carryOut(ctx context.Context, o *past.Past, move *checkout.Move) error {
	if err := move.Apply(ctx); err != nil {
		return err
	}
	if err := move.Commit(); err != nil {
		return errors.Join(err, move.Undo())
	}
	if move.Discard() != "" {
		p.sweep(ctx, o.Repo)
	}
	return nil
}

// tell says how many paths were updated.
func (p *Program) tell(o *past.Past, q *checkout.Request, source string, n int) error {
	from := "the index"
	if source != "" {
		digits, err := o.Abbrev()
		if err == nil {
			digits, err = o.DB.UniqueLen(q.To, digits)
		}
		if err != nil {
			return err
		}
		from = q.To.String()[:digits]
	}
	paths := "paths"
	if n == 1 {
		paths = "path"
	}
	fmt.Fprintf(p.Err, "Updated %d %s from %s\n", n, paths, from)
	return nil
}

// parseCheckoutPaths parses a command line of `git checkout` that names paths; ok is
// false if it may not.
func (p *Program) parseCheckoutPaths(args []string) (parse func(*past.Past) (*pathArgs, error), ok bool) {
	a := &pathArgs{overlay: true, staged: true, files: true}
	var before []string
	dashes := slices.Index(args, "--")
	rest := args
	if dashes >= 0 {
		rest, a.paths = args[:dashes], args[dashes+1:]
	}
	for _, arg := range rest {
		switch arg {
		case "-q", "--quiet":
			a.quiet = true
		case "--progress":
			a.progress = progressOn
		case "--no-progress":
			a.progress = progressOff
		case "--overlay":
			a.overlay = true
		case "--no-overlay":
			a.overlay = false
		default:
			if strings.HasPrefix(arg, "-") {
				return nil, false
			}
			before = append(before, arg)
		}
	}
	if dashes >= 0 {
		if len(a.paths) == 0 || len(before) > 1 {
			return nil, false
		}
		if len(before) == 1 {
			a.source = before[0]
		}
		return func(*past.Past) (*pathArgs, error) { return a, nil }, true
	}
	if len(before) == 0 || len(before) == 1 && !p.isPath(before[0]) {
		return nil, false
	}
	a.tells = true
	return func(o *past.Past) (*pathArgs, error) { return a, p.disambiguate(o, a, before) }, true
}

// disambiguate tells the tree-ish from the paths in the arguments of `git checkout`
// without "--". What may be either is handed over.
func (p *Program) disambiguate(o *past.Past, a *pathArgs, args []string) error {
	_, err := o.Revision.Resolve(args[0])
	isRev := err == nil || strings.Contains(args[0], "...") || args[0] == "-"
	switch {
	case isRev && (len(args) == 1 || p.isPath(args[0])):
		return errHandOver
	case isRev:
		a.source, a.paths = args[0], args[1:]
	default:
		a.paths = args
		if len(args) == 1 && p.onRemote(o, args[0]) {
			return errHandOver
		}
	}
	for _, arg := range a.paths {
		if !p.isPath(arg) {
			return errHandOver
		}
	}
	return nil
}

// onRemote reports whether a remote has a branch called name.
func (p *Program) onRemote(o *past.Past, name string) bool {
	found := false
	err := o.Repo.Refs.List("refs/remotes/", func(ref string, _, _ oid.ID) bool {
		found = found || strings.HasSuffix(ref, "/"+name)
		return !found
	})
	return found || err != nil || filepath.IsAbs(name)
}
