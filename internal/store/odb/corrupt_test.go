package odb

import (
	"bytes"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gust/internal/gittest"
	"gust/internal/pure/oid"
)

// small is the script of a repository with few objects, deltas among them.
const small = `
	for i in 1 2 3; do seq 1 $((i * 60)) >a; echo $i >b; git add .; git commit -qm $i; done; git tag -a -m t t
`

// Whatever happens to a file, an object is read right or not at all. What cannot
// be read names a file that is there.
func TestCorrupt(t *testing.T) {
	layouts := []struct{ name, script string }{
		{"loose", "true"},
		{"packed", "git repack -adfq"},
		{"ref-deltas", "git -c repack.useDeltaBaseOffset=false -c pack.indexVersion=1 repack -adfq"},
		{"midx", `git rev-list --objects HEAD~1 | git pack-objects -q .git/objects/pack/pack >/dev/null
			git rev-list --objects t | git pack-objects -q .git/objects/pack/pack >/dev/null; git multi-pack-index write; git prune-packed -q`},
	}
	env := newEnv(t, gittest.System(t))
	env.Run(t, ".", "init", "-q", "small")
	env.Script(t, "cd small;"+small)
	for n, l := range layouts {
		t.Run(l.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(uint64(n), 1))
			env.Script(t, "cp -r small "+l.name+"; cd "+l.name+"\n"+l.script+"\nchmod -R u+w .git/objects")
			objects := all(t, env, l.name, oid.SHA1)
			dir := env.Path(l.name + "/.git/objects")
			var paths []string
			err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
				if d.Type().IsRegular() && !strings.HasSuffix(path, ".rev") {
					paths = append(paths, path)
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			failures := 0
			for _, path := range paths {
				good, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				for range max(4, 300/len(paths)) {
					bad := mutate(r, good)
					if err := os.WriteFile(path, bad, 0o666); err != nil {
						t.Fatal(err)
					}
					failures += checkCorrupt(t, dir, path, objects)
				}
				if err := os.WriteFile(path, good, 0o666); err != nil {
					t.Fatal(err)
				}
			}
			if failures == 0 {
				t.Error("no change of any file made any read fail")
			}
		})
	}
}

func mutate(r *rand.Rand, good []byte) []byte {
	bad := bytes.Clone(good)
	switch r.IntN(4) {
	case 0:
		return bad[:r.IntN(len(bad)+1)]
	case 1:
		return append(bad, good[:r.IntN(len(good))]...)
	}
	for range 1 + r.IntN(3) {
		if at := r.IntN(len(bad)); r.IntN(2) == 0 {
			bad[at] ^= 1 << r.IntN(8)
		} else {
			bad[at] = byte(r.Uint32())
		}
	}
	return bad
}

// checkCorrupt reads all objects while the file at path is broken, and returns
// how many cannot be read.
func checkCorrupt(t *testing.T, dir, path string, objects map[oid.ID]content) (failures int) {
	t.Helper()
	for _, plain := range []bool{false, true} {
		db, err := Open(Options{ObjectDir: dir, Plain: plain, MaxObject: 1 << 20})
		if err != nil {
			t.Fatalf("Open with a broken %s: %v", path, err)
		}
		for id, want := range objects {
			typ, got, err := db.Read(id, nil)
			var c *CorruptError
			switch {
			case err == nil && (typ != want.typ || !bytes.Equal(got, want.data)):
				t.Errorf("with a broken %s, %s is a %v of %d bytes, want %v of %d", path, id, typ, len(got), want.typ, len(want.data))
			case errors.As(err, &c):
				if _, err := os.Stat(c.Path); err != nil {
					t.Errorf("with a broken %s: error %q names no file", path, c)
				}
				failures++
			case err != nil:
				failures++
			}
			// These cannot be checked, but must end.
			db.Stat(id)
			db.ReadHead(id, nil, 100)
			db.Peel(id)
		}
		db.Close()
	}
	return failures
}

// A pack that shrinks under the reader is an error, not a crash.
func TestTruncated(t *testing.T) {
	env := newEnv(t, gittest.System(t))
	env.Run(t, ".", "init", "-q", "r")
	env.Script(t, "cd r;"+small+"git repack -adfq; chmod -R u+w .git/objects")
	for _, ext := range []string{"*.pack", "*.idx"} {
		objects := all(t, env, "r", oid.SHA1)
		db := open(t, Options{ObjectDir: env.Path("r/.git/objects"), CacheSize: -1})
		for id := range objects {
			if _, _, err := db.Read(id, nil); err != nil {
				t.Fatal(err)
			}
		}
		paths, _ := filepath.Glob(env.Path("r/.git/objects/pack/" + ext))
		good, err := os.ReadFile(paths[0])
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(paths[0], 0); err != nil {
			t.Fatal(err)
		}
		for id := range objects {
			if _, _, err := db.Read(id, nil); err == nil {
				t.Errorf("%s read from an empty %s", id, ext)
			}
		}
		if err := os.WriteFile(paths[0], good, 0o666); err != nil {
			t.Fatal(err)
		}
		for id := range objects {
			if _, _, err := db.Read(id, nil); err != nil {
				t.Errorf("%s restored: %v", ext, err)
			}
		}
	}
}

// One whole copy is enough.
func TestSecondCopy(t *testing.T) {
	env := newEnv(t, gittest.System(t))
	env.Run(t, ".", "init", "-q", "r")
	env.Script(t, "cd r;"+small+`git repack -adfq; chmod -R u+w .git/objects
		p=$(ls .git/objects/pack/*.pack); git rev-list --objects t | git pack-objects -q --window=0 ../p >/dev/null
		cp ../p-*.pack ../p-*.idx .git/objects/pack; chmod -R u+w .git/objects; git multi-pack-index write`)
	objects := all(t, env, "r", oid.SHA1)
	packs, _ := filepath.Glob(env.Path("r/.git/objects/pack/*.pack"))
	if len(packs) != 2 {
		t.Fatalf("packs %v", packs)
	}
	for _, path := range packs {
		good, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		bad := bytes.Clone(good)
		for i := 12; i < len(bad)-20; i++ {
			bad[i] = 0xff
		}
		for _, data := range [][]byte{bad, nil} {
			if err := os.WriteFile(path, data, 0o666); err != nil {
				t.Fatal(err)
			}
			db := open(t, Options{ObjectDir: env.Path("r/.git/objects")})
			for id, want := range objects {
				if _, got, err := db.Read(id, nil); err != nil || !bytes.Equal(got, want.data) {
					t.Errorf("with one of two copies broken: %s: %d bytes, %v", id, len(got), err)
				}
			}
		}
		if err := os.WriteFile(path, good, 0o666); err != nil {
			t.Fatal(err)
		}
	}
}
