// Package dirlist lists one directory into memory the caller reuses, and reaches
// the names in it through the open directory.
//
// Names go to the kernel as they are: a name is a string that ends in a NUL
// byte ("nameZ"), so nothing is copied per file.
package dirlist

import "bytes"

// A Kind is the type of a directory entry, as far as Git distinguishes it.
type Kind uint8

const (
	Unknown   Kind = iota // the file system did not say: stat it
	Regular               // a regular file
	Symlink               // a symbolic link
	Directory             // a directory
	Other                 // a device, FIFO or socket: no content for Git
)

// A Listing is the names in one directory, without "." and "..", in no order. Its
// memory is reused by the next List into it.
type Listing struct {
	arena   []byte // the names, each followed by a NUL byte
	entries []entry
	buf     []byte // what one system call returned
}

type entry struct {
	off, end uint32 // of the name in arena, without its NUL
	kind     Kind
}

// Len returns the number of names.
func (l *Listing) Len() int { return len(l.entries) }

// Name returns name i. It is valid until the next List.
func (l *Listing) Name(i int) []byte {
	e := l.entries[i]
	return l.arena[e.off:e.end]
}

// NameZ returns a copy of name i followed by a NUL byte.
func (l *Listing) NameZ(i int) string {
	e := l.entries[i]
	return string(l.arena[e.off : e.end+1])
}

// Kind returns the type of entry i.
func (l *Listing) Kind(i int) Kind { return l.entries[i].kind }

// SetKind records the type of an entry whose kind was Unknown.
func (l *Listing) SetKind(i int, k Kind) { l.entries[i].kind = k }

func (l *Listing) reset() {
	l.arena, l.entries = l.arena[:0], l.entries[:0]
}

func (l *Listing) add(name []byte, k Kind) {
	if len(name) <= 2 && (string(name) == "." || string(name) == "..") {
		return
	}
	off := uint32(len(l.arena))
	l.arena = append(append(l.arena, name...), 0)
	l.entries = append(l.entries, entry{off, off + uint32(len(name)), k})
}

// Compare orders names i and j by their bytes, the order of Git's index among the
// files of one directory.
func (l *Listing) Compare(i, j int) int { return bytes.Compare(l.Name(i), l.Name(j)) }
