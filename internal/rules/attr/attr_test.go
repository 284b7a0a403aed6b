package attr

import (
	"fmt"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	tests := []struct{ name, file, want string }{
		{"empty", "", ""},
		{"states", "*.c a -b !c d=e f=", "*.c: a=set b=unset c=unspecified d=e f="},
		{"comment-blank", "# x\n \t\n  *.c\ta\r\n", "*.c: a=set"},
		{"quoted", `"a\tb\040c" x`, "a\tb c: x=set"},
		{"quoted-badly", `"a\qb" x` + "\n" + `"a x`, `"a\qb": x=set; "a: x=set`},
		{"macro", "[attr]m a -b\n[attr] m", "m = a=set b=unset; [attr]: m=set"},
		{"bad-name", "* a$\n* --a\n* =x\n[attr]a,b c\n* builtin_x\nok", "ok:"},
		{"negative", "!a b\n\\!a b", `\!a: b=set`},
		{"directory", "a/ b", ""},
		{"long", "* " + strings.Repeat("a", 2046) + "\n* " + strings.Repeat("b", 2045), "*: " + strings.Repeat("b", 2045) + "=set"},
		{"nul", "a b\x00c\nd e", "a: b=set; d: e=set"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := describe(tt.file); got != tt.want {
				t.Errorf("Parse(%q) holds %q, want %q", tt.file, got, tt.want)
			}
		})
	}
}

// describe parses file and writes down what it holds. Patterns are taken from
// the file, because a compiled one has no text.
func describe(file string) string {
	l := Parse([]byte(file), Options{})
	var parts []string
	values := func(assigns []assignment) string {
		var b strings.Builder
		for _, a := range assigns {
			fmt.Fprintf(&b, " %s=%s", a.name, a.value)
		}
		return b.String()
	}
	for _, m := range l.macros {
		parts = append(parts, m.name+" ="+values(m.assigns))
	}
	i := 0
	for _, line := range strings.Split(file, "\n") {
		line, _, _ = strings.Cut(line, "\x00")
		one := Parse([]byte(line), Options{})
		if len(one.rules) == 0 {
			continue
		}
		line = strings.Trim(line, blank)
		word, _, ok := unquote(line)
		if !ok {
			word, _ = cutWord(line)
		}
		parts = append(parts, word+":"+values(l.rules[i].assigns))
		i++
	}
	if i != len(l.rules) {
		return fmt.Sprintf("%d rules for %d lines", len(l.rules), i)
	}
	return strings.Join(parts, "; ")
}

func TestStackLookup(t *testing.T) {
	list := func(s string) *List { return Parse([]byte(s), Options{}) }
	s := New([]*List{list("* a=system b=system"), list("*.c a=global")}, list("info.c a=info\n[attr]m -x"))
	s = s.Push(list("[attr]m x y\n*.bin binary\n* m"), "").Push(list("[attr]n x\n/f.c a=sub\nn.c n"), "sub")
	tests := []struct{ name, path, want string }{
		{"bottom", "sub/x", "a=system b=system text=unspecified x=unset y=unspecified n=unspecified"},
		{"global", "sub/x.c", "a=global b=system text=unspecified x=unset y=unspecified n=unspecified"},
		{"leaf", "sub/f.c", "a=sub b=system text=unspecified x=unset y=unspecified n=unspecified"},
		{"info", "sub/info.c", "a=info b=system text=unspecified x=unset y=unspecified n=unspecified"},
		{"builtin", "sub/x.bin", "a=system b=system text=unset x=unset y=unspecified n=unspecified"},
		{"no-macro-in-sub", "sub/n.c", "a=global b=system text=unspecified x=unset y=unspecified n=set"},
	}
	q := NewQuery("a", "b", "text", "x", "y", "n")
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for i, v := range s.Lookup([]byte(tt.path), q, nil) {
				got = append(got, q.names[i]+"="+v.String())
			}
			if strings.Join(got, " ") != tt.want {
				t.Errorf("Lookup(%q) = %q, want %q", tt.path, got, tt.want)
			}
		})
	}
	if s.Push(list("# nothing"), "x") != s {
		t.Error("pushing an empty list gives another stack")
	}
}

// TestQueryLong decides about so many attributes that the query changes to its
// map, twice, so that a stale entry would show.
func TestQueryLong(t *testing.T) {
	var file strings.Builder
	file.WriteString("x")
	for i := range 3 * longKnown {
		fmt.Fprintf(&file, " a%d=%d", i, i)
	}
	file.WriteString("\ny a1=other")
	s := New(nil, nil).Push(Parse([]byte(file.String()), Options{}), "")
	q := NewQuery("a0", "a1", "a71", "none")
	for range 2 {
		for path, want := range map[string]string{"x": "[0 1 71 unspecified]", "y": "[unspecified other unspecified unspecified]"} {
			if got := fmt.Sprint(s.Lookup([]byte(path), q, nil)); got != want {
				t.Errorf("Lookup(%q) = %s, want %s", path, got, want)
			}
		}
	}
}

func TestStackLookupAllocs(t *testing.T) {
	s := New(nil, nil).Push(Parse([]byte("* text=auto\n*.bin binary\n/src/*.[ch] eol=lf\n*.lfs filter=lfs -text"), Options{}), "")
	q := NewQuery("text", "eol", "crlf", "ident", "filter", "working-tree-encoding")
	dst := make([]Value, 0, 8)
	for _, p := range []string{"src/a.c", "x.bin", "y.lfs"} {
		path := []byte(p)
		s.Lookup(path, q, dst)
		if n := testing.AllocsPerRun(100, func() { s.Lookup(path, q, dst) }); n != 0 {
			t.Errorf("Lookup(%q) allocates %v times, want 0", p, n)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("* text=auto\n*.bin binary\n[attr]m a -b !c\n\"q\\040\" m"), []byte("d/x.bin"))
	f.Add([]byte("[attr]a b\n[attr]b a\n* a"), []byte("x"))
	f.Add([]byte("\xef\xbb\xbf* -a=b !c=d e=\r\n"), []byte("x"))
	f.Fuzz(func(t *testing.T, data, path []byte) {
		if len(data) > 1<<11 || len(path) > 1<<8 {
			return
		}
		l := Parse(data, Options{})
		if got, n := len(l.rules)+len(l.macros), strings.Count(string(data), "\n")+1; got > n {
			t.Errorf("Parse(%q) holds %d rules, more than its %d lines", data, got, n)
		}
		seen := map[string]bool{}
		var names []string
		l.Names(func(name string) {
			if !validName(name) {
				t.Errorf("Parse(%q) has the attribute %q", data, name)
			}
			if !seen[name] {
				seen[name] = true
				names = append(names, name)
			}
		})
		s := New(nil, nil).Push(l, "")
		q := NewQuery(names...)
		all := s.Lookup(path, q, nil)
		// Asking for one attribute alone takes the short cuts, and may not
		// change the answer.
		for i, name := range names {
			if one := s.Lookup(path, NewQuery(name), nil); one[0] != all[i] {
				t.Errorf("%q: attribute %s of %q is %v alone and %v among all", data, name, path, one[0], all[i])
			}
		}
	})
}

func BenchmarkStackLookup(b *testing.B) {
	var file strings.Builder
	for i := range 100 {
		fmt.Fprintf(&file, "*.ext%d text eol=lf\n", i)
	}
	s := New(nil, nil).Push(Parse([]byte(file.String()), Options{}), "")
	q := NewQuery("text", "eol", "crlf", "ident", "filter", "working-tree-encoding")
	path, dst := []byte("drivers/net/main.c"), make([]Value, 0, 8)
	for b.Loop() {
		s.Lookup(path, q, dst)
	}
}
