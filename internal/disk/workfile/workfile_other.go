//go:build !unix

package workfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"gust/internal/disk/filestat"
)

// A Dir is an open directory. It may be used by several goroutines at once.
type Dir struct{ root *os.Root }

// Open opens the directory at path, following symbolic links. Close it.
func Open(path string) (Dir, error) {
	root, err := os.OpenRoot(path)
	return Dir{root}, err
}

// OpenDir opens the directory at path, relative to d and with slashes, without
// following a symbolic link anywhere in it; "" is d itself, opened once more.
func (d Dir) OpenDir(path string) (Dir, error) {
	if path == "" {
		path = "."
	}
	for dir := path; dir != "."; dir = filepath.ToSlash(filepath.Dir(dir)) {
		if info, err := d.root.Lstat(dir); err != nil {
			return Dir{}, err
		} else if !info.IsDir() {
			return Dir{}, &os.PathError{Op: "open", Path: path, Err: errors.New("not a directory")}
		}
	}
	root, err := d.root.OpenRoot(path)
	return Dir{root}, err
}

// Close closes d.
func (d Dir) Close() { d.root.Close() }

// Stat reads the stat of name, without following a symbolic link.
func (d Dir) Stat(st *filestat.Stat, name string) error {
	return filestat.Of(st, filepath.Join(d.root.Name(), name))
}

// Self reads the stat of d.
func (d Dir) Self(st *filestat.Stat) error { return filestat.Of(st, d.root.Name()) }

// Mkdir makes a directory.
func (d Dir) Mkdir(name string) error { return d.root.Mkdir(name, 0o777) }

// Chmod sets the permissions of the directory or file called name, which is no
// symbolic link.
func (d Dir) Chmod(name string, mode uint32) error {
	return d.root.Chmod(name, fs.FileMode(mode&0o777))
}

// Rmdir removes an empty directory.
func (d Dir) Rmdir(name string) error { return d.root.Remove(name) }

// Unlink removes a file.
func (d Dir) Unlink(name string) error { return d.root.Remove(name) }

// WriteFile makes a new file, executable or not, with the given content, and then
// calls placed, which may be nil. A file that cannot be written whole is removed.
func (d Dir) WriteFile(name string, exec bool, content []byte, st *filestat.Stat, placed func() error) error {
	f, err := d.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fs.FileMode(perm(exec)))
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if cerr := f.Close(); err == nil {
		err = cerr // an open file cannot be renamed here
	}
	if err != nil {
		_ = d.Unlink(name)
		return err
	}
	if err = d.Stat(st, name); err == nil && placed != nil {
		err = placed()
	}
	return err
}

// Symlink makes a symbolic link called name.
func (d Dir) Symlink(name, target string) error { return d.root.Symlink(target, name) }

// Readlink returns the target of a symbolic link.
func (d Dir) Readlink(name string) (string, error) { return d.root.Readlink(name) }

// ReadFile returns the content of a regular file, without following a symbolic
// link.
func (d Dir) ReadFile(name string) ([]byte, error) {
	if info, err := d.root.Lstat(name); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, &os.PathError{Op: "read", Path: name, Err: errors.New("not a regular file")}
	}
	return d.root.ReadFile(name)
}

// Names returns the names in d, in no order.
func (d Dir) Names() ([]string, error) {
	f, err := d.root.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Readdirnames(-1)
}

// Rename gives name in d the free name toName in to.
func (d Dir) Rename(name string, to Dir, toName string) error {
	if _, err := to.root.Lstat(toName); err == nil {
		return &os.PathError{Op: "rename", Path: toName, Err: fs.ErrExist}
	}
	return os.Rename(filepath.Join(d.root.Name(), name), filepath.Join(to.root.Name(), toName))
}

// Exchange would swap two files; there is no such call here.
func (d Dir) Exchange(string, Dir, string) error { return ErrNoExchange }

// Spread does nothing here.
func (d Dir) Spread() {}
