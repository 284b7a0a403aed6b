//go:build !unix

package mmap

import (
	"math"
	"os"
)

// Mapped says whether Open maps files here; otherwise it reads them into memory.
const Mapped = false

func open(path string) ([]byte, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() {
		return nil, notRegular(path)
	}
	if st.Size() > math.MaxInt {
		return nil, tooLarge(path, st.Size())
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readAll(f, path, st.Size())
}

func unmap([]byte) {}

func (f *File) guard(use func([]byte) error) error { return use(f.data) }
