package history

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gust/internal/gittest"
)

// TestCheckConnected removes objects that came after the bitmap, or any at all where
// there is none: gust check-connected agrees with what git rev-list says of the same.
func TestCheckConnected(t *testing.T) {
	gits := gittest.All(t)
	g := gits[len(gits)-1]
	missing, whole := 0, 0
	for seed := range uint64(2 * *seeds) {
		make := New
		if seed%2 == 0 {
			make = NewBitmapped
		}
		r := make(t, gittest.New(t, g), 500+seed)
		if r.Odd {
			continue
		}
		tips := ""
		for range 1 + r.rand.IntN(3) {
			tips += r.pick(r.Commits) + "\n"
		}
		// New work that no ref reaches yet.
		for _, ref := range r.Refs {
			if r.chance(70) {
				r.git(t, "", r.Dir, "update-ref", "-d", ref)
			}
		}
		for range 6 {
			want := r.Git(t, g, tips, "rev-list", "--objects", "--stdin", "--not", "--all", "--quiet")
			if strings.HasPrefix(want.Err, "fatal: bad object refs/") {
				break // a broken ref is another matter
			}
			got, ok := r.Gust(t, tips, "check-connected")
			if !ok || (got.Code == 0) != (want.Code == 0) || got.Code > 1 {
				t.Errorf("seed %d: %q: gust %v %+v, git %+v", seed, tips, ok, got, want)
			}
			if list, ok := r.Gust(t, tips, "rev-list", "--objects", "--stdin", "--not", "--all", "--quiet"); ok && list != want {
				t.Errorf("seed %d: %q: rev-list: gust %+v, git %+v", seed, tips, list, want)
			}
			if got.Code == 0 {
				whole++
			} else {
				missing++
				_, id, _ := strings.Cut(strings.TrimSpace(got.Err), "missing ")
				if _, id, _ = strings.Cut(id, " "); len(id) != 40 || exists(r, id) {
					t.Errorf("seed %d: no missing object is named: %q", seed, got.Err)
				}
			}
			loose, err := filepath.Glob(filepath.Join(r.Dir, ".git/objects/[0-9a-f][0-9a-f]/*"))
			if err != nil || len(loose) == 0 {
				break
			}
			if err := os.Remove(r.pick(loose)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if missing < 5 || whole < 5 {
		t.Errorf("%d connected, %d not: nothing was tested", whole, missing)
	}
}

func exists(r *Repo, id string) bool {
	cmd := r.Env.Command(r.Dir, "cat-file", "-e", id)
	return cmd.Run() == nil
}
