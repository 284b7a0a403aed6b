package cli

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"gust/internal/engine/past"
	"gust/internal/history/revision"
	"gust/internal/pure/oid"
	"gust/internal/store/odb"
)

// revParse is `gust rev-parse` for what prompts and scripts ask about the place that
// they are in, and about one object or several (git-rev-parse(1)). Its questions are
// answered in the order of the arguments.
func (p *Program) revParse(_ context.Context, args []string) (int, error) {
	for _, name := range []string{"GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_SHALLOW_FILE", "GIT_PREFIX"} {
		if _, set := p.lookup(name); set {
			return 0, errHandOver
		}
	}
	if len(args) == 0 {
		return 0, errHandOver
	}
	o, err := p.openPast()
	if err != nil {
		return 0, err
	}
	defer o.Close()
	dir, err := p.Dir()
	if err != nil {
		return 0, err
	}
	at, err := placeIn(o, dir)
	if err != nil {
		return 0, err
	}
	r := &revParser{o: o, at: at, digits: -1}
	for _, arg := range args {
		if err := r.argument(arg); err != nil {
			return 0, err
		}
	}
	code, err := r.finish()
	if err != nil {
		return 0, err
	}
	if _, err := io.WriteString(p.Out, r.out.String()); err != nil {
		return exitDie, nil
	}
	return code, nil
}

// A place is a directory of a working tree.
type place struct {
	prefix  string // from the top of the working tree, with a slash at the end; "" there
	gitFile bool   // .git is a file that names the repository
}

// up is the way to the top of the working tree.
func (l place) up() string { return strings.Repeat("../", strings.Count(l.prefix, "/")) }

// placeIn returns where dir is in o's working tree. What is elsewhere, or has its
// repository in no place of Git's own choice, is left to git.
func placeIn(o *past.Past, dir string) (place, error) {
	top := o.Repo.WorkTree
	if _, set := o.Repo.Config.Get("core.worktree"); set && !strings.Contains(o.Repo.GitDir, "/modules/") || top == "" {
		return place{}, errHandOver
	}
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return place{}, err
	}
	rest, ok := strings.CutPrefix(dir+"/", strings.TrimSuffix(top, "/")+"/")
	if !ok || strings.HasPrefix(dir+"/", o.Repo.GitDir+"/") || strings.HasPrefix(dir+"/", o.Repo.CommonDir+"/") {
		return place{}, errHandOver
	}
	info, err := os.Lstat(top + "/.git")
	switch {
	case err != nil:
		return place{}, err
	case info.Mode().IsRegular():
		return place{prefix: rest, gitFile: true}, nil
	case info.IsDir() && o.Repo.GitDir == strings.TrimSuffix(top, "/")+"/.git" && o.Repo.CommonDir == o.Repo.GitDir:
		return place{prefix: rest}, nil
	}
	return place{}, errHandOver
}

// A revParser answers the arguments of rev-parse.
type revParser struct {
	o   *past.Past
	at  place
	out strings.Builder

	abbrevRef, symbolic bool // --abbrev-ref, --symbolic-full-name
	verify, quiet       bool
	short               bool
	digits              int    // of --short=; -1 without it
	rev                 string // the one of verify
	revs                int
}

func (r *revParser) argument(arg string) error {
	if !strings.HasPrefix(arg, "-") {
		return r.revision(arg)
	}
	if answer, ok := r.answer(arg); ok {
		if r.verify && r.revs > 0 {
			return errHandOver // git prints the object last
		}
		r.out.WriteString(answer + "\n")
		return nil
	}
	if r.revs > 0 {
		return errHandOver // options hold for what is behind them
	}
	name, value, given := strings.Cut(arg, "=")
	switch {
	case arg == "--abbrev-ref":
		r.abbrevRef = true
	case arg == "--symbolic-full-name":
		r.symbolic = true
	case arg == "--verify":
		r.verify = true
	case arg == "--quiet", arg == "-q":
		r.quiet = true
	case name == "--short":
		r.verify, r.short = true, true
		if !given {
			r.digits = -1
			return nil
		}
		if err := plainNumber(value, &r.digits); err != nil {
			return err
		}
		if r.digits > oid.SHA1.HexSize() {
			return errHandOver // git takes it for as many as SHA-1 has, in every repository
		}
	default:
		return errHandOver
	}
	return nil
}

// answer returns the answer to a question about the place.
func (r *revParser) answer(question string) (string, bool) {
	repo := r.o.Repo
	switch question {
	case "--git-dir":
		switch {
		case r.at.gitFile:
			return repo.GitDir, true
		case r.at.prefix == "":
			return ".git", true
		}
		return repo.GitDir, true
	case "--absolute-git-dir":
		return repo.GitDir, true
	case "--git-common-dir":
		if r.at.gitFile {
			return repo.CommonDir, true
		}
		return r.at.up() + ".git", true
	case "--show-toplevel":
		return repo.WorkTree, true
	case "--show-cdup":
		return r.at.up(), true
	case "--show-prefix":
		return r.at.prefix, true
	case "--is-inside-work-tree":
		return "true", true
	case "--is-inside-git-dir", "--is-bare-repository":
		return "false", true
	case "--is-shallow-repository":
		_, err := os.Stat(repo.CommonDir + "/shallow")
		return strconv.FormatBool(err == nil), true
	}
	return "", false
}

// revision answers what is no option. What stands for several objects or none, and
// what may be a path, is left to git.
func (r *revParser) revision(rev string) error {
	for _, several := range []string{"^@", "^!", "^-"} {
		if strings.Contains(rev, several) {
			return errHandOver
		}
	}
	if strings.Contains(rev, "..") || strings.HasPrefix(rev, "^") {
		return errHandOver
	}
	r.revs++
	if r.verify {
		r.rev = rev
		return nil
	}
	if r.abbrevRef || r.symbolic {
		full, _, err := r.o.Revision.Ref(rev)
		if err != nil {
			return err
		}
		if full == "HEAD" {
			head, err := r.o.Repo.Refs.Head()
			if err != nil {
				return err
			}
			full = cmp.Or(head.Branch, full)
		}
		if r.abbrevRef {
			warn, set, err := r.o.Repo.Config.Bool("core.warnAmbiguousRefs")
			if err != nil {
				return err
			}
			if full, err = r.o.Revision.Shorten(full, warn || !set); err != nil {
				return err
			}
		}
		r.out.WriteString(full + "\n")
		return nil
	}
	id, err := r.o.Revision.Resolve(rev)
	if err != nil {
		return err
	}
	r.out.WriteString(id.String() + "\n")
	return nil
}

// finish answers what is asked to be verified.
func (r *revParser) finish() (code int, err error) {
	if !r.verify {
		return exitOK, nil
	}
	if r.revs != 1 || r.abbrevRef || r.symbolic {
		return 0, errHandOver
	}
	id, err := r.o.Revision.Resolve(r.rev)
	if err != nil {
		plain := strings.HasPrefix(r.rev, "refs/") && !strings.ContainsAny(r.rev, "@^~: ")
		if r.quiet && plain && errors.Is(err, revision.ErrUnknown) && !r.o.Revision.Names(r.rev) {
			return exitFail, nil
		}
		return 0, err
	}
	hex := id.String()
	if r.short {
		n, err := r.shortened(id)
		if err != nil {
			return 0, err
		}
		hex = hex[:n]
	}
	r.out.WriteString(hex + "\n")
	return exitOK, nil
}

// shortened returns how many digits --short shows of id.
func (r *revParser) shortened(id oid.ID) (n int, err error) {
	n = r.digits
	if n < 0 {
		if n, err = r.o.Abbrev(); err != nil {
			return 0, err
		}
	}
	return r.o.DB.UniqueLen(id, max(n, odb.MinAbbrev))
}

// branchCommand is `gust branch --show-current`.
func (p *Program) branchCommand(_ context.Context, args []string) (int, error) {
	if len(args) != 1 || args[0] != "--show-current" {
		return 0, errHandOver
	}
	branch, _, err := p.head()
	if err != nil || branch == "" {
		return exitOK, err
	}
	short, ok := strings.CutPrefix(branch, "refs/heads/")
	if !ok {
		return 0, errHandOver
	}
	return p.print(short + "\n"), nil
}

// symbolicRef is `gust symbolic-ref` of HEAD, which is not changed.
func (p *Program) symbolicRef(_ context.Context, args []string) (int, error) {
	var quiet, short bool
	names := 0
	for _, arg := range args {
		switch arg {
		case "-q", "--quiet":
			quiet = true
		case "--short":
			short = true
		case "HEAD":
			names++
		default:
			return 0, errHandOver
		}
	}
	if names != 1 {
		return 0, errHandOver
	}
	branch, o, err := p.head()
	switch {
	case err != nil:
		return 0, err
	case branch == "" && quiet:
		return exitFail, nil
	case branch == "":
		return 0, errHandOver
	case short:
		if branch, err = o.Shorten(branch, false); err != nil {
			return 0, err
		}
	}
	return p.print(branch + "\n"), nil
}

// head returns the branch that HEAD names, "" if it is detached.
func (p *Program) head() (branch string, r *revision.Resolver, err error) {
	o, err := p.openPast()
	if err != nil {
		return "", nil, err
	}
	defer o.Close()
	head, err := o.Repo.Refs.Head()
	return head.Branch, o.Revision, err
}
