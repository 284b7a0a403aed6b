// Package exclude finds the rule of gitignore(5) that decides about a single path.
//
// Where a whole working tree is looked at, package scan decides: it keeps what it
// read. This one reads the rule files on the way to the path, each once.
package exclude

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"gust/internal/disk/filestat"
	"gust/internal/format/index"
	"gust/internal/repo"
	"gust/internal/rules/ignore"
	"gust/internal/store/odb"
)

// maxRules bounds the size of a rule file in bytes, as Git bounds its own.
const maxRules = 100 << 20

// A Checker knows the rules of one working tree, as they were when it first needed
// them. It is for one goroutine.
type Checker struct {
	root    string
	ix      *index.Index
	db      *odb.DB
	options ignore.Options
	base    *ignore.Stack
	dirs    map[string]*dir // by path; "" is the root
}

// A dir is what is known of a directory.
type dir struct {
	stack   *ignore.Stack // for what is in it
	ignored bool          // it is, or is in one that is …
	rule    ignore.Rule   // … by this rule
}

// New returns the Checker of r's working tree. ix is its index, whose rule files stand
// in for missing ones outside of a sparse checkout, or nil if they are not to; db has
// their contents. infoName is how the rules of info/exclude are to be called. The error is that of reading a
// setting or a rule file.
func New(r *repo.Repository, ix *index.Index, db *odb.DB, infoName string) (*Checker, error) {
	fold, _, err := r.Config.Bool("core.ignoreCase")
	if err != nil {
		return nil, err
	}
	excludes, err := r.UserFile("core.excludesFile", "ignore")
	if err != nil {
		return nil, err
	}
	c := &Checker{root: r.WorkTree, ix: ix, db: db, options: ignore.Options{IgnoreCase: fold}, dirs: map[string]*dir{}}
	for _, file := range []struct{ path, name string }{{excludes, excludes}, {r.CommonDir + "/info/exclude", infoName}} {
		if file.path == "" {
			continue
		}
		data, _, err := filestat.ReadFile(file.path, maxRules)
		if filestat.IsAbsent(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("cannot read rules: %w", err)
		}
		c.base = c.base.Push(ignore.Parse(data, c.options), "", file.name)
	}
	return c, nil
}

// Rule returns the rule that decides about path, relative to the root of the working
// tree: that of the first of its parents that is ignored, else its own, which may be
// one that includes it. ok is false if there is none. A slash at the end makes path a
// directory whatever it is. The error is that of reading a rule file.
func (c *Checker) Rule(path string, isDir bool) (rule ignore.Rule, ok bool, err error) {
	base := strings.LastIndexByte(path, '/') + 1
	d, err := c.in(strings.TrimSuffix(path[:base], "/"))
	if err != nil || d.ignored {
		return d.rule, err == nil, err
	}
	rule, ok = d.stack.Explain([]byte(path), base, isDir)
	return rule, ok, nil
}

// Ignores reports whether a rule that decides about a path ignores it.
func Ignores(r ignore.Rule) bool { return !strings.HasPrefix(r.Pattern, "!") }

// in returns what is known of the directory at path.
func (c *Checker) in(path string) (*dir, error) {
	if d := c.dirs[path]; d != nil {
		return d, nil
	}
	d := &dir{stack: c.base}
	if path != "" {
		base := strings.LastIndexByte(path, '/') + 1
		parent, err := c.in(strings.TrimSuffix(path[:base], "/"))
		if err != nil {
			return &dir{}, err
		}
		*d = *parent
		if rule, ok := parent.stack.Explain([]byte(path), base, true); !d.ignored && ok && Ignores(rule) {
			d.ignored, d.rule = true, rule
		}
	}
	if !d.ignored {
		name := strings.TrimPrefix(path+"/.gitignore", "/")
		data, err := c.read(name)
		if err != nil {
			return &dir{}, err
		}
		d.stack = d.stack.Push(ignore.Parse(data, c.options), path, name)
	}
	c.dirs[path] = d
	return d, nil
}

// read returns the content of the rule file called name, from the index if it is not
// there to be; none if it is no regular file.
func (c *Checker) read(name string) ([]byte, error) {
	path := c.root + "/" + name
	info, err := os.Lstat(path)
	switch {
	case err == nil && (!info.Mode().IsRegular() || info.Size() > maxRules):
		return nil, nil
	case err == nil:
		return os.ReadFile(path)
	case !filestat.IsAbsent(err):
		return nil, err
	}
	if c.ix == nil {
		return nil, nil
	}
	i, ok := c.ix.Find(name)
	if !ok || c.ix.Entries[i].Stage() != 0 || c.ix.Entries[i].Flags&index.SkipWorktree == 0 {
		return nil, nil
	}
	_, data, err := c.db.Read(c.ix.ID(i), nil)
	if errors.Is(err, odb.ErrNotFound) || len(data) > maxRules {
		return nil, nil
	}
	return data, err
}
