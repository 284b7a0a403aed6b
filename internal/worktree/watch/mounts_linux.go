package watch

import (
	"fmt"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A MountTable tells when file systems were mounted, unmounted or moved, which
// raises no event in a watched directory. It may be used concurrently.
type MountTable struct {
	mu         sync.Mutex // guards what follows
	fd         int
	generation uint64
}

// OpenMountTable returns the mount table that this process sees. Close it.
func OpenMountTable() (*MountTable, error) {
	const path = "/proc/self/mountinfo"
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("cannot open '%s': %w", path, err)
	}
	return &MountTable{fd: fd}, nil
}

// Generation returns a number that grows whenever the table changed since the
// last call, or may have. It is one poll(2), which says of mountinfo what proc(5)
// tells under /proc/pid/mounts: a change is an error and urgent data, once.
//
// Hot path: once per request. Does not allocate.
func (m *MountTable) Generation() uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	fds := [1]unix.PollFd{{Fd: int32(m.fd), Events: unix.POLLPRI | unix.POLLERR}}
	var zero unix.Timespec
	// Raw: with a timeout of zero it does not block. unsafe is sound: both values
	// live until the call returns. A closed or failing descriptor counts as a change
	// at each call.
	n, _, e := unix.RawSyscall6(unix.SYS_PPOLL, uintptr(unsafe.Pointer(&fds[0])), 1, uintptr(unsafe.Pointer(&zero)), 0, 0, 0)
	if e != 0 || n != 0 || m.fd < 0 {
		m.generation++
	}
	return m.generation
}

// Close closes the table.
func (m *MountTable) Close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fd >= 0 {
		unix.Close(m.fd)
		m.fd = -1
	}
}
