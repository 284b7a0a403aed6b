//go:build unix && !linux

package process

func closeOnExec() error { return closeListedOnExec("/dev/fd") }

// unblockSignals does nothing: no signal is blocked in a shell's child.
func unblockSignals() (restore func()) { return func() {} }

// Exited returns nil: there is no descriptor to wait on.
func Exited(int) <-chan struct{} { return nil }
