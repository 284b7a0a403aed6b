package repo

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"gust/internal/gittest"
	"gust/internal/pure/oid"
)

// TestLocateGitDir is about requests that name a git dir and no directory to run
// in. Git would take the current directory for the working tree; there is none,
// so that it is the one that the git dir belongs to.
func TestLocateGitDir(t *testing.T) {
	e := gittest.New(t, gittest.System(t))
	e.Script(t, `git init -q r; git -C r commit -q --allow-empty -m a; git -C r worktree add -q ../w; git init -q --bare b; mkdir wt
git init -q --separate-git-dir sg s; git init -q --bare c; git -C c config core.bare false; git -C c config core.worktree ../wt
git init -q lib; git -C lib commit -q --allow-empty -m a; git -C r submodule --quiet add ../lib lib; ln -s r/.git link`)
	tests := []struct {
		dir      string
		env      []string
		gitDir   string // "" for ErrNotFound
		workTree string // "" for none
	}{
		{"r/.git", nil, "r/.git", "r"},
		{"link", nil, "r/.git", ""},
		{"r/.git/worktrees/w", nil, "r/.git/worktrees/w", "w"},
		{"w/.git", nil, "r/.git/worktrees/w", "w"},
		{"b", nil, "b", ""},
		{"b", []string{"GIT_WORK_TREE=" + e.Path("wt")}, "b", "wt"},
		{"c", nil, "c", "wt"},
		{"s/.git", nil, "sg", "s"},
		{"r/.git/modules/lib", nil, "r/.git/modules/lib", "r/lib"},
		{"r/lib/.git", nil, "r/.git/modules/lib", "r/lib"},
		{"r", nil, "", ""},
		{"none", nil, "", ""},
	}
	for _, test := range tests {
		env := EnvFrom(append(e.Environ(), test.env...))
		loc, err := Locate(e.Path(test.dir), true, env)
		if test.gitDir == "" {
			if !errors.Is(err, ErrNotFound) {
				t.Errorf("%s: %+v, %v, want ErrNotFound", test.dir, loc, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", test.dir, err)
			continue
		}
		r, err := Open(loc, env)
		if err != nil {
			t.Errorf("%s: %v", test.dir, err)
			continue
		}
		want := ""
		if test.workTree != "" {
			want = e.Path(test.workTree)
		}
		if r.GitDir != e.Path(test.gitDir) || r.WorkTree != want {
			t.Errorf("%s: git dir %s, work tree %q, want %s, %q", test.dir, r.GitDir, r.WorkTree, test.gitDir, test.workTree)
		}
	}
	if _, err := Locate("r/.git", true, nil); !errors.Is(err, ErrNotFound) {
		t.Errorf("a relative git dir: %v, want ErrNotFound", err)
	}
}

func TestRepositoryUnchanged(t *testing.T) {
	e := gittest.New(t, gittest.System(t))
	e.Script(t, `git init -q r; git -C r commit -q --allow-empty -m a; git -C r config extensions.worktreeConfig true
git config --global includeIf.onbranch:side.path inc; git -C r branch side`)
	env := EnvFrom(e.Environ())
	opened := func() *Repository {
		t.Helper()
		deadline := time.Now().Add(20 * time.Second)
		for {
			r := mustOpen(t, e, "r")
			if r.Unchanged() {
				return r
			}
			if time.Now().After(deadline) {
				t.Fatal("Unchanged stays false though nothing changes")
			}
		}
	}
	for _, change := range []string{
		"git -C r config a.b c",
		"git config --global a.b c",
		"git -C r config --worktree a.b c",
		"git -C r checkout -q side",
		"git config -f $HOME/inc a.b c",
		"mkdir -p $HOME/.config/git; git config -f $HOME/.config/git/config a.b c",
		"cp r/.git/config x; mv x r/.git/config",
		"rm r/.git/config.worktree",
	} {
		r := opened()
		e.Script(t, change)
		if r.Unchanged() {
			t.Errorf("after %q: Unchanged is still true", change)
		}
	}
	r := opened()
	e.Script(t, "git -C r commit -q --allow-empty -m b; git -C r tag x; touch r/f")
	if !r.Unchanged() {
		t.Error("a commit: Unchanged is false, though the configuration is the same")
	}
	if _, err := Open(Location{GitDir: e.Path("none"), CommonDir: e.Path("none")}, env); err != nil {
		t.Errorf("Open without a config: %v", err)
	}
}

// TestConcurrentUse lets many goroutines use one Repository; the race detector
// judges.
func TestConcurrentUse(t *testing.T) {
	e := gittest.New(t, gittest.Newest(t))
	e.Script(t, "git init -q r; git -C r commit -q --allow-empty -m a; git -C r tag x; git -C r pack-refs --all; git -C r tag y")
	r := mustOpen(t, e, "r")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				head, err := r.Refs.Head()
				if err != nil {
					t.Error(err)
					return
				}
				if _, err := r.Refs.StashCount(); err != nil {
					t.Error(err)
				}
				if tag, err := r.Refs.TagAt(head.ID, func(id oid.ID) (oid.ID, error) { return id, nil }); tag != "y" || err != nil {
					t.Errorf("TagAt = %q, %v", tag, err)
				}
				if _, err := r.Action(); err != nil {
					t.Error(err)
				}
				r.Upstream(head)
				r.Unchanged()
			}
		})
	}
	wg.Wait()
}

func TestOpenCorruptConfig(t *testing.T) {
	e := gittest.New(t, gittest.System(t))
	e.Run(t, ".", "init", "-q", "r")
	path := filepath.Join(e.Path("r"), ".git/config")
	if err := os.WriteFile(path, []byte("[core]\n\tbare = false\n!\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	env := EnvFrom(e.Environ())
	loc, err := Locate(e.Path("r"), false, env)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = Open(loc, env); err == nil || err.Error() != "bad config line 3 in file '"+path+"': expected a section, a key or a comment" {
		t.Errorf("Open: %v, want an error that names file and line", err)
	}
}
