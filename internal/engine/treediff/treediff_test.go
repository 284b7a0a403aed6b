package treediff

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"gust/internal/format/index"
	"gust/internal/gittest"
	"gust/internal/pure/object"
	"gust/internal/pure/oid"
	"gust/internal/store/odb"
)

// A rig is a repository with its objects.
type rig struct {
	env *gittest.Env
	db  *odb.DB
}

func newRig(t *testing.T, g gittest.Git) *rig {
	t.Helper()
	e := gittest.New(t, g)
	e.Run(t, e.Dir, "init", "-q", "r")
	db, err := odb.Open(odb.Options{ObjectDir: e.Path("r/.git/objects")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return &rig{e, db}
}

func (r *rig) git(t *testing.T, args ...string) string {
	t.Helper()
	return r.env.Run(t, r.env.Path("r"), args...)
}

// head returns HEAD's tree; null on an unborn branch.
func (r *rig) head(t *testing.T) oid.ID {
	t.Helper()
	out, err := r.env.TryScript("cd r; git rev-parse -q --verify HEAD^{tree}")
	if err != nil {
		return oid.Null(oid.SHA1)
	}
	id, err := oid.Parse(oid.SHA1, strings.TrimSpace(out))
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func (r *rig) index(t *testing.T) *index.Index {
	t.Helper()
	ix, err := index.Read(r.env.Path("r/.git/index"), r.env.Path("r/.git"), oid.SHA1)
	if err != nil {
		t.Fatal(err)
	}
	return ix
}

// want asks git diff-index what differs.
func (r *rig) want(t *testing.T, head oid.ID) Counts {
	t.Helper()
	tree := head.String()
	if head.IsNull() {
		tree = oid.Hash(oid.SHA1, "tree", nil).String()
		r.git(t, "hash-object", "-w", "-t", "tree", "/dev/null")
	}
	var c Counts
	out := r.git(t, "diff-index", "--cached", "--no-renames", "--ita-invisible-in-index", "-z", tree)
	for line := range strings.SplitSeq(out, "\x00") {
		if !strings.HasPrefix(line, ":") {
			continue
		}
		switch line[len(line)-1] {
		case 'U':
			continue
		case 'A':
			c.New++
		case 'D':
			c.Deleted++
		}
		c.Changed++
	}
	return c
}

func TestIndexAsGit(t *testing.T) {
	for _, g := range gittest.All(t) {
		for seed := range uint64(6) {
			t.Run(fmt.Sprint(g, "/seed-", seed), func(t *testing.T) { play(t, newRig(t, g), rand.New(rand.NewPCG(seed, 2))) })
		}
	}
}

// play compares after each of some random changes of the index.
func play(t *testing.T, r *rig, rnd *rand.Rand) {
	names := []string{"a", "a.b", "a/x", "a/y/z", "a-b/x", "b/c/d", "b/c.d", "z"}
	for range 25 {
		name := names[rnd.IntN(len(names))]
		script := ""
		switch rnd.IntN(8) {
		case 0, 1:
			script = fmt.Sprintf("b=$(echo %d | git hash-object -w --stdin); git update-index --add --replace --cacheinfo 100644,$b,%s", rnd.IntN(4), name)
		case 2:
			script = fmt.Sprintf("b=$(echo %d | git hash-object -w --stdin); git update-index --add --replace --cacheinfo %d,$b,%s", rnd.IntN(4), []int{100755, 120000}[rnd.IntN(2)], name)
		case 3:
			script = "git rm -q -r --cached " + name
		case 4, 5:
			script = "git commit -qm x"
		case 6:
			script = fmt.Sprintf("rm -rf %s; mkdir -p $(dirname %s); echo x >%s; git add -N %s", name, name, name, name)
		case 7:
			script = fmt.Sprintf("b=$(echo %d | git hash-object -w --stdin); printf '0 %%040d\\t%s\\n100644 %%s 2\\t%s\\n100644 %%s 3\\t%s\\n' 0 $b $b | git update-index --index-info", rnd.IntN(4), name, name, name)
		}
		r.env.TryScript("cd r; " + script)
		head := r.head(t)
		got, err := Index(context.Background(), r.db, head, r.index(t), Options{})
		if err != nil {
			t.Fatalf("after %q: %v", script, err)
		}
		if want := r.want(t, head); got != want {
			t.Fatalf("after %q: %+v, git says %+v\n%s", script, got, want, r.git(t, "ls-files", "-s"))
		}
	}
}

// A directory whose cache tree agrees is not read.
func TestIndexPrunes(t *testing.T) {
	r := newRig(t, gittest.System(t))
	r.env.Script(t, "cd r; mkdir -p a/b c; touch a/b/1 c/2 3; git add .; git commit -qm 1; echo x >c/2; git add c/2")
	reads := &counting{db: r.db}
	got, err := Index(context.Background(), reads, r.head(t), r.index(t), Options{})
	if err != nil || got != (Counts{Changed: 1}) {
		t.Fatalf("%+v, %v", got, err)
	}
	if reads.n != 2 { // the root and c
		t.Errorf("%d trees read, want 2", reads.n)
	}
}

type counting struct {
	db *odb.DB
	n  int
}

func (c *counting) Read(id oid.ID, dst []byte) (object.Type, []byte, error) {
	c.n++
	return c.db.Read(id, dst)
}

func TestIndexLimit(t *testing.T) {
	r := newRig(t, gittest.System(t))
	r.env.Script(t, "cd r; touch a b c d; git add .")
	for _, limit := range []int{1, 3, 4, 9} {
		got, err := Index(context.Background(), r.db, oid.Null(oid.SHA1), r.index(t), Options{Limit: limit})
		if n := min(limit, 4); err != nil || got != (Counts{Changed: n, New: n}) {
			t.Errorf("limit %d: %+v, %v", limit, got, err)
		}
	}
}

func TestIndexMissingTree(t *testing.T) {
	r := newRig(t, gittest.System(t))
	r.env.Script(t, "cd r; mkdir d; touch d/f; git add .; git commit -qm 1; t=$(git rev-parse HEAD:d); echo x >d/f; git add .; rm .git/objects/$(echo $t | cut -c1-2)/$(echo $t | cut -c3-)")
	if got, err := Index(context.Background(), r.db, r.head(t), r.index(t), Options{}); err == nil {
		t.Errorf("a missing tree goes unnoticed: %+v", got)
	}
}
