//go:build linux && (amd64 || arm64)

package main

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// run of directories that a thread takes at a time: large enough that the shared
// counter costs nothing, small enough that the last ones end together.
const stride = 32

// A pass is the work of looking at every file once, prepared: threads are
// running, each locked to one of the kernel's, and wait.
type pass struct {
	root  int
	dirs  []directory
	next  atomic.Int64
	start []chan struct{}
	done  chan outcome
}

type outcome struct {
	files int
	err   error
}

func newPass(root string, dirs []directory, threads int) (*pass, error) {
	fd, err := unix.Open(root, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("cannot open '%s': %w", root, err)
	}
	p := &pass{root: fd, dirs: dirs, done: make(chan outcome, threads)}
	for range threads {
		start := make(chan struct{})
		p.start = append(p.start, start)
		go func() {
			runtime.LockOSThread()
			for range start {
				p.done <- p.share()
			}
		}()
	}
	return p, nil
}

func (p *pass) close() {
	for _, start := range p.start {
		close(start)
	}
	unix.Close(p.root)
}

// run makes one pass and returns how many files it saw.
func (p *pass) run() (files int, err error) {
	p.next.Store(0)
	for _, start := range p.start {
		start <- struct{}{}
	}
	for range p.start {
		o := <-p.done
		files += o.files
		if o.err != nil {
			err = o.err
		}
	}
	return files, err
}

// share is one thread's part. RawSyscall6 tells Go's scheduler nothing, which is
// right for a thread that has nobody to make room for and is the least a call can
// cost. The pointers are to bytes that dirs keeps alive and that do not move.
func (p *pass) share() (o outcome) {
	var st unix.Stat_t
	for {
		from := int(p.next.Add(stride)) - stride
		if from >= len(p.dirs) {
			return o
		}
		for i := from; i < min(from+stride, len(p.dirs)); i++ {
			d := &p.dirs[i]
			fd, _, e := unix.RawSyscall6(unix.SYS_OPENAT, uintptr(p.root), uintptr(unsafe.Pointer(&d.path[0])), unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0, 0, 0)
			if e != 0 {
				o.err = fmt.Errorf("cannot open '%s': %w", d.path[:len(d.path)-1], e)
				return o
			}
			unix.RawSyscall(unix.SYS_FSTAT, fd, uintptr(unsafe.Pointer(&st)), 0)
			for _, name := range d.names {
				_, _, e := unix.RawSyscall6(unix.SYS_NEWFSTATAT, fd, uintptr(unsafe.Pointer(&name[0])), uintptr(unsafe.Pointer(&st)), unix.AT_SYMLINK_NOFOLLOW, 0, 0)
				if e == 0 {
					o.files++
				}
			}
			unix.RawSyscall(unix.SYS_CLOSE, fd, 0, 0)
		}
	}
}
