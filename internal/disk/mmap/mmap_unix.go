//go:build unix

package mmap

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"runtime/debug"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Mapped says whether Open maps files here; otherwise it reads them into memory.
const Mapped = true

func open(path string) ([]byte, error) {
	// O_NONBLOCK lets the open of a FIFO return; it means nothing to a regular file.
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var st unix.Stat_t
	fd := int(f.Fd())
	if err := unix.Fstat(fd, &st); err != nil {
		return nil, &fs.PathError{Op: "stat", Path: path, Err: err}
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return nil, notRegular(path)
	}
	if st.Size == 0 {
		return nil, nil // an empty mapping is an error to mmap(2)
	}
	if st.Size > math.MaxInt {
		return nil, tooLarge(path, st.Size)
	}
	data, err := unix.Mmap(fd, 0, int(st.Size), unix.PROT_READ, unix.MAP_SHARED)
	if errors.Is(err, unix.ENODEV) || errors.Is(err, unix.EACCES) {
		return readAll(f, path, st.Size) // a file system without mappings
	}
	if err != nil {
		return nil, &fs.PathError{Op: "map", Path: path, Err: err}
	}
	return data, nil
}

func unmap(data []byte) {
	if len(data) > 0 {
		// Munmap fails only for what was not mapped: data read by readAll.
		_ = unix.Munmap(data)
	}
}

// guard calls use with the mapping and turns a fault within it into an error.
func (f *File) guard(use func([]byte) error) (err error) {
	data := f.data
	if len(data) == 0 {
		return use(nil)
	}
	old := debug.SetPanicOnFault(true)
	defer func() {
		debug.SetPanicOnFault(old)
		r := recover()
		if r == nil {
			return
		}
		// The runtime's fault error tells the address; any other panic, and a
		// fault elsewhere, is not ours to swallow.
		if fault, ok := r.(interface{ Addr() uintptr }); ok {
			// Sound: the pointer is only compared, as a number, with the address.
			base := uintptr(unsafe.Pointer(unsafe.SliceData(data)))
			if at := fault.Addr(); at >= base && at-base < uintptr(len(data)) {
				err = &fs.PathError{Op: "read", Path: f.path, Err: errors.New("file shrank or cannot be read while mapped")}
				return
			}
		}
		panic(r)
	}()
	return use(data)
}
