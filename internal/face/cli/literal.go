package cli

import (
	"path"
	"path/filepath"
	"strings"

	"gust/internal/repo"
)

// literals are pathspecs that are nothing but paths: each picks the path and what is
// below it (gitglossary(7), "pathspec").
type literals []literal

type literal struct {
	path string // relative to the working tree; "" for all of it
	dir  bool   // it ended in a slash: only what is below it is meant
	used bool   // it has picked something
}

// literalPathspecs takes pathspecs apart that are relative to the working directory.
// Those with magic or wildcards, and those that lead out of the working tree, are
// handed over.
func (p *Program) literalPathspecs(r *repo.Repository, args []string) (literals, error) {
	for _, name := range []string{"GIT_LITERAL_PATHSPECS", "GIT_GLOB_PATHSPECS", "GIT_NOGLOB_PATHSPECS", "GIT_ICASE_PATHSPECS"} {
		if v, _ := p.lookup(name); v != "" {
			return nil, errHandOver
		}
	}
	prefix, ok, err := p.prefix(r)
	if err != nil || !ok {
		return nil, errHandOver
	}
	specs := make(literals, 0, len(args))
	for _, arg := range args {
		if arg == "" || arg[0] == ':' || filepath.IsAbs(arg) || strings.ContainsAny(arg, `*?[\`) {
			return nil, errHandOver
		}
		full := path.Join(prefix, arg)
		if prefix == "" {
			full = path.Clean(arg)
		}
		if full == ".." || strings.HasPrefix(full, "../") {
			return nil, errHandOver
		}
		if full == "." {
			full = ""
		}
		specs = append(specs, literal{path: full, dir: strings.HasSuffix(arg, "/") || strings.HasSuffix(arg, "/.")})
	}
	return specs, nil
}

// prefix returns the working directory relative to the working tree; ok is false if
// it is not in it.
func (p *Program) prefix(r *repo.Repository) (prefix string, ok bool, err error) {
	dir, err := p.Dir()
	if err != nil {
		return "", false, err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return "", false, err
	}
	rel, err := filepath.Rel(r.WorkTree, dir)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", false, nil
	}
	if rel == "." {
		rel = ""
	}
	return filepath.ToSlash(rel), true, nil
}

// match reports whether one of the pathspecs picks a path, and notes which do.
func (s literals) match(path []byte) bool {
	picked := false
	for i := range s {
		l := &s[i]
		n := len(l.path)
		if n == 0 || len(path) > n && path[n] == '/' && string(path[:n]) == l.path || !l.dir && string(path) == l.path {
			l.used, picked = true, true
		}
	}
	return picked
}

// unused reports whether a pathspec has picked nothing.
func (s literals) unused() bool {
	for i := range s {
		if !s[i].used {
			return true
		}
	}
	return false
}
