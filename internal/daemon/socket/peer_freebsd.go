package socket

import (
	"net"

	"golang.org/x/sys/unix"
)

// peerID returns the user at the other end (unix(4), LOCAL_PEERCRED).
func peerID(c *net.UnixConn) (uid int, err error) {
	err = control(c, func(fd int) error {
		cred, err := unix.GetsockoptXucred(fd, unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
		if err == nil {
			uid = int(cred.Uid)
		}
		return err
	})
	return uid, err
}

// WaitHangup returns at once: the end of what the other end says is taken for
// its leaving.
func WaitHangup(*net.UnixConn) error { return nil }
