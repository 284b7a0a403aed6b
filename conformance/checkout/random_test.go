package checkout

import (
	"flag"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"gust/internal/gittest"
)

// The flags of a longer run: -seeds=2000 takes some minutes.
var (
	seeds   = flag.Int("seeds", 24, "how many random cases to play")
	first   = flag.Uint64("first", 1, "the first seed")
	verbose = flag.Bool("show", false, "print what each seed does")
)

// After each command git's and gust's twins are the same, and so is what was printed.
func TestRandom(t *testing.T) {
	g := gittest.Newest(t)
	var own, left atomic.Int64
	t.Run("seeds", func(t *testing.T) {
		for i := range *seeds {
			seed := *first + uint64(i)
			t.Run(fmt.Sprint(seed), func(t *testing.T) {
				t.Parallel()
				c := New(t, gittest.New(t, g), seed)
				for range 1 + c.rand.IntN(3) {
					if !c.step(t, &own, &left) {
						return
					}
				}
			})
		}
	})
	t.Logf("%d commands done by gust, %d left to git", own.Load(), left.Load())
	if own.Load() < left.Load() {
		t.Errorf("%d commands done by gust, but %d left to git", own.Load(), left.Load())
	}
}

// step plays one command.
func (c *Case) step(t *testing.T, own, left *atomic.Int64) bool {
	t.Helper()
	args := c.Command()
	want := c.RunGit(args...)
	got, did := c.RunGust(args...)
	if did {
		own.Add(1)
	} else {
		left.Add(1)
	}
	c.Look(t, &want, c.Git)
	c.Look(t, &got, c.Gust)
	if *verbose {
		t.Logf("%q own=%v code=%d\n%s", args, did, got.Code, got.Err)
	}
	got.Err = strings.ReplaceAll(got.Err, c.Gust, "$DIR")
	want.Err = strings.ReplaceAll(want.Err, c.Git, "$DIR")
	if got == want {
		return true
	}
	t.Errorf("after\n%s\n%q (own: %v) differs:\n%s", strings.Join(c.Log, "\n"), args, did, diff(got, want))
	return false
}

func diff(got, want Result) string {
	var b strings.Builder
	if got.Code != want.Code {
		fmt.Fprintf(&b, "exit code %d, want %d\n", got.Code, want.Code)
	}
	for _, part := range []struct{ name, got, want string }{
		{"stdout", got.Out, want.Out}, {"stderr", got.Err, want.Err}, {"tree", got.Tree, want.Tree}, {"state", got.State, want.State},
	} {
		if part.got != part.want {
			fmt.Fprintf(&b, "%s:\n", part.name)
			lines(&b, part.got, part.want)
		}
	}
	return b.String()
}

// lines writes the lines that only one side has.
func lines(b *strings.Builder, got, want string) {
	count := map[string]int{}
	for l := range strings.SplitSeq(want, "\n") {
		count[l]++
	}
	for l := range strings.SplitSeq(got, "\n") {
		if count[l]--; count[l] < 0 {
			fmt.Fprintf(b, "  gust only: %s\n", l)
		}
	}
	for l := range strings.SplitSeq(want, "\n") {
		if count[l] > 0 {
			count[l]--
			fmt.Fprintf(b, "  git only:  %s\n", l)
		}
	}
}
