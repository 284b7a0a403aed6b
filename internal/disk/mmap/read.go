package mmap

import (
	"io"
	"io/fs"
)

// readAll reads the size bytes of r, the file at path, from its start. It is what
// Open does without mappings.
func readAll(r io.ReaderAt, path string, size int64) ([]byte, error) {
	data := make([]byte, size)
	if n, err := r.ReadAt(data, 0); n < len(data) {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return nil, &fs.PathError{Op: "read", Path: path, Err: err}
	}
	return data, nil
}
