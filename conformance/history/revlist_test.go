package history

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gust/internal/gittest"
)

func TestRevList(t *testing.T) {
	play(t, New, func(t *testing.T, r *Repo, gits []gittest.Git) (own, left int) {
		for range 25 {
			in, args := r.revListArgs()
			a, b := compare(t, r, gits, in, args...)
			own, left = own+a, left+b
		}
		return own, left
	})
}

// revListArgs returns a random command and its standard input.
func (r *Repo) revListArgs() (in string, args []string) {
	args = []string{"rev-list"}
	some := func(percent int, option string) bool {
		yes := r.chance(percent)
		if yes {
			args = append(args, option)
		}
		return yes
	}
	objects := some(70, "--objects")
	count := some(50, "--count")
	if !objects || !count {
		some(25, "--left-right")
	}
	if !count {
		some(5, "--quiet")
		some(5, "--no-object-names")
	}
	if objects && r.chance(20) {
		args = append(args, "--filter="+r.pick([]string{"blob:none", "tree:0", "object:type=blob", "object:type=tree", "object:type=commit", "object:type=tag"}))
	}
	if r.chance(15) {
		args = append(args, "--stdin")
		for range r.rand.IntN(5) {
			in += r.revision() + "\n"
		}
	}
	for range 1 + r.rand.IntN(4) {
		switch {
		case r.chance(8):
			args = append(args, r.pick([]string{"--all", "--branches", "--tags", "--remotes"}))
		case r.chance(5):
			args = append(args, "--not")
		default:
			args = append(args, r.revision())
		}
	}
	return in, args
}

// revision returns a commit, a tag, a tree, a blob or a range.
func (r *Repo) revision() string {
	commit := func() string {
		if r.chance(50) {
			return r.pick(r.Commits)
		}
		return strings.TrimPrefix(r.pick(r.Refs), "refs/")
	}
	switch n := r.rand.IntN(100); {
	case n < 20:
		return "^" + commit()
	case n < 40:
		return commit() + ".." + commit()
	case n < 55:
		return commit() + "..." + commit()
	case n < 60:
		return r.pick([]string{"", "^"}) + r.pick(r.Commits) + "^{tree}"
	case n < 65:
		return r.pick([]string{"", "^"}) + r.pick(r.Commits) + ":" + r.path()
	case n < 70:
		return commit() + fmt.Sprintf("~%d", r.rand.IntN(3))
	}
	return commit()
}

// TestBitmap counts by bitmaps.
func TestBitmap(t *testing.T) {
	play(t, NewBitmapped, func(t *testing.T, r *Repo, gits []gittest.Git) (own, left int) {
		for range 25 {
			args := []string{"rev-list", "--count"}
			if r.chance(80) {
				args = append(args, "--use-bitmap-index")
			}
			if r.chance(80) {
				args = append(args, "--objects")
				if r.chance(20) {
					args = append(args, "--filter="+r.pick([]string{"blob:none", "tree:0", "object:type=blob", "object:type=tree", "object:type=commit", "object:type=tag"}))
				}
			}
			for range 1 + r.rand.IntN(4) {
				switch {
				case r.chance(10):
					args = append(args, r.pick([]string{"--all", "--branches", "--tags"}))
				case r.chance(5):
					args = append(args, "--not")
				default:
					args = append(args, r.revision())
				}
			}
			a, b := compare(t, r, gits, "", args...)
			own, left = own+a, left+b
		}
		return own, left
	})
}

// TestBrokenBitmap changes bytes of bitmaps and of what belongs to them, and cuts them:
// gust says so, and counts right.
func TestBrokenBitmap(t *testing.T) {
	gits := gittest.All(t)
	for seed := range uint64(6) {
		r := NewBitmapped(t, gittest.New(t, gits[len(gits)-1]), 100+seed)
		names, err := filepath.Glob(filepath.Join(r.Dir, ".git/objects/pack/*.bitmap"))
		if err != nil || len(names) != 1 {
			t.Fatal(names, err)
		}
		data, err := os.ReadFile(names[0])
		if err != nil {
			t.Fatal(err)
		}
		args := []string{"rev-list", "--count", "--objects", "--use-bitmap-index", "main"}
		whole := r.Git(t, gits[len(gits)-1], "", args...)
		if got, ok := r.Gust(t, "", args...); !ok || got != whole {
			t.Fatalf("%+v, git %+v", got, whole)
		}
		for range 40 {
			bad := append([]byte(nil), data...)
			what := ""
			switch at := r.rand.IntN(len(bad)); r.rand.IntN(3) {
			case 0:
				bad, what = bad[:at], fmt.Sprintf("cut at %d", at)
			case 1:
				bad[at] ^= byte(1 + r.rand.IntN(255))
				what = fmt.Sprintf("byte %d changed", at)
			default:
				at = r.rand.IntN(min(len(bad), 600))
				bad[at] ^= 1 << r.rand.IntN(8)
				what = fmt.Sprintf("bit in byte %d changed", at)
			}
			if err := os.Chmod(names[0], 0o644); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(names[0], bad, 0o644); err != nil {
				t.Fatal(err)
			}
			got, ok := r.Gust(t, "", args...)
			if !bytes.HasPrefix(bad, []byte("BITM")) {
				if ok {
					t.Errorf("seed %d, %s: git can say itself that this is no bitmap, and gust said %+v", seed, what, got)
				}
				continue
			}
			if !ok || got.Out != whole.Out || got.Code != 0 || !strings.HasPrefix(got.Err, "warning: not using a bitmap: ") || !strings.Contains(got.Err, "'") {
				t.Errorf("seed %d, %s: %v, %+v, git %+v", seed, what, ok, got, whole)
			}
		}
	}
}
