package ignore

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"gust/internal/pure/wildmatch"
)

// slowFind is the obvious List.find: it reads the file line by line and keeps
// the last line that matches.
func slowFind(data []byte, path, name []byte, isDir, fold bool) int {
	flags := wildmatch.PathName
	if fold {
		flags |= wildmatch.CaseFold
	}
	found := 0
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	for i, line := range bytes.Split(data, []byte("\n")) {
		s, _, _ := strings.Cut(strings.TrimSuffix(string(line), "\r"), "\x00")
		if s == "" || line[0] == '#' {
			continue
		}
		s = strings.TrimPrefix(trimSpaces(s), "!")
		if strings.HasSuffix(s, "/") && !isDir {
			continue
		}
		s = strings.TrimSuffix(s, "/")
		text := name
		if strings.Contains(s, "/") {
			text, s = path, strings.TrimPrefix(s, "/")
		}
		p := wildmatch.Compile(s, flags)
		if s != "" && p.Match(text) {
			found = i + 1
		}
	}
	return found
}

func (l *List) lineOf(i int) int {
	if i < 0 {
		return 0
	}
	return int(l.rules[i].line)
}

// TestFindAgainstSlowTwin compares every file of one or two short patterns
// with the twin, on every short path.
func TestFindAgainstSlowTwin(t *testing.T) {
	words := func(alphabet string, n int) []string {
		all := []string{""}
		for begin, l := 0, 0; l < n; l++ {
			for end := len(all); begin < end; begin++ {
				for i := range alphabet {
					all = append(all, all[begin]+alphabet[i:i+1])
				}
			}
		}
		return all[1:]
	}
	var paths [][]byte
	for _, p := range words("aB/", 4) {
		if !strings.HasPrefix(p, "/") && !strings.HasSuffix(p, "/") && !strings.Contains(p, "//") {
			paths = append(paths, []byte(p))
		}
	}
	check := func(file string) {
		for _, fold := range []bool{false, true} {
			l := Parse([]byte(file), Options{IgnoreCase: fold})
			for _, path := range paths {
				name := path[bytes.LastIndexByte(path, '/')+1:]
				for _, isDir := range []bool{false, true} {
					got, want := l.lineOf(l.find(path, name, isDir)), slowFind([]byte(file), path, name, isDir, fold)
					if got != want {
						t.Fatalf("file %q, path %q, dir %v, fold %v: line %d decides, slow twin says %d", file, path, isDir, fold, got, want)
					}
				}
			}
		}
	}
	n, m := 5, 2
	if testing.Short() {
		n, m = 4, 2
	}
	for _, p := range words("aA*/!", n) {
		check(p)
	}
	short := append(words("aB*/", m), "**/a", "*a/", "/a/", "a/**", "!a", "!*B", "?")
	for _, p := range short {
		for _, q := range short {
			check(p + "\n" + q + "\n")
		}
	}
}

func TestParse(t *testing.T) {
	tests := []struct {
		name, file string
		want       []string // patterns as written, with their lines
	}{
		{"empty", "", nil},
		{"no-newline", "a", []string{"1:a"}},
		{"comment-blank", "#a\n\n \nb\n", []string{"4:b"}},
		{"bom", "\xef\xbb\xbfa\nb", []string{"1:a", "2:b"}},
		{"bom-comment", "\xef\xbb\xbf#a\nb", []string{"2:b"}},
		{"crlf", "a\r\nb\r\r\nc\r", []string{"1:a", "2:b\r", "3:c"}},
		{"spaces", "a  \n  b \nc\\ \nd\\  \ne\t \nf \\", []string{"1:a", "2:  b", "3:c\\ ", "4:d\\ ", "5:e\t", "6:f \\"}},
		{"nul", "a\x00b\nc", []string{"1:a", "2:c"}},
		{"nothing-left", "!\n/\n//\n!/\n", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			l := Parse([]byte(tt.file), Options{})
			for i := range l.rules {
				got = append(got, fmt.Sprintf("%d:%s", l.rules[i].line, l.rules[i].written))
			}
			if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", tt.want) {
				t.Errorf("Parse(%q) holds %q, want %q", tt.file, got, tt.want)
			}
			if l.Empty() != (len(tt.want) == 0) {
				t.Errorf("Parse(%q).Empty() = %v", tt.file, l.Empty())
			}
		})
	}
}

func TestStackPush(t *testing.T) {
	var none *Stack
	if got := none.Push(Parse([]byte("# nothing\n"), Options{}), "", "x"); got != nil {
		t.Errorf("pushing an empty list on the nil stack gives %v, want nil", got)
	}
	root := none.Push(Parse([]byte("*.o\n!keep.o\n/sub/x\n"), Options{}), "", ".gitignore")
	sub := root.Push(Parse([]byte("!*.o\n/y\n"), Options{}), "sub", "sub/.gitignore")
	tests := []struct {
		name  string
		stack *Stack
		path  string
		want  Verdict
		rule  Rule
	}{
		{"none", root, "a.c", None, Rule{}},
		{"ignored", root, "a.o", Ignored, Rule{".gitignore", 1, "*.o"}},
		{"included", root, "keep.o", Included, Rule{".gitignore", 2, "!keep.o"}},
		{"upper-list-decides", sub, "sub/a.o", Included, Rule{"sub/.gitignore", 1, "!*.o"}},
		{"lower-list-sees-path", sub, "sub/x", Ignored, Rule{".gitignore", 3, "/sub/x"}},
		{"anchored-in-sub", sub, "sub/y", Ignored, Rule{"sub/.gitignore", 2, "/y"}},
		{"anchored-below-sub", sub, "sub/z/y", None, Rule{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			base := strings.LastIndexByte(tt.path, '/') + 1
			if got := tt.stack.Match([]byte(tt.path), base, false); got != tt.want {
				t.Errorf("Match(%q) = %v, want %v", tt.path, got, tt.want)
			}
			rule, ok := tt.stack.Explain([]byte(tt.path), base, false)
			if rule != tt.rule || ok != (tt.want != None) {
				t.Errorf("Explain(%q) = %v, %v, want %v", tt.path, rule, ok, tt.rule)
			}
		})
	}
}

// typicalFile has what the ignore files of large projects have: many names,
// suffixes and directories, some sets, some paths.
func typicalFile() []byte {
	var b bytes.Buffer
	for i := range 60 {
		fmt.Fprintf(&b, "name%d\n*.ext%d\n/dir%d/file\n", i, i, i)
	}
	b.WriteString("[Bb]in/\n[Oo]bj/\n**/generated/\n/build-*/\n!keep.ext1\n*.py[co]\n")
	return b.Bytes()
}

func TestStackMatchAllocs(t *testing.T) {
	for _, fold := range []bool{false, true} {
		l := Parse(typicalFile(), Options{IgnoreCase: fold})
		s := (*Stack)(nil).Push(l, "", "a").Push(l, "src", "b")
		for _, p := range []string{"src/main.c", "src/name7", "src/x.ext3", "src/dir5/file"} {
			path, base := []byte(p), strings.LastIndexByte(p, '/')+1
			if n := testing.AllocsPerRun(100, func() { s.Match(path, base, false) }); n != 0 {
				t.Errorf("Match(%q) allocates %v times, want 0", p, n)
			}
		}
	}
}

func TestPatternMatchAllocs(t *testing.T) {
	path := []byte("src/keep.ext1")
	for _, s := range []string{"*.ext1", "k*.ext1", "/src/*", "/src/keep.ext1", "keep.ext1"} {
		p, ok := Compile(s, Options{})
		if n := testing.AllocsPerRun(100, func() { ok = p.Match(path, path[4:]) }); n != 0 || !ok {
			t.Errorf("Match of %q allocates %v times and says %v, want 0 and true", s, n, ok)
		}
	}
}

func TestListFindAllocs(t *testing.T) {
	l := Parse(typicalFile(), Options{})
	path := []byte("src/keep.ext1")
	if n := testing.AllocsPerRun(100, func() { l.find(path, path[4:], true) }); n != 0 {
		t.Errorf("find(%q) allocates %v times, want 0", path, n)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("*.o\n!a.o\n/x/\n"), []byte("b/a.o"), false, false)
	f.Add([]byte("\xef\xbb\xbf**/a \r\n\\!b\\ \n"), []byte("a"), true, true)
	f.Add(typicalFile(), []byte("src/x.ext3"), false, false)
	f.Fuzz(func(t *testing.T, data, path []byte, isDir, fold bool) {
		if len(data) > 1<<12 || len(path) > 1<<8 {
			return
		}
		l := Parse(data, Options{IgnoreCase: fold})
		name := path[bytes.LastIndexByte(path, '/')+1:]
		if got, want := l.lineOf(l.find(path, name, isDir)), slowFind(data, path, name, isDir, fold); got != want {
			t.Errorf("file %q, path %q, dir %v, fold %v: line %d decides, slow twin says %d", data, path, isDir, fold, got, want)
		}
	})
}

func BenchmarkStackMatch(b *testing.B) {
	s := (*Stack)(nil).Push(Parse(typicalFile(), Options{}), "", "a")
	for _, p := range []string{"src/main.c", "src/x.ext3", "src/name7"} {
		path, base := []byte(p), strings.LastIndexByte(p, '/')+1
		b.Run(p[4:], func(b *testing.B) {
			for b.Loop() {
				s.Match(path, base, false)
			}
		})
	}
}
