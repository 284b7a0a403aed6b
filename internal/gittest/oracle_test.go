package gittest

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// ask returns the truth about r in e.
func ask(t *testing.T, e *Env, opts Options) *Truth {
	t.Helper()
	truths, err := NewOracle(e.Git, e.Environ(), t.TempDir()).Ask(Place{Dir: e.Path("r")}, opts)
	if err != nil {
		t.Fatal(err)
	}
	return truths[0]
}

// TestAskChangesNothing compares what is in the git directory before and after. The
// time of a shared index is git's note of its last use (git-update-index(1)).
func TestAskChangesNothing(t *testing.T) {
	for _, g := range All(t) {
		e := New(t, g)
		e.Script(t, `git init -q r; cd r; echo a >f; echo b >g; git add .; git commit -qm one; touch -d '1 hour ago' f; echo c >>g; git stash -q
			git config core.untrackedCache true; git update-index --split-index; echo d >>g`)
		snapshot := `cd r; find . -type f -exec sha1sum {} + | sort; find . ! -name 'sharedindex.*' -exec stat -c '%n %i %s %y %z' {} + | sort`
		before := e.Script(t, snapshot)
		truth := ask(t, e, Unlimited())
		if truth.Unstaged != 1 || truth.Stashes != 1 || truth.IndexSize != 2 || truth.Branch != "main" || truth.Subject != "one" {
			t.Errorf("%s: %+v", g, truth)
		}
		if after := e.Script(t, snapshot); after != before {
			t.Errorf("%s: asking changed the repository:\n%s\n%s", g, before, after)
		}
	}
}

// TestRestoredTimes edits a file to the same size and gives it its old mtime,
// within the second in which it was added.
func TestRestoredTimes(t *testing.T) {
	e := New(t, Newest(t))
	e.Script(t, `git init -q r; cd r; echo aaa >f; touch -d @1700000000 f; git add f; git commit -qm one; echo bbb >f; touch -d @1700000000 f`)
	if got := ask(t, e, Unlimited()).Unstaged; got != 1 {
		t.Errorf("unstaged %d, want 1: the content differs", got)
	}
}

// TestActions compares the names of operations in progress with git status's words.
func TestActions(t *testing.T) {
	t.Parallel()
	const conflict = `git init -q r; cd r; echo 0 >f; git add f; git commit -qm base; git switch -q -c o; echo o >f; git commit -qam o; echo p >f; git commit -qam p
		git switch -q main; echo m >f; git commit -qam m; `
	for _, test := range []struct{ script, action, words string }{
		{"git merge o", "merge", "unmerged paths"},
		{"git rebase o", "rebase-i 1/1", "rebase"},
		{"git rebase -i o", "rebase-i 1/1", "interactive rebase in progress"},
		{"git rebase --apply o", "rebase 1/1", "You are currently rebasing"},
		{"git format-patch -q -1 --stdout o | git am", "am 1/1", "in the middle of an am session"},
		{"git cherry-pick o~1", "cherry", "herry-pick"},
		{"git cherry-pick o~1 o", "cherry-seq", "herry-pick"},
		{"git cherry-pick o~1 o; git add f; git commit -qm x", "cherry-seq", "herry-pick"},
		{"git revert --no-edit HEAD~1", "revert", "evert"},
		{"git revert --no-edit HEAD~1 HEAD", "revert-seq", "evert"},
		{"git bisect start", "bisect", "You are currently bisecting"},
		{"GIT_SEQUENCE_EDITOR='sed -i 1s/^pick/edit/' git rebase -i HEAD~1; echo q >f; git commit -qam q; git merge o", "rebase-i 1/1", "rebase"},
		{"true", "", "On branch main"},
	} {
		for _, g := range All(t) {
			e := New(t, g)
			if _, err := e.TryScript(conflict + test.script); err != nil && !strings.Contains(err.Error(), "exit status") {
				t.Fatal(err)
			}
			truth := ask(t, e, Unlimited())
			if truth.Action != test.action {
				t.Errorf("%s: after %s: %q, want %q", g, test.script, truth.Action, test.action)
			}
			if words := e.Run(t, "r", "status"); !strings.Contains(words, test.words) {
				t.Errorf("%s: after %s: git status does not say %q:\n%s", g, test.script, test.words, words)
			}
		}
	}
}

// TestStashes counts entries of a log that git stash lists.
func TestStashes(t *testing.T) {
	e := New(t, Newest(t))
	e.Script(t, `git init -q r; cd r; echo a >f; git add f; git commit -qm one; for i in 1 2 3; do echo $i >f; git stash -q; done; git stash drop -q`)
	listed := strings.Count(e.Run(t, "r", "stash", "list"), "\n")
	if got := ask(t, e, Unlimited()).Stashes; got != listed || got != 2 {
		t.Errorf("%d stashes, git stash lists %d, want 2", got, listed)
	}
}

// TestUnbornUpstream has an upstream, and no commit.
func TestUnbornUpstream(t *testing.T) {
	for _, g := range All(t) {
		e := New(t, g)
		e.Script(t, `git init -q r; cd r; git commit -q --allow-empty -m one; git remote add o u; git update-ref refs/remotes/o/x HEAD; git symbolic-ref HEAD refs/heads/new/b
			git config branch.new/b.remote o; git config branch.new/b.merge refs/heads/x`)
		truth := ask(t, e, Unlimited())
		if truth.Branch != "new/b" || truth.UpstreamBranch != "x" || truth.RemoteName != "o" || truth.RemoteURL != "u" {
			t.Errorf("%s: %+v", g, truth)
		}
		e.Run(t, "r", "update-ref", "-d", "refs/remotes/o/x")
		if truth := ask(t, e, Unlimited()); truth.UpstreamBranch != "" || truth.RemoteName != "o" {
			t.Errorf("%s: with the ref gone: %+v", g, truth)
		}
	}
}

func TestPlaces(t *testing.T) {
	e := New(t, Newest(t))
	e.Script(t, `git init -q r; cd r; git commit -q --allow-empty -m one; mkdir d; git worktree add -q ../w; git init -q --bare ../bare; ln -s r/d ../link; echo x >file`)
	o := NewOracle(e.Git, e.Environ(), t.TempDir())
	for _, test := range []struct {
		place Place
		top   string // "": not found
	}{
		{Place{Dir: e.Path("r")}, "r"},
		{Place{Dir: e.Path("r/d")}, "r"},
		{Place{Dir: e.Path("link")}, "r"},
		{Place{Dir: e.Path("w")}, "w"},
		{Place{Dir: e.Path("r/.git"), GitDir: true}, "r"},
		{Place{Dir: e.Path("r/.git/worktrees/w"), GitDir: true}, "w"},
		{Place{Dir: e.Path("r/.git")}, ""},
		{Place{Dir: e.Path("r/file")}, ""},
		{Place{Dir: e.Path("r/nowhere")}, ""},
		{Place{Dir: e.Path("bare")}, ""},
		{Place{Dir: e.Path("bare"), GitDir: true}, ""},
		{Place{Dir: e.Dir}, ""},
		{Place{Dir: e.Path("r"), GitDir: true}, ""},
	} {
		truths, err := o.Ask(test.place, Unlimited())
		if err != nil {
			t.Fatal(err)
		}
		want := ""
		if test.top != "" {
			want = e.Path(test.top)
		}
		if got := truths[0]; got.Found != (want != "") || got.WorkDir != want {
			t.Errorf("%+v: found %v in %q, want %q", test.place, got.Found, got.WorkDir, want)
		}
	}
}

func TestUnreadableIndex(t *testing.T) {
	e := New(t, Newest(t))
	e.Script(t, `git init -q r; cd r; echo a >f; git add f; git commit -qm one; git tag v1; git switch -q -c b; echo garbage >.git/index`)
	truth := ask(t, e, Unlimited())
	if !truth.IndexError || truth.Branch != "b" || truth.Tag != "v1" || truth.Unstaged != 0 {
		t.Errorf("%+v", truth)
	}
	if got := truth.Expect("id", Unlimited(), false)[8]; got != "index-error" {
		t.Errorf("action %q", got)
	}
}

// TestCheckLimits changes one field of a right answer at a time.
func TestCheckLimits(t *testing.T) {
	truth := &Truth{Found: true, Staged: 5, StagedNew: 2, StagedDeleted: 1, Unstaged: 4, UnstagedDeleted: 3, UnstagedSettled: 4, Untracked: 2, IndexSize: 9}
	o := Unlimited()
	o.Staged, o.Unstaged, o.Untracked = 3, 2, 1
	right := truth.Expect("id", o, false)
	for _, test := range []struct {
		fields string // number=value
		ok     bool
	}{
		{"", true},
		{"11=5", false}, {"11=2", false}, {"12=4", false}, {"14=2", false}, {"14=0", false},
		{"19=1", true}, {"19=2", true}, {"19=0", false}, {"19=3", false}, // two of four, three of them deleted
		{"20=2 21=1", true}, {"20=2 21=0", true}, {"20=0 21=1", true}, {"20=1 21=0", true}, {"20=0 21=0", false},
		{"20=3 21=0", false}, {"20=2 21=2", false}, {"10=8", false}, {"2=0", false}, {"5=x", false},
	} {
		got := append([]string(nil), right...)
		for f := range strings.FieldsSeq(test.fields) {
			var n int
			var value string
			if _, err := fmt.Sscanf(strings.Replace(f, "=", " ", 1), "%d %s", &n, &value); err != nil {
				t.Fatal(err)
			}
			got[n-1] = value
		}
		if bad := truth.Check("id", o, false, got); (bad == nil) != test.ok {
			t.Errorf("with %q: %v, want ok: %v", test.fields, bad, test.ok)
		}
	}
	if truth.Check("id", o, false, []string{"id", "0"}) == nil {
		t.Error("the answer 0 passes for a repository")
	}
}

func TestEnvIsIsolated(t *testing.T) {
	t.Setenv("GIT_DIR", "/nowhere")
	t.Setenv("XDG_CONFIG_HOME", os.TempDir())
	e := New(t, System(t))
	e.Script(t, "git init -q r; test -d r/.git; test $(git config --global init.defaultBranch) = main")
}
