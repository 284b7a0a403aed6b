package watch

// A system is the system calls that watching takes. Tests replace them.
type system struct {
	// open makes an inotify instance whose descriptor does not block.
	open func() (fd int, err error)
	// shut closes a descriptor.
	shut func(fd int)
	// openDir opens a directory; a symbolic link at path is not followed.
	openDir func(path string) (fd int, err error)
	// add watches the directory open as dir.
	add func(fd, dir int) (wd int32, err error)
	// remove ends a watch, if it has not ended yet.
	remove func(fd int, wd int32)
	// pending returns the number of bytes that can be read now: whole events.
	pending func(fd int) (int, error)
	// read reads whole events.
	read func(fd int, buf []byte) (int, error)
	// newWaiter returns a waiter for many descriptors.
	newWaiter func() (waiter, error)
	// limit names the limit that err says is reached, if it says so.
	limit func(err error) string
	// maxWatches is the number of watches that the user may have.
	maxWatches func() int
	// maxQueue is the number of events that an instance's queue holds.
	maxQueue func() int
}
