//go:build unix

package process

import (
	"io"
	"time"

	"golang.org/x/sys/unix"
)

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

// Unlocked returns a channel that is closed once no other process holds a POSIX
// lock on the open file fd, or nil if that cannot be waited for: fd must be open
// for writing. It takes the lock itself then, and a thread sleeps until that
// time, in the system call, for as long as the process lives: call it at most
// once, where a lock was seen to be held.
func Unlocked(fd int) <-chan struct{} {
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	if err != nil || flags&unix.O_ACCMODE == unix.O_RDONLY {
		return nil
	}
	free := make(chan struct{})
	go func() {
		defer close(free)
		for {
			lk := unix.Flock_t{Type: unix.F_WRLCK, Whence: io.SeekStart}
			switch err := unix.FcntlFlock(uintptr(fd), unix.F_SETLKW, &lk); err {
			case unix.EINTR:
				continue
			case nil:
				return
			}
			break // what looks like a deadlock, or no locks are left
		}
		for held, err := true, error(nil); held && err == nil; held, err = LockHeld(fd) {
			time.Sleep(time.Second)
		}
	}()
	return free
}

// Umask sets the file mode creation mask.
func Umask(mask int) { unix.Umask(mask) }
