package filter

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"gust/internal/rules/attr"
)

// planFor returns the plan for a file whose attributes are written as in
// .gitattributes.
func planFor(s *Settings, attributes string) Plan {
	stack := attr.New(nil, nil).Push(attr.Parse([]byte("* "+attributes), attr.Options{}), "")
	return s.Plan(stack.Lookup([]byte("f"), NewQuery(), nil))
}

func TestSettingsPlan(t *testing.T) {
	tests := []struct {
		name, attributes string
		auto             AutoCRLF
		want             string
	}{
		{"nothing", "", AutoFalse, "identity"},
		{"autocrlf", "", AutoTrue, "auto"},
		{"autocrlf-input", "", AutoInput, "auto"},
		{"binary", "binary", AutoTrue, "identity"},
		{"text", "text", AutoFalse, "text"},
		{"text-auto", "text=auto", AutoFalse, "auto"},
		{"text-auto-eol", "text=auto eol=crlf", AutoFalse, "auto"},
		{"eol", "eol=lf", AutoFalse, "text"},
		{"eol-not-text", "-text eol=crlf", AutoFalse, "identity"},
		{"text-input", "text=input", AutoFalse, "text"},
		{"crlf-old", "crlf", AutoFalse, "text"},
		{"crlf-yields", "-text crlf", AutoFalse, "identity"},
		{"text-nonsense", "text=x crlf=input", AutoFalse, "text"},
		{"eol-nonsense", "eol=x", AutoFalse, "identity"},
		{"ident", "ident", AutoFalse, "other"},
		{"ident-text", "ident=x", AutoFalse, "identity"},
		{"encoding", "working-tree-encoding=UTF-16", AutoFalse, "other"},
		{"encoding-utf-8", "working-tree-encoding=utf8", AutoFalse, "identity"},
		{"encoding-true", "working-tree-encoding", AutoFalse, "identity"},
		{"filter-unknown", "filter=nobody", AutoFalse, "identity"},
		{"filter-untrusted", "filter=untrusted", AutoFalse, "identity"},
		{"filter", "filter=trusted", AutoFalse, "other"},
		{"filter-smudge-only", "filter=smudge", AutoFalse, "identity"},
		{"lfs", "filter=lfs -text", AutoFalse, "lfs"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := &Settings{AutoCRLF: tt.auto, Runner: NewRunner("", nil), Drivers: map[string]Driver{
				"untrusted": {Clean: "false", Required: true},
				"trusted":   {Clean: "false", Trusted: true},
				"smudge":    {Trusted: true},
				"lfs":       {Clean: "git-lfs clean -- %f", Process: "git-lfs filter-process", Required: true},
			}}
			p := planFor(s, tt.attributes)
			got := "other"
			switch {
			case p.Identity():
				got = "identity"
			case p.OnlyLFS():
				got = "lfs"
			case p.OnlyEOL():
				got = map[eolAction]string{eolAuto: "auto", eolText: "text"}[p.eol]
			}
			if got != tt.want {
				t.Errorf("attributes %q make the plan %s, want %s", tt.attributes, got, tt.want)
			}
		})
	}
}

// TestStatsPieces checks that the way content is cut does not change its
// counts.
func TestStatsPieces(t *testing.T) {
	for _, content := range []string{"", "\r", "\r\n", "a\r\nb\r", "\x00\x1a", "\r\r\n\n\x1a", "a\x7f\x1b\b\t\f\x01"} {
		var whole Stats
		whole.Add([]byte(content))
		for cut := range len(content) + 1 {
			var parts Stats
			parts.Add([]byte(content[:cut]))
			parts.Add([]byte(content[cut:]))
			if parts != whole {
				t.Errorf("%q cut at %d gives %+v, whole %+v", content, cut, parts, whole)
			}
		}
	}
}

func TestPlanAppendWithoutCRPieces(t *testing.T) {
	const content = "a\r\nb\r\r\n\nc\r\n"
	p := planFor(new(Settings), "text")
	whole := string(p.AppendWithoutCR(nil, []byte(content), 0))
	if whole != "a\nb\r\n\nc\n" {
		t.Errorf("%q becomes %q", content, whole)
	}
	for cut := range len(content) {
		parts := p.AppendWithoutCR(nil, []byte(content[:cut]), content[cut])
		if parts = p.AppendWithoutCR(parts, []byte(content[cut:]), 0); string(parts) != whole {
			t.Errorf("%q cut at %d becomes %q, want %q", content, cut, parts, whole)
		}
	}
}

// TestPlanCleanIndexed checks when the index is asked, and that its failure is
// reported.
func TestPlanCleanIndexed(t *testing.T) {
	broken := errors.New("no object")
	tests := []struct {
		name, attributes, src, index, want string
		fail, asked                        bool
	}{
		{"lf-only", "text=auto", "a\n", "", "a\n", false, false},
		{"index-lf", "text=auto", "a\r\n", "a\n", "a\n", false, true},
		{"index-crlf", "text=auto", "a\r\n", "b\r\n", "a\r\n", false, true},
		{"index-binary", "text=auto", "a\r\n", "b\r\n\x00", "a\n", false, true},
		{"source-binary", "text=auto", "a\r\n\x00", "", "a\r\n\x00", false, false},
		{"text-does-not-care", "text", "a\r\n\x00", "b\r\n", "a\n\x00", false, false},
		{"fails", "text=auto", "a\r\n", "", "", true, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := planFor(new(Settings), tt.attributes)
			asked := false
			got, err := p.Clean(context.Background(), "f", []byte(tt.src), func() ([]byte, error) {
				asked = true
				if tt.fail {
					return nil, broken
				}
				return []byte(tt.index), nil
			})
			if string(got) != tt.want || asked != tt.asked || errors.Is(err, broken) != tt.fail {
				t.Errorf("cleaning %q gives %q, %v, index asked %v; want %q, asked %v", tt.src, got, err, asked, tt.want, tt.asked)
			}
		})
	}
}

func TestLFSPointer(t *testing.T) {
	pointer := "version https://git-lfs.github.com/spec/v1\noid sha256:" + strings.Repeat("ab", 32) + "\nsize 12\n"
	extended := strings.Replace(pointer, "\noid", "\next-0-x sha256:"+strings.Repeat("cd", 32)+"\noid", 1)
	for _, s := range []string{"", pointer, extended, strings.ReplaceAll(pointer, "\n", "\r\n"), strings.TrimSpace(pointer), strings.Replace(pointer, "https://git-lfs.github.com/spec/v1", "https://hawser.github.com/spec/v1", 1)} {
		if got := LFSPointer([]byte(s)); string(got) != s {
			t.Errorf("%q becomes %q, want itself", s, got)
		}
	}
	for _, s := range []string{"x", strings.Replace(pointer, "12", "-1", 1), strings.Replace(pointer, "ab", "zz", 1), pointer + "more\n", pointer + strings.Repeat("\n", LFSHead),
		strings.Replace(pointer, "oid", "OID", 1), strings.Replace(pointer, "size 12\n", "", 1), strings.Replace(pointer, "spec/v1", "spec/v9", 1)} {
		got := LFSPointer([]byte(s))
		if want := fmt.Sprintf("\nsize %d\n", len(s)); !bytes.HasSuffix(got, []byte(want)) || !IsLFSPointer(got) {
			t.Errorf("%q becomes %q, want a pointer with size %d", s, got, len(s))
		}
	}
	// The SHA-256 of "abc" is in FIPS 180-2, appendix B.1.
	const want = "version https://git-lfs.github.com/spec/v1\noid sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\nsize 3\n"
	if got := string(LFSPointer([]byte("abc"))); got != want {
		t.Errorf("the pointer of abc is %q, want %q", got, want)
	}
}

func TestDriverIsLFS(t *testing.T) {
	tests := []struct {
		name string
		d    Driver
		want bool
	}{
		{"installed", Driver{Clean: "git-lfs clean -- %f", Process: "git-lfs filter-process"}, true},
		{"skip-smudge", Driver{Process: "git-lfs filter-process --skip"}, true},
		{"clean-only", Driver{Clean: "git-lfs clean %f"}, true},
		{"through-git", Driver{Clean: "git lfs clean -- %f"}, true},
		{"path", Driver{Clean: "/opt/bin/git-lfs clean -- %f"}, true},
		{"windows", Driver{Clean: "C:/x/git-lfs.exe clean -- %f"}, true},
		{"other-program", Driver{Clean: "my-lfs clean %f"}, false},
		{"other-verb", Driver{Clean: "git-lfs smudge %f"}, false},
		{"none", Driver{}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.d.isLFS(); got != tt.want {
				t.Errorf("%+v is Git LFS: %v, want %v", tt.d, got, tt.want)
			}
		})
	}
}

func FuzzClean(f *testing.F) {
	f.Add([]byte("a\r\n$Id: x$\r\n"), uint8(0), []byte("b\n"))
	f.Add([]byte("\xff\xfea\x00\r\x00\n\x00"), uint8(1), []byte(""))
	f.Add([]byte("\x00\x00\xfe\xff\x00\x10\xff\xff"), uint8(2), []byte(""))
	f.Add([]byte("\x93\xfa\x96\x7b"), uint8(3), []byte(""))
	attributes := []string{"text=auto ident", "working-tree-encoding=UTF-16 text", "working-tree-encoding=UTF-32", "working-tree-encoding=Shift_JIS",
		"filter=lfs -text", "working-tree-encoding=UTF-16LE-BOM ident", "working-tree-encoding=gb18030 text=auto"}
	s := &Settings{Drivers: map[string]Driver{"lfs": {Clean: "git-lfs clean"}}}
	f.Fuzz(func(t *testing.T, src []byte, which uint8, index []byte) {
		p := planFor(s, attributes[int(which)%len(attributes)])
		before := bytes.Clone(src)
		once, err := p.Clean(context.Background(), "f", src, func() ([]byte, error) { return index, nil })
		if err != nil {
			t.Fatalf("cleaning %q: %v", src, err)
		}
		if !bytes.Equal(src, before) {
			t.Errorf("cleaning changed its input %q to %q", before, src)
		}
		if len(once) > 4*len(src)+256 {
			t.Errorf("%d bytes became %d", len(src), len(once))
		}
	})
}
