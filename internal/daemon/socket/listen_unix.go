//go:build unix

package socket

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// A Listener is the server's end of a place. Its methods may be called from
// several goroutines.
type Listener struct {
	*net.UnixListener
	place  Place
	lock   *os.File // nil behind socket activation
	socket fs.FileInfo
}

// Listen makes this process the server of p: it takes the lock and puts a socket
// into its place, in one step for clients, over a stale one too. The error is
// ErrServed if another server is running, an *UnsafeError if the directory is not
// to be trusted.
func Listen(p Place) (*Listener, error) {
	if err := p.Secure(); err != nil {
		return nil, err
	}
	// Servers begin one after the other: what one of them finds stale is not what
	// the next one has just made.
	starting, err := openLock(p.starting())
	if err != nil {
		return nil, err
	}
	defer starting.Close()
	if err := flock(starting, unix.LOCK_EX); err != nil {
		return nil, fmt.Errorf("cannot lock '%s': %w", starting.Name(), err)
	}
	lock, err := takeLock(p)
	if err != nil {
		return nil, err
	}
	l, err := bind(p)
	if err != nil {
		lock.Close()
		return nil, err
	}
	l.lock = lock
	return l, nil
}

// takeLock locks p's lock file. If a server holds it which cannot be reached, its
// socket being gone, that one keeps its clients, and the name goes to a new file.
func takeLock(p Place) (*os.File, error) {
	for {
		f, err := openLock(p.lock())
		if err != nil {
			return nil, err
		}
		held, err := tryLock(f)
		if err != nil {
			f.Close()
			return nil, err
		}
		if held {
			// For people who look; nothing reads it.
			_ = f.Truncate(0)
			_, _ = f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
			return f, nil
		}
		f.Close()
		c, err := Dial(p)
		if err == nil {
			c.Close()
			return nil, ErrServed
		}
		if !Absent(err) {
			return nil, ErrServed // there, and busy
		}
		if err := os.Remove(p.lock()); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("cannot replace the lock of a lost server: %w", err)
		}
	}
}

// bind puts a socket into p's place.
func bind(p Place) (*Listener, error) {
	fresh := p.Socket + newSuffix
	if err := os.Remove(fresh); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("cannot remove a stale socket: %w", err)
	}
	u, err := net.ListenUnix("unix", &net.UnixAddr{Name: fresh, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("cannot listen: %w", err)
	}
	u.SetUnlinkOnClose(false) // its name will be another
	l := &Listener{UnixListener: u, place: p}
	err = os.Chmod(fresh, 0o600)
	if err == nil {
		l.socket, err = os.Lstat(fresh)
	}
	if err == nil {
		err = os.Rename(fresh, p.Socket)
	}
	if err != nil {
		u.Close()
		return nil, fmt.Errorf("cannot put the socket into its place: %w", err)
	}
	return l, nil
}

// Inherited returns the listener that systemd handed over on descriptor 3
// (sd_listen_fds(3)), nil if there is none.
func Inherited(lookup func(name string) (string, bool)) (*Listener, error) {
	pid, _ := lookup("LISTEN_PID")
	if n, _ := lookup("LISTEN_FDS"); n != "1" || pid != strconv.Itoa(os.Getpid()) {
		return nil, nil
	}
	const first = 3 // SD_LISTEN_FDS_START
	f := os.NewFile(first, "socket")
	defer f.Close() // net keeps a copy
	l, err := net.FileListener(f)
	if err != nil {
		return nil, fmt.Errorf("cannot use the socket on descriptor %d: %w", first, err)
	}
	u, ok := l.(*net.UnixListener)
	if !ok {
		l.Close()
		return nil, fmt.Errorf("descriptor %d is no Unix socket", first)
	}
	u.SetUnlinkOnClose(false)
	return &Listener{UnixListener: u}, nil
}

// Path returns where clients find the listener.
func (l *Listener) Path() string {
	if l.socket == nil {
		return l.Addr().String()
	}
	return l.place.Socket
}

// Lost reports whether new clients do not find this listener any more: its socket
// was removed, or another one took its place.
func (l *Listener) Lost() bool {
	if l.socket == nil {
		return false
	}
	now, err := os.Lstat(l.place.Socket)
	return err != nil || !os.SameFile(now, l.socket)
}

// Close stops listening: the socket is removed if it is still this one's, and the
// lock is let go, so that another server may begin.
func (l *Listener) Close() error {
	if l.lock != nil {
		defer l.lock.Close()
	}
	if l.socket != nil && !l.Lost() {
		// Nothing can come between: whoever replaces the socket has the lock.
		_ = os.Remove(l.place.Socket)
	}
	return l.UnixListener.Close()
}

// Dial connects to the server of p. The directory must be the user's own, and so
// must the server.
func Dial(p Place) (*net.UnixConn, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	c, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: p.Socket, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("cannot reach the server: %w", err)
	}
	if err := CheckPeer(c); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// Absent reports whether an error of Dial says that no server is there, rather
// than that it cannot be used.
func Absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED)
}

// CheckPeer returns an error unless the process at the other end of c has the
// same user as this one.
func CheckPeer(c *net.UnixConn) error {
	uid, err := peerID(c)
	if err != nil {
		return fmt.Errorf("cannot tell whose process is at the other end: %w", err)
	}
	if uid != os.Geteuid() {
		return fmt.Errorf("the process at the other end belongs to user %d, not to user %d", uid, os.Geteuid())
	}
	return nil
}

// control runs f on c's descriptor.
func control(c *net.UnixConn, f func(fd int) error) error {
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	var inner error
	if err := raw.Control(func(fd uintptr) { inner = f(int(fd)) }); err != nil {
		return err
	}
	return inner
}
