package index

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gust/internal/gittest"
	"gust/internal/pure/object"
	"gust/internal/pure/oid"
)

// layouts are scripts that leave an index of some form in repository r.
var layouts = []struct {
	name, script string
	algo         oid.Algo
}{
	{"empty", `git init -q r`, oid.SHA1},
	{"plain", `git init -q r; cd r; tree; git add .`, oid.SHA1},
	{"sha256", `git init -q --object-format=sha256 r; cd r; tree; git add .`, oid.SHA256},
	{"flags", `git init -q r; cd r; tree; git add .; git update-index --skip-worktree d/a; git update-index --assume-unchanged z; echo n >new; git add -N new`, oid.SHA1},
	{"version-4", `git init -q r; cd r; tree; git add .; git update-index --index-version 4`, oid.SHA1},
	{"version-4-sha256", `git init -q --object-format=sha256 r; cd r; tree; git add .; git update-index --index-version 4`, oid.SHA256},
	{"cache-tree", `git init -q r; cd r; tree; git add .; git commit -qm 1; echo x >>d/a; git add d/a`, oid.SHA1},
	{"long-name", `git init -q r; cd r; n=$(printf '%0200d' 0); p=$n; for i in $(seq 20); do mkdir -p $p; p=$p/$n; done; cd $n/$n/$n && touch f; git add .`, oid.SHA1},
	{"conflict", `git init -q r; cd r; echo 0 >f; git add .; git commit -qm 0; git switch -qc o; echo 1 >f; git commit -qam 1; git switch -q main; echo 2 >f; git commit -qam 2; git merge -q o`, oid.SHA1},
	{"split", `git init -q r; cd r; tree; git add .; git update-index --split-index; echo x >>d/a; echo y >new; git rm -q --cached z; git add d/a new`, oid.SHA1},
	{"split-version-4", `git init -q r; cd r; tree; git add .; git update-index --index-version 4; git update-index --split-index; echo x >>d/a; echo y >new; git add d/a new`, oid.SHA1},
	{"skip-hash", `git init -q r; cd r; tree; git config index.skipHash true; git add .`, oid.SHA1},
	{"untracked-cache", `git init -q r; cd r; tree; git add .; git update-index --untracked-cache; touch u; git status -s`, oid.SHA1},
}

const treeFunction = `tree() { mkdir -p d/e/f d-x dd; for p in a d.x d/a d/b d/e/f/g d-x/a dd/q z; do echo $p >$p; done; chmod +x z; ln -s a link; }
`

func TestReadAsGit(t *testing.T) {
	for _, g := range gittest.All(t) {
		for _, l := range layouts {
			t.Run(g.String()+"/"+l.name, func(t *testing.T) {
				e := gittest.New(t, g)
				e.TryScript(treeFunction + l.script)
				repo := e.Path("r")
				ix, err := Read(filepath.Join(repo, ".git/index"), filepath.Join(repo, ".git"), l.algo)
				if err != nil {
					t.Fatal(err)
				}
				want := e.Run(t, repo, "ls-files", "--stage", "-z")
				if got := stageLines(ix); got != want {
					t.Errorf("entries differ from git ls-files --stage -z\ngot  %q\nwant %q", got, want)
				}
				want = e.Run(t, repo, "ls-files", "-v", "-z")
				if got := flagLines(ix); got != want {
					t.Errorf("flags differ from git ls-files -v -z\ngot  %q\nwant %q", got, want)
				}
				checkTable(t, ix)
				checkTrees(t, e, repo, ix)
			})
		}
	}
}

func stageLines(ix *Index) string {
	var b strings.Builder
	for i := range ix.Entries {
		e := &ix.Entries[i]
		fmt.Fprintf(&b, "%s %s %d\t%s\x00", object.Mode(e.Mode), ix.ID(i), e.Stage(), ix.AppendPath(nil, i))
	}
	return b.String()
}

func flagLines(ix *Index) string {
	var b strings.Builder
	for i := range ix.Entries {
		e := &ix.Entries[i]
		tag := "H"
		switch {
		case e.Stage() != 0:
			tag = "M"
		case e.Flags&SkipWorktree != 0:
			tag = "S"
		}
		if e.Flags&AssumeUnchanged != 0 {
			tag = strings.ToLower(tag)
		}
		fmt.Fprintf(&b, "%s %s\x00", tag, ix.AppendPath(nil, i))
	}
	return b.String()
}

// checkTable checks what Directory's documentation promises, from the paths.
func checkTable(t *testing.T, ix *Index) {
	t.Helper()
	for i := range ix.Entries {
		path := string(ix.AppendPath(nil, i))
		if first, ok := ix.Find(path); !ok || first > i || string(ix.AppendPath(nil, first)) != path {
			t.Errorf("Find(%q) = %d, %v, want %d or the first stage", path, first, ok, i)
		}
	}
	if _, ok := ix.Find("no/such/path"); ok {
		t.Error("Find found a path that is not there")
	}
	for d := range ix.Dirs {
		dir := &ix.Dirs[d]
		prefix := ix.DirPath(d)
		if prefix != "" {
			prefix += "/"
		}
		for i := range ix.Entries {
			path := string(ix.AppendPath(nil, i))
			below := strings.HasPrefix(path, prefix)
			if below != (dir.First <= i && i < dir.Last) {
				t.Errorf("directory %q holds entries %d to %d, but %q is number %d", prefix, dir.First, dir.Last, path, i)
			}
			if direct := below && !strings.Contains(path[len(prefix):], "/"); direct != (int(ix.Entries[i].Dir) == d) {
				t.Errorf("entry %q is in directory number %d", path, ix.Entries[i].Dir)
			}
		}
		if d > 0 {
			if k, ok := ix.FindDir(dir.Parent, []byte(strings.TrimSuffix(ix.DirNameZ(d), "\x00"))); !ok || k != d {
				t.Errorf("FindDir does not find %q: %d, %v", prefix, k, ok)
			}
		}
	}
}

// checkTrees checks each valid node of the cache tree against git write-tree.
func checkTrees(t *testing.T, e *gittest.Env, repo string, ix *Index) {
	t.Helper()
	for d := range ix.Dirs {
		if ix.Dirs[d].Tree < 0 {
			continue
		}
		node := ix.Trees[ix.Dirs[d].Tree]
		args := []string{"write-tree"}
		if p := ix.DirPath(d); p != "" {
			args = append(args, "--prefix="+p+"/")
		}
		if want := strings.TrimSpace(e.Run(t, repo, args...)); node.ID.String() != want {
			t.Errorf("cache tree of %q is %s, want %s", ix.DirPath(d), node.ID, want)
		}
	}
}

func TestReadSparse(t *testing.T) {
	for _, g := range gittest.All(t) {
		t.Run(g.String(), func(t *testing.T) {
			e := gittest.New(t, g)
			e.Script(t, treeFunction+`git init -q r; cd r; tree; git add .; git commit -qm 1; git sparse-checkout set --cone --sparse-index d/e`)
			repo := e.Path("r")
			ix, err := Read(filepath.Join(repo, ".git/index"), filepath.Join(repo, ".git"), oid.SHA1)
			if err != nil {
				t.Fatal(err)
			}
			if !ix.Sparse {
				t.Fatal("the index that git wrote is not sparse: the test tests nothing")
			}
			want := e.Run(t, repo, "ls-files", "--stage", "--sparse", "-z")
			if got := strings.ReplaceAll(sparseLines(ix), "d-x\x00", "d-x/\x00"); got != want {
				t.Errorf("sparse entries:\ngot  %q\nwant %q", got, want)
			}
			full, err := ix.Expand(func(id oid.ID) ([]byte, error) {
				return []byte(e.Run(t, repo, "cat-file", "tree", id.String())), nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if got, want := stageLines(full), e.Run(t, repo, "ls-files", "--stage", "-z"); got != want {
				t.Errorf("expanded entries:\ngot  %q\nwant %q", got, want)
			}
			checkTable(t, full)
		})
	}
}

// sparseLines is stageLines with a slash behind sparse directories, as git
// ls-files --sparse prints them.
func sparseLines(ix *Index) string {
	var b strings.Builder
	for i := range ix.Entries {
		e := &ix.Entries[i]
		slash := ""
		if ix.IsSparseDir(i) {
			slash = "/"
		}
		fmt.Fprintf(&b, "%s %s %d\t%s%s\x00", object.Mode(e.Mode), ix.ID(i), e.Stage(), ix.AppendPath(nil, i), slash)
	}
	return b.String()
}

func TestReadMissing(t *testing.T) {
	dir := t.TempDir()
	ix, err := Read(filepath.Join(dir, "index"), dir, oid.SHA1)
	if err != nil || len(ix.Entries) != 0 || len(ix.Dirs) != 1 {
		t.Fatalf("Read of a missing file = %v, %v, want an empty index", ix, err)
	}
	if !ix.Unchanged() {
		t.Error("a missing index that is still missing counts as changed")
	}
	if err := os.WriteFile(filepath.Join(dir, "index"), []byte("DIRC"), 0o600); err != nil {
		t.Fatal(err)
	}
	if ix.Unchanged() {
		t.Error("an index that appeared goes unnoticed")
	}
	_, err = Read(filepath.Join(dir, "index"), dir, oid.SHA1)
	var corrupt *object.CorruptError
	if !errors.As(err, &corrupt) || corrupt.Path != filepath.Join(dir, "index") {
		t.Errorf("Read of a short file: error %v, want a CorruptError with its path", err)
	}
}

// realIndexes returns small index files that git wrote, by layout.
func realIndexes(t testing.TB) map[string][]byte {
	files := make(map[string][]byte)
	e := gittest.New(t, gittest.System(t))
	for _, l := range layouts {
		if l.name == "empty" || l.name == "long-name" || strings.HasPrefix(l.name, "split") {
			continue
		}
		e.TryScript("rm -rf r; " + treeFunction + l.script)
		data, err := os.ReadFile(e.Path("r/.git/index"))
		if err != nil {
			t.Fatal(err)
		}
		files[l.name] = data
	}
	return files
}

// A file cut at any byte, or with any byte flipped, is an error or an index, and
// nothing else.
func TestParseDamaged(t *testing.T) {
	for name, data := range realIndexes(t) {
		algo := oid.SHA1
		if strings.Contains(name, "sha256") {
			algo = oid.SHA256
		}
		for i := range data {
			if _, err := parseAll(data[:i], algo); err == nil && i < len(data)-8 && i < headerSize+algo.Size() {
				t.Errorf("%s cut at byte %d is accepted", name, i)
			}
			flipped := bytes.Clone(data)
			flipped[i] ^= 0xff
			parseAll(flipped, algo)
		}
	}
}

func parseAll(data []byte, algo oid.Algo) (*Index, error) {
	do := func(use func([]byte) error) error { return use(data) }
	b := newBuilder(algo)
	f := &fileData{algo: algo, builder: b}
	err := f.parse(do)
	if err == errSplit {
		f = &fileData{algo: algo}
		if err = f.parse(do); err == nil && f.link != nil {
			err = f.over(slices.Clone(f.records))
		}
		b = newBuilder(algo)
		for i := 0; i < len(f.records) && err == nil; i++ {
			err = b.add(&f.records[i].Entry, f.records[i].id, f.records[i].path, 0)
		}
	}
	if err != nil {
		return nil, err
	}
	return b.finish(f), nil
}

// Decoding in halves gives what decoding in one piece does, wherever the middle
// lies.
func TestParseHalves(t *testing.T) {
	e := gittest.New(t, gittest.System(t))
	for _, l := range layouts {
		if l.algo != oid.SHA1 || strings.HasPrefix(l.name, "split") || l.name == "version-4" || l.name == "empty" {
			continue
		}
		e.TryScript("rm -rf r; " + treeFunction + l.script)
		data, err := os.ReadFile(e.Path("r/.git/index"))
		if err != nil {
			t.Fatal(err)
		}
		want, err := parseAll(data, l.algo)
		if err != nil {
			t.Fatal(l.name, err)
		}
		for first := range len(want.Entries) + 1 {
			got := halves(t, data, first, l.algo)
			if got == nil {
				continue // a path too long for the glance
			}
			if !reflect.DeepEqual(got.Entries, want.Entries) || got.names != want.names || !bytes.Equal(got.ids, want.ids) || got.Unmerged != want.Unmerged || !slices.Equal(got.Gitlinks, want.Gitlinks) {
				t.Fatalf("%s in halves of %d: entries differ", l.name, first)
			}
			checkTable(t, got)
			for d := range want.Dirs {
				a, b := got.Dirs[d], want.Dirs[d]
				if got.DirPath(d) != want.DirPath(d) {
					t.Fatalf("%s in halves of %d: directory %d is %q, want %q", l.name, first, d, got.DirPath(d), want.DirPath(d))
				}
				a.path, b.path, a.base, b.base = 0, 0, 0, 0
				if a != b {
					t.Fatalf("%s in halves of %d: directory %q is %+v, want %+v", l.name, first, got.DirPath(d), a, b)
				}
			}
		}
	}
}

// halves decodes data with the first half of first entries.
func halves(t *testing.T, data []byte, first int, algo oid.Algo) *Index {
	t.Helper()
	b := newBuilder(algo)
	f := &fileData{algo: algo, builder: b}
	count, err := f.parseHeader(data)
	if err != nil {
		t.Fatal(err)
	}
	if mid, _, _ := f.skip(data, first); mid == 0 {
		return nil
	}
	if err := f.parseHalves(func(use func([]byte) error) error { return use(data) }, count, first); err != nil {
		t.Fatalf("in halves of %d: %v", first, err)
	}
	return b.finish(f)
}

func FuzzParse(f *testing.F) {
	for name, data := range realIndexes(f) {
		f.Add(data, strings.Contains(name, "sha256"))
	}
	f.Add([]byte("DIRC\x00\x00\x00\x02\xff\xff\xff\xff01234567890123456789"), false)
	f.Fuzz(func(t *testing.T, data []byte, sha256 bool) {
		algo := oid.SHA1
		if sha256 {
			algo = oid.SHA256
		}
		if ix, err := parseAll(data, algo); err == nil && ix != nil {
			for i := range ix.Entries {
				if _, ok := ix.Find(string(ix.AppendPath(nil, i))); !ok {
					t.Fatalf("entry %d (%q) is not found", i, ix.AppendPath(nil, i))
				}
			}
		}
	})
}
