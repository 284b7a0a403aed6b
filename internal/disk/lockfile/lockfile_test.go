package lockfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func content(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestCommitAndRollback(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := Acquire(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Acquire(path); !errors.Is(err, ErrLocked) {
		t.Errorf("second lock: %v, want ErrLocked", err)
	}
	if _, err := l.Write([]byte("new")); err != nil {
		t.Fatal(err)
	}
	if got := content(t, path); got != "old" {
		t.Errorf("content before the commit is %q", got)
	}
	l.Rollback()
	l.Rollback()
	if got := content(t, path); got != "old" {
		t.Errorf("content after a rollback is %q", got)
	}
	if l, err = Acquire(path); err != nil {
		t.Fatalf("lock after a rollback: %v", err)
	}
	if _, err := l.Write([]byte("new")); err != nil {
		t.Fatal(err)
	}
	if err := l.Commit(true); err != nil {
		t.Fatal(err)
	}
	l.Rollback() // must not touch a lock that somebody else may hold by now
	if got := content(t, path); got != "new" {
		t.Errorf("content after the commit is %q", got)
	}
	if _, err := os.Lstat(l.Name()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("lock after the commit: %v", err)
	}
	if err := l.Commit(false); err == nil {
		t.Error("a second commit succeeds")
	}
}

func TestAcquireThroughLink(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "d"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("d/real", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	l, err := Acquire(filepath.Join(dir, "link"))
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Commit(false); err != nil {
		t.Fatal(err)
	}
	if got := content(t, filepath.Join(dir, "d/real")); got != "" {
		t.Errorf("target is %q", got)
	}
	if to, err := os.Readlink(filepath.Join(dir, "link")); err != nil || to != "d/real" {
		t.Errorf("link is now %q, %v", to, err)
	}
}

func TestAcquireNoDirectory(t *testing.T) {
	if _, err := Acquire(filepath.Join(t.TempDir(), "no", "f")); err == nil || errors.Is(err, ErrLocked) {
		t.Errorf("lock in a missing directory: %v", err)
	}
}
