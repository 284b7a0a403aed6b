package odb

import (
	"bytes"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"gust/internal/gittest"
	"gust/internal/pure/oid"
)

// While git moves objects about, every read of every object succeeds.
func TestRepackUnderReaders(t *testing.T) {
	g := gittest.Newest(t)
	env := newEnv(t, g)
	env.Run(t, ".", "init", "-q", "r")
	env.Script(t, "cd r;"+fill)
	objects := all(t, env, "r", oid.SHA1)
	for _, o := range []Options{{}, {Plain: true}} {
		o.ObjectDir = env.Path("r/.git/objects")
		db := open(t, o)
		var done atomic.Bool
		var reads atomic.Int64
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				for !done.Load() {
					for id, want := range objects {
						typ, got, err := db.Read(id, nil)
						reads.Add(1)
						if err != nil || typ != want.typ || !bytes.Equal(got, want.data) {
							t.Errorf("Read(%s) = %v, %d bytes, %v", id, typ, len(got), err)
							done.Store(true)
							return
						}
					}
				}
			})
		}
		for range 2 {
			for _, script := range []string{
				"git repack -adfq; git prune-packed",
				"git multi-pack-index write",
				"git repack -adq --depth=3 --window=3 -F; git prune-packed",
				// All back to loose objects, before the packs go.
				`git init -q --bare ../u; for p in .git/objects/pack/*.pack; do git --git-dir=../u unpack-objects -q <$p; done
					cp -r ../u/objects/?? .git/objects; rm -rf .git/objects/pack/* ../u`,
				"git gc -q --prune=now",
				"git rev-list --objects t4 | git pack-objects -q .git/objects/pack/pack >/dev/null; git multi-pack-index write; git multi-pack-index repack; git multi-pack-index expire",
			} {
				if done.Load() {
					break
				}
				env.Script(t, "cd r; "+script)
			}
		}
		done.Store(true)
		wg.Wait()
		if n := reads.Load(); n < int64(len(objects)) {
			t.Errorf("only %d reads while git repacked", n)
		}
	}
}

// A pack that is gone is no longer held open once the database was refreshed.
func TestRefresh(t *testing.T) {
	env := newEnv(t, gittest.System(t))
	env.Run(t, ".", "init", "-q", "r")
	env.Script(t, "cd r; seq 1 1000 >f; git add .; git commit -qm x; git repack -adq")
	db := open(t, Options{ObjectDir: env.Path("r/.git/objects")})
	objects := all(t, env, "r", oid.SHA1)
	for id := range objects {
		if _, _, err := db.Read(id, nil); err != nil {
			t.Fatal(err)
		}
	}
	old := db.current.Load().dirs[0].single[0]
	env.Script(t, "cd r; echo y >g; git add .; git commit -qm y; git repack -adq")
	if err := db.Refresh(); err != nil {
		t.Fatal(err)
	}
	if now := db.current.Load().dirs[0].single; len(now) != 1 || now[0] == old {
		t.Errorf("packs %v after a repack", now)
	}
	if _, err := old.Index(); err == nil {
		t.Error("the pack that is gone is still open")
	}
	for id := range objects {
		if _, _, err := db.Read(id, nil); err != nil {
			t.Errorf("after a repack: %v", err)
		}
	}
}

func TestClose(t *testing.T) {
	env := newEnv(t, gittest.System(t))
	env.Run(t, ".", "init", "-q", "r")
	env.Script(t, "cd r; seq 1 1000 >f; git add .; git commit -qm x; git repack -adq")
	db := open(t, Options{ObjectDir: env.Path("r/.git/objects")})
	objects := all(t, env, "r", oid.SHA1)
	db.Close()
	db.Close()
	for id := range objects {
		if _, _, err := db.Read(id, nil); err == nil {
			t.Error("Read after Close succeeded")
		}
	}
}

// An object directory may appear after it was opened.
func TestAppears(t *testing.T) {
	env := newEnv(t, gittest.System(t))
	db := open(t, Options{ObjectDir: env.Path("r/.git/objects")})
	wantNotFound(t, db, oid.Hash(oid.SHA1, "blob", []byte("x")))
	env.Run(t, ".", "init", "-q", "r")
	env.Script(t, "cd r; seq 1 1000 >f; git add .; git commit -qm x; git repack -adq")
	for id := range all(t, env, "r", oid.SHA1) {
		if _, _, err := db.Read(id, nil); err != nil {
			t.Errorf("repository made after Open: %v", err)
		}
	}
}

// The commit-graph is read again when its files change, also in an alternate.
func TestCommitGraph(t *testing.T) {
	env := newEnv(t, gittest.System(t))
	env.Script(t, `git init -q r; cd r; for i in 1 2 3; do git commit -q --allow-empty -m $i; done
		git clone -q -s . ../c`)
	db := open(t, Options{ObjectDir: env.Path("c/.git/objects")})
	length := func() int {
		t.Helper()
		g, err := db.CommitGraph()
		if err != nil {
			t.Fatal(err)
		}
		if g == nil {
			return 0
		}
		return g.Len()
	}
	step := func(script string, want int) {
		t.Helper()
		env.Script(t, script)
		for range 2 {
			if n := length(); n != want {
				t.Errorf("graph of %d commits after %q, want %d", n, script, want)
			}
		}
	}
	step("true", 0)
	step("cd r; git commit-graph write --reachable", 3)
	step("cd c; git commit -q --allow-empty -m 4; git commit-graph write --reachable --split", 4)
	step("cd c; rm -r .git/objects/info/commit-graphs", 3)
	step("cd c; git commit-graph write --reachable", 4)
	step("rm -f r/.git/objects/info/commit-graph", 4)
	step("rm -f c/.git/objects/info/commit-graph", 0)
	if err := os.WriteFile(filepath.Join(env.Path("c/.git/objects/info"), "commit-graph"), []byte("CGPH\x01\x01"), 0o666); err != nil {
		t.Fatal(err)
	}
	if g, err := db.CommitGraph(); g != nil || err == nil {
		t.Errorf("broken graph: %v, %v", g, err)
	}
}
