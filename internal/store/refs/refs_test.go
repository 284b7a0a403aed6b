package refs

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"

	"gust/internal/gittest"
	"gust/internal/pure/oid"
)

// open returns the Store of the repository in dir.
func open(t testing.TB, e *gittest.Env, dir string) *Store {
	t.Helper()
	f := strings.Split(e.Run(t, dir, "rev-parse", "--path-format=absolute", "--git-dir", "--git-common-dir", "--show-object-format"), "\n")
	algo, ok := oid.ParseAlgo(f[2])
	if !ok {
		t.Fatalf("unknown object format %q", f[2])
	}
	format := "files"
	if _, err := os.Stat(f[1] + "/reftable"); err == nil {
		format = "reftable"
	}
	s, err := Open(Options{GitDir: f[0], CommonDir: f[1], Algo: algo, Format: format})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// peelWith asks git what an object peels to.
func peelWith(e *gittest.Env, dir string) func(oid.ID) (oid.ID, error) {
	return func(id oid.ID) (oid.ID, error) {
		out, err := e.Command(dir, "rev-parse", "-q", "--verify", id.String()+"^{}").Output()
		if err != nil {
			return id, err
		}
		return oid.Parse(id.Algo(), strings.TrimSpace(string(out)))
	}
}

// compareRefs compares everything that s says with what git says.
func compareRefs(t *testing.T, e *gittest.Env, dir string, s *Store) {
	t.Helper()
	var got strings.Builder
	err := s.List("refs/", func(name string, id, _ oid.ID) bool {
		fmt.Fprintf(&got, "%s %s\n", id, name)
		return true
	})
	if err != nil {
		t.Errorf("List: %v", err)
	}
	want := e.Run(t, dir, "for-each-ref", "--format=%(objectname) %(refname)")
	if got.String() != want {
		t.Errorf("List:\ngot\n%swant\n%s", got.String(), want)
	}
	head, err := s.Head()
	wantHead, headErr := e.Command(dir, "rev-parse", "-q", "--verify", "HEAD").Output()
	if headErr != nil && !isExit(headErr) {
		t.Fatal(headErr)
	}
	id := ""
	if !head.ID.IsNull() {
		id = head.ID.String() + "\n"
	}
	if id != string(wantHead) {
		t.Errorf("Head: %q, %v; git says %q", id, err, wantHead)
	}
	if branch, err := e.Command(dir, "symbolic-ref", "-q", "HEAD").Output(); err == nil && len(wantHead) > 0 {
		full := e.Run(t, dir, "rev-parse", "--symbolic-full-name", "HEAD")
		if head.Branch+"\n" != full {
			t.Errorf("Head: branch %q, target %q; git says %q, %q", head.Branch, head.Target, full, branch)
		}
	} else if err == nil && head.Target+"\n" != string(branch) && head.Branch+"\n" != string(branch) {
		t.Errorf("Head: target %q; git says %q", head.Target, branch)
	} else if err != nil && head.Branch != "" {
		t.Errorf("Head: branch %q; git says that it is detached", head.Branch)
	}
	if len(wantHead) > 0 {
		compareTag(t, e, dir, s, head.ID)
	}
	compareStash(t, e, dir, s)
}

func isExit(err error) bool {
	var exit *exec.ExitError
	return errors.As(err, &exit)
}

// compareTag compares TagAt with the last of git's tags.
func compareTag(t *testing.T, e *gittest.Env, dir string, s *Store, commit oid.ID) {
	t.Helper()
	got, err := s.TagAt(commit, peelWith(e, dir))
	if err != nil {
		t.Errorf("TagAt: %v", err)
	}
	want := ""
	names := strings.Fields(e.Run(t, dir, "for-each-ref", "--format=%(refname)", "refs/tags/"))
	if len(names) > 0 {
		args := []string{"rev-parse"}
		for _, name := range names {
			args = append(args, name+"^{}")
		}
		for i, id := range strings.Fields(e.Run(t, dir, args...)) {
			if id == commit.String() {
				want = strings.TrimPrefix(names[i], "refs/tags/")
			}
		}
	}
	if got != want {
		t.Errorf("TagAt(%s) = %q; git says %q", commit, got, want)
	}
}

func compareStash(t *testing.T, e *gittest.Env, dir string, s *Store) {
	t.Helper()
	got, err := s.StashCount()
	if err != nil {
		t.Errorf("StashCount: %v", err)
	}
	want := 0
	for line := range strings.Lines(e.Run(t, dir, "status", "--porcelain=v2", "--show-stash")) {
		fmt.Sscanf(line, "# stash %d", &want)
	}
	if got != want {
		t.Errorf("StashCount = %d; git says %d", got, want)
	}
}

func TestStoreAgainstGit(t *testing.T) {
	const commits = "git init -q $INIT r; cd r; for i in 1 2 3; do echo $i >f; git add f; git commit -q -m $i; done\n"
	tests := []struct {
		name   string
		script string
		files  bool // not for reftable
	}{
		{name: "unborn", script: "git init -q $INIT r"},
		{name: "plain", script: commits},
		{name: "branches", script: commits + "git branch a/b HEAD~1; git branch a-b; git branch a0; git branch 'ü'"},
		{name: "packed", script: commits + "git branch a/b HEAD~1; git tag l; git tag -a -m x t; git pack-refs --all"},
		{name: "packed-and-loose", script: commits + "git tag a; git tag b HEAD~1; git tag -a -m x c; git pack-refs --all; git tag -f b; git tag -d c; git tag d; git tag -f a HEAD~1"},
		{name: "detached", script: commits + "git tag v1; git checkout -q --detach HEAD~1; git tag v0"},
		{name: "symbolic", script: commits + "git symbolic-ref refs/heads/s refs/heads/main; git symbolic-ref refs/tags/s refs/heads/main; git symbolic-ref refs/remotes/o/HEAD refs/remotes/o/main; git update-ref refs/remotes/o/main HEAD~1"},
		{name: "symbolic-dangling", script: commits + "git symbolic-ref refs/heads/s refs/heads/none"},
		{name: "symbolic-head", script: commits + "git symbolic-ref refs/heads/s refs/heads/main; git symbolic-ref HEAD refs/heads/s"},
		{name: "symbolic-head-unborn", script: commits + "git symbolic-ref refs/heads/s refs/heads/none; git symbolic-ref HEAD refs/heads/s"},
		{name: "symbolic-chain", script: commits + "for i in 2 3 4 5; do git symbolic-ref refs/heads/s$i refs/heads/s$((i-1)); done; git symbolic-ref refs/heads/s1 refs/heads/main"},
		{name: "head-elsewhere", script: commits + "git update-ref refs/x/y HEAD; git symbolic-ref HEAD refs/x/y"},
		{name: "tag-of-tag", script: commits + "git tag -a -m x a; git tag -a -m y b a; git tag -a -m z c b; git tag -d a; git pack-refs --all; git tag -a -m q d c"},
		{name: "tag-of-tree", script: commits + "git tag t HEAD^{tree}; git tag -a -m x b HEAD:f"},
		{name: "tag-names", script: commits + "git tag v1.10; git tag v1.9; git tag V2; git tag a/b/c; git tag 'zü'"},
		{name: "stash", script: commits + "for i in a b c; do echo $i >f; git stash -q; done"},
		{name: "stash-dropped", script: commits + "for i in a b c; do echo $i >f; git stash -q; done; git stash drop -q stash@{1}"},
		{name: "stash-cleared", script: commits + "for i in a b c; do echo $i >f; git stash -q; done; git stash clear"},
		{name: "stash-expired", script: commits + "for i in a b c; do echo $i >f; git stash -q; done; git reflog expire --expire=all refs/stash"},
		{name: "stash-without-log", script: commits + "echo a >f; git stash -q; git reflog delete stash@{0} 2>/dev/null; true"},
		{name: "stash-long-message", script: commits + "echo a >f; git stash store -m \"$(head -c 100000 /dev/zero | tr '\\0' x)\" $(git stash create); echo b >f; git stash -q"},
		{name: "worktree", script: commits + "git branch side; git worktree add -q ../w side; echo x >../w/f; git -C ../w stash -q; git -C ../w update-ref refs/worktree/x HEAD; git update-ref refs/worktree/y HEAD~1; git -C ../w update-ref refs/bisect/bad HEAD; git update-ref refs/rewritten/l HEAD"},
		{name: "bisect", script: commits + "git bisect start HEAD HEAD~2"},
		{name: "many", script: commits + "for i in $(seq 300); do echo create refs/tags/t$i $(git rev-parse HEAD~$((i%3))); done >../in; for i in 0 1 2; do eval \"h$i=$(git rev-parse HEAD~$i)\"; done; git update-ref --stdin <../in; git pack-refs --all"},

		{name: "unsorted", files: true, script: commits + "git tag a; git tag b; git tag c; git pack-refs --all; (sed -n 's/ sorted//;1p' .git/packed-refs; sed 1d .git/packed-refs | sort -r) >x; mv x .git/packed-refs"},
		{name: "no-header", files: true, script: commits + "git tag -a -m x a; git tag b; git tag -a -m x c; git pack-refs --all; sed -i '/^[#^]/d' .git/packed-refs"},
		{name: "header-peeled", files: true, script: commits + "git tag -a -m x a; git tag b; git update-ref refs/x/t refs/tags/a; git pack-refs --all; sed -i '1s/.*/# pack-refs with: peeled /' .git/packed-refs"},
		{name: "loose-spaces", files: true, script: commits + "printf '%s  \\n\\n' $(git rev-parse HEAD~1) >.git/refs/heads/sp; printf '%s' $(git rev-parse HEAD~1) >.git/refs/heads/nonl; printf 'ref:  refs/heads/main  ' >.git/refs/heads/sym; printf 'ref:refs/heads/main' >.git/refs/heads/sym2"},
		{name: "loose-upper-case", files: true, script: commits + "git rev-parse HEAD~1 | tr a-f A-F >.git/refs/heads/up"},
		{name: "loose-lock", files: true, script: commits + "git rev-parse HEAD >.git/refs/tags/x.lock; git rev-parse HEAD >.git/refs/tags/.hidden; mkdir .git/refs/tags/empty"},
		{name: "symlink-ref", files: true, script: commits + "ln -s refs/heads/main .git/refs/tags/l; ln -s main .git/refs/heads/l2; ln -s ../heads .git/refs/tags/dir"},
		{name: "symlink-head", files: true, script: commits + "ln -sf refs/heads/main .git/HEAD; git tag x"},
		{name: "symlink-head-unborn", files: true, script: commits + "ln -sf refs/heads/none .git/HEAD"},
		{name: "log-without-stash", files: true, script: commits + "echo a >f; git stash -q; git update-ref -d refs/stash; mkdir -p .git/logs/refs; printf '%s %s a <a@x> 1 +0000\\tm\\n' $(git rev-parse HEAD HEAD) >.git/logs/refs/stash"},
		{name: "log-junk", files: true, script: commits + "echo a >f; git stash -q; echo b >f; git stash -q; echo junk >>.git/logs/refs/stash; printf '%s %s a <a@x> 1 +0000' $(git rev-parse HEAD HEAD) >>.git/logs/refs/stash"},
		{name: "log-lines", files: true, script: commits + `echo a >f; git stash -q; h=$(git rev-parse HEAD); for x in "$h $h a <b> 1 +0000	m" "$h $h a <b> 1 +0000" "$h $h a <b> x +0000	m" "$h $h a <b> 1 0000	m" "$h $h a <b> 1 +00	m" "$h $h a <b> 1 +00000	m" "$h $h <b> 1 -0130	m" "$h $h a 1 +0000" "$h  $h a <b> 1 +0000" "$h $h a <b>1 +0000" "" "$h $h a <b> 0 +0000 m" "$h $h a > 7 +0000	m" "$h $h a <b>  7 +0000	m" "$h $h a <b> 7  +0000	m" "$h $h a <b> -7 +0000	m" "$h $h a <b> 7x+0000	m" "$h $h a <b> 7 +00x0	m" "$h $h a <b> 7 +0000x" "$h $h a <b> 7 *0000	m" "$h $h a <b> 99999999999999999999 +0000	m" "$h $h a <> 1 +0000	m" "x$h $h a <b> 1 +0000"; do echo "$x" >>.git/logs/refs/stash; done`},
		{name: "log-directory", files: true, script: commits + "mkdir -p .git/logs/refs/stash"},
		{name: "log-empty", files: true, script: commits + "echo a >f; git stash -q; : >.git/logs/refs/stash"},
	}
	for _, g := range gittest.All(t) {
		for _, format := range []string{"--ref-format=files", "--ref-format=reftable", "--object-format=sha256"} {
			if strings.HasPrefix(format, "--ref") && !g.AtLeast(2, 51) {
				if format == "--ref-format=reftable" {
					continue
				}
				format = ""
			}
			base := gittest.New(t, g)
			base.Setenv("INIT", format)
			base.Script(t, commits)
			for _, test := range tests {
				if test.files && format == "--ref-format=reftable" {
					continue
				}
				if format == "--object-format=sha256" && !strings.Contains("packed stash no-header loose-upper-case tag-of-tag", test.name) {
					continue // only what holds object IDs depends on it
				}
				t.Run(g.String()+format+"/"+test.name, func(t *testing.T) {
					e := gittest.New(t, g)
					e.Setenv("INIT", format)
					script := test.script
					if rest, ok := strings.CutPrefix(script, commits); ok {
						if err := os.CopyFS(e.Path("r"), os.DirFS(base.Path("r"))); err != nil {
							t.Fatal(err)
						}
						script = "cd r\n" + rest
					}
					e.Script(t, script)
					compareRefs(t, e, "r", open(t, e, "r"))
					if test.name == "worktree" {
						compareRefs(t, e, "w", open(t, e, "w"))
					}
				})
			}
		}
	}
}

// TestStoreFollowsChanges mutates a repository and compares one Store, with what
// it keeps, with git after each step.
func TestStoreFollowsChanges(t *testing.T) {
	steps := []string{
		"git tag b$N", "git tag -f a", "git tag -f a HEAD~1", "git tag -a -m x t$N", "git tag -d $(git tag | head -1)", "git pack-refs --all", "git pack-refs",
		"git tag x/y/$N", "git tag -d $(git tag -l 'x/*' | head -1)", "git checkout -q --detach HEAD~1", "git checkout -q main", "git checkout -q -B side",
		"git commit -q --allow-empty -m c$N", "echo $N >f; git stash -q", "git stash drop -q", "git stash clear", "git branch -f q HEAD~1",
		"git symbolic-ref refs/tags/sym refs/heads/q", "git update-ref -d refs/tags/sym",
	}
	inPlace := []string{
		"test ! -f .git/refs/tags/a || git rev-parse HEAD >.git/refs/tags/a", "test ! -f .git/refs/tags/a || git rev-parse HEAD~1 >.git/refs/tags/a",
		"test ! -f .git/packed-refs || { cp -p .git/packed-refs x; cp x .git/packed-refs; rm x; }",
	}
	for _, g := range gittest.All(t) {
		for _, format := range []string{"files", "reftable"} {
			if format == "reftable" && !g.AtLeast(2, 51) {
				continue
			}
			t.Run(g.String()+"/"+format, func(t *testing.T) {
				e := gittest.New(t, g)
				if g.AtLeast(2, 51) {
					e.Setenv("INIT", "--ref-format="+format)
				}
				e.Script(t, "git init -q $INIT r; cd r; for i in 1 2 3 4 5; do echo $i >f; git add f; git commit -q -m $i; done")
				s := open(t, e, "r")
				all := steps
				if format == "files" {
					all = append(append([]string(nil), steps...), inPlace...)
				}
				const seed = 7
				rng := rand.New(rand.NewPCG(seed, 0))
				for n := range 60 {
					step := strings.ReplaceAll(all[rng.IntN(len(all))], "$N", fmt.Sprint(n))
					if out, err := e.TryScript("cd r; " + step); err != nil {
						t.Logf("step %d: %s: %s", n, step, out)
					}
					compareRefs(t, e, "r", s)
					if t.Failed() {
						t.Fatalf("seed %d, after step %d: %s", seed, n, step)
					}
				}
			})
		}
	}
}
