//go:build unix

package workfile

import (
	"io"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"gust/internal/disk/filestat"
)

// A Dir is an open directory. It may be used by several goroutines at once.
type Dir struct{ fd int }

const dirFlags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_CLOEXEC

// Open opens the directory at path, following symbolic links. Close it.
func Open(path string) (Dir, error) {
	fd, err := retry(func() (int, error) { return unix.Open(path, dirFlags, 0) })
	if err != nil {
		return Dir{}, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return Dir{fd}, nil
}

// OpenDir opens the directory at path, relative to d and with slashes, without
// following a symbolic link anywhere in it; "" is d itself, opened once more.
func (d Dir) OpenDir(path string) (Dir, error) {
	if path == "" {
		path = "."
	}
	fd, err := openBeneath(d.fd, path)
	if err != nil {
		return Dir{}, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return Dir{fd}, nil
}

// openEach is openBeneath for systems without openat2: one component at a time.
func openEach(dirfd int, path string) (int, error) {
	fd := dirfd
	for name := range strings.SplitSeq(path, "/") {
		next, err := retry(func() (int, error) { return unix.Openat(fd, name, dirFlags|unix.O_NOFOLLOW, 0) })
		if fd != dirfd {
			unix.Close(fd)
		}
		if err != nil {
			return -1, err
		}
		fd = next
	}
	return fd, nil
}

// Close closes d.
func (d Dir) Close() { unix.Close(d.fd) }

// Stat reads the stat of name, without following a symbolic link.
func (d Dir) Stat(st *filestat.Stat, name string) error {
	return wrap("lstat", name, filestat.At(st, d.fd, name+"\x00", false))
}

// Self reads the stat of d.
func (d Dir) Self(st *filestat.Stat) error { return wrap("fstat", ".", filestat.Fd(st, d.fd, false)) }

// Mkdir makes a directory, with the permissions that the umask leaves of 0777.
func (d Dir) Mkdir(name string) error { return wrap("mkdir", name, unix.Mkdirat(d.fd, name, 0o777)) }

// Chmod sets the permissions of the directory or file called name, which is no
// symbolic link.
func (d Dir) Chmod(name string, mode uint32) error {
	return wrap("chmod", name, unix.Fchmodat(d.fd, name, mode, 0))
}

// Rmdir removes an empty directory.
func (d Dir) Rmdir(name string) error {
	return wrap("rmdir", name, unix.Unlinkat(d.fd, name, unix.AT_REMOVEDIR))
}

// Unlink removes a file.
func (d Dir) Unlink(name string) error { return wrap("unlink", name, unix.Unlinkat(d.fd, name, 0)) }

// WriteFile makes a new file, executable or not, with the given content, and then
// calls placed, which may be nil, before it reads the file's stat. A file that
// cannot be written whole is removed.
func (d Dir) WriteFile(name string, exec bool, content []byte, st *filestat.Stat, placed func() error) error {
	fd, err := retry(func() (int, error) {
		return unix.Openat(d.fd, name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, perm(exec))
	})
	if err != nil {
		return wrap("create", name, err)
	}
	for err == nil && len(content) > 0 {
		var n int
		n, err = retry(func() (int, error) { return unix.Write(fd, content) })
		if err == nil && n == 0 {
			err = io.ErrShortWrite
		}
		content = content[max(n, 0):]
	}
	if err != nil {
		_ = d.Unlink(name)
	} else if placed != nil {
		if err := placed(); err != nil {
			unix.Close(fd)
			return err
		}
	}
	if err == nil {
		err = filestat.Fd(st, fd, false)
	}
	if cerr := unix.Close(fd); err == nil {
		err = cerr
	}
	return wrap("write", name, err)
}

// Symlink makes a symbolic link called name.
func (d Dir) Symlink(name, target string) error {
	return wrap("symlink", name, unix.Symlinkat(target, d.fd, name))
}

// Readlink returns the target of a symbolic link.
func (d Dir) Readlink(name string) (string, error) {
	for size := 256; ; size *= 2 {
		buf := make([]byte, size)
		n, err := retry(func() (int, error) { return unix.Readlinkat(d.fd, name, buf) })
		if err != nil {
			return "", wrap("readlink", name, err)
		}
		if n < size {
			return string(buf[:n]), nil
		}
	}
}

// ReadFile returns the content of a regular file, without following a symbolic
// link.
func (d Dir) ReadFile(name string) ([]byte, error) {
	fd, err := retry(func() (int, error) {
		return unix.Openat(d.fd, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	})
	if err != nil {
		return nil, wrap("open", name, err)
	}
	f := os.NewFile(uintptr(fd), name)
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, wrap("read", name, unix.EINVAL)
	}
	return io.ReadAll(f)
}

// listBuffer is the size of the buffer for listings: some hundred names.
const listBuffer = 16 << 10

// Names returns the names in d, in no order. No other goroutine may list d
// meanwhile.
func (d Dir) Names() (names []string, err error) {
	if _, err := unix.Seek(d.fd, 0, io.SeekStart); err != nil {
		return nil, wrap("seek", ".", err)
	}
	buf := make([]byte, listBuffer)
	for {
		n, err := retry(func() (int, error) { return unix.ReadDirent(d.fd, buf) })
		if err != nil {
			return nil, wrap("list", ".", err)
		}
		if n <= 0 {
			return names, nil
		}
		_, _, names = unix.ParseDirent(buf[:n], -1, names)
	}
}

// Rename gives name in d the free name toName in to.
func (d Dir) Rename(name string, to Dir, toName string) error {
	return wrap("rename", name, renameFree(d.fd, name, to.fd, toName))
}

// Exchange swaps name in d with toName in to. The error may be ErrNoExchange.
func (d Dir) Exchange(name string, to Dir, toName string) error {
	return wrap("exchange", name, exchange(d.fd, name, to.fd, toName))
}

// wrap returns err with what failed.
func wrap(op, name string, err error) error {
	if err == nil {
		return nil
	}
	return &os.PathError{Op: op, Path: name, Err: err}
}

func retry(call func() (int, error)) (int, error) {
	for {
		n, err := call()
		if err != unix.EINTR {
			return n, err
		}
	}
}

// renameChecked is renameFree for systems that cannot do it in one call: two
// processes may race for the name between the look and the rename.
func renameChecked(dirfd int, name string, toFd int, toName string) error {
	var st filestat.Stat
	if err := filestat.At(&st, toFd, toName+"\x00", false); err == nil {
		return unix.EEXIST
	}
	return unix.Renameat(dirfd, name, toFd, toName)
}
