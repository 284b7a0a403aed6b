package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestGroup(t *testing.T) {
	dirs := group([]byte("a/x\x00b\x00a/b/y\x00a/z\x00c"))
	var got []string
	for _, d := range dirs {
		s := string(d.path)
		for _, n := range d.names {
			s += " " + string(n)
		}
		got = append(got, strings.ReplaceAll(s, "\x00", "|"))
	}
	want := "a| x| z|, .| b| c|, a/b| y|"
	if s := strings.Join(got, ", "); s != want {
		t.Errorf("group: %q, want %q", s, want)
	}
}

func TestPass(t *testing.T) {
	if runtime.GOOS != "linux" || (runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64") {
		if _, err := newPass(".", nil, 1); err == nil {
			t.Fatal("a floor on a system it is not written for")
		}
		return
	}
	root := t.TempDir()
	for _, name := range []string{"a", "d/b", "d/e/c"} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	p, err := newPass(root, group([]byte("a\x00d/b\x00d/e/c\x00d/gone\x00")), 2)
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	for range 3 {
		if n, err := p.run(); n != 3 || err != nil {
			t.Errorf("run: %d files, %v, want 3", n, err)
		}
	}
	gone, err := newPass(root, group([]byte("gone/x\x00")), 1)
	if err != nil {
		t.Fatal(err)
	}
	defer gone.close()
	if _, err := gone.run(); err == nil {
		t.Error("a directory that is not there went unnoticed")
	}
}
