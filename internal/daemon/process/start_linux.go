package process

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// closeOnExec marks every descriptor from 3 up as one that exec(2) closes.
func closeOnExec() error {
	if unix.CloseRange(3, ^uint(0)>>1, unix.CLOSE_RANGE_CLOEXEC) == nil {
		return nil
	}
	return closeListedOnExec("/proc/self/fd") // before Linux 5.11
}

// unblockSignals empties the signal mask of this thread; restore gives it back.
func unblockSignals() (restore func()) {
	var none, old unix.Sigset_t
	if unix.PthreadSigmask(unix.SIG_SETMASK, &none, &old) != nil {
		return func() {}
	}
	return func() { _ = unix.PthreadSigmask(unix.SIG_SETMASK, &old, nil) }
}

// Exited returns a channel that is closed when the process pid ends, or nil where
// that cannot be waited for: before Linux 5.3, and for a process that is not
// there. Nothing wakes up meanwhile; the wait ends with this process.
func Exited(pid int) <-chan struct{} {
	fd, err := unix.PidfdOpen(pid, unix.PIDFD_NONBLOCK)
	if err != nil {
		return nil
	}
	f := os.NewFile(uintptr(fd), "pidfd")
	// Only what the runtime's poller takes has deadlines; anything else would
	// block at once.
	if f.SetReadDeadline(time.Time{}) != nil {
		f.Close()
		return nil
	}
	raw, err := f.SyscallConn()
	if err != nil {
		f.Close()
		return nil
	}
	gone := make(chan struct{})
	go func() {
		defer f.Close()
		err := raw.Read(func(fd uintptr) bool {
			p := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
			n, err := unix.Poll(p, 0)
			return err == nil && n > 0
		})
		if err == nil {
			close(gone)
		}
	}()
	return gone
}
