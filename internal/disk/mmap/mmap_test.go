package mmap

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

func write(t *testing.T, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestOpen(t *testing.T) {
	for _, want := range [][]byte{nil, []byte("x"), bytes.Repeat([]byte("gust"), 5000)} {
		f, err := Open(write(t, want))
		if err != nil {
			t.Fatal(err)
		}
		if f.Size() != len(want) {
			t.Errorf("Size() = %d, want %d", f.Size(), len(want))
		}
		err = f.Do(func(data []byte) error {
			if !bytes.Equal(data, want) {
				t.Errorf("data of %d bytes differ", len(want))
			}
			// Nesting is allowed.
			return f.Do(func([]byte) error { return nil })
		})
		if err != nil {
			t.Errorf("Do: %v", err)
		}
		// The plain read is the mapping's slow twin.
		r, err := os.Open(f.Path())
		if err != nil {
			t.Fatal(err)
		}
		got, err := readAll(r, f.Path(), int64(len(want)))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("readAll: %d bytes, error %v", len(got), err)
		}
		if _, err := readAll(r, f.Path(), int64(len(want))+1); err == nil {
			t.Error("readAll past the end succeeded")
		}
		r.Close()
		f.Close()
		f.Close()
		if err := f.Do(func([]byte) error { return nil }); !errors.Is(err, ErrClosed) {
			t.Errorf("Do after Close: %v, want ErrClosed", err)
		}
	}
}

func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	if _, err := Open(dir); err == nil {
		t.Error("a directory was opened")
	}
	if _, err := Open(filepath.Join(dir, "absent")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("absent file: %v", err)
	}
}

// Close waits for those inside Do.
func TestCloseInUse(t *testing.T) {
	f, err := Open(write(t, bytes.Repeat([]byte{7}, 1<<20)))
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for {
				err := f.Do(func(data []byte) error {
					if bytes.IndexByte(data, 8) >= 0 {
						t.Error("wrong data")
					}
					return nil
				})
				if err != nil {
					return
				}
			}
		})
	}
	err = f.Do(func(data []byte) error {
		f.Close()
		if data[len(data)-1] != 7 {
			t.Error("data lost while in use")
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	wg.Wait()
}

func TestErrorPassesThrough(t *testing.T) {
	f, err := Open(write(t, []byte("x")))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	want := errors.New("mine")
	if err := f.Do(func([]byte) error { return want }); err != want {
		t.Errorf("Do = %v, want %v", err, want)
	}
	defer func() {
		if r := recover(); r != "mine" {
			t.Errorf("recovered %v, want the panic of use", r)
		}
		// The panic released its hold.
		if f.refs.Load() != 1 {
			t.Errorf("refs = %d after a panic", f.refs.Load())
		}
	}()
	f.Do(func([]byte) error { panic("mine") })
}
