package wildmatch

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"testing"
)

func TestMatch(t *testing.T) {
	tests := []struct {
		name, pattern, text string
		flags               Flags
		want                bool
	}{
		{"empty", "", "", 0, true},
		{"literal", "foo", "foo", 0, true},
		{"longer-text", "foo", "food", 0, false},
		{"question", "f?o", "foo", 0, true},
		{"question-slash", "f?o", "f/o", PathName, false},
		{"question-slash-plain", "f?o", "f/o", 0, true},
		{"star-slash", "f*o", "f/o", PathName, false},
		{"star-slash-plain", "f*o", "f/o", 0, true},
		{"dirs-none", "a/**/b", "a/b", PathName, true},
		{"dirs-two", "a/**/b", "a/x/y/b", PathName, true},
		{"dirs-leading", "**/b", "b", PathName, true},
		{"dirs-not-component", "a**/b", "a/x/b", PathName, false},
		{"inside", "a/**", "a/b/c", PathName, true},
		{"inside-itself", "a/**", "a", PathName, false},
		{"trailing-backslash", `a\`, `a\`, 0, false},
		{"unfinished-set", "[a", "[a", 0, false},
		{"unknown-class", "[[:foo:]]", "f", 0, false},
		{"closing-first", "[]a]", "]", 0, true},
		{"range-end-minus", "[a-]", "-", 0, true},
		{"set-slash", "a[/]b", "a/b", PathName, false},
		{"fold", "FoO", "fOo", CaseFold, true},
		{"fold-escaped", `\F*`, "foo", CaseFold, false},
		{"fold-range", "[A-C]", "b", CaseFold, true},
		{"fold-single", "[A]", "a", CaseFold, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := Compile(tt.pattern, tt.flags)
			if got := p.Match([]byte(tt.text)); got != tt.want {
				t.Errorf("Compile(%q, %d).Match(%q) = %v, want %v", tt.pattern, tt.flags, tt.text, got, tt.want)
			}
			if got := slowMatch(tt.pattern, tt.text, tt.flags); got != tt.want {
				t.Errorf("slow twin of %q on %q = %v, want %v", tt.pattern, tt.text, got, tt.want)
			}
		})
	}
}

// slowMatch is the obvious matcher: it tries everything, on the pattern as it
// is written.
func slowMatch(pattern, text string, flags Flags) bool {
	return slowAt(pattern, 0, text, flags)
}

func slowAt(pattern string, at int, text string, flags Flags) bool {
	rest := pattern[at:]
	if rest == "" {
		return text == ""
	}
	path, fold := flags&PathName != 0, flags&CaseFold != 0
	folded := func(c byte) byte {
		if fold {
			return lower(c)
		}
		return c
	}
	switch rest[0] {
	case '*':
		n := len(rest) - len(strings.TrimLeft(rest, "*"))
		behind := rest[n:]
		whole := n >= 2 && (at == 0 || pattern[at-1] == '/') &&
			(behind == "" || behind[0] == '/' || strings.HasPrefix(behind, `\/`))
		if path && whole && strings.HasPrefix(behind, "/") && slowAt(pattern, at+n+1, text, flags) {
			return true
		}
		for k := 0; k <= len(text); k++ {
			if slowAt(pattern, at+n, text[k:], flags) {
				return true
			}
			if k < len(text) && text[k] == '/' && path && !whole {
				return false
			}
		}
		return false
	case '?':
		return text != "" && !(path && text[0] == '/') && slowAt(pattern, at+1, text[1:], flags)
	case '[':
		set, n := parseSet(rest, fold)
		return n > 0 && text != "" && set.has(text[0]) && !(path && text[0] == '/') &&
			slowAt(pattern, at+n, text[1:], flags)
	case '\\':
		return len(rest) > 1 && text != "" && folded(text[0]) == rest[1] && slowAt(pattern, at+2, text[1:], flags)
	}
	return text != "" && folded(text[0]) == folded(rest[0]) && slowAt(pattern, at+1, text[1:], flags)
}

// words returns every string over alphabet of at most n bytes.
func words(alphabet string, n int) []string {
	all := []string{""}
	for begin, l := 0, 0; l < n; l++ {
		end := len(all)
		for ; begin < end; begin++ {
			for i := range alphabet {
				all = append(all, all[begin]+alphabet[i:i+1])
			}
		}
	}
	return all
}

func TestMatchAgainstSlowTwin(t *testing.T) {
	check := func(patterns, texts []string, flags ...Flags) {
		for _, pattern := range patterns {
			for _, f := range flags {
				p := Compile(pattern, f)
				for _, text := range texts {
					if got, want := p.Match([]byte(text)), slowMatch(pattern, text, f); got != want {
						t.Fatalf("Compile(%q, %d).Match(%q) = %v, slow twin says %v", pattern, f, text, got, want)
					}
				}
			}
		}
	}
	long := 7
	if testing.Short() {
		long = 6
	}
	check(words("a*/", long), words("ab/", 5), PathName)
	check(words(`a*/\?`, 5), words("ab/", 5), PathName, 0)
	check(words("A*a\\[]", 4), words("aA]", 3), PathName, 0, CaseFold, CaseFold|PathName)
}

func TestMatchBoundedTime(t *testing.T) {
	// An exponential matcher would not come back from any of these.
	text := []byte(strings.Repeat("a", 300) + "/" + strings.Repeat("a/", 100) + "b")
	for _, unit := range []string{"*a", "**/a", "*a/", "**/*a"} {
		for _, f := range []Flags{0, PathName, CaseFold, PathName | CaseFold} {
			pattern := strings.Repeat(unit, 60) + "/c"
			p := Compile(pattern, f)
			if p.Match(text) {
				t.Errorf("Compile(%q, %d) matches a text that does not end in c", pattern, f)
			}
		}
	}
}

func TestPatternMatchAllocs(t *testing.T) {
	for _, pattern := range []string{"foo", "*.o", "**/foo/*.[oa]", "a/**", "[[:alpha:]]?*"} {
		for _, f := range []Flags{0, PathName, CaseFold | PathName} {
			p := Compile(pattern, f)
			text := []byte("some/foo/file.o")
			if n := testing.AllocsPerRun(100, func() { p.Match(text) }); n != 0 {
				t.Errorf("Compile(%q, %d).Match allocates %v times, want 0", pattern, f, n)
			}
		}
	}
}

// gits returns the git binaries to compare with.
func gits(t *testing.T) []string {
	t.Helper()
	list := []string{"git"}
	if newer := os.Getenv("GUST_TEST_GIT"); newer != "" {
		list = append(list, newer)
	} else {
		t.Log("GUST_TEST_GIT is not set: compared with the system's git only")
	}
	return list
}

// A repo is a throwaway repository.
type repo struct {
	t   *testing.T
	dir string
	env []string
}

func newRepo(t *testing.T) *repo {
	t.Helper()
	dir := t.TempDir()
	r := &repo{t: t, dir: filepath.Join(dir, "repo"), env: append(os.Environ(), "HOME="+dir, "GIT_CONFIG_NOSYSTEM=1",
		"XDG_CONFIG_HOME="+filepath.Join(dir, "xdg"))}
	if err := os.Mkdir(r.dir, 0o777); err != nil {
		t.Fatal(err)
	}
	r.git("git", nil, "init", "-q")
	return r
}

func (r *repo) git(binary string, stdin []byte, args ...string) []byte {
	r.t.Helper()
	cmd := exec.Command(binary, args...)
	cmd.Dir, cmd.Env, cmd.Stdin = r.dir, r.env, bytes.NewReader(stdin)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		r.t.Fatalf("%s %q: %v\n%s", binary, args, err, stderr.Bytes())
	}
	return out
}

// addPaths puts the paths into the index, each with an empty blob.
func (r *repo) addPaths(paths []string) {
	r.t.Helper()
	id := strings.TrimSpace(string(r.git("git", nil, "hash-object", "-w", "--stdin")))
	var in bytes.Buffer
	for _, p := range paths {
		fmt.Fprintf(&in, "100644 %s 0\t%s\x00", id, p)
	}
	r.git("git", in.Bytes(), "update-index", "-z", "--index-info")
}

func TestMatchAgainstGitPathspecs(t *testing.T) {
	r := newRepo(t)
	rng := rand.New(rand.NewPCG(1, 2))
	seen := map[string]bool{}
	var paths []string
	for len(paths) < 400 {
		p := randomPath(rng)
		if !seen[p] && !clash(seen, p) {
			seen[p] = true
			paths = append(paths, p)
		}
	}
	r.addPaths(paths)
	paths = strings.Split(strings.TrimSuffix(string(r.git("git", nil, "ls-files", "-z")), "\x00"), "\x00")
	sort.Strings(paths)
	n, matches := 250, 0
	if testing.Short() {
		n = 60
	}
	magics := []struct {
		magic string
		flags Flags
	}{{"", 0}, {":(glob)", PathName}, {":(icase)", CaseFold}, {":(glob,icase)", PathName | CaseFold}}
	for i := range n {
		pattern := randomPattern(rng)
		if !HasWildcard(pattern) {
			continue
		}
		m := magics[i%len(magics)]
		if m.magic == "" && pattern[0] == ':' {
			continue
		}
		// For a pathspec git compares the text before the first wildcard on
		// its own and hands the matcher the rest, which then begins a pattern.
		prefix := strings.IndexAny(pattern, `*?[\\`)
		p, literal := Compile(pattern[prefix:], m.flags), Compile(pattern[:prefix], m.flags)
		var want []string
		for _, path := range paths {
			if len(path) >= prefix && literal.Match([]byte(path[:prefix])) && p.Match([]byte(path[prefix:])) {
				want = append(want, path)
			}
		}
		matches += len(want)
		for _, git := range gits(t) {
			out := string(r.git(git, nil, "ls-files", "-z", "--", m.magic+pattern))
			got := strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")
			if out == "" {
				got = nil
			}
			sort.Strings(got)
			if strings.Join(got, "\n") != strings.Join(want, "\n") {
				t.Errorf("%s ls-files %q lists\n%q\ngust matches\n%q", git, m.magic+pattern, got, want)
			}
		}
	}
	if matches < n {
		t.Errorf("%d patterns matched only %d paths: the random patterns are too poor to test anything", n, matches)
	}
}

// clash reports whether p is a directory of a path in seen, or one of them is
// a directory of p: the index cannot hold both.
func clash(seen map[string]bool, p string) bool {
	for q := range seen {
		if strings.HasPrefix(q, p+"/") || strings.HasPrefix(p, q+"/") {
			return true
		}
	}
	return false
}

func randomPath(rng *rand.Rand) string {
	const bytes = "aabbAB-]!."
	var b strings.Builder
	for i, n := 0, 1+rng.IntN(4); i < n; i++ {
		if i > 0 {
			b.WriteByte('/')
		}
		b.WriteByte("abAB"[rng.IntN(4)])
		for range rng.IntN(3) {
			b.WriteByte(bytes[rng.IntN(len(bytes))])
		}
	}
	return b.String()
}

func randomPattern(rng *rand.Rand) string {
	tokens := []string{"a", "b", "A", "B", "/", "/", "*", "*", "**", "**/", "/**", "/**/", "?", "?", `\a`, `\A`, `\*`, `\/`,
		"[a-b]", "[A-B]", "[!a]", "[^A]", "[]-]", "[[:upper:]]", "[[:alpha:]]", "[[:punct:]b]", "[a-", "[[:", "[\\a]", "[b-a]", "-", "***/"}
	var b strings.Builder
	for range 1 + rng.IntN(6) {
		b.WriteString(tokens[rng.IntN(len(tokens))])
	}
	s := b.String()
	// A pathspec may not begin with a slash, and is normalised if it holds
	// empty components: neither reaches the matcher as written.
	s = strings.TrimLeft(s, "/!^")
	for strings.Contains(s, "//") {
		s = strings.ReplaceAll(s, "//", "/")
	}
	if s = strings.TrimRight(s, "/"); s == "" {
		return "*"
	}
	return s
}

// TestSetsAgainstGit asks git for each byte that a name can hold whether it
// belongs to each POSIX class.
func TestSetsAgainstGit(t *testing.T) {
	r := newRepo(t)
	var paths []string
	for c := 1; c < 256; c++ {
		if c != '/' {
			paths = append(paths, "x"+string([]byte{byte(c)}))
		}
	}
	r.addPaths(paths)
	sets := []string{"[[:space:]\\]-]", "[!-~]", "[a-Z]", "[Z-a]", "[--0]", "[a-c-e]", "[[:digit:]-z]", "[[:]a]", "[]-a]", "[\\]-a]", "[a\\-z]", "[!\x80-\xff]"}
	for _, name := range strings.Fields("alnum alpha blank cntrl digit graph lower print punct space upper xdigit foo") {
		sets = append(sets, "[[:"+name+":]]", "[![:"+name+":]]")
	}
	for _, set := range sets {
		for magic, flags := range map[string]Flags{":(glob)": PathName, ":(glob,icase)": PathName | CaseFold} {
			p := Compile("x"+set, flags)
			var want strings.Builder
			for _, path := range paths {
				if p.Match([]byte(path)) {
					want.WriteString(path + "\x00")
				}
			}
			for _, git := range gits(t) {
				if got := string(r.git(git, nil, "ls-files", "-z", "--", magic+"x"+set)); got != want.String() {
					t.Errorf("%s ls-files %q lists\n%q\ngust matches\n%q", git, magic+"x"+set, got, want.String())
				}
			}
		}
	}
}

func FuzzMatch(f *testing.F) {
	for _, s := range [][2]string{{"a/**/b", "a/x/b"}, {"*.o", "x.o"}, {"[[:alpha:]-]", "-"}, {"**/a*", "b/ab"}, {`\a[!b-`, "a"}} {
		for flags := range uint8(4) {
			f.Add(s[0], s[1], flags)
		}
	}
	f.Fuzz(func(t *testing.T, pattern, text string, flags uint8) {
		fl := Flags(flags) & (PathName | CaseFold)
		p := Compile(pattern, fl)
		got := p.Match([]byte(text))
		// The twin is exponential: only small inputs are compared.
		if len(pattern) > 14 || len(text) > 14 {
			return
		}
		if want := slowMatch(pattern, text, fl); got != want {
			t.Errorf("Compile(%q, %d).Match(%q) = %v, slow twin says %v", pattern, fl, text, got, want)
		}
	})
}

func BenchmarkMatch(b *testing.B) {
	for _, pattern := range []string{"*.o", "**/foo/*.[oa]", "build-*/", "[Bb]in"} {
		p := Compile(pattern, PathName)
		text := []byte("drivers/net/ethernet/intel/foo/file.o")
		b.Run(strings.ReplaceAll(pattern, "/", "_"), func(b *testing.B) {
			for b.Loop() {
				p.Match(text)
			}
		})
	}
}
