package history

import (
	"bytes"
	"crypto/sha1"
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
	if !objects {
		some(10, "--first-parent")
		some(10, r.pick([]string{"--merges", "--no-merges", "--min-parents=1", "--max-parents=2", "--min-parents=3", "--max-parents=0", "--max-parents=-1", "--no-min-parents", "--no-max-parents"}))
		some(10, r.pick([]string{"--skip=0", "--skip=2", "--skip=-1"}))
		some(10, r.pick([]string{"--max-count=0", "--max-count=3", "-n4", "-2", "--max-count=-1"}))
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

// TestBitmapWrite has gust write bitmaps: git accepts them, counts with them what it
// counts with its own, and gust finds them right.
func TestBitmapWrite(t *testing.T) {
	gits := gittest.All(t)
	g := gits[len(gits)-1]
	for seed := range uint64(*seeds) {
		r := NewBitmapped(t, gittest.New(t, g), 300+seed)
		old, err := filepath.Glob(filepath.Join(r.Dir, ".git/objects/pack/*.bitmap"))
		if err != nil || len(old) != 1 {
			t.Fatal(old, err)
		}
		var counts []string
		refs := append([]string{"HEAD", "--all"}, r.Refs...)
		for _, ref := range refs {
			counts = append(counts, r.Git(t, g, "", "rev-list", "--use-bitmap-index", "--count", "--objects", ref).Out)
		}
		args := []string{"bitmap", "write"}
		if r.chance(50) {
			args = append(args, "--lookup-table")
		}
		if strings.Contains(old[0], "multi-pack-index") {
			args = append(args, "--midx")
		}
		if err := os.Remove(old[0]); err != nil {
			t.Fatal(err)
		}
		if got, ok := r.Gust(t, "", args...); !ok || got != (Answer{}) {
			t.Errorf("seed %d: gust %q: %+v", seed, args, got)
			continue
		}
		if got, ok := r.Gust(t, "", "bitmap", "verify"); !ok || got.Code != 0 || got.Err != "" || !strings.Contains(got.Out, "are right") {
			t.Errorf("seed %d: gust bitmap verify: %+v", seed, got)
		}
		for _, g := range gits {
			for i, ref := range refs {
				a := r.Git(t, g, "", "rev-list", "--use-bitmap-index", "--count", "--objects", ref)
				if a.Out != counts[i] || a.Err != "" {
					t.Errorf("seed %d: %v counts %+v of %s, not %q", seed, g, a, ref, counts[i])
				}
			}
			// A chosen commit, and one that is filled in.
			for _, ref := range []string{"main", "main~1"} {
				if a := r.Git(t, g, "", "rev-list", "--test-bitmap", ref); a.Code != 0 && !strings.Contains(a.Err, "doesn't have an indexed bitmap") && !strings.Contains(a.Err, "unknown revision") {
					t.Errorf("seed %d: %v --test-bitmap %s: %+v", seed, g, ref, a)
				}
			}
			if a := r.Git(t, g, "", "fsck"); a.Code != 0 {
				t.Errorf("seed %d: %v fsck: %+v", seed, g, a)
			}
		}
	}
}

// TestBitmapVerify changes a bitmap so that its hash is right again.
func TestBitmapVerify(t *testing.T) {
	g := gittest.Newest(t)
	r := NewBitmapped(t, gittest.New(t, g), 7)
	names, err := filepath.Glob(filepath.Join(r.Dir, ".git/objects/pack/*.bitmap"))
	if err != nil || len(names) != 1 {
		t.Fatal(names, err)
	}
	data, err := os.ReadFile(names[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(names[0], 0o644); err != nil {
		t.Fatal(err)
	}
	wrong := 0
	for range 60 {
		bad := append([]byte(nil), data[:len(data)-20]...)
		bad[32+r.rand.IntN(len(bad)/3)] ^= 1 << r.rand.IntN(8)
		sum := sha1.Sum(bad)
		if err := os.WriteFile(names[0], append(bad, sum[:]...), 0o644); err != nil {
			t.Fatal(err)
		}
		got, _ := r.Gust(t, "", "bitmap", "verify")
		switch {
		case got.Code == 1 && strings.HasPrefix(got.Err, "gust: bitmap verify: ") && got.Out == "":
			wrong++
		case got.Code != 0: // a bit that says nothing may have been hit: the reuse flag, a declared length
			t.Errorf("%+v", got)
		}
	}
	if wrong < 30 {
		t.Errorf("only %d of 60 changes were found", wrong)
	}
}
