//go:build !unix

package process

import "errors"

// Alive reports true: there is no signal 0 to ask with.
func Alive(int) bool { return true }

// LockHeld fails: there are no POSIX locks.
func LockHeld(int) (bool, error) { return false, errors.New("POSIX locks are not supported here") }

// Unlocked returns nil: there are no POSIX locks.
func Unlocked(int) <-chan struct{} { return nil }

// Umask does nothing: there is no such mask.
func Umask(int) {}

// Start fails: a process cannot be cut loose here.
func Start(string, string, []string, []string) (int, error) {
	return 0, errors.New("background servers are not supported here")
}

// Reap reports true: there is nothing to reap.
func Reap(int) bool { return true }

// Exited returns nil: there is no descriptor to wait on.
func Exited(int) <-chan struct{} { return nil }
