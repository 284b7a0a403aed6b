package revwalk

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gust/internal/gittest"
	"gust/internal/pure/oid"
	"gust/internal/store/odb"
)

// A history is a repository made by git fast-import whose commit i is mark i+1.
type history struct {
	env     *gittest.Env
	dir     string
	ids     []oid.ID
	parents [][]int
	algo    oid.Algo
}

// shape says what a random history is like.
type shape struct {
	commits  int
	merges   int // percent of commits with several parents
	octopus  int // percent of those with more than two
	roots    int // percent of commits without parents
	skew     int // percent of commits with a clock that is wrong by up to years
	window   int // how far back parents lie
	sameDate bool
	branches bool // parents are mostly tips, which makes long parallel lines
}

func newHistory(t testing.TB, env *gittest.Env, r *rand.Rand, s shape, algo oid.Algo) *history {
	t.Helper()
	h := &history{env: env, dir: "r", algo: algo}
	env.Run(t, ".", "init", "-q", "--object-format="+algo.String(), h.dir)
	var in strings.Builder
	tips := []int{}
	for i := range s.commits {
		var parents []int
		add := func(p int) {
			for _, q := range parents {
				if q == p {
					return
				}
			}
			parents = append(parents, p)
		}
		if i > 0 && r.IntN(100) >= s.roots {
			n := 1
			if r.IntN(100) < s.merges {
				n = 2
				if r.IntN(100) < s.octopus {
					n = 3 + r.IntN(5)
				}
			}
			for range n {
				if s.branches && len(tips) > 0 {
					k := r.IntN(len(tips))
					add(tips[k])
					continue
				}
				add(max(0, i-1-r.IntN(s.window)))
			}
		}
		h.parents = append(h.parents, parents)
		if s.branches {
			if k := r.IntN(8); k < len(tips) {
				tips[k] = i
			} else {
				tips = append(tips, i)
			}
		}
		date := 1_500_000_000 + 1000*i
		if s.sameDate {
			date = 1_500_000_000
		}
		if r.IntN(100) < s.skew {
			date = r.IntN(2_000_000_000)
		}
		fmt.Fprintf(&in, "commit refs/heads/b%d\nmark :%d\ncommitter C <c@x> %d +0000\ndata 1\nx\n", i, i+1, date)
		for k, p := range parents {
			verb := "merge"
			if k == 0 {
				verb = "from"
			}
			fmt.Fprintf(&in, "%s :%d\n", verb, p+1)
		}
		// A file of its own keeps commits with equal dates and parents apart.
		fmt.Fprintf(&in, "M 100644 inline f\ndata <<E\n%d\nE\n\n", i)
	}
	script := env.Path("import")
	if err := os.WriteFile(script, []byte(in.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	marks := env.Path("marks")
	env.Script(t, fmt.Sprintf("cd %s && git fast-import --quiet --export-marks=%s <%s", h.dir, marks, script))
	data, err := os.ReadFile(marks)
	if err != nil {
		t.Fatal(err)
	}
	h.ids = make([]oid.ID, s.commits)
	for line := range strings.Lines(string(data)) {
		var mark int
		var hex string
		if _, err := fmt.Sscanf(line, ":%d %s", &mark, &hex); err != nil {
			t.Fatal(err)
		}
		if h.ids[mark-1], err = oid.Parse(algo, hex); err != nil {
			t.Fatal(err)
		}
	}
	return h
}

func (h *history) open(t testing.TB) *odb.DB {
	t.Helper()
	db, err := odb.Open(odb.Options{ObjectDir: filepath.Join(h.env.Path(h.dir), ".git", "objects"), Algo: h.algo})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// git asks git.
func (h *history) git(t testing.TB, a, b oid.ID, config ...string) (ahead, behind int) {
	t.Helper()
	out := h.env.Run(t, h.dir, append(config, "rev-list", "--count", "--left-right", a.String()+"..."+b.String())...)
	if _, err := fmt.Sscan(out, &ahead, &behind); err != nil {
		t.Fatalf("git printed %q", out)
	}
	return ahead, behind
}

// truth counts by the parents that the test itself knows.
func (h *history) truth(a, b int) (ahead, behind int) {
	reach := func(from int) []bool {
		seen := make([]bool, len(h.ids))
		stack := []int{from}
		for len(stack) > 0 {
			i := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			if !seen[i] {
				seen[i] = true
				stack = append(stack, h.parents[i]...)
			}
		}
		return seen
	}
	x, y := reach(a), reach(b)
	for i := range x {
		if x[i] && !y[i] {
			ahead++
		}
		if y[i] && !x[i] {
			behind++
		}
	}
	return ahead, behind
}

var shapes = []struct {
	name string
	shape
}{
	{"line", shape{commits: 60, window: 1}},
	{"merges", shape{commits: 150, merges: 40, window: 6}},
	{"octopus", shape{commits: 150, merges: 50, octopus: 60, window: 12}},
	{"criss-cross", shape{commits: 150, merges: 90, window: 3}},
	{"roots", shape{commits: 150, merges: 30, roots: 10, window: 20}},
	{"skewed", shape{commits: 150, merges: 30, skew: 30, window: 8}},
	{"all-skewed", shape{commits: 150, merges: 40, octopus: 20, roots: 3, skew: 100, window: 10}},
	{"same-date", shape{commits: 120, merges: 40, window: 8, sameDate: true}},
	{"branches", shape{commits: 400, merges: 10, branches: true}},
	{"branches-skewed", shape{commits: 400, merges: 10, skew: 10, branches: true}},
}

// TestAheadBehind compares with the truth for many pairs, in every state of the
// commit-graph, and with git for some. Git may be wrong where clocks were; the
// truth then decides, and how often is logged.
func TestAheadBehind(t *testing.T) {
	newest := gittest.Newest(t)
	for _, g := range gittest.All(t) {
		t.Run(g.String(), func(t *testing.T) {
			for n, s := range shapes {
				for k, algo := range []oid.Algo{oid.SHA1, oid.SHA256} {
					// Formats and histories vary each for themselves.
					if algo == oid.SHA256 && n%4 != 0 || g != newest && n%2 == 0 {
						continue
					}
					t.Run(s.name+"-"+algo.String(), func(t *testing.T) {
						r := rand.New(rand.NewPCG(uint64(n), uint64(k)))
						h := newHistory(t, newEnv(t, g), r, s.shape, algo)
						testStates(t, h, r)
					})
				}
			}
		})
	}
}

// graphStates write commit-graphs of every kind over a history.
var graphStates = []struct {
	name, script string
}{
	{"none", "true"},
	{"part", "git rev-parse b20 b7 | git commit-graph write --stdin-commits"},
	{"level", "rm .git/objects/info/commit-graph; git -c commitGraph.generationVersion=1 commit-graph write --reachable"},
	{"corrected", "rm .git/objects/info/commit-graph; git commit-graph write --reachable"},
	{"bloom", "rm .git/objects/info/commit-graph; git commit-graph write --reachable --changed-paths"},
	{"chain", `rm .git/objects/info/commit-graph
		for b in b9 b30 b50 b33; do git rev-parse $b | git commit-graph write --stdin-commits --split=no-merge; done`},
	{"mixed-chain", `rm -r .git/objects/info/commit-graphs
		for b in b9 b30; do git rev-parse $b | git -c commitGraph.generationVersion=1 commit-graph write --stdin-commits --split=no-merge; done
		for b in b50 b33; do git rev-parse $b | git commit-graph write --stdin-commits --split=no-merge; done`},
}

func testStates(t *testing.T, h *history, r *rand.Rand) {
	db := h.open(t)
	hot := New(db, Options{})
	plain := New(db, Options{NoGraph: true})
	check := func(name string, w *Walker, a, b, ahead, behind int) {
		t.Helper()
		x, y, err := w.AheadBehind(context.Background(), h.ids[a], h.ids[b])
		if err != nil || x != ahead || y != behind {
			t.Fatalf("%s: AheadBehind(%d, %d) = %d, %d, error %v; want %d, %d", name, a, b, x, y, err, ahead, behind)
		}
	}
	gitWrong := 0
	for _, s := range graphStates {
		h.env.Script(t, "cd r\n"+s.script)
		g, err := db.CommitGraph()
		if err != nil || (g == nil) != (s.name == "none") {
			t.Fatalf("%s: CommitGraph() = %v, %v", s.name, g, err)
		}
		for i := range 40 {
			a, b := r.IntN(len(h.ids)), r.IntN(len(h.ids))
			ahead, behind := h.truth(a, b)
			check(s.name+"-hot", hot, a, b, ahead, behind)
			check(s.name+"-plain", plain, a, b, ahead, behind)
			check(s.name+"-cold", New(db, Options{}), a, b, ahead, behind)
			if i < 3 {
				x, y := h.git(t, h.ids[a], h.ids[b])
				if x != ahead || y != behind {
					gitWrong++
				}
			}
		}
	}
	if gitWrong > 0 {
		t.Logf("git was wrong %d times", gitWrong)
		if !strings.Contains(t.Name(), "skewed") {
			t.Errorf("git differs from the truth where clocks were right")
		}
	}
}

func TestAheadBehindErrors(t *testing.T) {
	env := newEnv(t, gittest.System(t))
	h := newHistory(t, env, rand.New(rand.NewPCG(5, 5)), shape{commits: 10, window: 1}, oid.SHA1)
	db := h.open(t)
	w := New(db, Options{})
	absent := oid.Hash(oid.SHA1, "blob", []byte("absent"))
	ctx := context.Background()
	if _, _, err := w.AheadBehind(ctx, h.ids[3], absent); !errors.Is(err, odb.ErrNotFound) {
		t.Errorf("absent commit: %v, want ErrNotFound", err)
	}
	tree, err := oid.Parse(oid.SHA1, strings.TrimSpace(env.Run(t, "r", "rev-parse", "b3^{tree}")))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := w.AheadBehind(ctx, h.ids[3], tree); err == nil {
		t.Error("a tree was taken for a commit")
	}
	env.Script(t, "cd r; git tag -a -m x t b5; git tag -a -m x tt t 2>/dev/null")
	tag, err := oid.Parse(oid.SHA1, strings.TrimSpace(env.Run(t, "r", "rev-parse", "tt")))
	if err != nil {
		t.Fatal(err)
	}
	if x, y, err := w.AheadBehind(ctx, tag, h.ids[3]); x != 2 || y != 0 || err != nil {
		t.Errorf("tag: %d, %d, %v, want 2, 0", x, y, err)
	}
	canceled, cancel := context.WithCancel(ctx)
	cancel()
	// Small walks may end before they look.
	if _, _, err := w.AheadBehind(canceled, h.ids[3], h.ids[5]); err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	if x, y, err := w.AheadBehind(ctx, absent, absent); x != 0 || y != 0 || err != nil {
		t.Errorf("equal IDs: %d, %d, %v", x, y, err)
	}
}

// newEnv returns an Env whose git does not wait for the disk.
func newEnv(t testing.TB, g gittest.Git) *gittest.Env {
	t.Helper()
	env := gittest.New(t, g)
	env.Run(t, ".", "config", "--global", "core.fsync", "none")
	return env
}
