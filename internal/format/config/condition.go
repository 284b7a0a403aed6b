package config

import (
	"gust/internal/pure/wildmatch"
	"path/filepath"
	"strings"
)

// A condition is an includeIf condition that depends on something other than the
// configuration, and whether it held.
type condition struct {
	holds func() bool
	held  bool
}

// includeIf follows e, an includeIf.<cond>.path, if its condition holds.
func (l *loader) includeIf(e *Entry, cond string, depth int) error {
	kind, pattern, ok := strings.Cut(cond, ":")
	if !ok {
		return nil
	}
	holds := false
	switch kind {
	case "gitdir", "gitdir/i":
		holds = l.gitDir(e, pattern, kind == "gitdir/i")
	case "onbranch":
		holds = l.onBranch(pattern)
	case "hasconfig":
		urls, ok := strings.CutPrefix(pattern, "remote.*.url:")
		if !ok {
			return nil
		}
		return l.hasConfig(e, urls, depth)
	}
	if !holds {
		return nil
	}
	return l.include(e, depth)
}

// gitDir evaluates gitdir: and gitdir/i:.
func (l *loader) gitDir(e *Entry, pattern string, fold bool) bool {
	if l.o.GitDir == "" {
		return false
	}
	literal := 0 // length of the pattern's start that is not a pattern
	if rest, ok := strings.CutPrefix(pattern, "./"); ok {
		if e.File == "" {
			return false // there is no directory that "." could be
		}
		dir, err := filepath.EvalSymlinks(filepath.Dir(e.File))
		if err != nil {
			return false
		}
		if !strings.HasSuffix(dir, "/") {
			dir += "/"
		}
		pattern, literal = dir+rest, len(dir)
	} else if strings.HasPrefix(pattern, "~") {
		expanded, err := ExpandPath(pattern, l.realHome())
		if err != nil {
			return false
		}
		pattern = expanded
	}
	if !filepath.IsAbs(pattern) {
		pattern = "**/" + pattern
	}
	if strings.HasSuffix(pattern, "/") {
		pattern += "**"
	}
	match := func(dir string) bool {
		if literal > len(dir) || !equalFold(pattern[:literal], dir[:literal], fold) {
			return false
		}
		return matchPath(pattern[literal:], dir[literal:], fold)
	}
	return match(l.o.GitDir) || l.o.GitDirName != "" && match(l.o.GitDirName)
}

func (l *loader) realHome() string {
	if home, err := filepath.EvalSymlinks(l.o.Home); err == nil {
		return home
	}
	return l.o.Home
}

func equalFold(a, b string, fold bool) bool {
	if fold {
		return strings.EqualFold(a, b)
	}
	return a == b
}

// onBranch evaluates onbranch:.
func (l *loader) onBranch(pattern string) bool {
	if l.o.Branch == nil {
		return false
	}
	if strings.HasSuffix(pattern, "/") {
		pattern += "**"
	}
	branch := l.o.Branch
	holds := func() bool {
		name, ok := strings.CutPrefix(branch(), "refs/heads/")
		return ok && matchPath(pattern, name, false)
	}
	held := holds()
	l.conds = append(l.conds, condition{holds, held})
	return held
}

// hasConfig follows e if a URL of any remote matches pattern. The URLs come from
// a pass over all scopes of their own, as they may be set after the condition.
func (l *loader) hasConfig(e *Entry, pattern string, depth int) error {
	// While URLs are collected, what the condition may include is only checked.
	holds := l.collecting
	if !l.collecting {
		if !l.haveURLs {
			sub := loader{o: l.o, parsed: l.parsed, bytes: l.bytes, collecting: true}
			if err := sub.all(); err != nil {
				return err
			}
			l.urls, l.haveURLs = sub.urls, true
			l.files = append(l.files, sub.files...)
			l.conds = append(l.conds, sub.conds...)
			l.bytes = sub.bytes
		}
		for _, url := range l.urls {
			holds = holds || matchPath(pattern, url, false)
		}
	}
	if !holds {
		return nil
	}
	l.noURLs++
	defer func() { l.noURLs-- }()
	return l.include(e, depth)
}

// matchPath matches as a pathname: only "**" crosses slashes.
func matchPath(pattern, text string, fold bool) bool {
	flags := wildmatch.PathName
	if fold {
		flags |= wildmatch.CaseFold
	}
	p := wildmatch.Compile(pattern, flags)
	return p.Match([]byte(text))
}
