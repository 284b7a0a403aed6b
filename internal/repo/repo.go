// Package repo finds and opens a repository: discovery, layout, extensions,
// linked worktrees, operation in progress.
//
// Locate answers "which repository is this directory in" with a few stats, so
// that it can be asked before every prompt; Open reads the configuration and
// decides the rest. The rules are those of git(1), git-config(1),
// git-rev-parse(1), git-worktree(1) and gitrepository-layout(5).
package repo

import (
	"fmt"
	"path/filepath"

	"gust/internal/format/config"
	"gust/internal/pure/oid"
	"gust/internal/store/odb"
	"gust/internal/store/refs"
)

// A Repository is an open repository, seen from one working tree. Its fields
// are not to be changed. It is safe for concurrent use.
type Repository struct {
	GitDir    string // absolute, without symbolic links
	CommonDir string // what all working trees share; GitDir in the main one
	WorkTree  string // absolute, without symbolic links or trailing slash; "" if there is none
	IndexPath string
	ObjectDir string
	// Alternates are the further object directories of the environment.
	Alternates []string

	Algo      oid.Algo
	RefFormat string // "files" or "reftable"
	Config    *config.Config
	Env       Env
	Refs      *refs.Store

	loc    Location
	format *format
}

// Open opens the repository at loc: it reads the configuration, checks the
// repository's format and decides the working tree. Errors are an
// *ExtensionError, a *FormatError, those of config.Load, or of reading files.
func Open(loc Location, env Env) (*Repository, error) {
	r := &Repository{GitDir: loc.GitDir, CommonDir: loc.CommonDir, Env: env, loc: loc}
	var err error
	if r.format, err = readFormat(loc); err != nil {
		return nil, err
	}
	r.Algo = r.format.algo
	if err := r.openRefs(); err != nil {
		return nil, err
	}
	base := loc.WorkTree
	if base == "" {
		base = loc.GitDir
	}
	o, err := configOptions(env, base)
	if err != nil {
		return nil, err
	}
	o.Local = r.CommonDir + "/config"
	if r.format.worktreeConfig {
		o.Worktree = r.GitDir + "/config.worktree"
	}
	o.GitDir, o.GitDirName = loc.GitDir, loc.GitDirName
	o.Branch = func() string {
		head, err := r.Refs.Head()
		if err != nil {
			return ""
		}
		return head.Branch
	}
	if r.Config, err = config.Load(o); err != nil {
		return nil, err
	}
	if r.WorkTree, err = r.workTree(); err != nil {
		return nil, err
	}
	if env["GIT_INDEX_FILE"] == "" && env.has("GIT_INDEX_FILE") {
		return nil, &FormatError{r.GitDir, "GIT_INDEX_FILE is empty"}
	}
	r.paths()
	return r, nil
}

// Unchanged reports whether Open would return the same again: nothing that it
// read has changed. It costs a stat for each configuration file.
func (r *Repository) Unchanged() bool {
	return r.format.unchanged() && r.Config.Unchanged()
}

// Close gives up open files of the ref storage.
func (r *Repository) Close() { r.Refs.Close() }

// workTree decides where the working tree is (git(1), GIT_WORK_TREE;
// git-config(1), core.worktree and core.bare).
func (r *Repository) workTree() (string, error) {
	dir := r.loc.WorkTree
	switch {
	case r.loc.Given:
	case r.format.worktree != nil:
		if r.format.bare {
			return "", &FormatError{r.GitDir, "core.bare and core.worktree contradict each other"}
		}
		dir = *r.format.worktree
		if !filepath.IsAbs(dir) && dir != "" {
			dir = r.GitDir + "/" + dir
		}
		if dir == "" {
			return "", &FormatError{r.GitDir, "core.worktree is empty"}
		}
	case r.format.bare || dir == "":
		return "", nil
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", fmt.Errorf("cannot find working tree '%s': %w", dir, err)
	}
	if !searchable(real) {
		return "", fmt.Errorf("cannot enter working tree '%s'", dir)
	}
	return real, nil
}

// paths decides what the environment may place elsewhere.
func (r *Repository) paths() {
	at := func(name, standard string) string {
		path := r.Env[name]
		switch {
		case path == "":
			return standard
		case filepath.IsAbs(path) || r.WorkTree == "":
			return path
		}
		return filepath.Join(r.WorkTree, path)
	}
	r.IndexPath = at("GIT_INDEX_FILE", r.GitDir+"/index")
	r.ObjectDir = at("GIT_OBJECT_DIRECTORY", r.CommonDir+"/objects")
	for _, path := range odb.SplitAlternates(r.Env["GIT_ALTERNATE_OBJECT_DIRECTORIES"], filepath.ListSeparator) {
		if !filepath.IsAbs(path) && r.WorkTree != "" {
			path = filepath.Join(r.WorkTree, path)
		}
		r.Alternates = append(r.Alternates, path)
	}
}
