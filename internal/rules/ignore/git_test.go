package ignore

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gust/internal/gittest"
)

// A repo is a throwaway working tree with the ignore files that were written
// into it.
type repo struct {
	*gittest.Tree
	files map[string][]byte // by directory, "" for the root
	fold  bool
}

func newRepo(t *testing.T) *repo {
	t.Helper()
	return &repo{Tree: gittest.NewTree(t), files: map[string][]byte{}}
}

// write makes data the ignore file of dir.
func (r *repo) write(dir string, data []byte) {
	r.T.Helper()
	r.Write(filepath.Join(dir, ".gitignore"), data)
	r.files[dir] = data
}

func (r *repo) mkdir(dir string) {
	r.T.Helper()
	if err := os.MkdirAll(filepath.Join(r.Dir, dir), 0o777); err != nil {
		r.T.Fatal(err)
	}
}

// explain is what the scanner does: it walks down to path, stops at an ignored
// directory, and reports the deciding rule as check-ignore -v does.
func (r *repo) explain(path string, isDir bool) string {
	var s *Stack
	format := func(rule Rule, ok bool) string {
		if !ok {
			return "::"
		}
		return fmt.Sprintf("%s:%d:%s", rule.Source, rule.Line, rule.Pattern)
	}
	for at := 0; ; {
		dir := strings.TrimSuffix(path[:at], "/")
		source := ".gitignore"
		if dir != "" {
			source = dir + "/.gitignore"
		}
		s = s.Push(Parse(r.files[dir], Options{IgnoreCase: r.fold}), dir, source)
		n := strings.IndexByte(path[at:], '/')
		if n < 0 {
			return format(s.Explain([]byte(path), at, isDir))
		}
		if s.Match([]byte(path[:at+n]), at, true) == Ignored {
			return format(s.Explain([]byte(path[:at+n]), at, true))
		}
		at += n + 1
	}
}

// compare asks every git about every path and reports differences. It returns
// how many paths a rule decided about.
func (r *repo) compare(paths []string, isDir func(string) bool) int {
	r.T.Helper()
	decided := 0
	in := []byte(strings.Join(paths, "\x00") + "\x00")
	for _, git := range gittest.All(r.T) {
		out := r.Git(git, in, "check-ignore", "--no-index", "-v", "-n", "-z", "--stdin")
		fields := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
		if len(fields) != 4*len(paths) {
			r.T.Fatalf("%s check-ignore answers %d fields for %d paths", git, len(fields), len(paths))
		}
		old := r.cutsPrefix(git)
		bad, excused := 0, 0
		for i, path := range paths {
			f := fields[4*i : 4*i+4]
			want := strings.Join(f[:3], ":")
			if want != "::" {
				decided++
			}
			got := r.explain(path, isDir(path))
			if got != want && old && r.affected(path) {
				excused++
				continue
			}
			if got != want && bad < 10 {
				bad++
				dir, _, _ := strings.Cut(path, "/")
				r.T.Errorf("%s check-ignore %q says %q, gust %q (%s/.gitignore is %q)", git, path, want, got, dir, r.files[dir])
			}
		}
		if excused > len(paths)/20 {
			r.T.Errorf("%s: %d of %d paths differ by its handling of text before **: too many to be that", git, excused, len(paths))
		}
	}
	return decided
}

// cutsPrefix reports whether git matches "foo**/bar" with "foobar", as versions
// did before 2.53: they compared the text before the wildcard on its own and
// took the rest for a pattern that begins with **.
func (r *repo) cutsPrefix(git gittest.Git) bool {
	r.write("probe", []byte("foo**/bar\n"))
	return len(r.Git(git, nil, "check-ignore", "--no-index", "probe/foobar")) > 0
}

// affected reports whether a file on the way to path has a pattern that
// cutsPrefix is about.
func (r *repo) affected(path string) bool {
	for dir, data := range r.files {
		if strings.HasPrefix(path, dir+"/") && textBeforeStars.Match(data) {
			return true
		}
	}
	return false
}

var textBeforeStars = regexp.MustCompile(`[^/*\n]\*\*+(\\?/|\s|$)`)

func TestMatchAgainstGit(t *testing.T) {
	for _, fold := range []bool{false, true} {
		t.Run(fmt.Sprintf("ignorecase-%v", fold), func(t *testing.T) {
			r := newRepo(t)
			r.fold = fold
			r.Run("config", "core.ignoreCase", fmt.Sprint(fold))
			rng := rand.New(rand.NewPCG(7, 11))
			trees, perTree := 300, 40
			if testing.Short() {
				trees = 60
			}
			dirs := map[string]bool{}
			var paths []string
			for i := range trees {
				top := fmt.Sprintf("d%d", i)
				r.write(top, randomFile(rng))
				for range perTree {
					path := top + "/" + randomPath(rng)
					if rng.IntN(3) == 0 {
						r.mkdir(path)
						for p := path; p != "."; p = filepath.Dir(p) {
							dirs[p] = true
						}
						if rng.IntN(6) == 0 {
							r.write(path, randomFile(rng))
						}
					}
					paths = append(paths, path)
				}
			}
			n := r.compare(paths, func(p string) bool { return dirs[p] })
			if n < len(paths)/4 {
				t.Errorf("rules decide about %d of %d paths only: the random files are too poor to test anything", n, len(paths))
			}
		})
	}
}

func randomPath(rng *rand.Rand) string {
	var b strings.Builder
	for i, n := 0, 1+rng.IntN(4); i < n; i++ {
		if i > 0 {
			b.WriteByte('/')
		}
		names := []string{"a", "b", "A", "ab", "aB", "a.o", "b.o", "foo", "Foo", "foobar", "a ", " ", "#a", "!a", "]", "-", "a\r", "\xe9", "a\tb", "\\", "*"}
		b.WriteString(names[rng.IntN(len(names))])
	}
	return b.String()
}

func randomFile(rng *rand.Rand) []byte {
	tokens := []string{"a", "b", "A", "foo", "o", ".o", "*", "*", "**", "**/", "/**", "/**/", "/", "/", "?", `\a`, `\A`, `\ `, `\`, `\#`, `\!`, `\\`, `\*`, `\/`,
		"[a-b]", "[A-B]", "[!a]", "[^A]", "[]-]", "[[:upper:]]", "[[:alpha:]]", "[a-", "[\\]]", " ", "\t", "#", "!", "\xe9", "\r"}
	whole := []string{"*", "*.o", "!*.o", "a/", "/a", "**/foo", "foo/**", "foo", "!foo", "*/", "!*/", "ab", "foo**/bar", "#a", "", "\xef\xbb\xbf"}
	var b bytes.Buffer
	if rng.IntN(10) == 0 {
		b.WriteString("\xef\xbb\xbf")
	}
	for range 1 + rng.IntN(5) {
		if rng.IntN(3) == 0 {
			b.WriteString(whole[rng.IntN(len(whole))])
		} else {
			if rng.IntN(5) == 0 {
				b.WriteString("!")
			}
			for range 1 + rng.IntN(4) {
				b.WriteString(tokens[rng.IntN(len(tokens))])
			}
		}
		for rng.IntN(4) == 0 {
			b.WriteString([]string{" ", "/", "\t", "\r", "\\"}[rng.IntN(5)])
		}
		if rng.IntN(12) != 0 {
			b.WriteString([]string{"\n", "\r\n"}[rng.IntN(2)])
		}
	}
	return b.Bytes()
}

// TestPrecedenceAgainstGit checks the order of the sources that a stack is
// built from.
func TestPrecedenceAgainstGit(t *testing.T) {
	r := newRepo(t)
	const excludes, info, root, sub = "*\n", "!b*\n*.x\n", "!c\n/sub/d\n", "!d\nb\n"
	excludesFile := filepath.Join(filepath.Dir(r.Dir), "excludes")
	for name, data := range map[string]string{
		excludesFile: excludes,
		filepath.Join(r.Dir, ".git", "info", "exclude"): info,
	} {
		if err := os.WriteFile(name, []byte(data), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	r.write("", []byte(root))
	r.write("sub", []byte(sub))
	r.Run("config", "core.excludesFile", excludesFile)
	var o Options
	base := (*Stack)(nil).Push(Parse([]byte(excludes), o), "", excludesFile).
		Push(Parse([]byte(info), o), "", ".git/info/exclude").
		Push(Parse([]byte(root), o), "", ".gitignore")
	for _, path := range []string{"a", "b", "b.x", "c", "sub"} {
		for _, git := range gittest.All(t) {
			want := string(r.Git(git, nil, "check-ignore", "--no-index", "-v", "-n", path))
			rule, _ := base.Explain([]byte(path), 0, path == "sub")
			if got := fmt.Sprintf("%s:%d:%s\t%s\n", rule.Source, rule.Line, rule.Pattern, path); got != want {
				t.Errorf("%s check-ignore says %q, gust %q", git, want, got)
			}
		}
	}
}
