//go:build !unix

package process

import "errors"

// Alive reports true: there is no signal 0 to ask with.
func Alive(int) bool { return true }

// LockHeld fails: there are no POSIX locks.
func LockHeld(int) (bool, error) { return false, errors.New("POSIX locks are not supported here") }
