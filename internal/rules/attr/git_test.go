package attr

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"

	"gust/internal/gittest"
)

// A tree is a throwaway working tree with attribute files.
type tree struct {
	*gittest.Tree
	global []byte
	info   []byte
	files  map[string][]byte // by directory, "" for the root
	o      Options
}

func newTree(t *testing.T, global, info []byte) *tree {
	t.Helper()
	r := &tree{Tree: gittest.NewTree(t), files: map[string][]byte{}, global: global, info: info}
	r.Env.Setenv("XDG_CONFIG_HOME", r.Env.Path("xdg"))
	r.Write("../xdg/git/attributes", global)
	r.Write(".git/info/attributes", info)
	return r
}

// attributes makes data the attribute file of dir.
func (r *tree) attributes(dir string, data []byte) {
	r.Write(filepath.Join(dir, ".gitattributes"), data)
	r.files[dir] = data
}

// lookup returns all attributes of path as check-attr -a does: those that are
// specified, sorted.
func (r *tree) lookup(path string) []string {
	global, info := Parse(r.global, r.o), Parse(r.info, r.o)
	s := New([]*List{global}, info)
	names := map[string]bool{"diff": true, "merge": true, "text": true, "binary": true}
	note := func(l *List) { l.Names(func(n string) { names[n] = true }) }
	note(global)
	note(info)
	for at := 0; ; {
		dir := strings.TrimSuffix(path[:at], "/")
		l := Parse(r.files[dir], r.o)
		note(l)
		s = s.Push(l, dir)
		n := strings.IndexByte(path[at:], '/')
		if n < 0 {
			break
		}
		at += n + 1
	}
	var list []string
	for n := range names {
		list = append(list, n)
	}
	var got []string
	for i, v := range s.Lookup([]byte(path), NewQuery(list...), nil) {
		if v.State != Unspecified {
			got = append(got, list[i]+"="+v.String())
		}
	}
	sort.Strings(got)
	return got
}

// compare asks every git about every path. It returns the number of values.
func (r *tree) compare(paths []string) int {
	r.T.Helper()
	n := 0
	for _, git := range gittest.All(r.T) {
		out := r.Git(git, []byte(strings.Join(paths, "\x00")+"\x00"), "check-attr", "-a", "-z", "--stdin")
		fields := strings.Split(string(out), "\x00")
		want := map[string][]string{}
		for i := 0; i+2 < len(fields); i += 3 {
			want[fields[i]] = append(want[fields[i]], fields[i+1]+"="+fields[i+2])
			n++
		}
		bad := 0
		for _, path := range paths {
			sort.Strings(want[path])
			want[path] = slices.Compact(want[path]) // a path may be asked for twice
			if got := r.lookup(path); !slices.Equal(got, want[path]) && bad < 10 {
				bad++
				dir, _, _ := strings.Cut(path, "/")
				r.T.Errorf("%s check-attr %q says %q, gust %q (%s/.gitattributes is %q)", git, path, want[path], got, dir, r.files[dir])
			}
		}
	}
	return n
}

func TestLookupAgainstGit(t *testing.T) {
	for _, fold := range []bool{false, true} {
		t.Run(fmt.Sprintf("ignorecase-%v", fold), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(3, 5))
			r := newTree(t, []byte("* g -h m3\n[attr]m3 i=3 m1\nFOO* k\n"), []byte("*.o z=info m2\n[attr]m2 -z y=info\n[attr]m4 m4 w\n"))
			r.o.IgnoreCase = fold
			r.Run("config", "core.ignoreCase", fmt.Sprint(fold))
			r.attributes("", []byte("[attr]m1 u v=1 -binary\n[attr]m2 y=root x m1\n[attr]m5 m4 !binary\n* z=root\n"))
			dirs := 250
			if testing.Short() {
				dirs = 50
			}
			var paths []string
			for i := range dirs {
				top := fmt.Sprintf("d%d", i)
				r.attributes(top, randomFile(rng))
				if rng.IntN(2) == 0 {
					r.attributes(top+"/a", randomFile(rng))
				}
				for range 20 {
					paths = append(paths, top+"/"+randomPath(rng))
				}
			}
			if n := r.compare(paths); n < 2*len(paths) {
				t.Errorf("git says %d values for %d paths: the random files are too poor to test anything", n, len(paths))
			}
		})
	}
}

func randomPath(rng *rand.Rand) string {
	names := []string{"a", "b", "A", "ab", "aB", "a.o", "foo", "Foo", "a b", "#a", "!a", `"a`, "[attr]", "a\tb", "\xe9"}
	parts := make([]string, 1+rng.IntN(3))
	for i := range parts {
		parts[i] = names[rng.IntN(len(names))]
	}
	return strings.Join(parts, "/")
}

func randomFile(rng *rand.Rand) []byte {
	patterns := []string{"*", "*", "a", "*.o", "/a", "a/*", "**/foo", "a/", "a/**", "[ab]*", "!a", `\!a`, "#a", `\#a`, `"a b"`, `"a\tb"`, `"\141"`, `"a\q"`, `"a`, `"#a"`,
		`"\351"`, `""`, "[attr]", "[attr]m1", "[attr]m9", `"[attr]m1"`, "?", "F*", `"*"x`, "f**", `"a\000b"`}
	states := []string{"a", "b", "-a", "!a", "a=1", "a=", "b=x=y", "m1", "m2", "m3", "m4", "m5", "-m1", "!m2", "m1=x", "binary", "-binary", "!binary", "-text", "text=auto",
		"m9", "-a=1", "!b=2", "z=q", "u", "-u", "x", "!y"}
	bad := []string{"--a", "a$", "-", "!", "=x", "!-a", "a,b", "\xe9"}
	var b bytes.Buffer
	if rng.IntN(10) == 0 {
		b.WriteString("\xef\xbb\xbf")
	}
	pick := func(list []string) string { return list[rng.IntN(len(list))] }
	for range 1 + rng.IntN(6) {
		if rng.IntN(6) == 0 {
			b.WriteString(pick([]string{" ", "\t", "\r", "  "}))
		}
		b.WriteString(pick(patterns))
		for range rng.IntN(5) {
			b.WriteString(pick([]string{" ", "\t", " \r ", "  "}))
			if rng.IntN(25) == 0 {
				b.WriteString(pick(bad))
			} else {
				b.WriteString(pick(states))
			}
		}
		b.WriteString(pick([]string{"\n", "\n", "\r\n", " \n", "\n\n", "\n#x\n"}))
	}
	return b.Bytes()
}

// TestLinesAgainstGit takes the corners of the line format one by one.
func TestLinesAgainstGit(t *testing.T) {
	long := func(n int) string { return "* " + strings.Repeat("l", n-2) }
	lines := []string{"", "* a", "\xef\xbb\xbf* a", "* a\x00b", long(2046), long(2047), long(2048), long(2049), "* a=\"x y\"", "* a\vb", "*\fa",
		"[attr]x", "[attr] x y", "[attr]x\ty\n* x", "[attr]x y$\n* x", `"[attr]x y" z` + "\n* x", "[attr]-x y\n* -x", "*a", "f a\r", "f\r a", "f a\r\n\rf b",
		"[attr]x y\n[attr]x z\n* x", "[attr]x -x\n* x", "[attr]x x=1\n* x", "[attr]x y=1\n* y=2 x", "[attr]x y=1\n* x y=2", "[attr]binary a\n* binary",
		"* binary\nf -binary", "* binary\nf !binary", "* binary\nf binary=x", "* text -text", "* !text text", "f a\nf/ b", "f/ a"}
	for i, line := range lines {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			r := newTree(t, nil, nil)
			r.attributes("", []byte(line))
			r.compare([]string{"f", "fx", "g"})
		})
	}
}

// TestReservedNamesAgainstGit needs the newer git: names that begin with
// builtin_ became reserved in 2.43.
func TestReservedNamesAgainstGit(t *testing.T) {
	git := gittest.Newest(t)
	if !git.AtLeast(2, 43) {
		t.Skipf("NOT TESTED: reserved attribute names, which %s does not know", git)
	}
	for _, line := range []string{"* builtin_x a", "* -builtin_x a", "[attr]builtin_m a\n* b", "[attr]m builtin_x a\n* m"} {
		r := newTree(t, nil, nil)
		r.attributes("", []byte(line))
		out := r.Git(git, nil, "check-attr", "-a", "f")
		var want []string
		for _, l := range strings.Split(strings.TrimSpace(out), "\n") {
			if f := strings.SplitN(l, ": ", 3); len(f) == 3 {
				want = append(want, f[1]+"="+f[2])
			}
		}
		sort.Strings(want)
		if got := r.lookup("f"); !slices.Equal(got, want) {
			t.Errorf("file %q: git says %q, gust %q", line, want, got)
		}
	}
}
