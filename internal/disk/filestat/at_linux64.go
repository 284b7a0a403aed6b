//go:build linux && (amd64 || arm64 || riscv64)

package filestat

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// At reads the stat of a name in the directory open as dirfd, without following
// a symbolic link. nameZ is the name followed by a NUL byte, so that it can be
// handed to the kernel as it is. The error is a unix.Errno.
//
// hot says that the answer is expected from memory: the call then keeps its
// processor, which saves the scheduler's bookkeeping, and its thread's wake-ups,
// for each call; should the kernel wait for a disk all the same, another
// goroutine waits with it.
//
// Hot path: once per index entry. Does not allocate.
func At(dst *Stat, dirfd int, nameZ string, hot bool) error {
	var st unix.Stat_t
	for {
		// unsafe is sound: nameZ ends in NUL (checked by its makers' tests), both
		// pointers live until the call returns, and the kernel keeps neither.
		var e unix.Errno
		if hot {
			_, _, e = unix.RawSyscall6(unix.SYS_NEWFSTATAT, uintptr(dirfd), uintptr(unsafe.Pointer(unsafe.StringData(nameZ))),
				uintptr(unsafe.Pointer(&st)), unix.AT_SYMLINK_NOFOLLOW, 0, 0)
		} else {
			_, _, e = unix.Syscall6(unix.SYS_NEWFSTATAT, uintptr(dirfd), uintptr(unsafe.Pointer(unsafe.StringData(nameZ))),
				uintptr(unsafe.Pointer(&st)), unix.AT_SYMLINK_NOFOLLOW, 0, 0)
		}
		if e == unix.EINTR {
			continue
		}
		if e != 0 {
			return e
		}
		dst.set(&st)
		return nil
	}
}

// Fd reads the stat of an open file; hot is as for At.
func Fd(dst *Stat, fd int, hot bool) error {
	var st unix.Stat_t
	if hot {
		// unsafe is sound: st lives until the call returns.
		if _, _, e := unix.RawSyscall(unix.SYS_FSTAT, uintptr(fd), uintptr(unsafe.Pointer(&st)), 0); e != 0 {
			return e
		}
	} else if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	dst.set(&st)
	return nil
}
