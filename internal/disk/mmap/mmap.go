// Package mmap holds read-only file mappings, with a plain read where mapping is
// unavailable.
//
// A mapped file that another process truncates makes the kernel raise a signal
// when the lost pages are read. All access therefore goes through Do, which
// turns that fault into an error.
package mmap

import (
	"errors"
	"fmt"
	"io/fs"
	"sync/atomic"
)

// ErrClosed is returned by Do once Close was called.
var ErrClosed = errors.New("file mapping is closed")

// A File is a regular file's content, read-only, as it was sized when opened. It
// is safe for concurrent use.
type File struct {
	path string
	data []byte
	refs atomic.Int64 // users inside Do, plus one until Close
	done atomic.Bool  // Close was called
}

// Open maps the regular file at path, following symbolic links. A file that is
// not regular (a FIFO would block) is an error. Where mapping is unavailable the
// file is read into memory.
//
// The caller must Close the File.
func Open(path string) (*File, error) {
	data, err := open(path)
	if err != nil {
		return nil, err
	}
	return InMemory(path, data), nil
}

// InMemory returns a File whose content is data, which must not change, as if it
// had been read from path.
func InMemory(path string, data []byte) *File {
	f := &File{path: path, data: data}
	f.refs.Store(1)
	return f
}

// Size returns the file's size in bytes when it was opened.
func (f *File) Size() int { return len(f.data) }

// Path returns the path the file was opened by.
func (f *File) Path() string { return f.path }

// Do calls use with the file's content and returns its error. The content must
// not be written to, and neither it nor a slice of it may be kept after use
// returns. If a page of the file cannot be read, for instance because the file
// was truncated after Open, use is abandoned where it stands and Do returns a
// *fs.PathError; use must therefore hold no lock that a panic would leave
// locked. Calls may be nested, also in one another's use.
func (f *File) Do(use func(data []byte) error) error {
	if !f.acquire() {
		return &fs.PathError{Op: "read", Path: f.path, Err: ErrClosed}
	}
	defer f.release()
	return f.guard(use)
}

// Close releases the mapping as soon as the last Do that is running returns.
// Later calls of Do fail with ErrClosed. Closing twice is harmless.
func (f *File) Close() error {
	if !f.done.Swap(true) {
		f.release()
	}
	return nil
}

func (f *File) acquire() bool {
	for {
		n := f.refs.Load()
		if n == 0 || f.done.Load() {
			return false
		}
		if f.refs.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

func (f *File) release() {
	if f.refs.Add(-1) == 0 {
		unmap(f.data)
		f.data = nil
	}
}

func notRegular(path string) error {
	return &fs.PathError{Op: "map", Path: path, Err: errors.New("not a regular file")}
}

func tooLarge(path string, size int64) error {
	return &fs.PathError{Op: "map", Path: path, Err: fmt.Errorf("file of %d bytes does not fit the address space", size)}
}
