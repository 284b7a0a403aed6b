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
// Hot path: once per index entry. Does not allocate.
func At(dst *Stat, dirfd int, nameZ string) error {
	var st unix.Stat_t
	for {
		// unsafe is sound: nameZ ends in NUL (checked by its makers' tests), both
		// pointers live until the call returns, and the kernel keeps neither.
		_, _, e := unix.Syscall6(unix.SYS_NEWFSTATAT, uintptr(dirfd), uintptr(unsafe.Pointer(unsafe.StringData(nameZ))),
			uintptr(unsafe.Pointer(&st)), unix.AT_SYMLINK_NOFOLLOW, 0, 0)
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
