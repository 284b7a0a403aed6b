package config

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"gust/internal/gittest"
)

// listed returns what git config --list -z prints of the file with this content,
// and the line that git complains about, 0 if it does not.
func listed(t testing.TB, e *gittest.Env, content string) (string, int) {
	t.Helper()
	path := e.Path("config")
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := e.Command(".", "config", "--file", path, "--list", "-z")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err == nil {
		return string(out), 0
	}
	m := regexp.MustCompile(`bad config line (\d+) in file`).FindStringSubmatch(stderr.String())
	if m == nil {
		t.Fatalf("git config of %q: %v: %s", content, err, stderr.String())
	}
	line, _ := strconv.Atoi(m[1])
	return "", line
}

// ours returns the same from Parse.
func ours(t testing.TB, content string) (string, int) {
	t.Helper()
	entries, err := Parse([]byte(content), "config", Local)
	var syntax *SyntaxError
	if errors.As(err, &syntax) {
		return "", syntax.Line
	}
	if err != nil {
		t.Fatalf("Parse(%q): %v, want a *SyntaxError", content, err)
	}
	return dump(entries), 0
}

// dump prints entries as git config --list -z does.
func dump(entries []Entry) string {
	var b strings.Builder
	for _, e := range entries {
		b.WriteString(e.Key)
		if !e.NoValue {
			fmt.Fprintf(&b, "\n%s", e.Value)
		}
		b.WriteByte(0)
	}
	return b.String()
}

func compare(t *testing.T, e *gittest.Env, content string) {
	t.Helper()
	wantList, wantLine := listed(t, e, content)
	gotList, gotLine := ours(t, content)
	if gotList != wantList || gotLine != wantLine {
		t.Errorf("Parse(%q):\n got %q, bad line %d\nwant %q, bad line %d", content, gotList, gotLine, wantList, wantLine)
	}
}

// current returns an Env with a git that keeps white space within a value as
// it is, which git did not before 2.45.
func current(t *testing.T) *gittest.Env {
	t.Helper()
	g := gittest.Newest(t)
	if !g.AtLeast(2, 45) {
		t.Skipf("NOT TESTED: %s still changes white space within values", g)
	}
	return gittest.New(t, g)
}

var syntaxCases = []string{
	"", "\n", "[a]", "[a]\n", "[a]b", "[a]b\n", "[a]\nb\n", "[a]\nb=\n", "[a]\nb = c\n", "[a]\n\tb\t=\tc\t\n",
	"\xef\xbb\xbf[a]\nb=c\n", "\xef\xbb[a]\nb=c\n", "[a]\n\xef\xbb\xbfb=c\n",
	"[a]\r\nb=c\r\n", "[a]\r\nb=c\rd\r\n", "[a]\nb=c\r", "[a]\nb\r\n", "[a]\rb=c\n", "\r\n\r\n[a]\nb = c\r\n",
	"[A.B]\nC=d\n", "[A \"B\"]\nC=d\n", "[a \"b\\\"c\"]\nd=e\n", "[a \"b\\c\"]\nd=e\n", "[a \"\"]\nb=c\n", "[a.]\nb=c\n",
	"[a  \t\"b\"]\nc=d\n", "[a \"b\" ]\nc=d\n", "[a\"b\"]\nc=d\n", "[a \"b]\nc=d\n", "[a \"b\\\n\"]\nc=d\n", "[a b]\nc=d\n",
	"[a \"b.c\"]\nd=e\n", "[a.b \"c\"]\nd=e\n", "[a-1]\nb-2=c\n", "[a_b]\nc=d\n", "[a]\nb_c=d\n", "[a]\n1b=c\n", "[a]\n-b=c\n",
	"[]\na=b\n", "[ a]\nb=c\n", "[a ]\nb=c\n", "[a\nb=c\n", "[a", "[a \"b", "[a \"b\"", "[1]\na=b\n", "[.]\na=b\n", "[-]\na=b\n",
	"a=b\n", "a\n", "=b\n", "a.b=c\n", "[a] b=c\n[d] e = f ; g\n", "[a]b=c[d]\n", "[a][b]c=d\n", "[a]#x\nb=c\n", "[a];x\nb=c\n",
	"#c\n;d\n[a]\nb=c\n", "#c", "[a]\nb=c#d\n", "[a]\nb=c;d\n", "[a]\nb=\"c#d\"\n", "[a]\nb=c \"#\" d\n", "[a]\nb # c\n", "[a]\nb ; c\n", "[a]\nb#c\n",
	"[a]\nb=c\\\nd\n", "[a]\nb=c \\\n  d\n", "[a]\nb=\\\n\\\nc\n", "[a]\nb=c\\", "[a]\nb=c\\\r\nd\n", "[a]\nb=# \\\nc=d\n", "[a]\nb=\"c\\\nd\"\n",
	"[a]\nb=\"c\n", "[a]\nb=\"c", "[a]\nb=c\"d e\"f\n", "[a]\nb=\" c \"\n", "[a]\nb= \" \" \n", "[a]\nb=c \"\" \n", "[a]\nb=c \"\"d\n", "[a]\nb=\"\"\n", "[a]\nb= \"\" c\n",
	"[a]\nb=c  d\te\n", "[a]\nb=c \\t \n", "[a]\nb=\\t\n", "[a]\nb= \\n\\t\\b\\\\\\\"\n", "[a]\nb=\\x\n", "[a]\nb=\\r\n", "[a]\nb=\\'\n", "[a]\nb=\\ \n",
	"[a]\nb = c = d\n", "[a]\nb == c\n", "[a]\nb c = d\n", "[a]\nb.c=d\n", "[a]\nB=C\n", "[a]\n\n\n  ;\n\n!\n", "[a]\nb=c\n\n[d\n", "[a]\nb=\\\n\\\n\\q\n",
	"[a]\nb=\xff\xfe\n", "[a \"\xff\"]\nb=c\n", "[\xc3\xa4]\nb=c\n", "[a]\nb=c\v\n", "[a]\nb=c\f\n", "\v[a]\n", "[a]\nb=\vc\n", "[a]\nb\v=c\n",
	"[section \"sub\"]\n[section \"sub2\"]\nx = 1\n", "[a]\nb=c\n[a \"x\"]\nb=d\n[a]\nb=e\n",
	"[a]\nb = " + strings.Repeat("x", 5000) + "\n", "[a]\n" + strings.Repeat("b", 300) + "=c\n",
	"[a]\nb=c\x00d\n", "[a]\nb\x00=d\n", "[a \"x\x00y\"]\nb=c\n", "\x00", "[a\x00]\n", "[a]\nb=\"\x00\"\ne=\x00f\n",
	"[a \"x\r\n\"]\nb=c\n", "[a]\nb=\\\r\n", "[a]\n\tb = \"x\\\n", "[a]\nb=c\n   \\\n",
}

func TestParseAgainstGit(t *testing.T) {
	e := current(t)
	for i, content := range syntaxCases {
		t.Run(strconv.Itoa(i), func(t *testing.T) { compare(t, e, content) })
	}
}

// TestParseRandomAgainstGit puts together what the grammar is made of.
func TestParseRandomAgainstGit(t *testing.T) {
	e := current(t)
	pieces := []string{
		"[a]", "[b \"c\"]", "[", "]", "\"", "\\", "\\n", "\\t", "\\\\", "\\\"", "\n", "\n", "\n", "\r\n", "\r", " ", "  ", "\t", "=", " = ", "#", ";",
		"x", "Y", "key", "key = value", "key=", "\x00", "-", ".", "1", "\\\n", "\xef\xbb\xbf",
	}
	seed := uint64(1)
	rng := rand.New(rand.NewPCG(seed, 0))
	for range 300 {
		content := "[s]\n"
		if rng.IntN(4) == 0 {
			content = ""
		}
		for range 1 + rng.IntN(9) {
			content += pieces[rng.IntN(len(pieces))]
		}
		compare(t, e, content)
	}
}

func FuzzParse(f *testing.F) {
	for _, content := range syntaxCases {
		f.Add([]byte(content))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		entries, err := Parse(data, "f", Local)
		lines := strings.Count(string(data), "\n") + 1
		var syntax *SyntaxError
		if err != nil && (!errors.As(err, &syntax) || syntax.Line < 1 || syntax.Line > lines+1) {
			t.Fatalf("Parse(%q): %v", data, err)
		}
		for _, e := range entries {
			if e.Key == "" || e.Line < 1 || e.Line > lines || len(e.Value) > len(data) {
				t.Fatalf("Parse(%q): bad entry %+v", data, e)
			}
		}
	})
}

// FuzzParameters holds the reader of GIT_CONFIG_PARAMETERS against bad input.
func FuzzParameters(f *testing.F) {
	f.Add(`'a.b=c' 'd.e'='f' 'g.h'=`)
	f.Add(`'a.b=it'\''s'`)
	f.Fuzz(func(t *testing.T, s string) {
		entries, err := environment(map[string]string{"GIT_CONFIG_PARAMETERS": s})
		for _, e := range entries {
			if err == nil && checkKey(e.Key) != "" {
				t.Fatalf("GIT_CONFIG_PARAMETERS=%q: bad entry %+v", s, e)
			}
		}
	})
}

// write writes files below dir, by name.
func write(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
