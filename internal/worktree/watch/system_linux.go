package watch

import (
	"bytes"
	"os"
	"strconv"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

func newSystem() *system {
	return &system{
		open: openInotify, shut: func(fd int) { unix.Close(fd) }, openDir: openDir,
		add: addWatch, remove: func(fd int, wd int32) { unix.InotifyRmWatch(fd, uint32(wd)) },
		pending: pendingBytes, read: readEvents, newWaiter: newPollWaiter,
		limit: limitOf, maxWatches: maxWatches, maxQueue: maxQueue,
	}
}

// openInotify also checks what addWatch needs: /proc is not mounted everywhere.
func openInotify() (int, error) {
	if unix.Access("/proc/self/fd", unix.X_OK) != nil {
		return -1, ErrUnsupported
	}
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err == unix.ENOSYS {
		return -1, ErrUnsupported
	}
	return fd, err
}

func openDir(path string) (int, error) {
	for {
		fd, err := unix.Open(path, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		if err != unix.EINTR {
			return fd, err
		}
	}
}

// addWatch names the directory through /proc/self/fd: the one that was opened,
// whatever stands at its path now. That name is a link to follow; the directory
// was opened without following one, which is what IN_DONT_FOLLOW is for.
func addWatch(fd, dir int) (int32, error) {
	var array [40]byte
	name := strconv.AppendUint(append(array[:0], "/proc/self/fd/"...), uint64(uint(dir)), 10)
	name = append(name, 0)
	const mask = watched | unix.IN_ONLYDIR | unix.IN_EXCL_UNLINK
	for {
		// unsafe is sound: name ends in NUL and lives until the call returns.
		wd, _, e := unix.Syscall(unix.SYS_INOTIFY_ADD_WATCH, uintptr(fd), uintptr(unsafe.Pointer(&name[0])), mask)
		if e == unix.EINTR {
			continue
		}
		if e != 0 {
			return 0, e
		}
		return int32(wd), nil
	}
}

// pendingBytes asks FIONREAD (inotify(7)), which is TIOCINQ by number. It never blocks, so the scheduler
// need not know of it.
func pendingBytes(fd int) (int, error) {
	var n int32
	// unsafe is sound: the kernel writes an int, and n lives until the call returns.
	if _, _, e := unix.RawSyscall(unix.SYS_IOCTL, uintptr(fd), unix.TIOCINQ, uintptr(unsafe.Pointer(&n))); e != 0 {
		return 0, e
	}
	return int(n), nil
}

func readEvents(fd int, buf []byte) (int, error) {
	for {
		n, err := unix.Read(fd, buf)
		if err != unix.EINTR {
			return n, err
		}
	}
}

func limitOf(err error) string {
	switch err {
	case unix.ENOSPC, unix.ENOMEM:
		return "max_user_watches"
	case unix.EMFILE, unix.ENFILE:
		return "max_user_instances" // or of open files, which comes to the same
	}
	return ""
}

// maxWatches returns the smaller limit of the system and of the user namespace
// (proc(5), namespaces(7)).
func maxWatches() int {
	n := readNumber("/proc/sys/fs/inotify/max_user_watches", 8192) // the kernel's own number for small machines
	return min(n, readNumber("/proc/sys/user/max_inotify_watches", n))
}

func maxQueue() int { return readNumber("/proc/sys/fs/inotify/max_queued_events", 16384) }

func readNumber(path string, otherwise int) int {
	data, err := os.ReadFile(path)
	if err != nil {
		return otherwise
	}
	n, err := strconv.ParseInt(string(bytes.TrimSpace(data)), 10, 64)
	if err != nil || n < 0 {
		return otherwise
	}
	return int(min(n, 1<<31-1))
}

// A pollWaiter waits in poll(2), and for an eventfd.
type pollWaiter struct {
	event int
	fds   []unix.PollFd
}

func newPollWaiter() (waiter, error) {
	fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		return nil, err
	}
	return &pollWaiter{event: fd}, nil
}

func (p *pollWaiter) wait(fds []int, ready []bool, timeout time.Duration) {
	p.fds = append(p.fds[:0], unix.PollFd{Fd: int32(p.event), Events: unix.POLLIN})
	for _, fd := range fds {
		p.fds = append(p.fds, unix.PollFd{Fd: int32(fd), Events: unix.POLLIN})
	}
	ms := -1
	if timeout >= 0 {
		ms = int(timeout.Milliseconds())
	}
	switch _, err := unix.Poll(p.fds, ms); err {
	case nil:
	case unix.EINTR:
		return // nothing is ready; the caller waits again
	default:
		// Out of memory. Looking at each queue after a while is as good.
		time.Sleep(drainEvery)
		for i := range ready {
			ready[i] = true
		}
		return
	}
	if p.fds[0].Revents != 0 {
		var count [8]byte
		unix.Read(p.event, count[:])
	}
	for i := range ready {
		ready[i] = p.fds[i+1].Revents != 0
	}
}

func (p *pollWaiter) wake() {
	one := [8]byte{1} // any number but zero, in whatever byte order
	unix.Write(p.event, one[:])
}

func (p *pollWaiter) close() { unix.Close(p.event) }

// Watchable reports whether the directory that is open as descriptor dir lies on
// a file system that raises events for every change: an allow-list, by the type
// that statfs(2) gives. Elsewhere (NFS, FUSE, 9p) other machines and servers make
// changes that this kernel does not see.
func Watchable(dir int) bool {
	var st unix.Statfs_t
	for {
		switch unix.Fstatfs(dir, &st) {
		case nil:
			return trusted(uint32(st.Type))
		case unix.EINTR:
		default:
			return false
		}
	}
}

func trusted(magic uint32) bool {
	switch magic {
	case unix.EXT4_SUPER_MAGIC, // ext2 and ext3 have the same number
		unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.TMPFS_MAGIC, unix.RAMFS_MAGIC,
		unix.F2FS_SUPER_MAGIC, unix.OVERLAYFS_SUPER_MAGIC, 0x2fc12fc1 /* zfs */, 0xca451a4e: /* bcachefs */
		return true
	}
	return false
}
