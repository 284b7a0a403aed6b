package mmap

import (
	"bytes"
	"os"
	"testing"
)

// TestPopulate reads what Populate brought in, also from a file that has shrunk.
func TestPopulate(t *testing.T) {
	want := bytes.Repeat([]byte("gust"), 5000)
	f, err := Open(write(t, want))
	if err != nil {
		t.Fatal(err)
	}
	f.Populate()
	if err := f.Do(func(data []byte) error {
		if !bytes.Equal(data, want) {
			t.Error("the content differs")
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
	if err := os.Truncate(f.Path(), 10); err != nil {
		t.Fatal(err)
	}
	f.Populate()
	if err := f.Do(func(data []byte) error { return nil }); err != nil {
		t.Error(err)
	}
	f.Close()
	f.Populate()
	if empty, err := Open(write(t, nil)); err != nil {
		t.Error(err)
	} else {
		empty.Populate()
		empty.Close()
	}
}

// TestHuge writes every element of slices around the sizes of pages.
func TestHuge(t *testing.T) {
	for _, n := range []int{0, 1, 5000, hugeFrom / 8, hugeFrom/8 + 1, hugeFrom} {
		s := Huge(make([]uint64, n))
		if len(s) != n || cap(s) != n {
			t.Fatalf("%d of %d elements, want %d", len(s), cap(s), n)
		}
		for i := range s {
			if s[i] != 0 {
				t.Fatalf("element %d of %d is not 0", i, n)
			}
			s[i] = uint64(i)
		}
		for i := range s {
			if s[i] != uint64(i) {
				t.Fatalf("element %d of %d is %d", i, n, s[i])
			}
		}
	}
}
