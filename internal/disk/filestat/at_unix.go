//go:build unix && !(linux && (amd64 || arm64 || riscv64))

package filestat

import "golang.org/x/sys/unix"

// At reads the stat of a name in the directory open as dirfd, without following
// a symbolic link. nameZ is the name followed by a NUL byte. The error is a
// unix.Errno. This is the plain twin of the 64-bit Linux version; it copies the
// name.
func At(dst *Stat, dirfd int, nameZ string, _ bool) error {
	var st unix.Stat_t
	for {
		err := unix.Fstatat(dirfd, nameZ[:len(nameZ)-1], &st, unix.AT_SYMLINK_NOFOLLOW)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return err
		}
		dst.set(&st)
		return nil
	}
}

// Fd reads the stat of an open file.
func Fd(dst *Stat, fd int, _ bool) error {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	dst.set(&st)
	return nil
}
