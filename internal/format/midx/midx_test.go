package midx

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gust/internal/disk/mmap"
	"gust/internal/format/packfile"
	"gust/internal/gittest"
	"gust/internal/pure/oid"
)

// packs makes a repository of several packs, which may share objects.
const packs = `
	git init -q --object-format=$ALGO r; cd r; git config core.fsync none
	for i in 1 2 3; do
		seq 1 $((i * 50)) >a; echo $i >b; git add .; git commit -qm $i; git tag t$i
		git rev-list --objects t$i | git pack-objects -q .git/objects/pack/pack >/dev/null
	done
`

func repo(t testing.TB, g gittest.Git, a oid.Algo, script string) (env *gittest.Env, packDir string) {
	t.Helper()
	env = gittest.New(t, g)
	env.Setenv("ALGO", a.String())
	env.Script(t, packs+script)
	return env, env.Path("r/.git/objects/pack")
}

// check compares with the packs' own indexes: every object is found, in a pack
// that has it there.
func check(t *testing.T, dir string, files []*File, a oid.Algo) {
	t.Helper()
	objects := make(map[oid.ID]bool)
	where := make(map[string]*packfile.Index)
	paths, _ := filepath.Glob(filepath.Join(dir, "*.idx"))
	for _, path := range paths {
		x, err := packfile.OpenIndex(path, a)
		if err != nil {
			t.Fatal(err)
		}
		defer x.Close()
		where[filepath.Base(path)] = x
		for i := range x.Len() {
			id, _, err := x.At(i)
			if err != nil {
				t.Fatal(err)
			}
			objects[id] = true
		}
	}
	if len(objects) < 12 || len(where) < 3 {
		t.Fatalf("%d objects in %d packs", len(objects), len(where))
	}
	total := 0
	for _, f := range files {
		total += f.Len()
		for i := range f.Len() {
			id, pack, off, err := f.At(i)
			if err != nil {
				t.Fatal(err)
			}
			pack2, off2, ok, err := f.Find(&id)
			if pack != pack2 || off != off2 || !ok || err != nil {
				t.Fatalf("Find(%s) = %d, %d, %v, %v; At says %d, %d", id, pack2, off2, ok, err, pack, off)
			}
			want, ok, err := where[f.Packs()[pack]].Find(&id)
			if want != off || !ok || err != nil {
				t.Fatalf("%s is at %d of %s, want %d, %v, %v", id, off, f.Packs()[pack], want, ok, err)
			}
			delete(objects, id)
		}
		absent := oid.Hash(a, "blob", []byte("absent"))
		if _, _, ok, err := f.Find(&absent); ok || err != nil {
			t.Errorf("Find of an absent ID: %v, %v", ok, err)
		}
	}
	if len(objects) > 0 {
		t.Errorf("%d of %d objects are missing", len(objects), total+len(objects))
	}
}

func TestFile(t *testing.T) {
	for _, g := range gittest.All(t) {
		for _, a := range []oid.Algo{oid.SHA1, oid.SHA256} {
			for name, script := range map[string]string{
				"plain":  "git multi-pack-index write",
				"bitmap": "git repack -adq; git rev-list --objects t1 t3 ^t2 | git pack-objects -q .git/objects/pack/pack >/dev/null; git rev-list --objects t2 | git pack-objects -q .git/objects/pack/pack >/dev/null; git multi-pack-index write --bitmap",
				"large":  `cd .git/objects/pack; chmod +w *; for p in *.pack; do git index-pack --index-version=2,0x100 -o ${p%.pack}.idx $p >/dev/null; done; git multi-pack-index write`,
			} {
				t.Run(g.String()+"-"+a.String()+"-"+name, func(t *testing.T) {
					_, dir := repo(t, g, a, script)
					f, err := Open(filepath.Join(dir, Name), a)
					if err != nil {
						t.Fatal(err)
					}
					defer f.Close()
					check(t, dir, []*File{f}, a)
					if paths, sig, err := ReadChain(dir, a); len(paths) > 0 || !sig.Absent() || err != nil {
						t.Errorf("chain %v, %v", paths, err)
					}
				})
			}
		}
	}
}

func TestChain(t *testing.T) {
	g := gittest.Newest(t)
	if !g.AtLeast(2, 51) {
		t.Logf("NOT TESTED: incremental chains, which %s does not write", g)
		return
	}
	for _, a := range []oid.Algo{oid.SHA1, oid.SHA256} {
		_, dir := repo(t, g, a, `
			rm .git/objects/pack/*
			git init -q --object-format=$ALGO ../s; cd ../s; git config core.fsync none; prev=
			for i in 1 2 3; do
				seq 1 $((i * 50)) >a; echo $i >b; git add .; git commit -qm $i; git tag t$i
				git rev-list --objects t$i $prev | git pack-objects -q .git/objects/pack/pack >/dev/null
				git multi-pack-index write --incremental; prev="$prev ^t$i"
			done; cp -r .git/objects/pack ../r/.git/objects`)
		dir = strings.Replace(dir, "/r/", "/s/", 1)
		paths, sig, err := ReadChain(dir, a)
		if err != nil || len(paths) < 2 || sig.Absent() {
			t.Fatalf("ReadChain = %v, %v", paths, err)
		}
		var files []*File
		for _, path := range paths {
			f, err := Open(path, a)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			files = append(files, f)
		}
		check(t, dir, files, a)
		chain := filepath.Join(dir, ChainDir, ChainName)
		os.Chmod(chain, 0o666)
		if err := os.WriteFile(chain, []byte("../../../x\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		var c *CorruptError
		if _, _, err := ReadChain(dir, a); !errors.As(err, &c) || c.Path != chain {
			t.Errorf("bad line: %v, want a *CorruptError of %s", err, chain)
		}
	}
}

func TestOpenErrors(t *testing.T) {
	_, dir := repo(t, gittest.System(t), oid.SHA1, "git multi-pack-index write")
	good, err := os.ReadFile(filepath.Join(dir, Name))
	if err != nil {
		t.Fatal(err)
	}
	change := func(at int, s string) []byte {
		d := bytes.Clone(good)
		copy(d[at:], s)
		return d
	}
	slash := bytes.Clone(good)
	slash[bytes.Index(good, []byte("pack-"))+4] = '/'
	for name, data := range map[string][]byte{
		"empty": nil, "short": good[:11], "signature": change(0, "m"), "version": change(4, "\x03"), "hash": change(5, "\x02"),
		"chunks": change(6, "\xff"), "packs": change(8, "\xff"), "more-packs": change(11, "\x08"), "chunk-id": change(12, "X"),
		"chunk-offset": change(16, "\xff"), "cut": good[:len(good)/2], "slash": slash,
		"fan-out": change(int(binary.BigEndian.Uint64(good[28:])), "\xff"),
	} {
		path := filepath.Join(t.TempDir(), "midx")
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		var c *CorruptError
		if _, err := Open(path, oid.SHA1); !errors.As(err, &c) || c.Path != path {
			t.Errorf("%s: %v, want a *CorruptError of %s", name, err, path)
		}
	}
}

func TestFileFindAllocs(t *testing.T) {
	_, dir := repo(t, gittest.System(t), oid.SHA1, "git multi-pack-index write")
	f, err := Open(filepath.Join(dir, Name), oid.SHA1)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	id, _, _, err := f.At(5)
	if err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(100, func() { f.Find(&id) }); n != 0 {
		t.Errorf("Find allocates %v times", n)
	}
}

// The seeds in testdata are files that git wrote.
func FuzzFile(f *testing.F) {
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, a := range []oid.Algo{oid.SHA1, oid.SHA256} {
			x, err := newFile(mmap.InMemory("midx", data), a)
			if err != nil {
				continue
			}
			for i := range x.Len() {
				id, pack, off, err := x.At(i)
				if err == nil && (pack >= len(x.Packs()) || off < 0) {
					t.Fatalf("object %d in pack %d of %d at %d", i, pack, len(x.Packs()), off)
				}
				x.Find(&id)
			}
			for _, name := range x.Packs() {
				if strings.ContainsAny(name, "/\x00") {
					t.Fatalf("pack name %q", name)
				}
			}
		}
	})
}
