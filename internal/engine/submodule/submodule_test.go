package submodule

import (
	"errors"
	"os"
	"testing"

	"gust/internal/gittest"
	"gust/internal/repo"
)

func open(t *testing.T, e *gittest.Env, dir string) *repo.Repository {
	t.Helper()
	env := repo.EnvFrom(e.Environ())
	loc, err := repo.Locate(e.Path(dir), false, env)
	if err != nil {
		t.Fatal(err)
	}
	r, err := repo.Open(loc, env)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r
}

func TestIgnore(t *testing.T) {
	e := gittest.New(t, gittest.System(t))
	e.Script(t, `git init -q r; cd r; git config -f .gitmodules submodule.one.path lib/one; git config -f .gitmodules submodule.one.ignore dirty
git config -f .gitmodules submodule.two.path lib/two; git config -f .gitmodules submodule.three.path three; git config -f .gitmodules submodule.three.ignore nonsense
git config submodule.two.ignore untracked; git config -f .gitmodules submodule.two.ignore all`)
	r := open(t, e, "r")
	var m Modules
	if err := m.Update(r, "", nil); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		path, standard string
		want           Ignore
	}{
		{"lib/one", "", Dirty},
		{"lib/one", "all", Dirty},
		{"lib/two", "", Untracked},
		{"three", "all", All},
		{"unknown", "", None},
		{"unknown", "untracked", Untracked},
	}
	for _, tt := range tests {
		if got := m.Ignore(r, tt.path, tt.standard); got != tt.want {
			t.Errorf("Ignore(%q, %q) = %d, want %d", tt.path, tt.standard, got, tt.want)
		}
	}
}

// The index's .gitmodules stands in for a missing file, and an edit is seen.
func TestUpdate(t *testing.T) {
	e := gittest.New(t, gittest.System(t))
	e.Script(t, "git init -q r")
	r := open(t, e, "r")
	var m Modules
	blob := func() ([]byte, error) { return []byte("[submodule \"s\"]\n\tpath = p\n\tignore = all\n"), nil }
	if err := m.Update(r, "id", blob); err != nil || m.Ignore(r, "p", "") != All {
		t.Errorf("from the index: %v, %d", err, m.Ignore(r, "p", ""))
	}
	if err := os.WriteFile(e.Path("r/.gitmodules"), []byte("[submodule \"s\"]\n\tpath = p\n\tignore = dirty\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := m.Update(r, "id", blob); err != nil || m.Ignore(r, "p", "") != Dirty {
		t.Errorf("from the file: %v, %d", err, m.Ignore(r, "p", ""))
	}
	if err := os.WriteFile(e.Path("r/.gitmodules"), []byte("[submodule"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := m.Update(r, "id", blob); err == nil {
		t.Error("a broken file is no error")
	}
}

func TestLocate(t *testing.T) {
	e := gittest.New(t, gittest.System(t))
	e.Script(t, "git init -q r; cd r; git init -q sub; mkdir empty")
	env := repo.EnvFrom(append(e.Environ(), "GIT_DIR="+e.Path("r/.git"), "GIT_INDEX_FILE=/nowhere"))
	loc, subEnv, err := Locate(e.Path("r/sub"), env)
	if err != nil || loc.GitDir != e.Path("r/sub/.git") {
		t.Errorf("Locate = %+v, %v", loc, err)
	}
	if _, ok := subEnv["GIT_INDEX_FILE"]; ok {
		t.Error("the superproject's index file is the submodule's")
	}
	if _, _, err := Locate(e.Path("r/empty"), env); !errors.Is(err, repo.ErrNotFound) {
		t.Errorf("a submodule that is not populated: %v", err)
	}
}
