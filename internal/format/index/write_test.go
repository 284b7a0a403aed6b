package index

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gust/internal/disk/filestat"
	"gust/internal/disk/lockfile"
	"gust/internal/gittest"
	"gust/internal/pure/object"
	"gust/internal/pure/oid"
)

// debug is everything that git tells about its index, but for whether it is split.
func debug(t *testing.T, e *gittest.Env, repo string) string {
	t.Helper()
	out := e.Run(t, repo, "ls-files", "--stage", "-v", "--debug", "--sparse")
	return strings.ReplaceAll(out, "flags: 8000000\n", "flags: 0\n")
}

// What is written reads back the same, to git and to Read.
func TestAppendFile(t *testing.T) {
	for _, g := range gittest.All(t) {
		for _, l := range layouts {
			t.Run(g.String()+"/"+l.name, func(t *testing.T) {
				e := gittest.New(t, g)
				e.TryScript(treeFunction + l.script)
				repo := e.Path("r")
				path, shared := filepath.Join(repo, ".git/index"), filepath.Join(repo, ".git")
				ix, err := Read(path, shared, l.algo)
				if err != nil {
					t.Fatal(err)
				}
				want := debug(t, e, repo)
				for _, o := range []WriteOptions{{}, {SkipHash: true}} {
					data := ix.AppendFile([]byte("before"), o)[len("before"):]
					if err := os.WriteFile(path, data, 0o600); err != nil {
						t.Fatal(err)
					}
					if !o.SkipHash || g.AtLeast(2, 40) {
						if got := debug(t, e, repo); got != want {
							t.Errorf("git reads\n%s", lineDiff(got, want))
						}
						if out, err := e.Command(repo, "fsck", "--cache").CombinedOutput(); err != nil {
							t.Errorf("git fsck: %v\n%s", err, out)
						}
						if !ix.Split && len(ix.Trees) > 0 {
							checkCacheTree(t, e, repo, data)
						}
					}
					again, err := Read(path, shared, l.algo)
					if err != nil {
						t.Fatal(err)
					}
					if got, want := stageLines(again)+flagLines(again), stageLines(ix)+flagLines(ix); got != want {
						t.Errorf("Read after AppendFile: %q, want %q", got, want)
					}
					checkTrees(t, e, repo, again)
				}
			})
		}
	}
}

// checkCacheTree holds the cache tree in data against the one that git writes.
func checkCacheTree(t *testing.T, e *gittest.Env, repo string, data []byte) {
	t.Helper()
	ours := treeExtension(data)
	path := filepath.Join(repo, ".git/index")
	e.Run(t, repo, "update-index", "--force-write-index")
	theirs, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := ours, treeExtension(theirs); !bytes.Equal(got, want) {
		t.Errorf("cache tree is %q, git writes %q", got, want)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func treeExtension(data []byte) []byte {
	i := bytes.Index(data, []byte("TREE"))
	if i < 0 {
		return nil
	}
	n := int(data[i+6])<<8 | int(data[i+7])
	return data[i : i+8+n]
}

func TestAppendFileSparse(t *testing.T) {
	for _, g := range gittest.All(t) {
		e := gittest.New(t, g)
		e.Script(t, treeFunction+`git init -q r; cd r; tree; git add .; git commit -qm 1; git sparse-checkout set --cone --sparse-index d/e`)
		repo := e.Path("r")
		path := filepath.Join(repo, ".git/index")
		ix, err := Read(path, filepath.Join(repo, ".git"), oid.SHA1)
		if err != nil {
			t.Fatal(err)
		}
		if !ix.Sparse {
			t.Fatal("the index that git wrote is not sparse: the test tests nothing")
		}
		want := debug(t, e, repo)
		if err := os.WriteFile(path, ix.AppendFile(nil, WriteOptions{}), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := debug(t, e, repo); got != want {
			t.Errorf("%v reads\n%s\nwant\n%s", g, got, want)
		}
	}
}

// Random edits leave what git update-index leaves, and a cache tree that is true.
func TestEdit(t *testing.T) {
	e := gittest.New(t, gittest.Newest(t))
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 1))
		e.Script(t, "rm -rf r s; "+treeFunction+`git init -q r; cd r; tree; git add .; git commit -qm 1; cp -a . ../s`)
		if seed%4 == 0 {
			e.Script(t, "cd r; git update-index --index-version 4; cd ../s; git update-index --index-version 4")
		}
		repo, twin := e.Path("r"), e.Path("s")
		path := filepath.Join(repo, ".git/index")
		ix, err := Read(path, filepath.Join(repo, ".git"), oid.SHA1)
		if err != nil {
			t.Fatal(err)
		}
		edit := ix.Edit()
		paths := []string{"a", "d", "d/a", "d/e", "d/e/f/g", "d/e/f/g/h", "dd/q", "d-x/a", "d.x", "new", "d/new", "n/e/w", "z", "d/e/f/a", "0"}
		var log []string
		for range 1 + r.IntN(6) {
			p := paths[r.IntN(len(paths))]
			if r.IntN(3) == 0 {
				edit.Remove(p)
				e.Command(twin, "update-index", "--force-remove", p).Run()
				log = append(log, "remove "+p)
				continue
			}
			id := ix.ID(r.IntN(len(ix.Entries)))
			edit.Set(p, Entry{Mode: uint32(object.ModeExec)}, id)
			e.Run(t, twin, "update-index", "--add", "--replace", "--cacheinfo", "100755,"+id.String()+","+p)
			log = append(log, "set "+p)
		}
		next, err := edit.Index(nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, next.AppendFile(nil, WriteOptions{}), 0o600); err != nil {
			t.Fatal(err)
		}
		want := e.Run(t, twin, "ls-files", "--stage")
		if got := e.Run(t, repo, "ls-files", "--stage"); got != want {
			t.Fatalf("seed %d: after %q git reads\n%s\nwant\n%s", seed, log, got, want)
		}
		again, err := Read(path, filepath.Join(repo, ".git"), oid.SHA1)
		if err != nil {
			t.Fatal(err)
		}
		checkTable(t, next)
		checkTable(t, again)
		checkTrees(t, e, repo, again)
		e.Run(t, repo, "fsck", "--cache")
		if tree, want := e.Run(t, repo, "write-tree"), e.Run(t, twin, "write-tree"); tree != want {
			t.Fatalf("seed %d: after %q git write-tree gives %s, want %s", seed, log, tree, want)
		}
	}
}

// The trees that the caller knows make directories valid, but none above one that
// is not.
func TestEditKnownTrees(t *testing.T) {
	e := gittest.New(t, gittest.System(t))
	e.Script(t, treeFunction+`git init -q r; cd r; tree; git add .; git commit -qm 1; echo 2 >d/e/f/g; echo 3 >dd/q; git commit -qam 2; git read-tree HEAD~`)
	repo := e.Path("r")
	path := filepath.Join(repo, ".git/index")
	ix, err := Read(path, filepath.Join(repo, ".git"), oid.SHA1)
	if err != nil {
		t.Fatal(err)
	}
	id := func(rev string) oid.ID {
		v, err := oid.Parse(oid.SHA1, strings.TrimSpace(e.Run(t, repo, "rev-parse", rev)))
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	edit := ix.Edit()
	edit.Set("d/e/f/g", Entry{Mode: uint32(object.ModeFile)}, id("HEAD:d/e/f/g"))
	edit.Set("dd/q", Entry{Mode: uint32(object.ModeFile)}, id("HEAD:dd/q"))
	all := map[string]oid.ID{"": id("HEAD:"), "d": id("HEAD:d"), "d/e": id("HEAD:d/e"), "d/e/f": id("HEAD:d/e/f")}
	next, err := edit.Index(func(dir string) (oid.ID, bool) { v, ok := all[dir]; return v, ok })
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, next.AppendFile(nil, WriteOptions{}), 0o600); err != nil {
		t.Fatal(err)
	}
	if next, err = Read(path, filepath.Join(repo, ".git"), oid.SHA1); err != nil {
		t.Fatal(err)
	}
	checkTrees(t, e, repo, next)
	valid := map[string]bool{}
	for d := range next.Dirs {
		valid[next.DirPath(d)] = next.Dirs[d].Tree >= 0
	}
	if valid[""] || valid["dd"] || !valid["d"] || !valid["d/e/f"] || !valid["d-x"] {
		t.Errorf("valid directories: %v; want all but dd, which is not known, and the root above it", valid)
	}
	e.Run(t, repo, "fsck", "--cache")
}

// A refresh does what git update-index --refresh does, and no more.
func TestWriteRefresh(t *testing.T) {
	for _, g := range gittest.All(t) {
		for _, l := range layouts {
			if l.name == "empty" || strings.HasPrefix(l.name, "split") {
				continue
			}
			t.Run(g.String()+"/"+l.name, func(t *testing.T) {
				e := gittest.New(t, g)
				e.TryScript(treeFunction + l.script)
				repo := e.Path("r")
				path := filepath.Join(repo, ".git/index")
				// Younger than all files, so that nothing is racily clean; the files
				// then are touched.
				e.Script(t, `cd r; find . -name .git -prune -o -exec touch -h -d @1600000000 {} +; git update-index -q --refresh || true
					find . -name .git -prune -o -name '[ag]' -exec touch -d @1600000001.25 {} +`)
				ix, err := Read(path, filepath.Join(repo, ".git"), l.algo)
				if err != nil {
					t.Fatal(err)
				}
				before, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				e.Command(repo, "update-index", "-q", "--refresh").Run()
				want := debug(t, e, repo)
				if err := os.WriteFile(path, before, 0o600); err != nil {
					t.Fatal(err)
				}
				var clean []Refresh
				for i := range ix.Entries {
					r := Refresh{Entry: i}
					p := string(ix.AppendPath(nil, i))
					same := exec(e, t, repo, "hash-object", "--no-filters", p) == ix.ID(i).String()
					if ix.Entries[i].Flags == 0 && same && filestat.Of(&r.Stat, filepath.Join(repo, p)) == nil && r.Stat.IsRegular() {
						clean = append(clean, r)
					}
				}
				if err := ix.WriteRefresh(path, clean, WriteOptions{SkipHash: l.name == "skip-hash"}); err != nil {
					t.Fatal(err)
				}
				if got := debug(t, e, repo); got != want {
					t.Errorf("git reads\n%s", lineDiff(got, want))
				}
				after, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				if len(after) != len(before) {
					t.Errorf("%d bytes became %d", len(before), len(after))
				}
				if l.name != "skip-hash" {
					e.Run(t, repo, "fsck", "--cache")
				}
			})
		}
	}
}

// lineDiff returns the lines that differ.
func lineDiff(got, want string) string {
	var b strings.Builder
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			fmt.Fprintf(&b, "line %d: got %q, want %q\n", i, g[i], w[i])
		}
	}
	if len(g) != len(w) {
		fmt.Fprintf(&b, "%d lines, want %d\n", len(g), len(w))
	}
	return b.String()
}

// exec runs git and returns its output without the line's end, "" if it fails.
func exec(e *gittest.Env, t *testing.T, repo string, args ...string) string {
	t.Helper()
	out, err := e.Command(repo, args...).Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// What is racily clean and was not compared stays so: git sees a change that no
// stat shows.
func TestWriteRefreshKeepsRace(t *testing.T) {
	e := gittest.New(t, gittest.System(t))
	e.Script(t, `git init -q r; cd r; echo a1 >f; echo b1 >g; : >empty; touch -d @1600000000 f g empty; git add .
		echo a2 >f; touch -d @1600000000 f; touch -d @1600000000 .git/index`)
	repo := e.Path("r")
	path := filepath.Join(repo, ".git/index")
	ix, err := Read(path, filepath.Join(repo, ".git"), oid.SHA1)
	if err != nil {
		t.Fatal(err)
	}
	i, _ := ix.Find("g")
	if !ix.Racy(&ix.Entries[i]) {
		t.Fatal("the entry is not racily clean: the test tests nothing")
	}
	r := Refresh{Entry: i}
	if err := filestat.Of(&r.Stat, filepath.Join(repo, "g")); err != nil {
		t.Fatal(err)
	}
	if err := ix.WriteRefresh(path, []Refresh{r}, WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	if got := e.Run(t, repo, "-c", "core.trustctime=false", "diff-files", "--name-only"); got != "f\n" {
		t.Errorf("git diff-files --name-only: %q, want f", got)
	}
	out := e.Run(t, repo, "ls-files", "--debug")
	if sizes := strings.Count(out, "size: 0\t"); sizes != 2 {
		t.Errorf("%d entries of size 0, want those of f and of the empty file\n%s", sizes, out)
	}
}

func TestWriteRefreshRefuses(t *testing.T) {
	e := gittest.New(t, gittest.System(t))
	e.Script(t, treeFunction+`git init -q r; cd r; tree; git add .`)
	repo := e.Path("r")
	path := filepath.Join(repo, ".git/index")
	read := func() *Index {
		ix, err := Read(path, filepath.Join(repo, ".git"), oid.SHA1)
		if err != nil {
			t.Fatal(err)
		}
		return ix
	}
	ix := read()
	if err := os.WriteFile(path+".lock", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := ix.WriteRefresh(path, nil, WriteOptions{}); !errors.Is(err, lockfile.ErrLocked) {
		t.Errorf("with a lock: %v, want ErrLocked", err)
	}
	os.Remove(path + ".lock")
	for _, change := range []string{"echo x >>z; git add z", "git rm -q --cached z", "git mv z zz", "echo 1 >y; git add y", "git update-index --index-version 4", "rm .git/index; git update-index --split-index"} {
		e.Script(t, "rm -rf r; "+treeFunction+`git init -q r; cd r; tree; git add .`)
		ix := read()
		e.Script(t, "cd r; "+change)
		want, _ := os.ReadFile(path)
		if err := ix.WriteRefresh(path, nil, WriteOptions{}); !errors.Is(err, ErrChanged) {
			t.Errorf("after %q: %v, want ErrChanged", change, err)
		}
		if got, _ := os.ReadFile(path); !bytes.Equal(got, want) {
			t.Errorf("after %q the refused refresh wrote", change)
		}
		if names, _ := filepath.Glob(path + ".*"); slices.Contains(names, path+".lock") {
			t.Errorf("after %q the lock stays", change)
		}
	}
	if ix = read(); ix.WriteRefresh(path, nil, WriteOptions{}) != ErrSplit {
		t.Error("a split index is not refused")
	}
}

func TestOffsetVarint(t *testing.T) {
	for _, v := range []uint64{0, 1, 127, 128, 129, 16511, 16512, 2113663, 2113664, 1 << 31} {
		if got, n := offsetVarint(appendOffsetVarint(nil, v)); got != v || n == 0 {
			t.Errorf("%d comes back as %d, %d bytes", v, got, n)
		}
	}
}

// Any bytes as the file to refresh are refused or refreshed, and nothing else.
func TestPatchDamaged(t *testing.T) {
	for name, data := range realIndexes(t) {
		algo := oid.SHA1
		if strings.Contains(name, "sha256") {
			algo = oid.SHA256
		}
		ix, err := parseAll(bytes.Clone(data), algo)
		if err != nil {
			t.Fatal(name, err)
		}
		if err := ix.patch(bytes.Clone(data), nil); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for i := range data {
			if err := ix.patch(bytes.Clone(data[:i]), nil); err == nil && i < headerSize {
				t.Errorf("%s cut at byte %d is refreshed", name, i)
			}
			flipped := bytes.Clone(data)
			flipped[i] ^= 0xff
			_ = ix.patch(flipped, nil)
		}
	}
}

func BenchmarkAppendFile(b *testing.B) {
	e := newBuilder(oid.SHA1)
	id := oid.Hash(oid.SHA1, "blob", nil)
	for i := range 100_000 {
		path := fmt.Appendf(nil, "dir%04d/sub%02d/file-with-a-name-%06d.go", i/60, i/10%6, i)
		if err := e.add(&Entry{Mode: uint32(object.ModeFile)}, id.Raw(), path, 0); err != nil {
			b.Fatal(err)
		}
	}
	ix := e.finish(&fileData{version: 2})
	b.ReportAllocs()
	for b.Loop() {
		ix.AppendFile(nil, WriteOptions{})
	}
}

func BenchmarkEdit(b *testing.B) {
	e := newBuilder(oid.SHA1)
	id := oid.Hash(oid.SHA1, "blob", nil)
	for i := range 100_000 {
		path := fmt.Appendf(nil, "dir%04d/sub%02d/file-with-a-name-%06d.go", i/60, i/10%6, i)
		if err := e.add(&Entry{Mode: uint32(object.ModeFile)}, id.Raw(), path, 0); err != nil {
			b.Fatal(err)
		}
	}
	ix := e.finish(&fileData{version: 2})
	b.ReportAllocs()
	for b.Loop() {
		edit := ix.Edit()
		for i := 0; i < 100_000; i += 50 {
			edit.Set(string(ix.AppendPath(nil, i)), Entry{Mode: uint32(object.ModeExec)}, id)
		}
		if _, err := edit.Index(nil); err != nil {
			b.Fatal(err)
		}
	}
}
