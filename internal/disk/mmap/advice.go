package mmap

// hugeFrom is the size in bytes from which on memory is worth a large page: twice
// that of one, so that one fits whatever the address.
const hugeFrom = 4 << 20

// Populate brings all of the file's pages in at once, for a caller that will read
// most of them: one call instead of a fault for every few pages. What cannot be
// brought in is left to Do.
func (f *File) Populate() {
	if f.acquire() {
		populate(f.data)
		f.release()
	}
}
