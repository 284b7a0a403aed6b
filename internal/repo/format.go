package repo

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"gust/internal/disk/filestat"
	"gust/internal/format/config"
	"gust/internal/pure/oid"
	"gust/internal/store/refs"
)

// An ExtensionError reports format extensions that gust, or Git, does not know
// or does not allow in the repository's format version.
type ExtensionError struct {
	GitDir  string
	Version int64
	Names   []string // in lower case
	V1Only  bool     // the extensions are known, but need version 1
}

func (e *ExtensionError) Error() string {
	if e.V1Only {
		return fmt.Sprintf("repository '%s' has format version 0, but version-1 extensions: %s", e.GitDir, strings.Join(e.Names, ", "))
	}
	return fmt.Sprintf("repository '%s' has unknown extensions: %s", e.GitDir, strings.Join(e.Names, ", "))
}

// A FormatError reports a repository format that is not supported.
type FormatError struct {
	GitDir  string
	Problem string
}

func (e *FormatError) Error() string {
	return fmt.Sprintf("repository '%s' cannot be used: %s", e.GitDir, e.Problem)
}

// format is what decides how a repository is to be read. It comes from the
// repository's own config file alone: includes do not count here.
type format struct {
	version        int64 // -1 if the config does not say
	bare           bool
	worktree       *string // core.worktree, nil if not set
	algo           oid.Algo
	refs           string
	refsDir        string // where the refs are, "" for the git dir
	worktreeConfig bool

	files []formatFile
}

type formatFile struct {
	path string
	sig  filestat.Signature
}

func (f *format) unchanged() bool {
	for i := range f.files {
		if !f.files[i].sig.Matches(f.files[i].path) {
			return false
		}
	}
	return true
}

const maxConfig = 64 << 20

// read returns the entries of one config file, none if there is no such file.
func (f *format) read(path string, scope config.Scope) ([]config.Entry, error) {
	data, sig, err := filestat.ReadFile(path, maxConfig)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("cannot read config file '%s': %w", path, err)
	}
	f.files = append(f.files, formatFile{path, sig})
	return config.Parse(data, path, scope)
}

// readFormat reads and checks the format of the repository at loc.
func readFormat(loc Location) (*format, error) {
	f := &format{refs: "files", version: -1}
	entries, err := f.read(loc.CommonDir+"/config", config.Local)
	if err != nil {
		return nil, err
	}
	var unknown, v1 []string
	for i := range entries {
		e := &entries[i]
		if e.Key == "core.repositoryformatversion" {
			if f.version, err = config.ParseInt(e.Value); err != nil {
				return nil, &config.ValueError{Entry: *e, Problem: err.Error()}
			}
			continue
		}
		name, ok := strings.CutPrefix(e.Key, "extensions.")
		if !ok {
			continue
		}
		known, v1Only, err := f.extension(name, e)
		if err != nil {
			return nil, err
		}
		switch {
		case !known:
			unknown = append(unknown, name)
		case v1Only:
			v1 = append(v1, name)
		}
	}
	own := format{}
	if err := own.core(entries); err != nil {
		return nil, err
	}
	if f.version < 0 {
		// Without a version nothing else of the format counts.
		return &format{refs: "files", version: -1, files: f.files}, nil
	}
	if loc.CommonDir == loc.GitDir {
		// In a linked working tree these two say nothing: they are about the main one.
		f.bare, f.worktree = own.bare, own.worktree
	}
	switch {
	case f.version > 1:
		return nil, &FormatError{loc.GitDir, fmt.Sprintf("format version %d is newer than 1", f.version)}
	case f.version == 1 && len(unknown) > 0:
		return nil, &ExtensionError{GitDir: loc.GitDir, Version: f.version, Names: unknown}
	case f.version == 0 && len(v1) > 0:
		return nil, &ExtensionError{GitDir: loc.GitDir, Version: f.version, Names: v1, V1Only: true}
	}
	if f.worktreeConfig {
		entries, err := f.read(loc.GitDir+"/config.worktree", config.Worktree)
		if err != nil {
			return nil, err
		}
		if err := f.core(entries); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// core takes core.bare and core.worktree from entries.
func (f *format) core(entries []config.Entry) error {
	for i := range entries {
		e := &entries[i]
		switch e.Key {
		case "core.bare":
			v, ok := config.ParseBool(e.Value)
			if !ok {
				return &config.ValueError{Entry: *e, Problem: "not a boolean"}
			}
			f.bare = v || e.NoValue
		case "core.worktree":
			if e.NoValue {
				return &config.ValueError{Entry: *e, Problem: "missing value"}
			}
			f.worktree = &e.Value
		}
	}
	return nil
}

// extension takes one extensions.<name> (git-config(1)).
func (f *format) extension(name string, e *config.Entry) (known, v1Only bool, err error) {
	bad := func(problem string) error { return &config.ValueError{Entry: *e, Problem: problem} }
	flag := func() (bool, error) {
		v, ok := config.ParseBool(e.Value)
		if !ok {
			return false, bad("not a boolean")
		}
		return v || e.NoValue, nil
	}
	switch name {
	case "noop":
		return true, false, nil
	case "noop-v1":
		return true, true, nil
	case "preciousobjects":
		_, err = flag()
		return true, false, err
	case "worktreeconfig":
		f.worktreeConfig, err = flag()
		return true, false, err
	case "relativeworktrees", "submodulepathconfig":
		_, err = flag()
		return true, true, err
	}
	switch {
	case e.NoValue && (name == "partialclone" || name == "objectformat" || name == "compatobjectformat" || name == "refstorage"):
		return true, false, bad("missing value")
	case name == "partialclone":
		return true, false, nil
	case name == "objectformat":
		if f.algo, known = oid.ParseAlgo(e.Value); !known {
			err = bad("unknown object format")
		}
		return true, true, err
	case name == "compatobjectformat":
		// The second object names serve exchange with other repositories only.
		if _, known = oid.ParseAlgo(e.Value); !known {
			err = bad("unknown object format")
		}
		return true, true, err
	case name == "refstorage":
		return true, true, f.refStorage(e)
	}
	return false, false, nil
}

// refStorage takes extensions.refStorage: a format, or a format and "://" and
// the path of the directory where the refs are.
func (f *format) refStorage(e *config.Entry) error {
	var ok bool
	if f.refs, f.refsDir, ok = parseRefStorage(e.Value); !ok {
		return &config.ValueError{Entry: *e, Problem: "unknown ref storage format"}
	}
	return nil
}

func parseRefStorage(s string) (format, dir string, ok bool) {
	format, dir, _ = strings.Cut(s, "://")
	return format, dir, format == "files" || format == "reftable"
}

// openRefs opens the ref storage. GIT_REFERENCE_BACKEND names another than the
// configuration does (git(1)).
func (r *Repository) openRefs() error {
	dir := r.format.refsDir
	r.RefFormat = r.format.refs
	if given, ok := r.Env["GIT_REFERENCE_BACKEND"]; ok {
		if r.RefFormat, dir, ok = parseRefStorage(given); !ok {
			return &FormatError{r.GitDir, "unknown ref storage format '" + given + "' in GIT_REFERENCE_BACKEND"}
		}
	}
	o := refs.Options{GitDir: r.GitDir, CommonDir: r.CommonDir, Algo: r.Algo, Format: r.RefFormat}
	if dir != "" {
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(r.GitDir, dir)
		}
		o.GitDir, o.CommonDir = dir, dir
		if r.GitDir != r.CommonDir {
			o.GitDir = dir + "/worktrees/" + filepath.Base(r.GitDir)
		}
	}
	var err error
	r.Refs, err = refs.Open(o)
	return err
}
