package repo

import (
	"fmt"
	"strings"
	"testing"

	"gust/internal/gittest"
	"gust/internal/pure/oid"
)

// TestRefsAgainstGit checks that Open finds the refs of repositories and working
// trees, wherever they are stored.
func TestRefsAgainstGit(t *testing.T) {
	const moved = "git init -q r; cd r; git commit -q --allow-empty -m a; mkdir ../x; git config core.repositoryFormatVersion 1; "
	const fill = "git symbolic-ref HEAD refs/heads/new; git commit -q --allow-empty -m b; git tag q; git worktree add -q ../w; git -C ../w update-ref refs/worktree/x HEAD; git update-ref refs/bisect/y HEAD; "
	tests := []struct {
		name, script string
		env          []string
		newest       bool
	}{
		{name: "plain", script: "git init -q r; cd r; git commit -q --allow-empty -m a; " + fill},
		{name: "reftable", newest: true, script: "git init -q --ref-format=reftable r; cd r; git commit -q --allow-empty -m a; " + fill},
		{name: "files-elsewhere", newest: true, script: moved + "git config extensions.refStorage files://$D/x; " + fill},
		{name: "files-elsewhere-relative", newest: true, script: moved + "git config extensions.refStorage files://../../x; git symbolic-ref HEAD refs/heads/new; git commit -q --allow-empty -m b"},
		{name: "reftable-elsewhere", newest: true, script: moved + "mkdir ../x/reftable; git config extensions.refStorage reftable://$D/x; " + fill},
		{name: "environment", newest: true, script: moved + "export GIT_REFERENCE_BACKEND=files://$D/x; " + fill, env: []string{"GIT_REFERENCE_BACKEND=files://@/x"}},
		{name: "environment-format", newest: true, script: moved, env: []string{"GIT_REFERENCE_BACKEND=files"}},
	}
	for _, g := range gittest.All(t) {
		for _, test := range tests {
			t.Run(g.String()+"/"+test.name, func(t *testing.T) {
				if test.newest && !g.AtLeast(2, 54) {
					t.Skipf("NOT TESTED with %s, which does not know this", g)
				}
				e := gittest.New(t, g)
				e.Script(t, test.script)
				(&place{env: test.env}).set(t, e)
				for _, dir := range []string{"r", "w"} {
					if e.Command(dir, "rev-parse").Run() != nil {
						continue // a case without a second working tree
					}
					r := mustOpen(t, e, dir)
					defer r.Close()
					var got strings.Builder
					head, err := r.Refs.Head()
					fmt.Fprintf(&got, "%s\n%s\n", head.Branch, head.ID)
					if err != nil {
						t.Fatal(err)
					}
					err = r.Refs.List("refs/", func(name string, id, _ oid.ID) bool {
						fmt.Fprintf(&got, "%s %s\n", id, name)
						return true
					})
					if err != nil {
						t.Fatal(err)
					}
					want := e.Run(t, dir, "symbolic-ref", "HEAD") + e.Run(t, dir, "rev-parse", "HEAD") + e.Run(t, dir, "for-each-ref", "--format=%(objectname) %(refname)")
					if got.String() != want {
						t.Errorf("%s:\ngust:\n%sgit:\n%s", dir, got.String(), want)
					}
				}
			})
		}
	}
}

// mustOpen opens the repository that dir is in.
func mustOpen(t testing.TB, e *gittest.Env, dir string) *Repository {
	t.Helper()
	env := EnvFrom(e.Environ())
	loc, err := Locate(e.Path(dir), false, env)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Open(loc, env)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
