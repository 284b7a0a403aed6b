//go:build !linux

package watch

import "errors"

// newSystem returns a system that cannot watch: New fails, and the caller polls.
func newSystem() *system {
	return &system{
		open:       func() (int, error) { return -1, ErrUnsupported },
		shut:       func(int) {},
		openDir:    func(string) (int, error) { return -1, ErrUnsupported },
		add:        func(_, _ int) (int32, error) { return 0, ErrUnsupported },
		remove:     func(int, int32) {},
		pending:    func(int) (int, error) { return 0, ErrUnsupported },
		read:       func(int, []byte) (int, error) { return 0, ErrUnsupported },
		newWaiter:  func() (waiter, error) { return nil, ErrUnsupported },
		limit:      func(error) string { return "" },
		maxWatches: func() int { return 0 },
		maxQueue:   func() int { return 0 },
	}
}

// Watchable reports false: no file system can be watched.
func Watchable(int) bool { return false }

// A MountTable tells when file systems were mounted, unmounted or moved.
type MountTable struct{}

// OpenMountTable returns ErrUnsupported.
func OpenMountTable() (*MountTable, error) {
	return nil, errors.Join(ErrUnsupported, errors.New("cannot watch the mount table"))
}

// Generation returns zero.
func (*MountTable) Generation() uint64 { return 0 }

// Close does nothing.
func (*MountTable) Close() {}
