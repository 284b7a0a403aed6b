package exclude_test

import (
	"fmt"
	"strings"
	"testing"

	"gust/internal/engine/exclude"
	"gust/internal/engine/past"
	"gust/internal/format/index"
	"gust/internal/gittest"
	"gust/internal/repo"
)

// TestRule compares the rule that decides about a path with git check-ignore's: rules
// of a directory outside of a sparse checkout, of ignored directories, and ones that
// include again.
func TestRule(t *testing.T) {
	for _, g := range gittest.All(t) {
		t.Run(g.String(), func(t *testing.T) {
			e := gittest.New(t, g)
			e.Script(t, `git init -q r; cd r; mkdir -p sub/deep out keep; printf '*.o\n!keep.o\nout/\n' >.gitignore; printf '*.x\n!*.o\n' >sub/.gitignore
				echo '!*' >out/.gitignore; echo '*.k' >keep/rules; ln -s rules keep/.gitignore; echo '*.i' >.git/info/exclude; git add -f .; git commit -qm a
				git update-index --skip-worktree sub/.gitignore; rm sub/.gitignore`)
			env := repo.EnvFrom(e.Environ())
			o, err := past.Open(e.Path("r"), env)
			if err != nil {
				t.Fatal(err)
			}
			defer o.Close()
			ix, err := index.Read(o.Repo.IndexPath, o.Repo.GitDir, o.Repo.Algo)
			if err != nil {
				t.Fatal(err)
			}
			c, err := exclude.New(o.Repo, ix, o.DB, ".git/info/exclude")
			if err != nil {
				t.Fatal(err)
			}
			for _, path := range []string{"a", "a.o", "keep.o", "out/a", "out/keep.o", "sub/a.x", "sub/a.o", "sub/deep/b.x", "sub/deep/b.o", "keep/a.k", "a.i", "out.i/b"} {
				rule, ok, err := c.Rule(path, false)
				if err != nil {
					t.Fatal(err)
				}
				got := "::\t" + path
				if ok {
					got = fmt.Sprintf("%s:%d:%s\t%s", rule.Source, rule.Line, rule.Pattern, path)
				}
				out, _ := e.Command("r", "check-ignore", "-v", "-n", path).Output()
				if want := strings.TrimSuffix(string(out), "\n"); got != want {
					t.Errorf("%s: %q, git %q", path, got, want)
				}
			}
		})
	}
}
