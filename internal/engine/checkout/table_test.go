package checkout

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gust/internal/engine/past"
	"gust/internal/gittest"
	"gust/internal/pure/oid"
	"gust/internal/repo"
)

// rows are the rows of the table in docs/checkout.md: how to get there, from a
// repository on branch "from" that is to go to "to".
var rows = []struct {
	row                   int
	from, to, local, want string
}{
	{1, "", "put p new", "", "write"},
	{2, "", "put p new", "put p mine", "refuse"},
	{2, "", "put p new", "put p/f mine", "refuse"},
	{2, "", "put p/q new", "put p mine", "refuse"},
	{2, "", "put p/q new", "ln -s .. p", "refuse"},
	{3, "put p/f old", "put p new", "", "write"},
	{3, "put p old", "put p/f new", "", "write"},
	{4, "put p old", "", "git rm -q p", "keep"},
	{5, "put p old", "", "git rm -q --cached p", "refuse"},
	{6, "put p old", "put p new", "git rm -q p", "refuse"},
	{7, "", "put p new", "put p new; git add p", "keep"},
	{7, "", "put p new", "put p new; git add p; put p mine", "keep"},
	{8, "", "put p new", "put p mine; git add p", "refuse"},
	{9, "put p old", "", "", "remove"},
	{9, "put d/e/p old", "", "", "remove"},
	{9, "put d/e/p old", "", "put d/mine x", "remove"},
	{10, "put p old", "", "rm p", "remove"},
	{11, "put p old", "", "put p mine", "refuse"},
	{11, "put p old", "", "chmod +x p", "refuse"},
	{12, "put p old", "", "put p mine; git add p", "refuse"},
	{13, "put p old", "put p new", "", "write"},
	{13, "put p old", "put p new", "touch p", "write"},
	{13, "put p old", "put p old; chmod +x p", "", "write"},
	{13, "put p old", "ln -s x p", "", "write"},
	{13, "ln -s x p", "put p new", "", "write"},
	{14, "put p old", "put p new", "rm p", "write"},
	{14, "put d/p old", "put d/p new", "rm -r d", "write"},
	{15, "put p old", "put p new", "put p mine", "refuse"},
	{15, "put p old", "put p new", "put p new", "refuse"},
	{16, "put p old", "put p new", "put p new; git add p", "keep"},
	{16, "put p old", "put p new", "put p new; git add p; rm p", "keep"},
	{17, "put p old", "put p new", "put p mine; git add p", "refuse"},
}

// mover opens the repository at dir and begins the move from branch "from" to "to".
func mover(t *testing.T, e *gittest.Env, dir string, q Request) (*past.Past, *Move, error) {
	t.Helper()
	p, err := past.Open(dir, repo.EnvFrom(e.Environ()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	tree := func(rev string) oid.ID {
		id, err := p.Revision.Resolve(rev + "^{tree}")
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	if q.From, q.To, q.Threads = tree("from"), tree("to"), 2; q.Label == "" {
		q.Label = "test"
	}
	m, err := Prepare(context.Background(), p.Repo, p.DB, q)
	return p, m, err
}

const putFunction = `put() { mkdir -p "$(dirname "$1")"; echo "$2" >"$1"; }
`

// build makes repositories a and b, the same, on branch "from".
func build(t *testing.T, e *gittest.Env, from, to, local string) (a, b string) {
	t.Helper()
	e.Script(t, putFunction+`rm -rf a b; git init -q a; cd a; echo 0 >other; mkdir e; echo 1 >e/other
		`+from+`
		git add -Af .; git commit -qm from; git branch from; git rm -rqf .; git checkout -q from -- other e
		`+to+`
		git add -Af .; git commit -qm to; git branch to; git checkout -q from; git branch -qD main
		`+local+`
		cp -a "$D/a" "$D/b"`)
	return e.Path("a"), e.Path("b")
}

// Each row: gust does itself what the table says, and leaves what git leaves; and
// where it refuses, git does too, and nothing has changed.
func TestTable(t *testing.T) {
	table := readTable(t)
	tested := map[int]bool{}
	for _, g := range gittest.All(t) {
		e := gittest.New(t, g)
		for i, r := range rows {
			tested[r.row] = true
			t.Run(fmt.Sprintf("%v/%d-%d", g, r.row, i), func(t *testing.T) {
				if table[r.row] != r.want {
					t.Errorf("docs/checkout.md says %q, the test %q", table[r.row], r.want)
				}
				a, b := build(t, e, r.from, r.to, r.local)
				before := files(t, b)
				_, m, err := mover(t, e, b, Request{})
				gitErr := e.Command(a, "read-tree", "-u", "-m", "from", "to").Run()
				if r.want == "refuse" {
					var refusal *Refusal
					if !errors.As(err, &refusal) {
						t.Fatalf("Prepare: %v, want a Refusal", err)
					}
					if gitErr == nil {
						t.Error("git does not refuse")
					}
					if after := files(t, b); after != before {
						t.Errorf("a refusal changed\n%s\nto\n%s", before, after)
					}
					return
				}
				if err != nil {
					t.Fatalf("Prepare: %v", err)
				}
				defer m.Close()
				if gitErr != nil {
					t.Errorf("git refuses: %v", gitErr)
				}
				if err := m.Apply(context.Background()); err != nil {
					t.Fatal(err)
				}
				if err := m.Commit(); err != nil {
					t.Fatal(err)
				}
				m.Discard()
				sameTrees(t, e, a, b)
			})
		}
	}
	for row := range table {
		if !tested[row] {
			t.Errorf("row %d of docs/checkout.md has no test", row)
		}
	}
}

// sameTrees compares two working trees with their indexes.
func sameTrees(t *testing.T, e *gittest.Env, a, b string) {
	t.Helper()
	if got, want := files(t, b), files(t, a); got != want {
		t.Errorf("working tree\n%s\nwant\n%s", got, want)
	}
	for _, args := range [][]string{{"ls-files", "-s"}, {"diff-files"}, {"write-tree"}} {
		if got, want := e.Run(t, b, args...), e.Run(t, a, args...); got != want {
			t.Errorf("git %s: %s\nwant %s", args, got, want)
		}
	}
	e.Run(t, b, "fsck", "--cache", "--no-dangling")
}

// files lists a working tree.
func files(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.Name() == ".git" {
			return filepath.SkipDir
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		data, _ := os.ReadFile(path)
		if info.Mode()&os.ModeSymlink != 0 {
			to, _ := os.Readlink(path)
			data = []byte(to)
		}
		fmt.Fprintf(&b, "%s %v %q\n", strings.TrimPrefix(path, dir), info.Mode(), data)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// readTable returns the results of docs/checkout.md by row.
func readTable(t *testing.T) map[int]string {
	t.Helper()
	data, err := os.ReadFile("../../../docs/checkout.md")
	if err != nil {
		t.Fatal(err)
	}
	table := map[int]string{}
	for _, m := range regexp.MustCompile(`(?m)^\| (\d+) \|.*\| (\w+) \|$`).FindAllStringSubmatch(string(data), -1) {
		row := 0
		fmt.Sscan(m[1], &row)
		table[row] = m[2]
	}
	if len(table) == 0 {
		t.Fatal("docs/checkout.md has no table")
	}
	return table
}
