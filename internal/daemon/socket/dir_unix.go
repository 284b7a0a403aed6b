//go:build unix

package socket

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// userID returns the user whose rights this process has.
func userID() int { return os.Geteuid() }

// ownDirectory reports whether path is a directory of the user, followed through
// symbolic links.
func ownDirectory(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir() && owner(info) == os.Geteuid()
}

func owner(info fs.FileInfo) int {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(st.Uid)
	}
	return -1
}

// Secure makes the directory of p if it is not there, and checks it: a directory,
// not a symbolic link, owned by the user, for nobody else to enter. The error is
// an *UnsafeError where it is not so.
func (p Place) Secure() error {
	err := os.Mkdir(p.Dir, 0o700)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("cannot make the socket directory: %w", err)
	}
	return p.check()
}

// check is Secure for a directory that is there.
func (p Place) check() error {
	info, err := os.Lstat(p.Dir)
	if err != nil {
		return fmt.Errorf("cannot look at the socket directory: %w", err)
	}
	unsafe := func(format string, args ...any) error {
		return &UnsafeError{Dir: p.Dir, Problem: fmt.Sprintf(format, args...)}
	}
	switch uid := owner(info); {
	case info.Mode()&fs.ModeSymlink != 0:
		return unsafe("it is a symbolic link")
	case !info.IsDir():
		return unsafe("it is not a directory")
	case uid != os.Geteuid():
		return unsafe("it belongs to user %d, not to user %d", uid, os.Geteuid())
	case info.Mode().Perm()&0o077 != 0:
		return unsafe("its mode is %04o, others may enter; it must be 0700", info.Mode().Perm())
	}
	return nil
}

// openLock opens a file of the directory to lock it.
func openLock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, fmt.Errorf("cannot open the lock of the server: %w", err)
	}
	return f, nil
}

// tryLock locks f, and reports false if another open file holds the lock.
func tryLock(f *os.File) (bool, error) {
	switch err := flock(f, unix.LOCK_EX|unix.LOCK_NB); err {
	case nil:
		return true, nil
	case unix.EWOULDBLOCK:
		return false, nil
	default:
		return false, fmt.Errorf("cannot lock '%s': %w", f.Name(), err)
	}
}

func flock(f *os.File, how int) error {
	for {
		if err := unix.Flock(int(f.Fd()), how); err != unix.EINTR {
			return err
		}
	}
}
