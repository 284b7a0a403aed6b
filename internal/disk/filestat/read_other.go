//go:build !unix

package filestat

import (
	"io"
	"io/fs"
	"os"
)

// readAll returns the content of the file at path.
func readAll(path string, _, max int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, max+1))
	if err == nil && int64(len(data)) > max {
		return nil, &fs.PathError{Op: "read", Path: path, Err: errTooLarge}
	}
	return data, err
}
