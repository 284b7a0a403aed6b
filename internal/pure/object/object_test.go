package object_test

import (
	"bytes"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"gust/internal/gittest"
	"gust/internal/pure/object"
	"gust/internal/pure/oid"
)

const (
	blobHex = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
	treeHex = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
)

// put stores an object that git would not make.
func put(t *testing.T, env *gittest.Env, typ, content string) string {
	t.Helper()
	cmd := env.Command("r", "hash-object", "-w", "--literally", "-t", typ, "--stdin")
	cmd.Stdin = strings.NewReader(content)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git hash-object of %q: %v", content, err)
	}
	return strings.TrimSpace(string(out))
}

// gitOut runs git, which may fail.
func gitOut(env *gittest.Env, args ...string) (string, error) {
	out, err := env.Command("r", args...).Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) && bytes.Contains(exit.Stderr, []byte("usage:")) {
		panic(string(exit.Stderr))
	}
	return string(out), err
}

func newRepo(t *testing.T, g gittest.Git) *gittest.Env {
	t.Helper()
	env := gittest.New(t, g)
	env.Run(t, ".", "init", "-q", "r")
	put(t, env, "blob", "")
	put(t, env, "tree", "")
	return env
}

var raw = func() string {
	id, _ := oid.Parse(oid.SHA1, blobHex)
	return string(id.Raw())
}()

func TestTreeAsGit(t *testing.T) {
	tests := []struct {
		name, tree string
	}{
		{"empty", ""},
		{"one", "100644 a\x00" + raw},
		{"all-modes", "100644 a\x00" + raw + "100755 b\x00" + raw + "120000 c\x00" + raw + "160000 d\x00" + raw + "40000 e\x00" + raw},
		{"old-modes", "100664 a\x00" + raw + "100700 b\x00" + raw + "100600 c\x00" + raw + "100777 d\x00" + raw},
		{"odd-modes", "040000 a\x00" + raw + "0100644 b\x00" + raw + "140000 c\x00" + raw + "120777 d\x00" + raw + "644 e\x00" + raw + "0 f\x00" + raw + "40755 g\x00" + raw},
		{"odd-names", "100644 \x01\xff b\n\x00" + raw + "100644 ..\x00" + raw + "100644 .git\x00" + raw + "100644 a/b\x00" + raw},
		{"unsorted", "100644 b\x00" + raw + "100644 a\x00" + raw + "100644 a\x00" + raw},
		{"no-mode", " a\x00" + raw},
		{"bad-mode", "10064x a\x00" + raw},
		{"digit-8", "100648 a\x00" + raw},
		{"no-space", "100644"},
		{"no-name", "100644 \x00" + raw},
		{"no-nul", "100644 abc"},
		{"cut-id", "100644 a\x00" + raw[:19]},
		{"no-id", "100644 a\x00"},
		{"second-cut", "100644 a\x00" + raw + "1"},
	}
	for _, g := range gittest.All(t) {
		env := newRepo(t, g)
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				id := put(t, env, "tree", tt.tree)
				want, gitErr := gitOut(env, "ls-tree", "-z", id)
				var got strings.Builder
				r := object.NewTreeReader([]byte(tt.tree), oid.SHA1)
				var e object.TreeEntry
				ok, err := r.Next(&e)
				for ; ok && err == nil; ok, err = r.Next(&e) {
					typ := map[object.Mode]string{object.ModeTree: "tree", object.ModeGitlink: "commit"}[e.Mode]
					if typ == "" {
						typ = "blob"
					}
					fmt.Fprintf(&got, "%v %s %s\t%s\x00", e.Mode, typ, e.ID, e.Name)
				}
				if (err == nil) != (gitErr == nil) || err == nil && got.String() != want {
					t.Errorf("tree %q:\n%q, %v\ngit:\n%q, %v", tt.tree, got.String(), err, want, gitErr)
				}
				var c *object.CorruptError
				if err != nil && !errors.As(err, &c) {
					t.Errorf("error %v is no *CorruptError", err)
				}
			})
		}
	}
}

const (
	author    = "author A <a@x> 1600000000 +0100\n"
	committer = "committer C <c@x> 1700000000 +0200\n"
)

func TestCommitAsGit(t *testing.T) {
	tree := "tree " + treeHex + "\n"
	tests := []struct {
		name, commit string
	}{
		{"plain", tree + author + committer + "\nsubject\n"},
		{"body", tree + author + committer + "\nsubject\n\nbody\nmore\n"},
		{"two-lines", tree + author + committer + "\nsubject\n  goes on \nand on\n\nbody\n"},
		{"leading-empty", tree + author + committer + "\n\n \n\t\n  subject\n"},
		{"no-newline", tree + author + committer + "\nsubject"},
		{"no-message", tree + author + committer + "\n"},
		{"no-empty-line", tree + author + committer},
		{"spaces", tree + author + committer + "\n \v\f\rsub  ject \t\v\f\r\n"},
		{"crlf", tree + author + committer + "\nsubject\r\nmore\r\n\r\nbody\r\n"},
		{"encoding", tree + author + committer + "encoding ISO-8859-1\n\ns\xe4bject\n"},
		{"extra", tree + author + committer + "gpgsig -----BEGIN\n encoding no\n x\n -----END\nmergetag object\n tag\nencoding utf-8\n\nsubject\n"},
		{"header-after", tree + author + committer + "\nencoding latin1\n"},
		{"no-author", tree + committer + "\nsubject\n"},
		{"no-committer", tree + author + "\nsubject\n"},
		{"committer-first", tree + committer + author + "\nsubject\n"},
		{"no-people", tree + "\nsubject\n"},
		{"name-with-bracket", tree + author + "committer C >x> <c@x> 1700000000 +0200\n\ns\n"},
		{"mail-with-bracket", tree + author + "committer C <c>@x> 1700000000 +0200\n\ns\n"},
		{"no-bracket", tree + author + "committer C 1700000000 +0200\n\ns\n"},
		{"no-date", tree + author + "committer C <c@x>\n\ns\n"},
		{"empty-date", tree + author + "committer C <c@x> \n\ns\n"},
		{"bad-date", tree + author + "committer C <c@x> x +0000\n\ns\n"},
		{"date-then-junk", tree + author + "committer C <c@x> 17x +0000\n\ns\n"},
		{"tight-date", tree + author + "committer C <c@x>17 +0000\n\ns\n"},
		{"tab-date", tree + author + "committer C <c@x>\t17 +0000\n\ns\n"},
		{"zero-date", tree + author + "committer C <c@x> 0 +0000\n\ns\n"},
		{"octal-date", tree + author + "committer C <c@x> 0017 +0000\n\ns\n"},
		{"far-date", tree + author + "committer C <c@x> 99999999999 +0000\n\ns\n"},
		{"no-zone", tree + author + "committer C <c@x> 17\n\ns\n"},
		{"empty-name", tree + author + "committer  <> 17 +0000\n\ns\n"},
		{"upper-tree", "tree " + strings.ToUpper(treeHex) + "\n" + author + committer + "\ns\n"},
		{"no-tree", author + committer + "\ns\n"},
		{"short-tree", "tree 4b82\n" + author + committer + "\ns\n"},
		{"long-tree", "tree " + treeHex + "0\n" + author + committer + "\ns\n"},
		{"bad-tree", "tree x" + treeHex[1:] + "\n" + author + committer + "\ns\n"},
		{"bad-parent", tree + "parent x\n" + author + committer + "\ns\n"},
		{"parent-cut", tree + "parent " + treeHex[:30]},
		{"ends-after-tree", tree},
		{"empty", ""},
	}
	for _, g := range gittest.All(t) {
		env := newRepo(t, g)
		p1, p2 := put(t, env, "commit", tree+author+committer+"\n1\n"), put(t, env, "commit", tree+author+committer+"\n2\n")
		all := append(tests[:len(tests):len(tests)], []struct{ name, commit string }{
			{"parent", tree + "parent " + p1 + "\n" + author + committer + "\ns\n"},
			{"parents", tree + "parent " + p1 + "\nparent " + p2 + "\n" + author + committer + "\ns\n"},
			{"same-parents", tree + "parent " + p1 + "\nparent " + p1 + "\n" + author + committer + "\ns\n"},
			{"ends-after-parent", tree + "parent " + p1 + "\n"},
			{"ends-in-parent", tree + "parent " + p1},
			{"ends-in-second", tree + "parent " + p1 + "\nparent " + p2[:20]},
			{"late-parent", tree + "parent " + p1 + "\n" + author + "parent " + p2 + "\n" + committer + "\ns\n"},
		}...)
		for _, tt := range all {
			t.Run(tt.name, func(t *testing.T) {
				// These had no date before Git 2.51 looked for it from the end of the line.
				old := !g.AtLeast(2, 51) && (strings.HasSuffix(tt.name, "-with-bracket") || tt.name == "no-empty-line")
				checkCommit(t, env, tt.commit, old)
			})
		}
	}
}

func checkCommit(t *testing.T, env *gittest.Env, content string, noDate bool) {
	t.Helper()
	id := put(t, env, "commit", content)
	// rev-list parses as a walk does; log shows the rest.
	out, gitErr := gitOut(env, "rev-list", "--no-walk", "--parents", "--timestamp", id)
	c, err := object.ParseCommit([]byte(content), oid.SHA1)
	if (err == nil) != (gitErr == nil) {
		t.Fatalf("error %v, git's %v", err, gitErr)
	}
	if err != nil {
		var corrupt *object.CorruptError
		if !errors.As(err, &corrupt) {
			t.Errorf("error %v is no *CorruptError", err)
		}
		return
	}
	got := fmt.Sprintf("%d %s", c.CommitTime, id)
	if noDate {
		got = "0 " + id
	}
	for _, p := range c.Parents {
		got += " " + p.String()
	}
	if want := strings.TrimSpace(out); got != want {
		t.Errorf("time, ID, parents %q, git's %q", got, want)
	}
	want, gitErr := gitOut(env, "log", "--encoding="+string(c.Encoding), "--no-walk", "--format=%T%n%e%n%s", id)
	if gitErr != nil {
		t.Fatal(gitErr)
	}
	got = fmt.Sprintf("%s\n%s\n%s\n", c.Tree, c.Encoding, object.Subject(nil, c.Message))
	if got != want {
		t.Errorf("tree, encoding, subject %q, git's %q", got, want)
	}
	// The head is the same, whole or cut where it is enough.
	var h object.CommitHead
	for n := range len(content) + 1 {
		ok, err := h.ParseHead([]byte(content[:n]), n == len(content), oid.SHA1)
		if err != nil || n == len(content) && !ok {
			t.Fatalf("ParseHead of %d bytes: %v, %v", n, ok, err)
		}
		if ok && (h.CommitTime != c.CommitTime || fmt.Sprint(h.Parents) != fmt.Sprint(c.Parents)) {
			t.Fatalf("ParseHead of %d bytes: %+v, want %+v", n, h, c)
		}
	}
}

func TestTagAsGit(t *testing.T) {
	object1 := "object " + blobHex + "\n"
	tagger := "tagger T <t@x> 1600000000 +0100\n"
	tests := []struct {
		name, tag string
		ok        bool // for what git does not parse leniently in one place
	}{
		{"plain", object1 + "type blob\ntag name\n" + tagger + "\nmessage\n", true},
		{"no-tagger", object1 + "type blob\ntag name\n\nmessage\n", true},
		{"no-message", object1 + "type blob\ntag name\n" + tagger, true},
		{"odd-name", object1 + "type blob\ntag a b\xff\n" + tagger + "\nm\n", true},
		{"no-object", "type blob\ntag name\n" + tagger + "\nm\n", false},
		{"bad-object", "object x" + blobHex[1:] + "\ntype blob\ntag name\n" + tagger + "\nm\n", false},
		{"bad-type", object1 + "type blub\ntag name\n" + tagger + "\nm\n", false},
		{"no-type", object1 + "tag name\n" + tagger + "\nm\n", false},
		{"no-name", object1 + "type blob\n" + tagger + "\nm\n", false},
		{"cut", object1 + "type blob\ntag name", false},
		{"empty", "", false},
	}
	for _, g := range gittest.All(t) {
		env := newRepo(t, g)
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				id := put(t, env, "tag", tt.tag)
				want, gitErr := gitOut(env, "rev-parse", "--verify", id+"^{}")
				tag, err := object.ParseTag([]byte(tt.tag), oid.SHA1)
				if (err == nil) != (gitErr == nil) || (err == nil) != tt.ok {
					t.Fatalf("error %v, git's %v, ok %v", err, gitErr, tt.ok)
				}
				if err != nil {
					return
				}
				if tag.Object.String() != strings.TrimSpace(want) || tag.Type != object.Blob {
					t.Errorf("tagged %s, a %v; git's %q", tag.Object, tag.Type, want)
				}
				env.Run(t, "r", "update-ref", "refs/tags/t", id)
				want = env.Run(t, "r", "for-each-ref", "--format=%(tag)%0a%(contents)", "refs/tags/t")
				if got := fmt.Sprintf("%s\n%s\n", tag.Name, tag.Message); got != want {
					t.Errorf("name and message %q, git's %q", got, want)
				}
			})
		}
	}
}

func TestType(t *testing.T) {
	for _, typ := range []object.Type{object.Commit, object.Tree, object.Blob, object.Tag} {
		if got, ok := object.ParseType(typ.String()); got != typ || !ok {
			t.Errorf("ParseType(%q) = %v, %v", typ.String(), got, ok)
		}
	}
	for _, bad := range []string{"", "Blob", "blob ", "invalid object type 0"} {
		if typ, ok := object.ParseType(bad); ok {
			t.Errorf("ParseType(%q) = %v", bad, typ)
		}
	}
	if s := object.Type(9).String(); !strings.Contains(s, "9") {
		t.Errorf("Type(9) is %q", s)
	}
}

func TestTreeReaderNextAllocs(t *testing.T) {
	tree := []byte("100644 a\x00" + raw + "100755 b\x00" + raw)
	var e object.TreeEntry
	if n := testing.AllocsPerRun(100, func() {
		r := object.NewTreeReader(tree, oid.SHA1)
		for ok := true; ok; ok, _ = r.Next(&e) {
		}
	}); n != 0 {
		t.Errorf("Next allocates %v times", n)
	}
}

func TestCommitHeadParseHeadAllocs(t *testing.T) {
	data := []byte("tree " + treeHex + "\nparent " + blobHex + "\nparent " + treeHex + "\n" + author + committer + "\ns\n")
	h := object.CommitHead{Parents: make([]oid.ID, 0, 2)}
	if n := testing.AllocsPerRun(100, func() { h.ParseHead(data, true, oid.SHA1) }); n != 0 {
		t.Errorf("ParseHead allocates %v times", n)
	}
	if len(h.Parents) != 2 || h.CommitTime != 1700000000 {
		t.Errorf("parsed %+v", h)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("tree " + treeHex + "\nparent " + blobHex + "\n" + author + committer + "encoding x\n\nsubject\n"))
	f.Add([]byte("object " + blobHex + "\ntype blob\ntag x\n\nmessage\n"))
	f.Add([]byte("100644 a\x00" + raw + "40000 b\x00" + raw))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, a := range []oid.Algo{oid.SHA1, oid.SHA256} {
			c, err := object.ParseCommit(data, a)
			var h object.CommitHead
			ok, err2 := h.ParseHead(data, true, a)
			if (err == nil) != (err2 == nil) || ok != (err == nil) {
				t.Fatalf("ParseCommit: %v; ParseHead: %v, %v", err, ok, err2)
			}
			if err == nil && (h.CommitTime != c.CommitTime || len(h.Parents) != len(c.Parents)) {
				t.Fatalf("ParseCommit: %+v; ParseHead: %+v", c, h)
			}
			object.Subject(nil, c.Message)
			if _, err := object.ParseTag(data, a); err != nil && err.Error() == "" {
				t.Fatal("empty error")
			}
			r := object.NewTreeReader(data, a)
			var e object.TreeEntry
			n := 0
			for {
				ok, err := r.Next(&e)
				if !ok || err != nil {
					break
				}
				if len(e.Name) == 0 || bytes.IndexByte(e.Name, 0) >= 0 || e.Mode != e.Mode.Canonical() {
					t.Fatalf("entry %+v", e)
				}
				if n++; n > len(data) {
					t.Fatal("more entries than bytes")
				}
			}
		}
	})
}
