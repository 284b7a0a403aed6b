package status

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"gust/internal/gittest"
	"gust/internal/pure/object"
	"gust/internal/pure/summary"
	"gust/internal/repo"
)

// A rig is a repository that is asked about.
type rig struct {
	*testing.T
	env  *gittest.Env
	repo *Repo
}

var everything = Request{Threads: 1, Limits: Limits{Staged: -1, Unstaged: -1, Conflicted: -1, Untracked: -1, DirtyMaxIndexSize: -1, SummaryLen: 256}}

func newRig(t *testing.T, script string) *rig {
	t.Helper()
	e := gittest.New(t, gittest.System(t))
	e.Script(t, "git init -q r; cd r\n"+script)
	r := &rig{T: t, env: e}
	r.open()
	return r
}

// open opens the repository anew.
func (r *rig) open() {
	r.Helper()
	env := repo.EnvFrom(r.env.Environ())
	loc, err := repo.Locate(r.env.Path("r"), false, env)
	if err != nil {
		r.Fatal(err)
	}
	opened, err := repo.Open(loc, env)
	if err != nil {
		r.Fatal(err)
	}
	if r.repo, err = New(opened); err != nil {
		r.Fatal(err)
	}
	r.Cleanup(r.repo.Close)
}

func (r *rig) ask(q Request) *summary.Summary {
	r.Helper()
	sum, err := r.repo.Summary(context.Background(), q)
	if err != nil {
		r.Fatal(err)
	}
	return sum
}

const oneOfEach = `echo 1 >changed; echo 1 >gone; echo 1 >kept; git add .; git commit -qm 'first line
second line

body'; echo 2 >>changed; rm gone; echo n >new; git add new; touch u1 u2; mkdir d; touch d/1 d/2`

func TestSummaryLimits(t *testing.T) {
	r := newRig(t, oneOfEach)
	tests := []struct {
		name                                   string
		change                                 func(*Limits)
		staged, unstaged, conflicts, untracked int
	}{
		{"none", func(l *Limits) {}, 1, 2, 0, 3},
		{"one-each", func(l *Limits) { l.Staged, l.Unstaged, l.Conflicted, l.Untracked = 1, 1, 1, 1 }, 1, 1, 0, 1},
		{"nothing", func(l *Limits) { l.Staged, l.Unstaged, l.Conflicted, l.Untracked = 0, 0, 0, 0 }, 0, 0, 0, 0},
		{"recursive", func(l *Limits) { l.RecurseUntracked = true }, 1, 2, 0, 4},
		{"small-index-only", func(l *Limits) { l.DirtyMaxIndexSize = 3 }, 1, 0, 0, 0},
		{"index-of-that-size", func(l *Limits) { l.DirtyMaxIndexSize = 4 }, 1, 2, 0, 3},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			q := everything
			tt.change(&q.Limits)
			s := r.ask(q)
			if s.Staged != tt.staged || s.Unstaged != tt.unstaged || s.Conflicted != tt.conflicts || s.Untracked != tt.untracked {
				t.Errorf("staged %d, unstaged %d, conflicted %d, untracked %d, want %d %d %d %d",
					s.Staged, s.Unstaged, s.Conflicted, s.Untracked, tt.staged, tt.unstaged, tt.conflicts, tt.untracked)
			}
			if s.IndexSize != 4 {
				t.Errorf("index size %d, want 4", s.IndexSize)
			}
		})
	}
}

// TestSummarySparsePresent: a sparse directory that is there has its entries
// counted as git counts them, at any limit.
func TestSummarySparsePresent(t *testing.T) {
	const script = `for i in 1 2 3 4; do mkdir d$i; for j in 1 2 3; do echo $i >d$i/f$j; done; done; git add .; git commit -qm base
git sparse-checkout set --cone --sparse-index d1; mkdir d2; echo 2 >d2/f1`
	tests := []struct {
		name   string
		change func(*Limits)
	}{
		{"no-limit", func(*Limits) {}},
		{"smaller-than-the-sparse-index", func(l *Limits) { l.DirtyMaxIndexSize = 3 }},
		{"smaller-than-the-full-index", func(l *Limits) { l.DirtyMaxIndexSize = 7 }},
		{"nothing-wanted", func(l *Limits) { l.Unstaged, l.Untracked = 0, 0 }},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := newRig(t, script)
			q := everything
			test.change(&q.Limits)
			got := r.ask(q)
			lines := strings.Split(strings.TrimSpace(r.env.Script(t, "cd r; git ls-files -v --sparse")), "\n")
			skipped := 0
			for _, line := range lines {
				if line[0] == 'S' {
					skipped++
				}
			}
			if got.IndexSize != len(lines) || got.SkipWorktree != skipped {
				t.Errorf("%d entries, %d skip-worktree, git has %d and %d", got.IndexSize, got.SkipWorktree, len(lines), skipped)
			}
		})
	}
}

// TestSummarySparseGone: a sparse directory that was there is gone again, and with
// it the entries that it had counted.
func TestSummarySparseGone(t *testing.T) {
	r := newRig(t, `for i in 1 2; do mkdir d$i; echo $i >d$i/f; echo $i >d$i/g; done; git add .; git commit -qm base
git sparse-checkout set --cone --sparse-index d1; mkdir d2; echo 2 >d2/f`)
	// A young index is read for each answer, which would hide what is kept of it.
	for r.ask(everything); !r.repo.ix.Unchanged(); r.ask(everything) {
		time.Sleep(time.Millisecond)
	}
	if got := r.ask(everything); got.IndexSize != 4 || got.SkipWorktree != 1 {
		t.Fatalf("%d entries, %d skip-worktree with the directory there, want 4 and 1", got.IndexSize, got.SkipWorktree)
	}
	r.env.Script(t, "cd r; rm -r d2")
	lines := strings.Split(strings.TrimSpace(r.env.Script(t, "cd r; git ls-files -v --sparse")), "\n")
	if got := r.ask(everything); got.IndexSize != len(lines) || got.SkipWorktree != 1 {
		t.Errorf("%d entries, %d skip-worktree, git has %d and 1", got.IndexSize, got.SkipWorktree, len(lines))
	}
}

func TestSummaryNoIndex(t *testing.T) {
	r := newRig(t, oneOfEach)
	q := everything
	q.NoIndex = true
	s := r.ask(q)
	if s.Commit == "" || s.Branch != "main" || s.IndexSize+s.Staged+s.Unstaged+s.Untracked != 0 {
		t.Errorf("%+v", s)
	}
}

func TestSummarySubject(t *testing.T) {
	r := newRig(t, oneOfEach)
	for length, want := range map[int]string{256: "first line second line", 5: "first", 0: ""} {
		q := everything
		q.Limits.SummaryLen = length
		if s := r.ask(q); s.Subject != want {
			t.Errorf("of %d bytes: %q, want %q", length, s.Subject, want)
		}
	}
}

// The settings of other prompts are honoured unless the request says otherwise.
func TestSummaryBashSettings(t *testing.T) {
	r := newRig(t, oneOfEach+"\ngit config bash.showDirtyState false; git config bash.showUntrackedFiles false")
	if s := r.ask(everything); s.Staged+s.Unstaged+s.Untracked != 0 {
		t.Errorf("bash.showDirtyState and bash.showUntrackedFiles are not honoured: %+v", s)
	}
	q := everything
	q.Limits.IgnoreBashShowDirty, q.Limits.IgnoreBashShowUntracked = true, true
	if s := r.ask(q); s.Staged != 1 || s.Unstaged != 2 || s.Untracked != 3 {
		t.Errorf("… although they shall be ignored: %+v", s)
	}
}

// What cannot be known never looks clean, and the rest is told.
func TestSummaryUnknown(t *testing.T) {
	tests := []struct {
		name, script, action string
	}{
		{"truncated-index", `head -c 40 .git/index >i; cp i .git/index`, IndexError},
		{"garbage-index", `echo garbage >.git/index`, IndexError},
		{"missing-tree", `t=$(git rev-parse HEAD^{tree}); rm .git/objects/$(echo $t | cut -c1-2)/$(echo $t | cut -c3-); echo x >x; git update-index --add x`, ObjectError},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, "echo 1 >f; git add .; git commit -qm 1; git tag t\n"+tt.script)
			s, err := r.repo.Summary(context.Background(), everything)
			if err == nil || s == nil {
				t.Fatalf("Summary = %+v, %v, want both", s, err)
			}
			if s.Action != tt.action || s.Branch != "main" || s.Tag != "t" {
				t.Errorf("%+v, want the action %s and all that is known", s, tt.action)
			}
			if s.Staged+s.Unstaged+s.Untracked != 0 {
				t.Errorf("counts of what is unknown: %+v", s)
			}
		})
	}
}

func TestSummaryNamesTheFile(t *testing.T) {
	r := newRig(t, "echo 1 >f; git add .; git commit -qm 1; echo garbage garbage garbage >.git/index")
	_, err := r.repo.Summary(context.Background(), everything)
	var corrupt *object.CorruptError
	if !errors.As(err, &corrupt) || !strings.HasSuffix(corrupt.Path, ".git/index") {
		t.Errorf("error %v, want one that names the index", err)
	}
}

func TestReload(t *testing.T) {
	r := newRig(t, "echo 1 >f; git add .; git commit -qm 1; chmod +x f")
	if s := r.ask(everything); s.Unstaged != 1 {
		t.Fatalf("%+v", s)
	}
	r.env.Script(t, "cd r; git config core.fileMode false")
	if r.repo.Unchanged() {
		t.Fatal("a changed configuration goes unnoticed")
	}
	env := repo.EnvFrom(r.env.Environ())
	loc, err := repo.Locate(r.env.Path("r"), false, env)
	if err != nil {
		t.Fatal(err)
	}
	again, err := repo.Open(loc, env)
	if err != nil {
		t.Fatal(err)
	}
	if !r.repo.Reload(again) {
		t.Fatal("the same repository is not reloaded")
	}
	if s := r.ask(everything); s.Unstaged != 0 {
		t.Errorf("core.fileMode=false has no effect: %+v", s)
	}
}

// A filter command of the repository's own configuration is not run; one that the
// user configured, or trusts, is.
func TestFiltersNeedTrust(t *testing.T) {
	const script = `echo a >f; echo 'f filter=x' >.gitattributes; git add .; git commit -qm 1; touch -d '1 hour ago' f
`
	tests := []struct {
		name, config string
		run          bool
	}{
		{"local", `git config filter.x.clean "touch $PWD/ran; cat"`, false},
		{"local-trust", `git config filter.x.clean "touch $PWD/ran; cat"; git config gust.trustFilters true`, false},
		{"global", `git config --global filter.x.clean "touch $PWD/ran; cat"`, true},
		{"global-trust", `git config filter.x.clean "touch $PWD/ran; cat"; git config --global gust.trustFilters true`, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, script+tt.config)
			r.ask(everything)
			_, err := os.Stat(r.env.Path("r/ran"))
			if (err == nil) != tt.run {
				t.Errorf("command was run: %v, want %v", err == nil, tt.run)
			}
		})
	}
}

func TestClosed(t *testing.T) {
	r := newRig(t, "")
	r.repo.Close()
	if _, err := r.repo.Summary(context.Background(), everything); err != ErrClosed {
		t.Errorf("Summary of a closed Repo: %v", err)
	}
}

// TestSummaryBadShallowAndGrafts: git gives up on a shallow file with a bad line
// and passes over a bad line of grafts.
func TestSummaryBadShallowAndGrafts(t *testing.T) {
	const script = `git commit -q --allow-empty -m one; git branch base; git commit -q --allow-empty -m two
git config branch.main.remote .; git config branch.main.merge refs/heads/base; `
	for _, test := range []struct{ name, script string }{
		{"shallow", `echo garbage >.git/shallow`},
		{"shallow-empty-line", `echo >.git/shallow`},
		{"shallow-short", `git rev-parse --short HEAD >.git/shallow`},
		{"shallow-good", `git rev-parse HEAD >.git/shallow`},
		{"grafts", `echo garbage >.git/info/grafts`},
		{"grafts-short", `git rev-parse --short HEAD >.git/info/grafts`},
		{"grafts-good", `git rev-parse HEAD >.git/info/grafts`},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newRig(t, script+test.script)
			want, gitErr := r.env.TryScript(`cd r; git status --porcelain=v2 --branch 2>/dev/null | sed -n 's/^# branch.ab //p' | grep .`)
			sum, err := r.repo.Summary(context.Background(), everything)
			if (err != nil) != (gitErr != nil) {
				t.Fatalf("error %v, git %v %s", err, gitErr, want)
			}
			if err != nil {
				return
			}
			if got := fmt.Sprintf("+%d -%d", sum.Ahead, sum.Behind); got != strings.TrimSpace(want) {
				t.Errorf("ahead and behind %s, git has %s", got, want)
			}
		})
	}
}
