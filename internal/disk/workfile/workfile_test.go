package workfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"gust/internal/disk/filestat"
)

// open makes a directory with a file "f", a directory "d", and links to both.
func open(t *testing.T) (Dir, string) {
	t.Helper()
	dir := t.TempDir()
	for _, err := range []error{
		os.WriteFile(filepath.Join(dir, "f"), []byte("f"), 0o600), os.Mkdir(filepath.Join(dir, "d"), 0o700),
		os.MkdirAll(filepath.Join(dir, "out/side"), 0o700), os.Mkdir(filepath.Join(dir, "in"), 0o700),
		os.Symlink("../out", filepath.Join(dir, "in/link")), os.Symlink("f", filepath.Join(dir, "lf")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	d, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	return d, dir
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestOpenDirFollowsNothing(t *testing.T) {
	d, _ := open(t)
	for _, path := range []string{"in/link", "in/link/side", "lf", "f", "../x", "in/../../x", "none/x"} {
		if o, err := d.OpenDir(path); err == nil {
			o.Close()
			t.Errorf("OpenDir(%q) succeeds", path)
		} else if !filestat.IsAbsent(err) && !errors.Is(err, fs.ErrNotExist) && path[0] == 'i' && path != "in/../../x" {
			t.Errorf("OpenDir(%q): %v, want one that says there is no such directory", path, err)
		}
	}
	for _, path := range []string{"", "d", "out/side"} {
		o, err := d.OpenDir(path)
		if err != nil {
			t.Errorf("OpenDir(%q): %v", path, err)
			continue
		}
		o.Close()
	}
}

func TestWriteFile(t *testing.T) {
	d, dir := open(t)
	var st filestat.Stat
	for _, name := range []string{"f", "lf", "d"} {
		if err := d.WriteFile(name, false, []byte("x"), &st, nil); !errors.Is(err, fs.ErrExist) {
			t.Errorf("WriteFile over %q: %v, want ErrExist", name, err)
		}
	}
	if got := read(t, filepath.Join(dir, "f")); got != "f" {
		t.Errorf("the file is now %q", got)
	}
	if err := d.WriteFile("new", true, []byte("content"), &st, nil); err != nil {
		t.Fatal(err)
	}
	var want filestat.Stat
	if err := d.Stat(&want, "new"); err != nil || st != want || st.Size != 7 || st.Mode&0o100 == 0 {
		t.Errorf("WriteFile returns stat %+v, the file has %+v, %v", st, want, err)
	}
	failed := errors.New("no")
	if err := d.WriteFile("kept", false, nil, &st, func() error { return failed }); err != failed {
		t.Errorf("WriteFile with a failing step returns %v", err)
	}
}

func TestRenameTakesNothing(t *testing.T) {
	d, dir := open(t)
	sub, err := d.OpenDir("d")
	if err != nil {
		t.Fatal(err)
	}
	defer sub.Close()
	if err := os.WriteFile(filepath.Join(dir, "d/g"), []byte("g"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := d.Rename("f", sub, "g"); !errors.Is(err, fs.ErrExist) {
		t.Errorf("Rename over a file: %v, want ErrExist", err)
	}
	if err := d.Rename("f", sub, "h"); err != nil {
		t.Fatal(err)
	}
	if a, b := read(t, filepath.Join(dir, "d/g")), read(t, filepath.Join(dir, "d/h")); a != "g" || b != "f" {
		t.Errorf("files are %q and %q", a, b)
	}
	names, err := sub.Names()
	slices.Sort(names)
	if err != nil || !slices.Equal(names, []string{"g", "h"}) {
		t.Errorf("Names: %q, %v", names, err)
	}
}

func TestExchange(t *testing.T) {
	d, dir := open(t)
	if err := os.WriteFile(filepath.Join(dir, "g"), []byte("g"), 0o600); err != nil {
		t.Fatal(err)
	}
	err := d.Exchange("f", d, "g")
	if errors.Is(err, ErrNoExchange) {
		t.Logf("NOT TESTED: %v", err)
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if a, b := read(t, filepath.Join(dir, "f")), read(t, filepath.Join(dir, "g")); a != "g" || b != "f" {
		t.Errorf("files are %q and %q", a, b)
	}
	if err := d.Exchange("f", d, "none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Exchange with nothing: %v, want ErrNotExist", err)
	}
}

func TestLinksAndDirectories(t *testing.T) {
	d, dir := open(t)
	if err := d.Symlink("l", "../f"); err != nil {
		t.Fatal(err)
	}
	if to, err := d.Readlink("l"); err != nil || to != "../f" {
		t.Errorf("Readlink: %q, %v", to, err)
	}
	if _, err := d.ReadFile("lf"); err == nil {
		t.Error("ReadFile follows a link")
	}
	if data, err := d.ReadFile("f"); err != nil || string(data) != "f" {
		t.Errorf("ReadFile: %q, %v", data, err)
	}
	if err := d.Rmdir("out"); err == nil {
		t.Error("Rmdir removes a directory with something in it")
	}
	if err := d.Mkdir("m"); err != nil {
		t.Fatal(err)
	}
	if err := d.Chmod("m", 0o700); err != nil {
		t.Error(err)
	}
	if err := d.Rmdir("m"); err != nil {
		t.Error(err)
	}
	if err := d.Unlink("l"); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(filepath.Join(dir, "f")); err != nil {
		t.Errorf("the link's target: %v", err)
	}
}
