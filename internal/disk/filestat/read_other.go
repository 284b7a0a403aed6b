//go:build !unix

package filestat

import (
	"io"
	"io/fs"
	"os"
)

// ReadStart reads the first bytes of the file at path, following symbolic links,
// into buf and returns how many they are: less than len(buf) where the file is
// shorter. A directory is an error that says that there is no file.
func ReadStart(path string, buf []byte) (int, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return 0, &fs.PathError{Op: "read", Path: path, Err: fs.ErrNotExist}
	}
	n, err := io.ReadFull(f, buf)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = nil
	}
	return n, err
}

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
