package odb

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gust/internal/gittest"
	"gust/internal/pure/object"
	"gust/internal/pure/oid"
)

// content is an object as git gives it.
type content struct {
	typ  object.Type
	data []byte
}

// all returns every object in the repository dir, by git cat-file --batch.
func all(t testing.TB, env *gittest.Env, dir string, algo oid.Algo) map[oid.ID]content {
	t.Helper()
	out := []byte(env.Run(t, dir, "cat-file", "--batch-all-objects", "--batch"))
	objects := make(map[oid.ID]content)
	for len(out) > 0 {
		head, rest, _ := bytes.Cut(out, []byte("\n"))
		var hex, name string
		var size int
		if _, err := fmt.Sscan(string(head), &hex, &name, &size); err != nil {
			t.Fatalf("git cat-file printed %q", head)
		}
		id, err := oid.Parse(algo, hex)
		if err != nil {
			t.Fatal(err)
		}
		typ, ok := object.ParseType(name)
		if !ok {
			t.Fatalf("type %q", name)
		}
		objects[id] = content{typ, rest[:size]}
		out = rest[size+1:]
	}
	return objects
}

func open(t testing.TB, o Options) *DB {
	t.Helper()
	db, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// fill writes the script of a repository with objects of many sizes, of which
// many make good deltas.
const fill = `
i=0
while [ $i -lt 12 ]; do
	seq 1 $((i * 200 + 50)) >big
	seq $((i * 3)) $((i * 40)) >mid$i
	echo $i >small$i
	: >empty
	mkdir -p d/e/f$i
	seq 1 $((i % 4 * 1000)) >d/e/f$i/x
	head -c $((i * 5000)) /dev/urandom >noise
	git add .
	git commit -qm "commit $i

$(seq 1 $i)"
	git tag -a -m "tag $i" t$i
	i=$((i + 1))
done
git tag -a -m outer outer t3
`

// layouts store the objects of fill in every way there is.
var layouts = []struct {
	name, script string
	newest       bool // only the newest git can
}{
	{"loose", "true", false},
	{"packed", "git repack -adfq --depth=30 --window=20", false},
	{"ref-deltas", "git -c repack.useDeltaBaseOffset=false repack -adfq", false},
	{"index-v1", "git -c pack.indexVersion=1 repack -adfq", false},
	{"large-offsets", `git repack -adfq; cd .git/objects/pack; p=$(ls *.pack); chmod +w *
		git index-pack --index-version=2,0x200 -o ${p%.pack}.idx $p >/dev/null`, false},
	{"many-packs", `for i in 1 4 8; do git rev-list --objects t$i | git pack-objects -q .git/objects/pack/pack >/dev/null; done`, false},
	{"uncompressed", "git -c core.compression=0 repack -adFq", false},
	{"midx", `for i in 1 4 8; do git rev-list --objects t$i | git pack-objects -q .git/objects/pack/pack >/dev/null; done
		git multi-pack-index write; git rev-list --objects t11 | git pack-objects -q .git/objects/pack/pack >/dev/null; git prune-packed -q`, false},
	{"midx-large-offsets", `git repack -adfq; cd .git/objects/pack; p=$(ls *.pack); chmod +w *
		git index-pack --index-version=2,0x200 -o ${p%.pack}.idx $p >/dev/null; git multi-pack-index write`, false},
	{"midx-chain", `prev=
		for i in 1 4 8 11; do git rev-list --objects t$i $prev | git pack-objects -q .git/objects/pack/pack >/dev/null
			git multi-pack-index write --incremental; prev="$prev ^t$i"; done
		test $(wc -l <.git/objects/pack/multi-pack-index.d/multi-pack-index-chain) -ge 2; git prune-packed -q`, true},
	{"midx-v2", "git repack -adfq; git -c midx.version=2 multi-pack-index write", true},
}

func TestLayouts(t *testing.T) {
	for _, g := range gittest.All(t) {
		for _, algo := range []oid.Algo{oid.SHA1, oid.SHA256} {
			t.Run(g.String()+"-"+algo.String(), func(t *testing.T) {
				t.Parallel()
				env := newEnv(t, g)
				env.Run(t, ".", "init", "-q", "--object-format="+algo.String(), "filled")
				env.Script(t, "cd filled; "+fill)
				for _, l := range layouts {
					if l.newest && !g.AtLeast(2, 51) {
						continue
					}
					t.Run(l.name, func(t *testing.T) {
						env.Script(t, fmt.Sprintf("cp -r filled %s; cd %s\n%s", l.name, l.name, l.script))
						checkAll(t, env, l.name, algo)
					})
				}
			})
		}
	}
}

// checkAll reads all objects of the repository dir in every way and compares
// them with git's.
func checkAll(t *testing.T, env *gittest.Env, dir string, algo oid.Algo) {
	t.Helper()
	objects := all(t, env, dir, algo)
	if len(objects) < 100 {
		t.Fatalf("only %d objects", len(objects))
	}
	peeled := peelAll(t, env, dir, algo, objects)
	r := rand.New(rand.NewPCG(1, 1))
	for _, o := range []Options{{}, {Plain: true}, {CacheSize: -1}, {CacheSize: 10_000}} {
		o.ObjectDir, o.Algo = filepath.Join(env.Path(dir), ".git", "objects"), algo
		db := open(t, o)
		for id, want := range objects {
			typ, got, err := db.Read(id, []byte("before"))
			if err != nil || typ != want.typ || string(got) != "before"+string(want.data) {
				t.Fatalf("Read(%s) = %v, %d bytes, %v; want %v, %d bytes", id, typ, len(got), err, want.typ, len(want.data))
			}
			typ, size, err := db.Stat(id)
			if err != nil || typ != want.typ || size != int64(len(want.data)) {
				t.Fatalf("Stat(%s) = %v, %d, %v; want %v, %d", id, typ, size, err, want.typ, len(want.data))
			}
			for _, n := range []int{0, 1, 40, r.IntN(len(want.data) + 10), len(want.data), len(want.data) + 1} {
				typ, size, got, err := db.ReadPart(id, []byte("x"), n)
				if err != nil || typ != want.typ || size != int64(len(want.data)) || string(got) != "x"+string(want.data[:min(n, len(want.data))]) {
					t.Fatalf("ReadPart(%s, %d) = %v, %d, %d bytes, %v; want %v, %d", id, n, typ, size, len(got), err, want.typ, len(want.data))
				}
			}
		}
		for id, want := range peeled {
			if got, err := db.Peel(id); got != want || err != nil {
				t.Fatalf("Peel(%s) = %s, %v; want %s", id, got, err, want)
			}
		}
		absent := oid.Hash(algo, "blob", []byte("absent"))
		wantNotFound(t, db, absent)
	}
}

// peelAll returns what each object peels to, by git.
func peelAll(t *testing.T, env *gittest.Env, dir string, algo oid.Algo, objects map[oid.ID]content) map[oid.ID]oid.ID {
	t.Helper()
	var in strings.Builder
	ids := make([]oid.ID, 0, len(objects))
	for id := range objects {
		ids = append(ids, id)
		fmt.Fprintf(&in, "%s^{}\n", id)
	}
	cmd := env.Command(dir, "cat-file", "--batch-check=%(objectname)")
	cmd.Stdin = strings.NewReader(in.String())
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	peeled := make(map[oid.ID]oid.ID)
	for i, hex := range strings.Fields(string(out)) {
		if peeled[ids[i]], err = oid.Parse(algo, hex); err != nil {
			t.Fatal(err)
		}
	}
	return peeled
}

func wantNotFound(t testing.TB, db *DB, id oid.ID) {
	t.Helper()
	_, _, err := db.Read(id, nil)
	if !notFound(err) || !strings.Contains(err.Error(), id.String()) {
		t.Errorf("Read(%s) error %v, want ErrNotFound", id, err)
	}
	if _, _, err := db.Stat(id); !notFound(err) {
		t.Errorf("Stat(%s) error %v, want ErrNotFound", id, err)
	}
}

// Git knows the empty tree without storing it, and nothing else.
func TestEmptyTree(t *testing.T) {
	for _, g := range gittest.All(t) {
		env := newEnv(t, g)
		env.Run(t, ".", "init", "-q", "r")
		db := open(t, Options{ObjectDir: env.Path("r/.git/objects")})
		for _, name := range []string{"tree", "blob"} {
			id := oid.Hash(oid.SHA1, name, nil)
			gitErr := env.Command("r", "cat-file", "-e", id.String()).Run()
			typ, got, err := db.Read(id, nil)
			if (err == nil) != (gitErr == nil) || len(got) > 0 {
				t.Errorf("%v: empty %s: %v, %q, error %v; git: %v", g, name, typ, got, err, gitErr)
			}
		}
	}
}

func TestReplacements(t *testing.T) {
	g := gittest.System(t)
	env := newEnv(t, g)
	env.Run(t, ".", "init", "-q", "r")
	put := func(s string) oid.ID {
		cmd := env.Command("r", "hash-object", "-w", "--stdin")
		cmd.Stdin = strings.NewReader(s)
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		id, _ := oid.Parse(oid.SHA1, strings.TrimSpace(string(out)))
		return id
	}
	db := open(t, Options{ObjectDir: env.Path("r/.git/objects")})
	var ids []oid.ID
	for i := range 9 {
		ids = append(ids, put(fmt.Sprint("blob ", i)))
	}
	m := make(map[oid.ID]oid.ID)
	for i := range 8 {
		m[ids[i]] = ids[i+1]
		env.Run(t, "r", "update-ref", "refs/replace/"+ids[i].String(), ids[i+1].String())
	}
	db.SetReplacements(m)
	for _, id := range ids {
		want, gitErr := env.Command("r", "cat-file", "blob", id.String()).Output()
		_, got, err := db.Read(id, nil)
		if (err == nil) != (gitErr == nil) || err == nil && !bytes.Equal(got, want) {
			t.Errorf("replaced %s: %q, %v; git: %q, %v", id, got, err, want, gitErr)
		}
	}
	v := db.ReplacementsVersion()
	db.SetReplacements(nil)
	if db.Replaced() || db.ReplacementsVersion() == v {
		t.Error("replacements were not withdrawn")
	}
	if _, got, err := db.Read(ids[0], nil); string(got) != "blob 0" || err != nil {
		t.Errorf("without replacements: %q, %v", got, err)
	}
}

func TestAlternates(t *testing.T) {
	for _, g := range gittest.All(t) {
		t.Run(g.String(), func(t *testing.T) { testAlternates(t, g) })
	}
}

func testAlternates(t *testing.T, g gittest.Git) {
	env := newEnv(t, g)
	env.Script(t, `
		for r in main abs rel nested nestedrel env quoted spaced loop deep1 deep2 deep3 deep4 deep5 deep6 deep7 deep8 'odd"name'; do
			git init -q --bare "$r"; printf %s "$r" | git --git-dir="$r" hash-object -w --stdin >/dev/null
		done
		mkdir sub; git init -q --bare sub/x; printf x | git --git-dir=sub/x hash-object -w --stdin >/dev/null
		cat >main/objects/info/alternates <<E
# comment
`+"$D/abs/objects\n../../rel/objects\n$D/absent/objects\n\n\"$D/quoted/objects\"\n\"$D/odd\\\\\"name/objects\"\n$D/spaced/objects \n$D/deep1/objects"+`
E
		echo "$D/nested/objects" >abs/objects/info/alternates
		echo ../../nestedrel/objects >rel/objects/info/alternates
		printf '%s\n%s\n' "$D/main/objects" "$D/loop/objects" >nested/objects/info/alternates
		echo "$D/abs/objects" >loop/objects/info/alternates
		for i in 1 2 3 4 5 6 7; do echo "$D/deep$((i+1))/objects" >deep$i/objects/info/alternates; done
	`)
	var envDirs []string
	for _, withEnv := range []bool{false, true} {
		if withEnv {
			value := env.Path("env/objects") + ":" + env.Path("sub/x/objects")
			env.Setenv("GIT_ALTERNATE_OBJECT_DIRECTORIES", value)
			envDirs = SplitAlternates(value, ':')
		}
		db := open(t, Options{ObjectDir: env.Path("main/objects"), Alternates: envDirs})
		for _, name := range []string{"main", "abs", "rel", "nested", "nestedrel", "env", "quoted", "spaced", "loop", `odd"name`, "x",
			"deep1", "deep2", "deep3", "deep4", "deep5", "deep6", "deep7", "deep8"} {
			id := oid.Hash(oid.SHA1, "blob", []byte(name))
			gitErr := env.Command(".", "--git-dir=main", "cat-file", "-e", id.String()).Run()
			_, got, err := db.Read(id, nil)
			if (err == nil) != (gitErr == nil) || err == nil && string(got) != name {
				t.Errorf("env %v: object in %s: %q, %v; git: %v", withEnv, name, got, err, gitErr)
			}
		}
	}
	// Alternates that are added later are found.
	db := open(t, Options{ObjectDir: env.Path("main/objects")})
	env.Script(t, `git init -q --bare late; printf late | git --git-dir=late hash-object -w --stdin >/dev/null`)
	id := oid.Hash(oid.SHA1, "blob", []byte("late"))
	wantNotFound(t, db, id)
	env.Script(t, `echo "$D/late/objects" >>main/objects/info/alternates`)
	if _, _, err := db.Read(id, nil); err != nil {
		t.Errorf("object in an alternate added later: %v", err)
	}
}

func TestSplitAlternates(t *testing.T) {
	env := newEnv(t, gittest.System(t))
	for i, value := range []string{"a", "a:b", ":a::b:", `"a":b`, `"a:b":c`, `"a\"b"`, `"a\142"`, `"unterminated:b`, `"a"b:c`, `"":a`, ""} {
		got := SplitAlternates(value, ':')
		for n, name := range got {
			if name == "" {
				continue
			}
			// Git finds the object in the directory of that name.
			dir := fmt.Sprintf("%d-%d", i, n)
			env.Script(t, fmt.Sprintf("git init -q --bare %s", dir))
			cmd := env.Command(dir, "hash-object", "-w", "--stdin")
			cmd.Stdin = strings.NewReader(dir)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			top := t.TempDir()
			if err := os.Symlink(env.Path(dir+"/objects"), filepath.Join(top, name)); err != nil {
				t.Fatal(err)
			}
			env.Run(t, top, "init", "-q", ".")
			cmd = env.Command(top, "cat-file", "-e", oid.Hash(oid.SHA1, "blob", []byte(dir)).String())
			cmd.Env = append(cmd.Env, "GIT_ALTERNATE_OBJECT_DIRECTORIES="+value)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("SplitAlternates(%q) has %q, where git finds nothing: %s", value, name, out)
			}
		}
	}
	if got := SplitAlternates(`"a:b":c`, ':'); len(got) != 2 || got[0] != "a:b" || got[1] != "c" {
		t.Errorf("quoted separator: %q", got)
	}
}

// The limit is on what is read, not on what is there.
func TestMaxObject(t *testing.T) {
	env := newEnv(t, gittest.System(t))
	env.Run(t, ".", "init", "-q", "r")
	db := open(t, Options{ObjectDir: env.Path("r/.git/objects"), MaxObject: 1000})
	put := func(n int) oid.ID {
		data := bytes.Repeat([]byte("x"), n)
		cmd := env.Command("r", "hash-object", "-w", "--stdin")
		cmd.Stdin = bytes.NewReader(data)
		if _, err := cmd.Output(); err != nil {
			t.Fatal(err)
		}
		return oid.Hash(oid.SHA1, "blob", data)
	}
	small, large := put(1000), put(1001)
	for _, pack := range []bool{false, true} {
		if pack {
			env.Script(t, "cd r; printf '%s\n' "+small.String()+" "+large.String()+" | git pack-objects -q --window=0 .git/objects/pack/pack; git prune-packed")
		}
		if _, _, err := db.Read(small, nil); err != nil {
			t.Errorf("packed %v: %v", pack, err)
		}
		if _, _, err := db.Read(large, nil); !tooLargeErr(err) {
			t.Errorf("packed %v: %v, want ErrTooLarge", pack, err)
		}
		if _, data, err := db.ReadHead(large, nil, 1000); len(data) != 1000 || err != nil {
			t.Errorf("packed %v: head of %d bytes, %v", pack, len(data), err)
		}
	}
}

func notFound(err error) bool    { return errors.Is(err, ErrNotFound) }
func tooLargeErr(err error) bool { return errors.Is(err, ErrTooLarge) }

// newEnv returns an Env whose git does not wait for the disk.
func newEnv(t testing.TB, g gittest.Git) *gittest.Env {
	t.Helper()
	env := gittest.New(t, g)
	env.Run(t, ".", "config", "--global", "core.fsync", "none")
	return env
}
