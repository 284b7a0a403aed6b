package revwalk

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"gust/internal/gittest"
	"gust/internal/pure/oid"
	"gust/internal/store/odb"
)

// compare asks git and the walkers about random pairs of ids.
func compare(t *testing.T, h *history, r *rand.Rand, db *odb.DB, o Options, ids []oid.ID) {
	t.Helper()
	hot := New(db, o)
	for range 12 {
		a, b := ids[r.IntN(len(ids))], ids[r.IntN(len(ids))]
		ahead, behind := h.git(t, a, b)
		for name, w := range map[string]*Walker{"hot": hot, "cold": New(db, o)} {
			x, y, err := w.AheadBehind(context.Background(), a, b)
			if err != nil || x != ahead || y != behind {
				t.Fatalf("%s: AheadBehind(%s, %s) = %d, %d, error %v; git says %d, %d", name, a, b, x, y, err, ahead, behind)
			}
		}
	}
}

// reachable returns the commits that git reaches in the repository dir.
func reachable(t *testing.T, env *gittest.Env, dir string) []oid.ID {
	t.Helper()
	var ids []oid.ID
	for _, hex := range strings.Fields(env.Run(t, dir, "rev-list", "--all")) {
		id, err := oid.Parse(oid.SHA1, hex)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	return ids
}

var overrideShape = shape{commits: 100, merges: 30, window: 6, skew: 5}

func TestShallow(t *testing.T) {
	for _, g := range gittest.All(t) {
		for n, depth := range []int{1, 3, 10} {
			t.Run(fmt.Sprintf("%s-%d", g, depth), func(t *testing.T) {
				r := rand.New(rand.NewPCG(uint64(n), 7))
				env := newEnv(t, g)
				h := newHistory(t, env, r, overrideShape, oid.SHA1)
				env.Script(t, `cd r; git commit-graph write --reachable
					git for-each-ref --format='delete %(refname)' | grep -v -e b99 -e b95 -e b70 | git update-ref --stdin`)
				env.Script(t, fmt.Sprintf("git clone -q --no-single-branch --depth=%d file://$D/r c; git --git-dir=c/.git commit-graph write --reachable 2>/dev/null || true", depth))
				h.dir = "c"
				overrides := make(map[oid.ID][]oid.ID)
				data, err := os.ReadFile(env.Path("c/.git/shallow"))
				if err != nil {
					t.Fatal(err)
				}
				for _, hex := range strings.Fields(string(data)) {
					id, err := oid.Parse(oid.SHA1, hex)
					if err != nil {
						t.Fatal(err)
					}
					overrides[id] = nil
				}
				compare(t, h, r, h.open(t), Options{Overrides: overrides}, reachable(t, env, "c"))
			})
		}
	}
}

func TestGrafts(t *testing.T) {
	for n, g := range gittest.All(t) {
		t.Run(g.String(), func(t *testing.T) {
			r := rand.New(rand.NewPCG(uint64(n), 8))
			env := newEnv(t, g)
			h := newHistory(t, env, r, overrideShape, oid.SHA1)
			env.Run(t, "r", "commit-graph", "write", "--reachable")
			db := h.open(t)
			var lines strings.Builder
			overrides := make(map[oid.ID][]oid.ID)
			for i := 0; i < len(h.ids); i += 7 {
				parents := []oid.ID{}
				fmt.Fprint(&lines, h.ids[i])
				for range r.IntN(3) {
					if i > 0 {
						p := h.ids[r.IntN(i)]
						parents = append(parents, p)
						fmt.Fprint(&lines, " ", p)
					}
				}
				lines.WriteByte('\n')
				overrides[h.ids[i]] = parents
			}
			if err := os.WriteFile(env.Path("r/.git/info/grafts"), []byte(lines.String()), 0o666); err != nil {
				t.Fatal(err)
			}
			compare(t, h, r, db, Options{Overrides: overrides}, h.ids)
		})
	}
}

// Replaced commits have the parents of their replacements, and the walker notices
// when replacements change.
func TestReplaced(t *testing.T) {
	for n, g := range gittest.All(t) {
		t.Run(g.String(), func(t *testing.T) {
			r := rand.New(rand.NewPCG(uint64(n), 9))
			env := newEnv(t, g)
			h := newHistory(t, env, r, overrideShape, oid.SHA1)
			env.Run(t, "r", "commit-graph", "write", "--reachable")
			db := h.open(t)
			w := New(db, Options{})
			for round := range 3 {
				for range 5 {
					i := 1 + r.IntN(len(h.ids)-1)
					args := []string{"replace", "-f", "--graft", h.ids[i].String()}
					for range r.IntN(3) {
						args = append(args, h.ids[r.IntN(i)].String())
					}
					// Git refuses to replace a commit by itself.
					_ = env.Command("r", args...).Run()
				}
				if round == 2 {
					env.Script(t, "cd r; git replace -d $(git replace -l) >/dev/null")
				}
				m := make(map[oid.ID]oid.ID)
				fields := strings.Fields(env.Run(t, "r", "for-each-ref", "--format=%(refname:lstrip=2) %(objectname)", "refs/replace/"))
				for k := 0; k < len(fields); k += 2 {
					from, err1 := oid.Parse(oid.SHA1, fields[k])
					to, err2 := oid.Parse(oid.SHA1, fields[k+1])
					if err1 != nil || err2 != nil {
						t.Fatal(fields)
					}
					m[from] = to
				}
				if (len(m) == 0) != (round == 2) {
					t.Fatalf("round %d: %d replacements", round, len(m))
				}
				db.SetReplacements(m)
				compare(t, h, r, db, Options{}, h.ids)
				for range 10 {
					a, b := h.ids[r.IntN(len(h.ids))], h.ids[r.IntN(len(h.ids))]
					ahead, behind := h.git(t, a, b)
					if x, y, err := w.AheadBehind(context.Background(), a, b); err != nil || x != ahead || y != behind {
						t.Fatalf("round %d: AheadBehind = %d, %d, %v; git says %d, %d", round, x, y, err, ahead, behind)
					}
				}
			}
		})
	}
}

// A graph that is broken, or broken in a way that shows late, is not used.
func TestBrokenGraph(t *testing.T) {
	env := newEnv(t, gittest.System(t))
	r := rand.New(rand.NewPCG(1, 10))
	h := newHistory(t, env, r, shape{commits: 80, merges: 40, octopus: 40, window: 6}, oid.SHA1)
	env.Script(t, "cd r; git commit-graph write --reachable; chmod u+w .git/objects/info/*")
	path := env.Path("r/.git/objects/info/commit-graph")
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// What cannot be noticed are changes that make another valid graph: leave IDs,
	// and parents that are valid, alone.
	start := len(good)
	for i := 8; i < 8+7*12; i += 12 {
		if string(good[i:i+4]) == "CDAT" {
			start = int(good[i+10])<<8 | int(good[i+11])
		}
	}
	for range 300 {
		bad := append([]byte(nil), good...)
		row := start + r.IntN(len(h.ids))*36 + 20
		switch r.IntN(3) {
		case 0: // a parent that is none
			bad[row] = 0x10
		case 1: // edges that are none
			bad[row+4], bad[row+5] = 0x80, 0xff
		case 2:
			bad = bad[:r.IntN(len(bad))]
		}
		if err := os.WriteFile(path+"~", bad, 0o666); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path+"~", path); err != nil {
			t.Fatal(err)
		}
		db := h.open(t)
		a, b := r.IntN(len(h.ids)), r.IntN(len(h.ids))
		ahead, behind := h.truth(a, b)
		x, y, err := New(db, Options{}).AheadBehind(context.Background(), h.ids[a], h.ids[b])
		if err != nil || x != ahead || y != behind {
			t.Fatalf("AheadBehind(%d, %d) = %d, %d, %v; want %d, %d", a, b, x, y, err, ahead, behind)
		}
	}
}

// A Walker serves several callers, and forgets what exceeds its bound.
func TestConcurrent(t *testing.T) {
	env := newEnv(t, gittest.System(t))
	h := newHistory(t, env, rand.New(rand.NewPCG(1, 11)), shape{commits: 100, merges: 30, window: 6}, oid.SHA1)
	w := New(h.open(t), Options{})
	done := make(chan error)
	for n := range 4 {
		go func() {
			r := rand.New(rand.NewPCG(uint64(n), 12))
			for range 50 {
				a, b := r.IntN(len(h.ids)), r.IntN(len(h.ids))
				ahead, behind := h.truth(a, b)
				x, y, err := w.AheadBehind(context.Background(), h.ids[a], h.ids[b])
				if err != nil || x != ahead || y != behind {
					done <- fmt.Errorf("AheadBehind(%d, %d) = %d, %d, %v; want %d, %d", a, b, x, y, err, ahead, behind)
					return
				}
			}
			done <- nil
		}()
	}
	for range 4 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

func BenchmarkAheadBehind(b *testing.B) {
	for _, graph := range []bool{false, true} {
		b.Run(fmt.Sprintf("graph-%v", graph), func(b *testing.B) {
			env := newEnv(b, gittest.System(b))
			h := newHistory(b, env, rand.New(rand.NewPCG(1, 13)), shape{commits: 5000, merges: 25, branches: true}, oid.SHA1)
			env.Script(b, "cd r; git repack -adq")
			if graph {
				env.Run(b, "r", "commit-graph", "write", "--reachable")
			}
			db := h.open(b)
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := New(db, Options{}).AheadBehind(context.Background(), h.ids[4999], h.ids[100]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
