package quote

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestCutGit reads back the names that git quotes.
func TestCutGit(t *testing.T) {
	dir := t.TempDir()
	git := func(args ...string) []byte {
		t.Helper()
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "HOME="+dir, "GIT_CONFIG_NOSYSTEM=1")
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("git %v: %v", args, err)
		}
		return out
	}
	git("init", "-q")
	for c := 1; c < 256; c++ {
		if c == '/' {
			continue
		}
		name := "a" + string([]byte{byte(c)}) + "7"
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	names := strings.Split(strings.TrimSuffix(string(git("ls-files", "-oz")), "\x00"), "\x00")
	lines := bytes.Split(bytes.TrimSuffix(git("ls-files", "-o"), []byte("\n")), []byte("\n"))
	if len(names) != len(lines) || len(names) != 254 {
		t.Fatalf("git lists %d names and %d lines, want 254", len(names), len(lines))
	}
	for i, line := range lines {
		if line[0] != '"' {
			continue
		}
		if got, rest, ok := Cut(string(line) + " x"); got != names[i] || rest != " x" || !ok {
			t.Errorf("Cut(%s) = %q, %q, %v, want %q", line, got, rest, ok, names[i])
		}
	}
}

func TestCutMalformed(t *testing.T) {
	for _, s := range []string{``, `a`, `"`, `"a`, `"\`, `"\"`, `"\q"`, `"\40"`, `"\400"`, `"\08a"`, `"\1`} {
		if text, rest, ok := Cut(s); ok {
			t.Errorf("Cut(%s) = %q, %q, want none", s, text, rest)
		}
	}
}

func FuzzCut(f *testing.F) {
	for _, s := range []string{`"a\tb" c`, `"\377\\"`, `"\"`, `x`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		text, rest, ok := Cut(s)
		if !ok && text+rest != "" || ok && (len(text)+2+len(rest) > len(s) || !strings.HasSuffix(s, rest)) {
			t.Errorf("Cut(%q) = %q, %q, %v", s, text, rest, ok)
		}
	})
}
