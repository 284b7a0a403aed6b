//go:build !linux

package dirlist

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"gust/internal/disk/filestat"
)

// A Dir is a directory, reached by its path: the plain twin of the Linux
// version, under the same contract. The zero Dir is not open.
type Dir struct{ path string }

// Hot returns d.
func (d Dir) Hot() Dir { return d }

var errNotDir = syscall.ENOTDIR

// Open returns the directory at path, following symbolic links.
func Open(path string) (Dir, error) {
	info, err := os.Stat(path)
	if err != nil {
		return Dir{}, err
	}
	if !info.IsDir() {
		return Dir{}, errNotDir
	}
	return Dir{path}, nil
}

func (d Dir) join(nameZ string) string { return filepath.Join(d.path, nameZ[:len(nameZ)-1]) }

// OpenDir returns the directory with the given NUL-terminated name in d. It does
// not follow a symbolic link.
func (d Dir) OpenDir(nameZ string) (Dir, error) {
	path := d.join(nameZ)
	info, err := os.Lstat(path)
	if err != nil {
		return Dir{}, err
	}
	if !info.IsDir() {
		return Dir{}, errNotDir
	}
	return Dir{path}, nil
}

// OpenFile opens a NUL-terminated name in d for reading; a symbolic link or
// another special file is an error.
func (d Dir) OpenFile(nameZ, path string) (*os.File, error) {
	name := d.join(nameZ)
	info, err := os.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &os.PathError{Op: "open", Path: path, Err: errors.New("not a regular file")}
	}
	return os.Open(name)
}

// Readlink returns the target of the symbolic link with a NUL-terminated name.
func (d Dir) Readlink(nameZ, _ string) (string, error) { return os.Readlink(d.join(nameZ)) }

// Fd returns -1: no descriptor is held.
func (d Dir) Fd() int { return -1 }

// IsOpen reports whether d is open.
func (d Dir) IsOpen() bool { return d.path != "" }

// Close does nothing: no descriptor is held.
func (d Dir) Close() {}

// Stat reads the stat of d itself.
func (d Dir) Stat(dst *filestat.Stat) error { return filestat.Of(dst, d.path) }

// StatName reads the stat of a NUL-terminated name in d, without following a
// symbolic link.
func (d Dir) StatName(dst *filestat.Stat, nameZ string) error { return filestat.Of(dst, d.join(nameZ)) }

// Local reports that nothing is known of d's file system: where that is so, every
// directory is listed every time.
func (d Dir) Local() (_ Dir, exact bool) { return d, false }

// List reads the names in d into l.
func (d Dir) List(l *Listing) error {
	l.reset()
	entries, err := os.ReadDir(d.path)
	for _, e := range entries {
		l.add([]byte(e.Name()), kindOf(e.Type()))
	}
	return err
}

func kindOf(t fs.FileMode) Kind {
	switch {
	case t.IsRegular():
		return Regular
	case t.IsDir():
		return Directory
	case t&fs.ModeSymlink != 0:
		return Symlink
	}
	return Other
}

// IsNotDir reports whether err says that a name is there but is no directory.
func IsNotDir(err error) bool { return errors.Is(err, syscall.ENOTDIR) }
