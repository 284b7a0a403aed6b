package bitmap

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gust/internal/disk/mmap"
	"gust/internal/gittest"
	"gust/internal/pure/ewah"
	"gust/internal/pure/object"
	"gust/internal/pure/oid"
)

const commits = 150

// written returns a bitmap file that git wrote: of as many commits, trees and blobs.
func written(t testing.TB, table bool) (data []byte) {
	t.Helper()
	env := gittest.New(t, gittest.Newest(t))
	env.Run(t, ".", "init", "-q", "r")
	var in strings.Builder
	for i := range commits {
		fmt.Fprintf(&in, "commit refs/heads/main\ncommitter a <a@x> %d +0000\ndata 1\nx\nM 100644 inline f%d\ndata 3\n%03d\n", 1700000000+i, i%7, i)
	}
	cmd := env.Command("r", "fast-import", "--quiet")
	cmd.Stdin = strings.NewReader(in.String())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	env.Run(t, "r", "-c", fmt.Sprintf("pack.writeBitmapLookupTable=%v", table), "repack", "-qadb")
	names, err := filepath.Glob(env.Path("r/.git/objects/pack/*.bitmap"))
	if err != nil || len(names) != 1 {
		t.Fatal(names, err)
	}
	if data, err = os.ReadFile(names[0]); err != nil {
		t.Fatal(err)
	}
	return data
}

// TestRead resolves every bitmap of a file, with and without a lookup table: they are
// the same, and the last commit's has everything.
func TestRead(t *testing.T) {
	var counts [2][]int
	for k, table := range []bool{false, true} {
		f, err := newFile(mmap.InMemory("x", written(t, table)), oid.SHA1, 3*commits, nil)
		if err != nil {
			t.Fatal(err)
		}
		if (f.table != 0) != table || f.Verify() != nil {
			t.Fatalf("table at %d, %v", f.table, f.Verify())
		}
		most, total := 0, 0
		err = f.Do(func(v *View) error {
			for i := range f.Len() {
				if row, ok := v.Find(v.Commit(i)); !ok || row != i {
					t.Errorf("Find(%d) = %d, %v", v.Commit(i), row, ok)
				}
				bits, err := resolve(v, i)
				if err != nil {
					return err
				}
				counts[k] = append(counts[k], bits.Count())
				most = max(most, bits.Count())
			}
			for _, typ := range []object.Type{object.Commit, object.Tree, object.Blob, object.Tag} {
				b, err := v.Type(typ)
				if err != nil {
					return err
				}
				total += b.Count()
			}
			return nil
		})
		if err != nil || most != 3*commits || total != most {
			t.Errorf("%v, the largest bitmap has %d objects, those of types %d, want %d", err, most, total, 3*commits)
		}
	}
	if len(counts[0]) == 0 || fmt.Sprint(counts[0]) != fmt.Sprint(counts[1]) {
		t.Errorf("without a table %v, with one %v", counts[0], counts[1])
	}
}

func resolve(v *View, i int) (ewah.Bits, error) {
	chain, err := v.AppendChain(nil, i)
	bits := ewah.NewBits(v.f.objects)
	for k := range chain {
		bits.Xor(&chain[k])
	}
	return bits, err
}

// FuzzFile reads every bitmap of what claims to be a file.
func FuzzFile(f *testing.F) {
	for _, table := range []bool{false, true} {
		f.Add(written(f, table), 3*commits)
	}
	f.Fuzz(func(t *testing.T, data []byte, objects int) {
		if objects < 0 || objects > 1<<16 {
			return
		}
		for _, a := range []oid.Algo{oid.SHA1, oid.SHA256} {
			var c *CorruptError
			file, err := newFile(mmap.InMemory("x", data), a, objects, nil)
			if err != nil {
				if !errors.As(err, &c) || c.Path != "x" {
					t.Fatalf("error %v", err)
				}
				continue
			}
			err = file.Do(func(v *View) error {
				for i := range min(file.Len(), 100) {
					v.Find(v.Commit(i))
					if _, err := resolve(v, i); err != nil {
						return err
					}
				}
				_, err := v.Type(object.Tag)
				return err
			})
			if err != nil && !errors.As(err, &c) {
				t.Fatalf("error %v", err)
			}
		}
	})
}
