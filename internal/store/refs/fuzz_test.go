package refs

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gust/internal/pure/oid"
)

const (
	hexA = "0123456789abcdef0123456789abcdef01234567"
	hexB = "89abcdef0123456789abcdef0123456789abcdef"
)

// FuzzPacked compares the parsed packed-refs with a plain reading of its lines.
func FuzzPacked(f *testing.F) {
	f.Add([]byte("# pack-refs with: peeled fully-peeled sorted \n" + hexA + " refs/heads/a\n" + hexB + " refs/tags/t\n^" + hexA + "\n"))
	f.Add([]byte(hexB + " refs/tags/b\n^" + hexA + "\n" + hexA + " refs/tags/a\n"))
	f.Add([]byte("^" + hexA + "\n"))
	f.Add([]byte(hexA + " refs/tags/b\n" + hexB + " refs/tags/b\n"))
	f.Add([]byte(hexA + " \n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := parsePacked(data, "packed-refs", oid.SHA1)
		var broken *BrokenError
		if err != nil {
			if !errors.As(err, &broken) || broken.Offset > int64(len(data)) {
				t.Fatalf("%q: %v", data, err)
			}
			return
		}
		ids := make(map[string][]string) // plain reading: name to IDs, in the order of the file
		var names []string
		for line := range strings.Lines(string(data)) {
			line = strings.TrimSuffix(line, "\n")
			if line[0] == '#' || line[0] == '^' {
				continue
			}
			name := line[41:]
			ids[name] = append(ids[name], strings.ToLower(line[:40]))
			names = append(names, name)
		}
		slices.Sort(names)
		for i, name := range names {
			if got := p.name(i); got != name {
				t.Fatalf("%q: ref %d is %q, want %q", data, i, got, name)
			}
			j, ok := p.find(name)
			if !ok || !slices.Contains(ids[name], p.id(j).String()) {
				t.Fatalf("%q: find(%q) = %d, %v", data, name, j, ok)
			}
			p.peeledOrSelf(i)
			lo, hi := p.span(name[:len(name)/2])
			if i < lo || i >= hi {
				t.Fatalf("%q: span(%q) = %d, %d, without %d", data, name[:len(name)/2], lo, hi, i)
			}
		}
		if len(p.lines) != len(names) {
			t.Fatalf("%q: %d refs, want %d", data, len(p.lines), len(names))
		}
	})
}

func FuzzLoose(f *testing.F) {
	for _, s := range []string{hexA + "\n", "ref: refs/heads/main\n", "ref:", "", hexA, hexA + "x", "ref: \x00"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		ref, problem := parseLoose(data, oid.SHA1)
		switch {
		case problem != "":
		case ref.Target != "":
			if !bytes.HasPrefix(data, []byte("ref:")) || !bytes.Contains(data, []byte(ref.Target)) {
				t.Fatalf("%q: target %q", data, ref.Target)
			}
		case !strings.EqualFold(ref.ID.String(), string(data[:40])):
			t.Fatalf("%q: ID %s", data, ref.ID)
		}
	})
}

func FuzzLogLine(f *testing.F) {
	f.Add([]byte(hexA + " " + hexB + " A U Thor <a@example.com> 1700000000 +0000\tmessage\n"))
	f.Add([]byte(hexA + " " + hexB + " > 1 -0000"))
	f.Fuzz(func(t *testing.T, line []byte) {
		if isLogLine(line, oid.SHA1) && (len(line) < 90 || !bytes.Contains(line, []byte("> "))) {
			t.Fatalf("%q is taken for an entry", line)
		}
		isLogLine(line, oid.SHA256)
	})
}

func FuzzName(f *testing.F) {
	for _, s := range []string{"refs/heads/main", "HEAD", "a..b", "a/.b", "a.lock/b", "@", "a@{b", "/a", "a//b", "a/", "a.", "ä"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if ValidName(s) && !safeName(s) {
			t.Fatalf("%q is valid, but not safe", s)
		}
	})
}

func TestBroken(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("refs/heads/junk", "junk\n")
	write("refs/heads/loop", "ref: refs/heads/loop\n")
	write("refs/heads/out", "ref: ../../../../etc/passwd\n")
	write("HEAD", strings.Repeat("0", 40)+"\n")
	s, err := Open(Options{GitDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	var broken *BrokenError
	for _, name := range []string{"refs/heads/junk", "refs/heads/loop", "refs/heads/out"} {
		if _, err := s.Resolve(name); !errors.As(err, &broken) {
			t.Errorf("Resolve(%q): %v, want a *BrokenError", name, err)
		}
	}
	if _, err := s.Head(); !errors.As(err, &broken) {
		t.Errorf("Head of a null ID: %v, want a *BrokenError", err)
	}
	for _, name := range []string{"refs/heads/none", "", "/etc/passwd", "refs/../HEAD", "refs/heads/none/deeper", "refs/heads"} {
		if _, err := s.Read(name); !errors.Is(err, ErrNotFound) {
			t.Errorf("Read(%q): %v, want ErrNotFound", name, err)
		}
	}
	write("packed-refs", hexA+" refs/heads/a\nnot a line\n")
	_, err = s.Read("refs/heads/b")
	if !errors.As(err, &broken) || broken.Offset != 54 || !strings.HasSuffix(broken.Path, "/packed-refs") {
		t.Errorf("bad packed-refs: %v, want a *BrokenError with file and offset", err)
	}
}
