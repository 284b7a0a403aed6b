package commitgraph

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gust/internal/disk/mmap"
	"gust/internal/gittest"
	"gust/internal/pure/oid"
)

// history makes commits with up to seven parents, dates that run backwards, and
// dates after 2038.
const history = `
	git init -q --object-format=$ALGO r; cd r; git config core.fsync none
	tree=$(git write-tree)
	c() { GIT_COMMITTER_DATE="@$1 +0000"; export GIT_COMMITTER_DATE; name=$2; shift 2
		p=; for q; do p="$p -p $q"; done
		git update-ref refs/heads/$name $(git commit-tree -m $name $p $tree); }
	c 1000 a; c 2000 b a; c 500 c b; c 3000 d a; c 4000 e c d; c 9000000000 f e; c 5000 g e; c 100 h
	c 6000 octo a b c d e f g; c 5999 i octo; c 7000 eight octo a h i; c 7001 j eight
`

var states = []struct {
	name, script string
	corrected    bool
}{
	{"corrected", "git commit-graph write --reachable", true},
	{"level", "git -c commitGraph.generationVersion=1 commit-graph write --reachable", false},
	{"bloom", "git commit-graph write --reachable --changed-paths", true},
	{"chain", "for b in c e octo j; do git rev-parse $b | git commit-graph write --stdin-commits --split=no-merge; done", true},
	{"mixed-chain", `for b in c e; do git rev-parse $b | git -c commitGraph.generationVersion=1 commit-graph write --stdin-commits --split=no-merge; done
		for b in octo j; do git rev-parse $b | git commit-graph write --stdin-commits --split=no-merge; done`, false},
	{"chain-in-alternate", `git rev-parse e | git commit-graph write --stdin-commits --split=no-merge
		git clone -q -s . ../c; cd ../c; git fetch -q origin "+refs/heads/*:refs/heads/x/*"; git commit-graph write --reachable --split=no-merge`, true},
}

func TestGraph(t *testing.T) {
	for _, g := range gittest.All(t) {
		for _, a := range []oid.Algo{oid.SHA1, oid.SHA256} {
			env := gittest.New(t, g)
			env.Setenv("ALGO", a.String())
			env.Script(t, history)
			for _, s := range states {
				t.Run(g.String()+"-"+a.String()+"-"+s.name, func(t *testing.T) {
					env.Script(t, "rm -rf s c; cp -r r s; cd s\n"+s.script)
					dirs := []string{env.Path("s/.git/objects")}
					if s.name == "chain-in-alternate" {
						dirs = []string{env.Path("c/.git/objects"), dirs[0]}
					}
					checkGraph(t, env, dirs, a, s.corrected)
				})
			}
		}
	}
}

// checkGraph compares with git rev-list, which is kept from using the graph.
func checkGraph(t *testing.T, env *gittest.Env, dirs []string, a oid.Algo, corrected bool) {
	t.Helper()
	graph, err := Open(dirs, a)
	if err != nil || graph == nil {
		t.Fatalf("Open = %v, %v", graph, err)
	}
	defer graph.Close()
	if graph.Corrected() != corrected {
		t.Errorf("Corrected() = %v", graph.Corrected())
	}
	out := env.Run(t, "r", "-c", "core.commitGraph=false", "log", "--all", "--format=%H %T %ct %P")
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	if len(lines) != graph.Len() {
		t.Errorf("%d commits, git has %d", graph.Len(), len(lines))
	}
	err = graph.Do(func(v *View) error {
		for _, line := range lines {
			id, err := oid.Parse(a, line[:a.HexSize()])
			if err != nil {
				t.Fatal(err)
			}
			pos, ok := v.Lookup(&id)
			if pos2, ok2 := graph.Lookup(id); !ok || pos2 != pos || ok2 != ok || v.ID(pos) != id {
				t.Fatalf("Lookup(%s) = %d, %v and %d, %v", id, pos, ok, pos2, ok2)
			}
			parents, err := v.AppendParents(nil, pos)
			if err != nil {
				t.Fatal(err)
			}
			got := fmt.Sprintf("%s %s %d ", id, v.Tree(pos), v.CommitTime(pos))
			gen, err := v.Generation(pos)
			if err != nil || gen == 0 {
				t.Fatalf("generation %d, %v", gen, err)
			}
			var ids []string
			for _, p := range parents {
				ids = append(ids, v.ID(p).String())
				if g, err := v.Generation(p); err != nil || g >= gen {
					t.Errorf("generation %d of a parent, %d of its child, %v", g, gen, err)
				}
			}
			if got += strings.Join(ids, " "); got != line {
				t.Errorf("commit %q, git's %q", got, line)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if _, ok := graph.Lookup(oid.Hash(a, "commit", nil)); ok {
		t.Error("Lookup of an absent commit succeeded")
	}
	graph.Close()
	if err := graph.Do(func(*View) error { return nil }); !errors.Is(err, mmap.ErrClosed) {
		t.Errorf("Do after Close: %v", err)
	}
}

// What is invalid is passed over: the file for the chain, a layer for those below.
func TestInvalid(t *testing.T) {
	env := gittest.New(t, gittest.System(t))
	env.Setenv("ALGO", "sha1")
	env.Script(t, history+states[3].script+"; cp -r . ../s; cd ../s; git commit-graph write --reachable")
	dir := env.Path("s/.git/objects")
	open := func() (int, error) {
		t.Helper()
		g, err := Open([]string{dir}, oid.SHA1)
		if g == nil {
			return 0, err
		}
		defer g.Close()
		return g.Len(), err
	}
	if n, err := open(); n != 12 || err != nil {
		t.Fatalf("%d commits, %v", n, err)
	}
	file := FilePath(dir)
	os.Chmod(file, 0o666)
	good, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	// Writing a whole file removes the chain: bring it back.
	env.Script(t, "rm -rf s/.git/objects/info/commit-graphs; cp -r r/.git/objects/info/commit-graphs s/.git/objects/info")
	change := func(at int, s string) []byte {
		d := bytes.Clone(good)
		copy(d[at:], s)
		return d
	}
	var c *CorruptError
	for name, data := range map[string][]byte{
		"empty": nil, "short": good[:10], "signature": change(0, "c"), "version": change(4, "\x02"), "hash": change(5, "\x02"),
		"chunks": change(6, "\xff"), "bases": change(7, "\x01"), "chunk-id": change(8, "X"), "chunk-offset": change(12, "\xff"), "cut": good[:len(good)/2],
	} {
		if err := os.WriteFile(file, data, 0o666); err != nil {
			t.Fatal(err)
		}
		if n, err := open(); n != 12 || !errors.As(err, &c) || c.Path != file {
			t.Errorf("%s: %d commits, %v; want the chain's and a *CorruptError of %s", name, n, err, file)
		}
	}
	os.Remove(file)
	lines, err := os.ReadFile(ChainPath(dir))
	if err != nil {
		t.Fatal(err)
	}
	hashes := strings.Fields(string(lines))
	if len(hashes) != 4 {
		t.Fatalf("chain %q", lines)
	}
	for i := len(hashes) - 1; i >= 0; i-- {
		path := filepath.Join(chainDir(dir), "graph-"+hashes[i]+".graph")
		os.Chmod(path, 0o666)
		if err := os.WriteFile(path, []byte("CGPH"), 0o666); err != nil {
			t.Fatal(err)
		}
		n, err := open()
		if !errors.As(err, &c) || c.Path != path || (n == 0) != (i == 0) || n > 3*i+2 {
			t.Errorf("layer %d broken: %d commits, %v", i, n, err)
		}
	}
	os.Chmod(ChainPath(dir), 0o666)
	os.WriteFile(ChainPath(dir), []byte("../x\n"), 0o666)
	if n, err := open(); n != 0 || !errors.As(err, &c) || c.Path != ChainPath(dir) {
		t.Errorf("bad chain: %d commits, %v", n, err)
	}
	// A layer on another base than its own.
	os.WriteFile(ChainPath(dir), []byte(hashes[1]+"\n"), 0o666)
	env.Script(t, "cp -f r/.git/objects/info/commit-graphs/*.graph s/.git/objects/info/commit-graphs")
	if n, err := open(); n != 0 || !errors.As(err, &c) {
		t.Errorf("layer without its base: %d commits, %v", n, err)
	}
	os.WriteFile(ChainPath(dir), []byte(hashes[0]+"\n"+hashes[2]+"\n"), 0o666)
	if n, err := open(); n == 0 || n >= 12 || !errors.As(err, &c) {
		t.Errorf("layer on a wrong base: %d commits, %v", n, err)
	}
	if g, err := Open([]string{t.TempDir()}, oid.SHA1); g != nil || err != nil {
		t.Errorf("no graph: %v, %v", g, err)
	}
}

func withGraph(t *testing.T, f func(v *View)) {
	t.Helper()
	env := gittest.New(t, gittest.System(t))
	env.Setenv("ALGO", "sha1")
	env.Script(t, history+states[0].script)
	g, err := Open([]string{env.Path("r/.git/objects")}, oid.SHA1)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	if err := g.Do(func(v *View) error { f(v); return nil }); err != nil {
		t.Fatal(err)
	}
}

func TestViewLookupAllocs(t *testing.T) {
	withGraph(t, func(v *View) {
		id := v.ID(3)
		if n := testing.AllocsPerRun(100, func() { v.Lookup(&id) }); n != 0 {
			t.Errorf("Lookup allocates %v times", n)
		}
	})
}

func TestViewGenerationAllocs(t *testing.T) {
	withGraph(t, func(v *View) {
		if n := testing.AllocsPerRun(100, func() { v.Generation(3) }); n != 0 {
			t.Errorf("Generation allocates %v times", n)
		}
	})
}

func TestViewAppendParentsAllocs(t *testing.T) {
	withGraph(t, func(v *View) {
		dst := make([]uint32, 0, 10)
		if n := testing.AllocsPerRun(100, func() {
			for pos := range uint32(v.Len()) {
				v.AppendParents(dst, pos)
			}
		}); n != 0 {
			t.Errorf("AppendParents allocates %v times", n)
		}
	})
}

// The seeds in testdata are files that git wrote.
func FuzzGraph(f *testing.F) {
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, a := range []oid.Algo{oid.SHA1, oid.SHA256} {
			l, err := newLayer(mmap.InMemory("graph", data), a, nil)
			if err != nil {
				continue
			}
			g := newGraph(a, []*layer{l})
			err = g.Do(func(v *View) error {
				for pos := range uint32(v.Len()) {
					id := v.ID(pos)
					v.Lookup(&id)
					v.Tree(pos)
					v.CommitTime(pos)
					v.Generation(pos)
					parents, err := v.AppendParents(nil, pos)
					if len(parents) > len(data) {
						t.Fatalf("%d parents", len(parents))
					}
					for _, p := range parents {
						if err == nil && int(p) >= v.Len() {
							t.Fatalf("parent %d of %d", p, v.Len())
						}
					}
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	})
}
