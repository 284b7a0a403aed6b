package cli

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"gust/internal/engine/exclude"
	"gust/internal/engine/past"
	"gust/internal/format/index"
	"gust/internal/pure/object"
	"gust/internal/pure/quote"
	"gust/internal/pure/wildmatch"
	"gust/internal/rules/ignore"
)

// A checkIgnore is one run of `gust check-ignore` (git-check-ignore(1)).
type checkIgnore struct {
	quiet, verbose, stdin, nul, all, noIndex bool
	paths                                    []string

	o       *past.Past
	at      place
	ix      *index.Index // nil for --no-index
	rules   *exclude.Checker
	high    bool // core.quotePath
	out     *bufio.Writer
	ignored bool // a path was
}

// checkIgnore is `gust check-ignore`.
func (p *Program) checkIgnore(_ context.Context, args []string) (int, error) {
	c := &checkIgnore{}
	if err := c.parse(args); err != nil {
		return 0, err
	}
	for _, name := range []string{"GIT_DIR", "GIT_WORK_TREE", "GIT_LITERAL_PATHSPECS", "GIT_ICASE_PATHSPECS", "GIT_GLOB_PATHSPECS", "GIT_NOGLOB_PATHSPECS"} {
		if _, set := p.lookup(name); set {
			return 0, errHandOver
		}
	}
	var err error
	if c.o, err = p.openPast(); err != nil {
		return 0, err
	}
	defer c.o.Close()
	if err := c.open(p); err != nil {
		return 0, err
	}
	var out bytes.Buffer
	c.out = bufio.NewWriter(&out)
	if c.stdin {
		return c.answerInput(p)
	}
	for _, arg := range c.paths {
		if err := c.answer(arg); err != nil {
			return 0, err
		}
	}
	c.out.Flush()
	return c.code(p.print(out.String())), nil
}

// code returns the exit code, given that of writing.
func (c *checkIgnore) code(written int) int {
	if written == exitOK && !c.ignored {
		return exitFail
	}
	return written
}

func (c *checkIgnore) parse(args []string) error {
	for i, arg := range args {
		switch {
		case arg == "--":
			c.paths = append(c.paths, args[i+1:]...)
			return c.complete()
		case arg == "--quiet":
			c.quiet = true
		case arg == "--verbose":
			c.verbose = true
		case arg == "--stdin":
			c.stdin = true
		case arg == "--non-matching":
			c.all = true
		case arg == "--no-index":
			c.noIndex = true
		case strings.HasPrefix(arg, "--"):
			return errHandOver
		case strings.HasPrefix(arg, "-"):
			for _, letter := range arg[1:] {
				flag := map[rune]*bool{'q': &c.quiet, 'v': &c.verbose, 'z': &c.nul, 'n': &c.all}[letter]
				if flag == nil {
					return errHandOver
				}
				*flag = true
			}
		default:
			c.paths = append(c.paths, arg)
		}
	}
	return c.complete()
}

// complete leaves to git what it refuses.
func (c *checkIgnore) complete() error {
	switch {
	case c.stdin && len(c.paths) > 0, !c.stdin && (len(c.paths) == 0 || c.nul), c.quiet && (c.verbose || len(c.paths) != 1), c.all && !c.verbose:
		return errHandOver
	}
	return nil
}

// open reads the index and the rules that hold everywhere.
func (c *checkIgnore) open(p *Program) error {
	dir, err := p.Dir()
	if err != nil {
		return err
	}
	if c.at, err = placeIn(c.o, dir); err != nil {
		return err
	}
	r := c.o.Repo
	if !c.noIndex {
		if c.ix, err = index.Read(r.IndexPath, r.GitDir, r.Algo); err != nil {
			return err
		}
		if slices.ContainsFunc(c.ix.Entries, func(e index.Entry) bool { return e.Mode == uint32(object.ModeTree) }) {
			return errHandOver // what is in such a directory is tracked, too
		}
	}
	high, set, err := r.Config.Bool("core.quotePath")
	if err != nil {
		return err
	}
	c.high = high || !set
	name := ".git/info/exclude"
	if c.at.gitFile {
		name = r.CommonDir + "/info/exclude"
	}
	c.rules, err = exclude.New(r, c.ix, c.o.DB, name)
	return err
}

// answer writes what is to be said about one path, as it was given.
func (c *checkIgnore) answer(arg string) error {
	full, err := c.full(arg)
	if err != nil {
		return err
	}
	var rule ignore.Rule
	found := false
	if c.noIndex || !c.tracked(full) {
		info, err := os.Lstat(c.o.Repo.WorkTree + "/" + full)
		if rule, found, err = c.rules.Rule(full, err == nil && info.IsDir()); err != nil {
			return err
		}
	}
	if found && !c.verbose && !exclude.Ignores(rule) {
		rule, found = ignore.Rule{}, false
	}
	c.ignored = c.ignored || found
	if c.quiet || !found && !c.all {
		return nil
	}
	line := ""
	if found {
		line = strconv.Itoa(rule.Line)
	}
	switch {
	case c.verbose && c.nul:
		fmt.Fprintf(c.out, "%s\x00%s\x00%s\x00%s\x00", rule.Source, line, rule.Pattern, arg)
	case c.verbose:
		fmt.Fprintf(c.out, "%s:%s:%s\t%s\n", quote.Path(rule.Source, c.high), line, rule.Pattern, quote.Path(arg, c.high))
	case c.nul:
		fmt.Fprintf(c.out, "%s\x00", arg)
	default:
		fmt.Fprintf(c.out, "%s\n", quote.Path(arg, c.high))
	}
	return nil
}

// full returns the path of arg from the top of the working tree, "" for the top; a
// slash at its end stays. What git refuses is git's.
func (c *checkIgnore) full(arg string) (string, error) {
	if arg == "" || strings.ContainsRune(arg, 0) {
		return "", errHandOver
	}
	top := strings.TrimSuffix(c.o.Repo.WorkTree, "/")
	whole := arg
	if rest, ok := fromTop(arg); ok {
		whole = top + "/" + rest
	} else if arg[0] == ':' {
		return "", errHandOver
	} else if arg[0] != '/' {
		whole = top + "/" + c.at.prefix + arg
	}
	clean := path.Clean(whole)
	if clean == top {
		return "", nil
	}
	full, ok := strings.CutPrefix(clean, top+"/")
	if !ok {
		return "", errHandOver
	}
	for i := range len(full) {
		if full[i] != '/' {
			continue
		}
		info, err := os.Lstat(top + "/" + full[:i])
		if err == nil && info.Mode()&os.ModeSymlink != 0 || c.isModule(full[:i]) {
			return "", errHandOver
		}
	}
	if c.isModule(full) {
		return "", errHandOver
	}
	switch whole[strings.LastIndexByte(whole, '/')+1:] {
	case "", ".", "..":
		full += "/"
	}
	return full, nil
}

// fromTop cuts the magic off that makes a path one from the top of the working tree
// (gitglossary(7), "pathspec").
func fromTop(arg string) (string, bool) {
	if rest, ok := strings.CutPrefix(arg, ":(top)"); ok {
		return rest, true
	}
	rest, ok := strings.CutPrefix(arg, ":/")
	return rest, ok && !strings.HasPrefix(rest, ":") && !strings.HasPrefix(rest, "!") && !strings.HasPrefix(rest, "^") && !strings.HasPrefix(rest, "/")
}

// isModule reports whether the index has a submodule at path, if it is asked.
func (c *checkIgnore) isModule(path string) bool {
	if c.noIndex {
		return false
	}
	i, ok := c.ix.Find(path)
	return ok && c.ix.Entries[i].Mode == uint32(object.ModeGitlink)
}

// tracked reports whether the pathspec full matches anything in the index.
func (c *checkIgnore) tracked(full string) bool {
	dir := strings.TrimSuffix(full, "/")
	if _, ok := c.ix.Find(dir); ok && dir == full {
		return true
	}
	if dir == "" {
		return len(c.ix.Entries) > 0
	}
	d, ok := 0, true
	for name := range strings.SplitSeq(dir, "/") {
		if d, ok = c.ix.FindDir(d, []byte(name)); !ok {
			break
		}
	}
	if ok {
		return true
	}
	if !strings.ContainsAny(full, `*?[\`) {
		return false
	}
	pattern := wildmatch.Compile(full, 0)
	var name []byte
	for i := range c.ix.Entries {
		if name = c.ix.AppendPath(name[:0], i); pattern.Match(name) {
			return true
		}
	}
	return false
}

// answerInput answers each path of the standard input as it comes: whoever asks may
// wait for the answer before they go on. What is git's ends in its words there.
func (c *checkIgnore) answerInput(p *Program) (int, error) {
	end := byte('\n')
	if c.nul {
		end = 0
	}
	in := bufio.NewReader(p.In)
	var seen []byte // while nothing was written, all that was read
	c.out = bufio.NewWriter(p.Out)
	for wrote := false; ; {
		line, err := in.ReadBytes(end)
		if err != nil && err != io.EOF {
			return 0, fmt.Errorf("cannot read standard input: %w", err)
		}
		if len(line) == 0 {
			break
		}
		seen = append(seen, line...)
		name := string(bytes.TrimSuffix(line, []byte{end}))
		if !c.nul {
			name = strings.TrimSuffix(name, "\r")
		}
		if !c.nul && strings.HasPrefix(name, `"`) {
			text, rest, ok := quote.Cut(name)
			if !ok || rest != "" {
				return c.rest(p, seen, in)
			}
			name = text
		}
		if err := c.answer(name); err != nil {
			return c.rest(p, seen, in)
		}
		if c.out.Buffered() > 0 {
			wrote = true
			if c.out.Flush() != nil {
				return exitDie, nil
			}
		}
		if wrote {
			seen = seen[:0]
		}
		if err == io.EOF {
			break
		}
	}
	return c.code(exitOK), nil
}

// rest leaves to git what was read and not answered, and what is still to be read.
func (c *checkIgnore) rest(p *Program, seen []byte, in io.Reader) (int, error) {
	more, err := io.ReadAll(in)
	if err != nil {
		return 0, errors.Join(errHandOver, err)
	}
	p.input = append(seen, more...)
	return 0, errHandOver
}
