package socket

import (
	"net"

	"golang.org/x/sys/unix"
)

// peerID returns the user at the other end (unix(7), SO_PEERCRED): the one it had
// when it connected, or began to listen.
func peerID(c *net.UnixConn) (uid int, err error) {
	err = control(c, func(fd int) error {
		cred, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
		if err == nil {
			uid = int(cred.Uid)
		}
		return err
	})
	return uid, err
}

// WaitHangup waits until the other end has closed c for both directions, or until
// c's read deadline, whose error it returns. A client that only has nothing more
// to say is waited for.
func WaitHangup(c *net.UnixConn) error {
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	return raw.Read(func(fd uintptr) bool {
		p := []unix.PollFd{{Fd: int32(fd)}}
		n, err := unix.Poll(p, 0)
		return err == nil && n > 0 && p[0].Revents&(unix.POLLHUP|unix.POLLERR|unix.POLLNVAL) != 0
	})
}
