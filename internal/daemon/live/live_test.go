package live

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"gust/internal/engine/status"
	"gust/internal/gittest"
	"gust/internal/pure/summary"
	"gust/internal/worktree/watch"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var noLimits = Limits{Staged: -1, Unstaged: -1, Conflicted: -1, Untracked: -1, DirtyMaxIndexSize: -1, SummaryLen: 256}

// A rig is a repository and two States that are asked about it.
type rig struct {
	*testing.T
	env             *gittest.Env
	watched, polled *State
	q               Request
}

func newRig(t *testing.T, script string) *rig {
	t.Helper()
	e := gittest.New(t, gittest.System(t))
	e.Script(t, "git init -q r; cd r\n"+script)
	pool := watch.NewPool(watch.PoolOptions{})
	r := &rig{t, e, New(Options{Threads: 2, Pool: pool, Report: func(err error) { t.Error(err) }}), New(Options{}),
		Request{Dir: e.Path("r"), Env: e.Environ(), Limits: noLimits}}
	t.Cleanup(func() {
		r.watched.Close()
		r.polled.Close()
		pool.Close()
	})
	return r
}

// await asks until the repository is watched.
func (r *rig) await() {
	r.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(time.Millisecond) {
		r.ask(r.watched)
		all := r.watched.Repositories()
		if len(all) == 1 && all[0].Watched {
			return
		}
		if time.Now().After(deadline) {
			r.Fatalf("the repository is never watched: %+v", all)
		}
		if len(all) == 1 && all[0].Why != "" && all[0].Queries > 2 {
			r.Skipf("NOT TESTED: nothing can be watched here: %s", all[0].Why)
		}
	}
}

func (r *rig) ask(s *State) *summary.Summary {
	r.Helper()
	sum, err := s.Query(context.Background(), r.q)
	if err != nil {
		r.Fatal(err)
	}
	return sum
}

// same fails unless the watched answer is the polled one.
func (r *rig) same(after string) *summary.Summary {
	r.Helper()
	got, want := r.ask(r.watched), r.ask(r.polled)
	if (got == nil) != (want == nil) || got != nil && *got != *want {
		r.Fatalf("after %q: watched %+v, polled %+v", after, got, want)
	}
	return got
}

const someFiles = `mkdir -p a/b build; echo 1 >f; echo 1 >a/g; echo 1 >a/b/h; echo 1 >build/kept; git add .; git commit -qm 1; echo build/ >.gitignore; git add .gitignore; git commit -qm 2
`

// Each change alone, under one State, is seen by the next answer.
func TestQueryWatched(t *testing.T) {
	r := newRig(t, someFiles)
	r.await()
	for _, script := range []string{
		"echo 2 >>f",
		"git add f",
		"git commit -qm 3",
		"touch u",
		"mkdir -p x/y",
		"touch x/y/z",
		"rm x/y/z",
		"echo 2 >>build/kept",
		"touch build/new",
		"echo u >>.gitignore",
		"echo '*.log' >.git/info/exclude; touch a.log",
		"git config --global core.excludesFile ~/ignore; touch v",
		"echo v >~/ignore",
		"mv a away",
		"mv away a",
		"rm -rf a; mkdir -p a/b",
		"touch a/b/after",
		"git checkout-index -a -f; rm a/b/after",
		"mkdir empty",
		"rmdir empty; mkdir empty", // the same inode again, perhaps
		"touch empty/file",
		"rm -r build; mkdir build",
		"touch build/kept; rm empty/file",
		"git checkout-index -a -f; rmdir empty",
		"chmod +x f",
		"git config core.fileMode false",
		"ln f hard",
		"echo 3 >>hard",
		"rm hard; git checkout -q f; ln f hard; echo 4 >>hard",
		"rm hard; git checkout -q f; mkdir linked; ln f linked/hard; echo 5 >>linked/hard",
		"rm -r linked; git checkout -q f; touch hard",
		"ln -f f hard; echo 4 >>hard", // in the place of a file that was known
		"rm hard; git checkout -q f",
		"mkdir s; echo s >s/f; echo g >g; ln g hard; git add s g hard; git commit -qm hard",
		"ln -f s/f hard; echo 5 >>hard", // a link of an entry's file that was one of another's
		"git rm -q -rf s g hard; git commit -qm unlinked",
		"git stash -q",
		"git tag t",
		"git switch -q -c other",
		"git branch up; git branch -q --set-upstream-to=up; git commit -q --allow-empty -m 4",
		"git init -q nested",
		"rm -rf nested/.git",
		"git rm -q -r --cached a",
		"echo '* text' >.gitattributes; git add .gitattributes",
		"git reset -q --hard",
		"cp .git/index i; echo x >>f; git add f; cp i .git/index",
		"mv ../r ../moved; mkdir ../r; cd ../r; git init -q; touch only",
		"rm -rf ../r; mv ../moved ../r",
	} {
		r.env.TryScript("cd r; " + script)
		if sum := r.same(script); sum == nil {
			t.Fatalf("after %q: no repository", script)
		}
	}
	if all := r.watched.Repositories(); len(all) == 0 {
		t.Error("no repository is kept")
	}
}

func TestChanged(t *testing.T) {
	r := newRig(t, someFiles)
	r.await()
	changed, stop := r.watched.Changed(r.q)
	if changed == nil {
		t.Fatal("no channel for a watched repository")
	}
	defer stop()
	for _, script := range []string{"echo 2 >>a/b/h", "git add a", "git commit -qm 3", "git tag t", "git branch deep/er/name", "git update-ref refs/heads/deep/er/name HEAD~1", "git stash list; echo x >f; git stash -q"} {
		r.env.Script(t, "cd r; "+script)
		select {
		case <-changed:
		case <-time.After(30 * time.Second):
			t.Fatalf("after %q: no token", script)
		}
		r.same(script)
	}
}

func TestChangedUnwatched(t *testing.T) {
	r := newRig(t, someFiles)
	changed, stop := r.polled.Changed(r.q)
	defer stop()
	if changed != nil {
		t.Error("a State that does not watch promises tokens")
	}
}

func TestExpire(t *testing.T) {
	r := newRig(t, someFiles)
	r.watched.SetTTL(time.Hour)
	r.await()
	if left := r.watched.Expire(time.Now()); left != 1 {
		t.Errorf("%d repositories left, want the one that was just asked for", left)
	}
	if left := r.watched.Expire(time.Now().Add(2 * time.Hour)); left != 0 {
		t.Errorf("%d repositories left after the TTL", left)
	}
	r.same("expiry")
}

func TestQueryNowhere(t *testing.T) {
	r := newRig(t, "")
	for _, dir := range []string{os.TempDir() + "/no/such/dir", r.env.Dir, "relative", ""} {
		q := r.q
		q.Dir = dir
		if sum, err := r.polled.Query(context.Background(), q); sum != nil || err != nil {
			t.Errorf("Query(%q) = %+v, %v, want nothing", dir, sum, err)
		}
	}
}

// TestBlindSpot writes through a hard link that no watch sees: what is kept is
// found wrong when it is verified, and then polled.
func TestBlindSpot(t *testing.T) {
	r := newRig(t, someFiles)
	reports := make(chan error, 1)
	r.watched.o.Report = func(err error) { reports <- err }
	r.await()
	r.env.Script(t, "ln r/f outside; echo 2 >>outside")
	if sum := r.ask(r.watched); sum.Unstaged != 0 {
		t.Skip("NOT TESTED: this system's kernel tells of a write through a hard link elsewhere")
	}
	r.watched.mu.Lock()
	for _, k := range r.watched.repos {
		k.verified = time.Time{} // long ago
	}
	r.watched.mu.Unlock()
	r.ask(r.watched)
	if err := <-reports; !errors.Is(err, status.ErrDiffers) {
		t.Errorf("verification reports %v", err)
	}
	r.watched.background.wg.Wait()
	r.same("verification")
	if all := r.watched.Repositories(); all[0].Watched || all[0].Why == "" {
		t.Errorf("after a wrong answer: %+v, want one that is polled, and why", all[0])
	}
}

// TestChangedEnds closes the channel where nobody tells of changes any more.
func TestChangedEnds(t *testing.T) {
	for name, end := range map[string]func(r *rig){
		"settings": func(r *rig) { // read anew, which begins with polling
			r.env.Script(r.T, "cp -r r moved; cd r; git config core.worktree ../../moved")
			r.ask(r.watched)
		},
		"drop":  func(r *rig) { r.watched.Drop(r.q) },
		"close": func(r *rig) { r.watched.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, someFiles)
			r.await()
			changed, stop := r.watched.Changed(r.q)
			if changed == nil {
				t.Fatal("no channel for a watched repository")
			}
			defer stop()
			end(r)
			deadline := time.After(30 * time.Second)
			for {
				select {
				case _, ok := <-changed:
					if ok {
						continue // a token, before
					}
				case <-deadline:
					t.Fatal("the channel is still open")
				}
				break
			}
			if name != "close" {
				r.same(name)
			}
		})
	}
}

func TestSetTTL(t *testing.T) {
	r := newRig(t, someFiles)
	r.await()
	later := time.Now().Add(2 * time.Hour)
	if left := r.watched.Expire(later); left != 1 {
		t.Errorf("%d repositories left, want one that is kept for ever", left)
	}
	r.watched.SetTTL(time.Hour)
	if left := r.watched.Expire(later); left != 0 {
		t.Errorf("%d repositories left after the TTL", left)
	}
}
