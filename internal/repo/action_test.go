package repo

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"gust/internal/gittest"
)

// conflicting makes a repository r with branches main and side that both
// changed f, side in three commits.
const conflicting = `git init -q $INIT r; cd r
echo 0 >f; git add f; git commit -q -m base
git checkout -q -b side; for i in 1 2 3; do echo s$i >f; git commit -q -am s$i; done
git checkout -q main; echo m >f; git commit -q -am m
`

// statusSays maps what git status says, in its long form, to action names.
func statusSays(t *testing.T, e *gittest.Env, dir string) string {
	t.Helper()
	out := e.Run(t, dir, "status")
	progress := ""
	for line := range strings.Lines(out) {
		// "Last commands done (2 commands done):", "Next command to do (1 remaining command):"
		var done int
		if _, err := fmt.Sscanf(line, "Last command done (%d", &done); err == nil {
			progress = strconv.Itoa(done)
		}
		if _, err := fmt.Sscanf(line, "Last commands done (%d", &done); err == nil {
			progress = strconv.Itoa(done)
		}
	}
	has := func(s string) bool { return strings.Contains(out, s) }
	switch {
	case has("interactive rebase in progress"):
		return "rebase-i " + progress
	case has("You are currently rebasing"), has("rebase in progress"):
		return "rebase"
	case has("in the middle of an am session"):
		return "am"
	case has("currently reverting"), has("Revert currently in progress"):
		return "revert"
	case has("currently cherry-picking"), has("Cherry-pick currently in progress"):
		return "cherry"
	case has("still merging"), has("You have unmerged paths."):
		return "merge"
	case has("currently bisecting"):
		return "bisect"
	}
	return ""
}

func TestActionAgainstGit(t *testing.T) {
	tests := []struct {
		name   string
		script string // in the repository; may fail
		want   string // in full
		status string // what statusSays makes of git status
	}{
		{"none", "", "", ""},
		{"merge", "git merge side", "merge", "merge"},
		{"merge-resolved", "git merge side; echo x >f; git add f", "merge", "merge"},
		{"merge-no-commit", "git merge --no-commit -s ours side", "merge", "merge"},
		{"merge-squash", "git merge --squash side", "", ""},
		{"revert", "git revert HEAD~1", "revert", "revert"},
		{"revert-no-commit", "git revert --no-commit HEAD", "revert", "revert"},
		{"revert-seq", "git checkout -q side; git revert HEAD~2 HEAD~1", "revert-seq", "revert"},
		{"revert-seq-between", "git checkout -q side; git revert HEAD~2 HEAD~1; echo x >f; git commit -qam x", "revert-seq", "revert"},
		{"cherry", "git cherry-pick side", "cherry", "cherry"},
		{"cherry-seq", "git cherry-pick side~2 side", "cherry-seq", "cherry"},
		{"cherry-seq-between", "git cherry-pick side~2 side~1 side; echo x >f; git commit -qam x", "cherry-seq", "cherry"},
		{"cherry-no-commit", "git cherry-pick --no-commit side", "", ""},
		{"bisect", "git bisect start", "bisect", "bisect"},
		{"bisect-marked", "git bisect start side side~2", "bisect", "bisect"},
		{"bisect-reset", "git bisect start side side~2; git bisect reset", "", ""},
		{"bisect-merge", "git bisect start; git merge side", "merge", "merge"},
		{"bisect-cherry", "git bisect start; git cherry-pick side", "cherry", "cherry"},
		{"rebase-apply", "git rebase --apply main side", "rebase 1/3", "rebase"},
		{"rebase-apply-second", "git rebase --apply main side; git rebase --skip", "rebase 2/3", "rebase"},
		{"rebase-merge", "git rebase --merge main side", "rebase-i 1/3", "rebase-i 1"},
		{"rebase-merge-plain", "git rebase --merge main side; rm .git/rebase-merge/interactive", "rebase-m 1/3", "rebase"},
		{"rebase-interactive", "git rebase -i main side", "rebase-i 1/3", "rebase-i 1"},
		{"rebase-interactive-edit", "GIT_SEQUENCE_EDITOR='sed -i s/^pick/edit/' git rebase -i side~2 side", "rebase-i 1/2", "rebase-i 1"},
		{"rebase-interactive-second", "GIT_SEQUENCE_EDITOR='sed -i 2s/^pick/edit/' git rebase -i side~3 side", "rebase-i 2/3", "rebase-i 2"},
		{"rebase-interactive-break", "GIT_SEQUENCE_EDITOR='sed -i 1ibreak' git rebase -i side~2 side", "rebase-i 1/3", "rebase-i 1"},
		{"rebase-interactive-exec", "GIT_SEQUENCE_EDITOR='sed -i 1aexec\\ false' git rebase -i side~2 side", "rebase-i 2/3", "rebase-i 2"},
		{"rebase-skip", "git rebase -i main side; git rebase --skip", "rebase-i 2/3", "rebase-i 2"},
		{"rebase-aborted", "git rebase -i main side; git rebase --abort", "", ""},
		{"am-clean", "git checkout -q side; git format-patch -q --stdout -1 >../p; git reset -q --hard HEAD~1; git am ../p", "", ""},
		{"am-conflict", "git format-patch -q --stdout side~2..side >../p; git am ../p", "am 1/2", "am"},
		{"am-three-way", "git format-patch -q --stdout side~2..side >../p; git am -3 ../p", "am 1/2", "am"},
		{"am-rebase", "git format-patch -q --stdout side~2..side >../p; git am ../p; rm .git/rebase-apply/applying", "am/rebase 1/2", "rebase"},
		{"stash-pop-conflict", "git checkout -q side; echo q >f; git stash -q; git checkout -q main; git stash pop; git reset -q", "", ""},
		{"progress-missing", "git rebase -i main side; rm .git/rebase-merge/msgnum", "rebase-i", "-"},
		{"progress-junk", "git rebase -i main side; echo '1; rm' >.git/rebase-merge/end", "rebase-i", "-"},
		{"progress-empty", "git rebase -i main side; : >.git/rebase-merge/end", "rebase-i", "-"},
	}
	for _, g := range gittest.All(t) {
		formats := []string{""}
		if g.AtLeast(2, 51) {
			formats = append(formats, "--ref-format=reftable")
		}
		for _, format := range formats {
			e := gittest.New(t, g)
			e.Setenv("INIT", format)
			e.Script(t, conflicting)
			for _, test := range tests {
				if format != "" && !strings.Contains("revert cherry-seq bisect-cherry merge rebase-apply", test.name) {
					continue // where files say it, the ref storage makes no difference
				}
				t.Run(g.String()+format+"/"+test.name, func(t *testing.T) {
					e.Script(t, "cp -r r "+test.name)
					if out, err := e.TryScript("cd " + test.name + "; " + test.script); err != nil {
						t.Logf("%s", out)
					}
					got := action(t, e, test.name)
					if got != test.want {
						t.Errorf("Action = %q, want %q", got, test.want)
					}
					if said := statusSays(t, e, test.name); test.status != "-" && said != test.status {
						t.Errorf("git status speaks of %q, not of %q:\n%s", said, test.status, e.Run(t, test.name, "status"))
					}
				})
			}
		}
	}
}

func action(t *testing.T, e *gittest.Env, dir string) string {
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
	got, err := r.Action()
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// TestActionWorktree: an operation belongs to one working tree.
func TestActionWorktree(t *testing.T) {
	e := gittest.New(t, gittest.Newest(t))
	e.Script(t, conflicting+"git worktree add -q ../w side; cd ../w; git bisect start")
	if got := action(t, e, "w"); got != "bisect" {
		t.Errorf("Action in the working tree = %q, want bisect", got)
	}
	if got := action(t, e, "r"); got != "" {
		t.Errorf("Action in the main working tree = %q, want none", got)
	}
	if _, err := os.Stat(filepath.Join(e.Path("r"), ".git/BISECT_LOG")); err == nil {
		t.Error("bisect in a working tree wrote to the main one")
	}
}
