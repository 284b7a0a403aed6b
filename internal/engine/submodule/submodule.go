// Package submodule is .gitmodules and the state of each submodule.
package submodule

import (
	"strings"

	"gust/internal/disk/filestat"
	"gust/internal/format/config"
	"gust/internal/repo"
)

// An Ignore says which changes of a submodule Git hides (submodule.<name>.ignore
// in git-config(1)).
type Ignore uint8

const (
	None      Ignore = iota // nothing
	Untracked               // untracked files in it
	Dirty                   // all changes of its working tree: only another commit shows
	All                     // everything
)

// parseIgnore returns the value that s stands for. Git dies of another word; ok
// is false for one.
func parseIgnore(s string) (i Ignore, ok bool) {
	switch s {
	case "none":
		return None, true
	case "untracked":
		return Untracked, true
	case "dirty":
		return Dirty, true
	case "all":
		return All, true
	}
	return None, false
}

// maxModules bounds the size of .gitmodules in bytes.
const maxModules = 16 << 20

// Modules is what .gitmodules and the repository's configuration say of the
// submodules of one working tree. It serves one goroutine at a time.
type Modules struct {
	sig    filestat.Signature
	blob   string // key of the blob that stood in for a missing file
	loaded bool
	names  map[string]string // submodule names by path
	ignore map[string]Ignore // by name
}

// Update reads .gitmodules of r again if it changed. Where the working tree has
// none, blob, the content of the index's .gitmodules if that has one, stands in
// for it; key identifies that content.
func (m *Modules) Update(r *repo.Repository, key string, blob func() ([]byte, error)) error {
	path := r.WorkTree + "/.gitmodules"
	if m.loaded && m.sig.Matches(path) && (!m.sig.Absent() || m.blob == key) {
		return nil
	}
	data, sig, err := filestat.ReadFile(path, maxModules)
	switch {
	case err != nil && sig.Absent():
		if key != "" {
			if data, err = blob(); err != nil {
				return err
			}
		}
	case err != nil:
		return err
	}
	*m = Modules{sig: sig, blob: key, loaded: true, names: make(map[string]string), ignore: make(map[string]Ignore)}
	entries, err := config.Parse(data, path, config.Local)
	if err != nil {
		m.loaded = false
		return err
	}
	for i := range entries {
		name, key, ok := cutKey(entries[i].Key)
		switch {
		case ok && key == "path":
			m.names[entries[i].Value] = name
		case ok && key == "ignore":
			if v, ok := parseIgnore(entries[i].Value); ok {
				m.ignore[name] = v
			}
		}
	}
	return nil
}

// cutKey splits "submodule.<name>.<key>".
func cutKey(full string) (name, key string, ok bool) {
	rest, ok := strings.CutPrefix(full, "submodule.")
	dot := strings.LastIndexByte(rest, '.')
	if !ok || dot < 0 {
		return "", "", false
	}
	return rest[:dot], rest[dot+1:], true
}

// Ignore returns what is hidden of the submodule at path: the setting of r's
// configuration wins over that of .gitmodules, which wins over standard, the
// value of diff.ignoreSubmodules.
func (m *Modules) Ignore(r *repo.Repository, path, standard string) Ignore {
	if name, ok := m.names[path]; ok {
		if v, ok := r.Config.Get("submodule." + name + ".ignore"); ok {
			if i, ok := parseIgnore(v); ok {
				return i
			}
		}
		if i, ok := m.ignore[name]; ok {
			return i
		}
	}
	i, _ := parseIgnore(standard)
	return i
}

// localVariables are the environment variables that describe the superproject
// and mean nothing in a submodule (git-rev-parse(1), --local-env-vars).
var localVariables = [...]string{
	"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_CONFIG", "GIT_CONFIG_COUNT", "GIT_OBJECT_DIRECTORY",
	"GIT_DIR", "GIT_WORK_TREE", "GIT_IMPLICIT_WORK_TREE", "GIT_GRAFT_FILE", "GIT_INDEX_FILE",
	"GIT_NO_REPLACE_OBJECTS", "GIT_REPLACE_REF_BASE", "GIT_PREFIX", "GIT_SHALLOW_FILE", "GIT_COMMON_DIR",
}

// Locate finds the repository of the submodule whose working tree is dir, as
// found from its superproject's environment. The error is repo.ErrNotFound,
// wrapped, where the submodule is not populated.
func Locate(dir string, super repo.Env) (repo.Location, repo.Env, error) {
	env := make(repo.Env, len(super))
	for name, value := range super {
		env[name] = value
	}
	for _, name := range localVariables {
		delete(env, name)
	}
	env["GIT_DIR"] = ".git"
	loc, err := repo.Locate(dir, false, env)
	return loc, env, err
}
