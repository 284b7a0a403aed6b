package config

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"gust/internal/disk/filestat"
)

// Options says where the configuration of a repository is. Paths that are empty,
// and files that do not exist, are skipped.
type Options struct {
	System   []string // paths of the system scope, in order
	Global   []string // paths of the global scope, in order
	Local    string   // the repository's config
	Worktree string   // config.worktree, where the extension is on

	Env  map[string]string // GIT_CONFIG_COUNT, GIT_CONFIG_KEY_<n>, GIT_CONFIG_VALUE_<n>, GIT_CONFIG_PARAMETERS
	Home string            // what ~/ expands to

	GitDir     string        // absolute and without symbolic links, for gitdir: conditions; "" never matches
	GitDirName string        // the absolute path by which the git dir was found, where it differs
	Branch     func() string // the full name of the branch that HEAD names, "" if none; for onbranch:
}

const (
	// maxDepth is Git's own limit on nested includes.
	maxDepth = 10
	// maxFiles and maxBytes bound what a set of files including each other can cost.
	maxFiles = 10_000
	maxBytes = 64 << 20
)

// Load reads the configuration of all scopes. A missing file is empty, and so is
// a file of the global scope that may not be read, as it is to Git. Errors are a
// *SyntaxError or a wrapped error of reading a file.
func Load(o Options) (*Config, error) {
	l := loader{o: &o, parsed: make(map[string]*parsedFile)}
	if err := l.all(); err != nil {
		return nil, err
	}
	c := fromEntries(l.entries, o.Home)
	c.files, c.conds = l.files, l.conds
	return c, nil
}

// parsedFile is a file's own entries, kept because a file may be included often
// and hasconfig: conditions need a pass of their own.
type parsedFile struct {
	entries []Entry
	err     error // of the syntax; entries stand before it
	missing bool
}

type loader struct {
	o       *Options
	entries []Entry
	files   []watched
	conds   []condition
	parsed  map[string]*parsedFile
	bytes   int64
	opened  int // files included or read, again for each time

	urls       []string // the values of remote.*.url, for hasconfig:
	haveURLs   bool
	collecting bool // this pass only looks for URLs
	noURLs     int  // > 0 within files included by hasconfig:, which must not set URLs
}

// all reads every scope.
func (l *loader) all() error {
	for _, path := range l.o.System {
		if err := l.file(path, System, 0); err != nil {
			return err
		}
	}
	for _, path := range l.o.Global {
		if err := l.file(path, Global, 0); err != nil {
			return err
		}
	}
	if err := l.file(l.o.Local, Local, 0); err != nil {
		return err
	}
	if err := l.file(l.o.Worktree, Worktree, 0); err != nil {
		return err
	}
	env, err := environment(l.o.Env)
	if err != nil {
		return err
	}
	for i := range env {
		if err := l.add(&env[i], 0); err != nil {
			return err
		}
	}
	return nil
}

// file adds the entries of the file at path and of what it includes.
func (l *loader) file(path string, scope Scope, depth int) error {
	if path == "" {
		return nil
	}
	if l.opened++; l.opened > maxFiles {
		return &SyntaxError{File: path, Line: 1, Problem: "too many files are included"}
	}
	f, err := l.read(path, scope, depth)
	if err != nil {
		return err
	}
	for i := range f.entries {
		e := f.entries[i]
		e.Scope = scope
		if err := l.add(&e, depth); err != nil {
			return err
		}
	}
	return f.err
}

// read returns the parsed file at path, from memory if it was read before.
func (l *loader) read(path string, scope Scope, depth int) (*parsedFile, error) {
	if f := l.parsed[path]; f != nil {
		return f, nil
	}
	data, sig, err := readFile(path, maxBytes-l.bytes)
	l.files = append(l.files, watched{path, sig})
	f := new(parsedFile)
	switch {
	case err == nil:
		l.bytes += int64(len(data))
		f.entries, f.err = Parse(data, path, scope)
	case filestat.IsAbsent(err), errors.Is(err, fs.ErrPermission) && scope == Global && depth == 0:
		f.missing = true
	default:
		return nil, fmt.Errorf("cannot read config file '%s': %w", path, err)
	}
	l.parsed[path] = f
	return f, nil
}

// readFile is filestat.ReadFile, but takes a device for an empty file:
// GIT_CONFIG_GLOBAL=/dev/null is how one says that there is none.
func readFile(path string, limit int64) ([]byte, filestat.Signature, error) {
	sig := filestat.Sign(path)
	if st := sig.Stat(); st.Mode&filestat.ModeType == modeCharDevice {
		return nil, sig, nil
	}
	return filestat.ReadFile(path, limit)
}

const modeCharDevice = 0o020000

func absent(path string) bool {
	sig := filestat.Sign(path)
	return sig.Absent()
}

// add adds an entry, and after it what it includes.
func (l *loader) add(e *Entry, depth int) error {
	switch {
	case l.noURLs > 0 && isRemoteURL(e.Key):
		return &SyntaxError{File: e.File, Line: e.Line, Problem: "remote URLs cannot be configured in a file that includeIf.hasconfig includes"}
	case l.collecting && isRemoteURL(e.Key) && !e.NoValue:
		l.urls = append(l.urls, e.Value)
	}
	if !l.collecting {
		l.entries = append(l.entries, *e)
	}
	if e.Key == "include.path" {
		return l.include(e, depth)
	}
	if rest, ok := strings.CutPrefix(e.Key, "includeif."); ok {
		if cond, ok := strings.CutSuffix(rest, ".path"); ok {
			return l.includeIf(e, cond, depth)
		}
	}
	return nil
}

// include reads the file that the value of e names.
func (l *loader) include(e *Entry, depth int) error {
	if e.NoValue {
		return &SyntaxError{File: e.File, Line: e.Line, Problem: "missing value for '" + e.Key + "'"}
	}
	path, err := ExpandPath(e.Value, l.o.Home)
	if err != nil {
		return &SyntaxError{File: e.File, Line: e.Line, Problem: fmt.Sprintf("cannot expand include path '%s': %v", e.Value, err)}
	}
	if !filepath.IsAbs(path) {
		if e.File == "" {
			return &SyntaxError{Problem: "relative config includes must come from files"}
		}
		// Not filepath.Join: cleaning "link/.." would name another directory.
		path = filepath.Dir(e.File) + string(filepath.Separator) + path
	}
	if depth++; depth > maxDepth {
		return &SyntaxError{File: e.File, Line: e.Line, Problem: fmt.Sprintf("includes are nested deeper than %d, at '%s'", maxDepth, path)}
	}
	return l.file(path, e.Scope, depth)
}

// isRemoteURL reports whether key is remote.<name>.url.
func isRemoteURL(key string) bool {
	rest, ok := strings.CutPrefix(key, "remote.")
	return ok && strings.HasSuffix(rest, ".url")
}
