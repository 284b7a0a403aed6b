package mmap

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

func populate(data []byte) {
	if len(data) > 0 {
		_ = unix.Madvise(data, unix.MADV_POPULATE_READ) // Linux 5.14; else the pages come as they are read
	}
}

// Huge returns s, a large slice just made and not written to yet, after asking for
// large pages under it: the first writes then fault once in 2 MB, not in 4 KB.
func Huge[T any](s []T) []T {
	var one T
	size := uintptr(cap(s)) * unsafe.Sizeof(one)
	if size < hugeFrom {
		return s
	}
	// Sound: whole pages within the memory of s, which stays what it is.
	memory := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), size)
	page := uintptr(os.Getpagesize())
	skip := -uintptr(unsafe.Pointer(unsafe.SliceData(memory))) % page
	_ = unix.Madvise(memory[skip:skip+(size-skip)/page*page], unix.MADV_HUGEPAGE) // where there are none, small ones serve
	return s
}
