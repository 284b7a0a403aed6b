package cli

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"gust/internal/engine/past"
	"gust/internal/history/reach"
	"gust/internal/pure/object"
	"gust/internal/pure/oid"
	"gust/internal/store/odb"
)

// A revList is one run of `gust rev-list`.
type revList struct {
	p    *Program
	past *past.Past
	dir  string

	count, leftRight, objects, names, quiet bool
	filter                                  reach.Filter
	stdin, bitmap                           bool
	limits                                  *reach.Limits // nil: none

	tips  []reach.Tip
	given bool // tips, even if they are none
}

// revList is `gust rev-list`.
func (p *Program) revList(ctx context.Context, args []string) (int, error) {
	r := &revList{p: p, names: true}
	return r.run(ctx, args)
}

// run answers; an error says that git is to be asked, and that nothing was written.
func (r *revList) run(ctx context.Context, args []string) (code int, err error) {
	revs, err := r.options(args)
	if err != nil {
		return 0, err
	}
	if r.dir, err = r.p.Dir(); err != nil {
		return 0, err
	}
	if r.dir, err = filepath.EvalSymlinks(r.dir); err != nil {
		return 0, err
	}
	if r.past, err = r.p.openPast(); err != nil {
		return 0, err
	}
	defer r.past.Close()
	if err := r.revisions(revs); err != nil {
		return 0, err
	}
	if r.limits != nil && (r.bitmap || r.objects) {
		return 0, errHandOver // what bitmaps make of limits hangs on which commits have one
	}
	if !r.given || r.filter != (reach.Filter{}) && !r.objects || r.count && (r.quiet || r.leftRight && r.objects) {
		return 0, errHandOver
	}
	if r.objects && r.entangled() {
		return 0, errHandOver
	}
	w := &reach.Walk{DB: r.past.DB, Walker: r.past.Walker, Tips: r.tips, Options: reach.Options{Objects: r.objects, Filter: r.filter, Limits: r.limits}}
	if r.quiet && r.objects && r.filter == (reach.Filter{}) && r.connected(ctx, w) {
		return exitOK, nil
	}
	if n, ok, err := r.byBitmap(ctx, w); err != nil || ok {
		if err != nil {
			return 0, err
		}
		return r.p.print(fmt.Sprintf("%d\n", n)), nil
	}
	s, err := w.Select(ctx)
	if err != nil {
		return 0, err
	}
	if r.filter != (reach.Filter{}) && s.Others() {
		return 0, errHandOver // what filters make of other objects than commits among the tips is not simple
	}
	if r.count {
		return r.counted(ctx, w, s)
	}
	return r.listed(ctx, w, s)
}

// entangled reports whether git's own order of walking decides which objects it counts:
// where several commits are excluded, or one is and the roots are not all commits.
func (r *revList) entangled() bool {
	excluded, others := 0, false
	for i := range r.tips {
		if r.tips[i].Not {
			excluded++
		}
		others = others || !r.past.Walker.IsCommit(r.tips[i].ID)
	}
	return excluded > 1 || excluded > 0 && others
}

// connected reports whether a bitmap shows that everything is there: a list that is
// not printed says no more than that.
func (r *revList) connected(ctx context.Context, w *reach.Walk) bool {
	if !r.past.Whole {
		return false
	}
	for i := range w.Tips {
		if r.past.DB.Has(w.Tips[i].ID) != nil {
			return false
		}
	}
	b, err := r.past.DB.Bitmap()
	if err != nil || b == nil {
		return false
	}
	defer b.Close()
	return w.CheckConnected(ctx, b, nil) == nil
}

// counted prints counts.
func (r *revList) counted(ctx context.Context, w *reach.Walk, s *reach.Selection) (int, error) {
	var text string
	if r.leftRight {
		left := 0
		for i := range s.Commits {
			if s.Commits[i].Left {
				left++
			}
		}
		text = fmt.Sprintf("%d\t%d\n", left, len(s.Commits)-left)
	} else {
		n, err := w.Count(ctx, s)
		if err != nil {
			return 0, err
		}
		text = fmt.Sprintf("%d\n", n)
	}
	return r.p.print(text), nil
}

// print writes text to the standard output.
func (p *Program) print(text string) int {
	if _, err := io.WriteString(p.Out, text); err != nil {
		return exitDie
	}
	return exitOK
}

// countVerified counts while another processor finds out whether the bitmap is whole:
// a few bits that are wrong would otherwise go unnoticed.
func countVerified(ctx context.Context, w *reach.Walk, b *odb.Bitmap) (int, error) {
	whole := make(chan error, 1)
	go func() { whole <- b.Verify() }()
	n, err := w.CountExactly(ctx, b)
	if broken := <-whole; broken != nil {
		return 0, broken
	}
	return n, err
}

// byBitmap counts by a bitmap where the user asked for it, or where walking gives the
// same: then nothing is excluded. ok is false if it is to be counted by walking.
func (r *revList) byBitmap(ctx context.Context, w *reach.Walk) (n int, ok bool, err error) {
	if !r.count || r.leftRight || !r.bitmap && (!r.objects || r.stdin) {
		if r.bitmap && !r.count {
			return 0, false, errHandOver // the order of a list is then another
		}
		return 0, false, nil
	}
	others := r.filter != (reach.Filter{})
	for i := range w.Tips {
		if !r.bitmap && w.Tips[i].Not {
			return 0, false, nil
		}
		if others && !w.Walker.IsCommit(w.Tips[i].ID) {
			return 0, false, errHandOver
		}
	}
	if !r.past.Whole {
		if r.bitmap {
			return 0, false, errHandOver
		}
		return 0, false, nil
	}
	b, err := r.past.DB.Bitmap()
	if err == nil && b == nil {
		return 0, false, nil
	}
	if err == nil {
		defer b.Close()
		n, err = countVerified(ctx, w, b)
	}
	var broken *object.CorruptError
	switch {
	case err == nil:
		return n, true, nil
	case errors.Is(err, reach.ErrNoUse):
		return 0, false, nil
	case errors.Is(err, odb.ErrChain) && r.bitmap, errors.As(err, &broken) && broken.Offset == 0 && r.bitmap:
		return 0, false, errHandOver // a file that is no bitmap at all is what git has words for
	case errors.As(err, &broken) && r.bitmap:
		fmt.Fprintf(r.p.Err, "warning: not using a bitmap: %v\n", err)
	case ctx.Err() != nil:
		return 0, false, err
	}
	return 0, false, nil
}

// listed prints the objects.
func (r *revList) listed(ctx context.Context, w *reach.Walk, s *reach.Selection) (int, error) {
	if r.quiet && !r.objects {
		return exitOK, nil
	}
	out := &held{w: r.p.Out}
	if r.quiet {
		out.w = io.Discard
	}
	var line []byte
	for i := range s.Commits {
		c := &s.Commits[i]
		if !r.filter.Keeps(object.Commit) && !c.Tip {
			continue
		}
		line = line[:0]
		if r.leftRight {
			line = append(line, map[bool]byte{true: '<', false: '>'}[c.Left])
		}
		out.write(append(c.ID.AppendHex(line), '\n'))
	}
	if r.objects {
		err := w.List(ctx, s, func(o *reach.Object) error {
			line = o.ID.AppendHex(line[:0])
			if r.names {
				name, _, _ := bytes.Cut(o.Name, []byte("\n"))
				line = append(append(line, ' '), name...)
			}
			out.write(append(line, '\n'))
			return out.err
		})
		if err != nil && out.err == nil {
			if !out.begun {
				return 0, err
			}
			return r.p.fatal(err), nil
		}
	}
	out.flush()
	if out.err != nil {
		return exitDie, nil
	}
	return exitOK, nil
}

// fatal writes err as git writes its last words.
func (p *Program) fatal(err error) int {
	fmt.Fprintf(p.Err, "fatal: %v\n", err)
	return exitDie
}

// held writes in large pieces. As long as it has not begun, git may still be asked
// instead.
type held struct {
	w     io.Writer
	buf   []byte
	begun bool
	err   error
}

// holdBack is how much a held keeps before it begins: the names of some 100,000
// objects. Whoever reads a longer list wants its start early.
const holdBack = 8 << 20

func (h *held) write(line []byte) {
	h.buf = append(h.buf, line...)
	if len(h.buf) >= holdBack || h.begun && len(h.buf) >= 64<<10 {
		h.flush()
	}
}

func (h *held) flush() {
	if h.err == nil && len(h.buf) > 0 {
		_, h.err = h.w.Write(h.buf)
		h.begun = true
	}
	h.buf = h.buf[:0]
}

// options takes the options that say what is done from the revisions, and options
// that stand for some.
func (r *revList) options(args []string) (revs []string, err error) {
	flags := map[string]*bool{
		"--count": &r.count, "--left-right": &r.leftRight, "--objects": &r.objects, "--quiet": &r.quiet, "--stdin": &r.stdin,
		"--use-bitmap-index": &r.bitmap,
	}
	for i := 0; i < len(args); i++ {
		arg := args[i]
		f := flags[arg]
		limit, err := r.limit(args[i:])
		if err != nil {
			return nil, err
		}
		if limit > 0 {
			i += limit - 1
			continue
		}
		value, isFilter := strings.CutPrefix(arg, "--filter=")
		switch {
		case f != nil:
			*f = true
			if arg == "--stdin" {
				revs = append(revs, arg)
			}
		case arg == "--object-names":
			r.names = true
		case arg == "--no-object-names":
			r.names = false
		case arg == "--no-filter":
			r.filter = reach.Filter{}
		case isFilter:
			if r.filter != (reach.Filter{}) || !r.filter.Parse(value) {
				return nil, errHandOver
			}
		case arg == "--":
			if i+1 < len(args) {
				return nil, errHandOver // paths
			}
			return append(revs, arg), nil
		default:
			revs = append(revs, arg)
		}
	}
	return revs, nil
}

// revisions resolves the revisions.
func (r *revList) revisions(revs []string) error {
	end := len(revs)
	sure := end > 0 && revs[end-1] == "--" // no argument is a path
	if sure {
		revs = revs[:end-1]
	}
	not := false
	for _, arg := range revs {
		switch arg {
		case "--not":
			not = !not
		case "--stdin":
			if r.p.input != nil {
				return errHandOver
			}
			if err := r.standardInput(not); err != nil {
				return err
			}
		case "--all", "--branches", "--tags", "--remotes":
			if err := r.refs(arg, not); err != nil {
				return err
			}
		default:
			if arg == "" || arg[0] == '-' || !sure && r.isFile(arg) {
				return errHandOver
			}
			if err := r.revision(arg, not); err != nil {
				return err
			}
		}
	}
	return nil
}

// isFile reports whether a file is called what a revision is called, of which git
// complains where there may be files of the user's.
func (r *revList) isFile(arg string) bool {
	tree, git := r.past.Repo.WorkTree, r.past.Repo.GitDir
	if tree == "" || !within(r.dir, tree) || within(r.dir, git) {
		return false
	}
	_, err := os.Lstat(filepath.Join(r.dir, strings.TrimPrefix(arg, "^")))
	return err == nil
}

// within reports whether dir, which has no symbolic links, is parent or below it.
func within(dir, parent string) bool {
	rest, ok := strings.CutPrefix(dir, parent)
	return ok && (rest == "" || rest[0] == filepath.Separator || strings.HasSuffix(parent, string(filepath.Separator)))
}

// standardInput takes a revision from each line of the standard input.
func (r *revList) standardInput(not bool) error {
	var err error
	if r.p.input, err = io.ReadAll(bufio.NewReader(r.p.In)); err != nil {
		return err
	}
	if r.p.input == nil {
		r.p.input = []byte{}
	}
	r.given = true
	for line := range bytes.Lines(r.p.input) {
		line = bytes.TrimSuffix(line, []byte("\n"))
		if len(line) == 0 || line[0] == '-' || bytes.IndexByte(line, '\r') >= 0 || not {
			return errHandOver
		}
		if err := r.revision(string(line), false); err != nil {
			return err
		}
	}
	return nil
}

// refs takes the refs that an option stands for.
func (r *revList) refs(option string, not bool) error {
	r.given = true
	prefix := map[string]string{"--all": "refs/", "--branches": "refs/heads/", "--tags": "refs/tags/", "--remotes": "refs/remotes/"}[option]
	err := r.past.Repo.Refs.List(prefix, func(_ string, id, _ oid.ID) bool {
		r.tips = append(r.tips, reach.Tip{ID: id, Not: not})
		return true
	})
	if err != nil || option != "--all" {
		return err
	}
	// The HEADs of other working trees count too.
	if others, err := os.ReadDir(filepath.Join(r.past.Repo.CommonDir, "worktrees")); err == nil && len(others) > 0 {
		return errHandOver
	}
	head, err := r.past.Repo.Refs.Head()
	if err == nil && !head.ID.IsNull() {
		r.tips = append(r.tips, reach.Tip{ID: head.ID, Not: not})
	}
	return err
}

// revision takes one of "REV", "^REV", "A..B" and "A...B".
func (r *revList) revision(arg string, not bool) error {
	r.given = true
	if a, b, ok := strings.Cut(arg, ".."); ok && !strings.ContainsAny(arg, ":{") {
		b, symmetric := strings.CutPrefix(b, ".")
		if arg[0] == '^' || symmetric && not || a == "" && b == "" {
			return errHandOver
		}
		return r.between(a, b, symmetric, not)
	}
	rev, refused := strings.CutPrefix(arg, "^")
	id, err := r.past.Revision.Resolve(rev)
	if err != nil {
		return err
	}
	tip := reach.Tip{ID: id, Not: not != refused}
	if i := strings.IndexByte(rev, ':'); i >= 0 {
		if i == 0 || strings.ContainsAny(rev, "{}") {
			return errHandOver
		}
		tip.Path = rev[i+1:]
	}
	if err := r.past.DB.Has(id); err != nil {
		return err
	}
	r.tips = append(r.tips, tip)
	return nil
}

// between takes "a..b", or "a...b" if it is symmetric.
func (r *revList) between(a, b string, symmetric, not bool) error {
	var ends, commits [2]oid.ID // tags stay tags: they are objects too
	for i, rev := range [2]string{a, b} {
		if rev == "" {
			rev = "HEAD"
		}
		var err error
		if commits[i], err = r.past.Revision.Commit(rev); err != nil {
			return err
		}
		if ends[i], err = r.past.Revision.Resolve(rev); err != nil {
			return err
		}
	}
	if !symmetric {
		r.tips = append(r.tips, reach.Tip{ID: ends[0], Not: !not}, reach.Tip{ID: ends[1], Not: not})
		return nil
	}
	bases, err := r.past.Walker.MergeBases(context.Background(), commits[0], commits[1])
	if err != nil {
		return err
	}
	for _, id := range bases {
		r.tips = append(r.tips, reach.Tip{ID: id, Not: true})
	}
	r.tips = append(r.tips, reach.Tip{ID: ends[0], Left: true}, reach.Tip{ID: ends[1]})
	return nil
}
