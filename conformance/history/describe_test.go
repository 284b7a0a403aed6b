package history

import (
	"flag"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"gust/internal/gittest"
)

// The flags of a longer run: -seeds=2000 takes some minutes a test.
var (
	seeds = flag.Int("seeds", 8, "how many random histories to play")
	first = flag.Uint64("first", 1, "the first seed")
)

// found are seeds that showed a fault once.
var found = []uint64{1233}

// play runs one test on the histories of all seeds, and returns how many commands
// gust answered itself and how many it left to git.
func play(t *testing.T, make func(testing.TB, *gittest.Env, uint64) *Repo, test func(t *testing.T, r *Repo, gits []gittest.Git) (own, left int)) {
	gits := gittest.All(t)
	var own, left atomic.Int64
	all := append([]uint64(nil), found...)
	for i := range *seeds {
		all = append(all, *first+uint64(i))
	}
	t.Run("seeds", func(t *testing.T) {
		for _, seed := range all {
			t.Run(fmt.Sprint(seed), func(t *testing.T) {
				t.Parallel()
				r := make(t, gittest.New(t, gits[len(gits)-1]), seed)
				a, b := test(t, r, gits)
				own.Add(int64(a))
				left.Add(int64(b))
			})
		}
	})
	t.Logf("%d commands answered, %d left to git", own.Load(), left.Load())
	if 2*own.Load() < left.Load() {
		t.Errorf("%d commands answered, but %d left to git", own.Load(), left.Load())
	}
}

// compare compares gust's answer with git's. Where versions of git differ the newest
// counts.
func compare(t *testing.T, r *Repo, gits []gittest.Git, in string, args ...string) (own, left int) {
	t.Helper()
	got, ok := r.Gust(t, in, args...)
	if !ok {
		return 0, 1
	}
	want := r.Git(t, gits[len(gits)-1], in, args...)
	if got != want {
		t.Errorf("%s: %q:\ngust %+v\ngit  %+v", r.Dir, args, got, want)
		return 1, 0
	}
	for _, g := range gits[:len(gits)-1] {
		if old := r.Git(t, g, in, args...); old != want {
			t.Logf("%v differs: %q: %+v, not %+v", g, args, old, want)
		}
	}
	return 1, 0
}

func TestDescribe(t *testing.T) {
	play(t, New, func(t *testing.T, r *Repo, gits []gittest.Git) (own, left int) {
		for range 20 {
			a, b := compare(t, r, gits, "", r.describeArgs()...)
			own, left = own+a, left+b
		}
		return own, left
	})
}

func (r *Repo) describeArgs() []string {
	args := []string{"describe"}
	some := func(percent int, option string) {
		if r.chance(percent) {
			args = append(args, option)
		}
	}
	some(40, "--tags")
	some(20, "--all")
	some(20, "--long")
	some(20, "--always")
	some(15, "--first-parent")
	some(10, "--exact-match")
	some(30, fmt.Sprintf("--candidates=%d", r.rand.IntN(12)))
	some(5, fmt.Sprintf("--candidates=%d", 20+r.rand.IntN(20)))
	some(20, fmt.Sprintf("--abbrev=%d", r.rand.IntN(42)))
	some(5, "--no-abbrev")
	some(5, "--abbrev")
	some(5, "--no-tags")
	patterns := []string{"a*", "*1", "l*", "[a-h]0*", "origin/*", "h?", "*", "b1", "x", "", "mis*", "a0[!3]"}
	for r.chance(25) {
		some(100, "--match="+r.pick(patterns))
	}
	for r.chance(15) {
		args = append(args, "--exclude", r.pick(patterns))
	}
	some(3, "--no-match")
	some(3, "--no-exclude")
	if r.chance(10) {
		r.rand.Shuffle(len(args)-1, func(i, j int) { args[i+1], args[j+1] = args[j+1], args[i+1] })
		// An option's separate value is then one of its own, which is tried too.
	}
	if r.chance(15) {
		return append(args, []string{"--dirty", "--dirty=-x", "--broken"}[r.rand.IntN(3)])
	}
	for range r.rand.IntN(3) {
		if r.chance(50) {
			args = append(args, r.pick(r.Commits)+r.pick([]string{"", "^", "~2"}))
		} else {
			args = append(args, strings.TrimPrefix(r.pick(r.Refs), "refs/"))
		}
	}
	return args
}
