//go:build !unix

package socket

import "net"

// A Listener is the server's end of a place; there is none on this system.
type Listener struct{ *net.UnixListener }

// Path returns "".
func (l *Listener) Path() string { return "" }

// Lost reports true.
func (l *Listener) Lost() bool { return true }

func userID() int { return -1 }

func ownDirectory(string) bool { return false }

// Secure fails with ErrUnsupported.
func (p Place) Secure() error { return ErrUnsupported }

// Listen fails with ErrUnsupported.
func Listen(Place) (*Listener, error) { return nil, ErrUnsupported }

// Inherited returns nil.
func Inherited(func(string) (string, bool)) (*Listener, error) { return nil, nil }

// Dial fails with ErrUnsupported.
func Dial(Place) (*net.UnixConn, error) { return nil, ErrUnsupported }

// Absent reports false: no server will be there.
func Absent(error) bool { return false }

// CheckPeer fails with ErrUnsupported.
func CheckPeer(*net.UnixConn) error { return ErrUnsupported }

// WaitHangup returns at once.
func WaitHangup(*net.UnixConn) error { return nil }
