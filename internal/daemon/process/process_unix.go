//go:build unix

package process

import "golang.org/x/sys/unix"

// Alive reports whether signal 0 can be sent to the process pid, as kill(2)
// defines it: a process of another user does not count.
func Alive(pid int) bool { return unix.Kill(pid, 0) == nil }

// LockHeld reports whether another process holds a POSIX lock on any byte of the
// open file fd (fcntl(2), F_GETLK). The error is that of a descriptor which is
// not open.
func LockHeld(fd int) (bool, error) {
	lk := unix.Flock_t{Type: unix.F_WRLCK} // conflicts with every lock
	if err := unix.FcntlFlock(uintptr(fd), unix.F_GETLK, &lk); err != nil {
		return false, err
	}
	return lk.Type != unix.F_UNLCK, nil
}
