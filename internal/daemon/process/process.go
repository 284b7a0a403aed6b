// Package process asks the system about other processes: whether one lives, and
// whether one holds a lock.
package process

import (
	"os/signal"
	"syscall"
)

// IgnoreBrokenPipe makes writing to a pipe that nobody reads an error of the
// write, where it would else end the process without a word.
func IgnoreBrokenPipe() { signal.Ignore(syscall.SIGPIPE) }
