//go:build unix

package mmap

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// A file that shrinks while it is read is an error, in Go code and in the
// assembly behind the bytes package, and harms nothing else.
func TestTruncated(t *testing.T) {
	path := write(t, bytes.Repeat([]byte{7}, 1<<16))
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	uses := map[string]func([]byte) error{
		"load":  func(d []byte) error { return errors.New(string(rune(d[1<<15]))) },
		"index": func(d []byte) error { return errors.New(string(rune(bytes.IndexByte(d, 9)))) },
		"copy":  func(d []byte) error { copy(make([]byte, len(d)), d); return nil },
	}
	for name, use := range uses {
		err := f.Do(use)
		var pe *fs.PathError
		if !errors.As(err, &pe) || pe.Path != path {
			t.Errorf("%s: error %v, want a *fs.PathError of %s", name, err, path)
		}
	}
	if f.refs.Load() != 1 {
		t.Errorf("refs = %d after faults", f.refs.Load())
	}
}

func TestFIFO(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fifo")
	if err := unix.Mkfifo(path, 0o666); err != nil {
		t.Skipf("no FIFO here: %v", err)
	}
	if _, err := Open(path); err == nil {
		t.Error("a FIFO was opened")
	}
}
