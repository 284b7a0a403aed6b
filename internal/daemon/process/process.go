// Package process starts, watches and ends processes: what the system knows of
// other ones, and how a server is cut loose from the shell that needed it.
package process

import (
	"os"
	"os/signal"
	"syscall"
)

// IgnoreBrokenPipe makes writing to a pipe that nobody reads an error of the
// write, where it would else end the process without a word.
func IgnoreBrokenPipe() { signal.Ignore(syscall.SIGPIPE) }

// Terminated returns a channel that receives the signals which ask a process to
// end, also those that were ignored when it was started. stop gives them back.
func Terminated() (ch <-chan os.Signal, stop func()) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	return c, func() { signal.Stop(c) }
}
