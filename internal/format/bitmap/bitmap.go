// Package bitmap holds reachability bitmaps of a pack or a midx.
//
// The file (gitformat-bitmap(5), numbers in network byte order):
//
//	"BITM", 2-byte version (1), 2-byte flags, 4-byte number of entries,
//	hash of the pack or multi-pack-index
//	four EWAH bitmaps: the objects that are commits, trees, blobs, tags
//	entries: 4-byte number of a commit in the order of IDs, 1-byte distance back
//	  to the entry that this one is stored as the difference from (0: none),
//	  1-byte flags, EWAH bitmap of the objects that the commit reaches
//	pseudo-merges, if flagged (0x20); they only save work and are skipped
//	lookup table, if flagged (0x10): for each entry, by number of commit,
//	  4-byte number of the commit, 8-byte offset of the entry, 4-byte row of the
//	  entry that it is the difference from (0xffffffff: none)
//	a 4-byte hash of each object's path, if flagged (0x04); skipped
//	hash of all of the above
//
// Bit i of a bitmap is the i-th object in the order of the pack, or in the
// pseudo-pack order of the multi-pack-index.
package bitmap

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"gust/internal/disk/mmap"
	"gust/internal/pure/ewah"
	"gust/internal/pure/object"
	"gust/internal/pure/oid"
)

// A CorruptError names the file and the offset of bytes that break the format.
type CorruptError = object.CorruptError

// Flags of a file.
const (
	flagFull   = 0x01 // every object that one of them reaches is in the pack
	flagHashes = 0x04
	flagTable  = 0x10
	flagMerges = 0x20
)

const (
	headSize  = 12
	entryHead = 6
	rowSize   = 16
	noRow     = 0xffffffff
)

// A File is an open bitmap file. It is safe for concurrent use.
type File struct {
	file    *mmap.File
	algo    oid.Algo
	objects int
	count   int // entries
	types   [4]int
	table   int   // offset of the lookup table, 0 if there is none
	rows    []row // without a lookup table: what it would say
}

type row struct {
	commit uint32
	offset uint64
	base   uint32
}

// Open maps the bitmap file at path, which belongs to a pack or multi-pack-index of
// so many objects with the given hash. Its hash is not
// checked; see Verify.
// The error is a *CorruptError or tells why the file cannot be opened. The caller
// must Close the File.
func Open(path string, a oid.Algo, objects int, of oid.ID) (*File, error) {
	file, err := mmap.Open(path)
	if err != nil {
		return nil, err
	}
	return newFile(file, a, objects, &of)
}

// newFile is Open; a nil of is not compared.
func newFile(file *mmap.File, a oid.Algo, objects int, of *oid.ID) (*File, error) {
	f := &File{file: file, algo: a, objects: objects}
	if err := file.Do(func(data []byte) error { return f.parse(data, of) }); err != nil {
		file.Close()
		return nil, f.named(err)
	}
	return f, nil
}

// named puts the path into a CorruptError that has none.
func (f *File) named(err error) error {
	var c *CorruptError
	if errors.As(err, &c) && c.Path == "" {
		c.Path = f.file.Path()
	}
	return err
}

func corrupt(off int, problem string) error {
	return &CorruptError{Offset: int64(off), Problem: problem}
}

func (f *File) parse(data []byte, of *oid.ID) error {
	hash := f.algo.Size()
	if len(data) < headSize+2*hash {
		return corrupt(len(data), "bitmap is cut off")
	}
	if string(data[:4]) != "BITM" {
		return corrupt(0, "no bitmap signature")
	}
	if v := binary.BigEndian.Uint16(data[4:]); v != 1 {
		return corrupt(4, fmt.Sprintf("unknown bitmap version %d", v))
	}
	flags := binary.BigEndian.Uint16(data[6:])
	if flags&flagFull == 0 || flags&^(flagFull|flagHashes|flagTable|flagMerges) != 0 {
		return corrupt(6, fmt.Sprintf("unknown bitmap flags %#x", flags))
	}
	entries := binary.BigEndian.Uint32(data[8:])
	if of != nil && !of.EqualRaw(data[headSize:headSize+hash]) {
		return corrupt(headSize, "bitmap of another pack")
	}
	end := len(data) - hash
	if flags&flagHashes != 0 {
		end -= 4 * f.objects
	}
	at := headSize + hash
	if end < at || uint64(entries) > uint64(len(data))/entryHead {
		return corrupt(len(data), "bitmap is cut off")
	}
	f.count = int(entries)
	if flags&flagTable != 0 {
		end -= rowSize * f.count
		if end < at {
			return corrupt(len(data), "bitmap is cut off")
		}
		f.table = end
	}
	for i := range f.types {
		_, n, err := f.ewah(data[:end], at)
		if err != nil {
			return err
		}
		f.types[i] = at
		at += n
	}
	if f.table != 0 {
		return nil
	}
	return f.scan(data[:end], at)
}

// ewah parses the bitmap at offset at, and returns its length in bytes.
func (f *File) ewah(data []byte, at int) (ewah.Bitmap, int, error) {
	if at > len(data) {
		return ewah.Bitmap{}, 0, corrupt(at, "bitmap lies outside the file")
	}
	b, n, err := ewah.Parse(data[at:], f.objects)
	var c *CorruptError
	if errors.As(err, &c) {
		err = corrupt(at+int(c.Offset), c.Problem)
	}
	return b, n, err
}

// scan makes f.rows from the entries, which begin at offset at.
func (f *File) scan(data []byte, at int) error {
	f.rows = make([]row, 0, f.count)
	for i := range f.count {
		if len(data)-at < entryHead {
			return corrupt(at, "bitmap entries are cut off")
		}
		r := row{binary.BigEndian.Uint32(data[at:]), uint64(at), noRow}
		if uint64(r.commit) >= uint64(f.objects) {
			return corrupt(at, "commit of a bitmap out of range")
		}
		if back := int(data[at+4]); back > i {
			return corrupt(at+4, "bitmap differs from one before the first")
		} else if back > 0 {
			r.base = uint32(i - back)
		}
		f.rows = append(f.rows, r)
		n, err := ewah.Size(data[at+entryHead:])
		if err != nil {
			return corrupt(at+entryHead, "bitmap entries are cut off")
		}
		at += entryHead + n
	}
	// By commit, with bases as rows of that order.
	order := make([]uint32, f.count)
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortStableFunc(order, func(a, b uint32) int { return cmp.Compare(f.rows[a].commit, f.rows[b].commit) })
	place := make([]uint32, f.count)
	sorted := make([]row, f.count)
	for k, i := range order {
		place[i] = uint32(k)
		sorted[k] = f.rows[i]
	}
	for k := range sorted {
		if sorted[k].base != noRow {
			sorted[k].base = place[sorted[k].base]
		}
	}
	f.rows = sorted
	return nil
}

// Verify compares the hash at the end of the file with that of the rest. The error is
// a *CorruptError, or that of reading the file.
func (f *File) Verify() error {
	return f.named(f.file.Do(func(data []byte) error {
		end := len(data) - f.algo.Size()
		h := f.algo.New()
		h.Write(data[:end])
		if !bytes.Equal(h.Sum(nil), data[end:]) {
			return corrupt(end, "bitmap does not match its hash")
		}
		return nil
	}))
}

// Close releases the file once calls in progress have returned.
func (f *File) Close() error { return f.file.Close() }

// Path returns the path the file was opened by.
func (f *File) Path() string { return f.file.Path() }

// Len returns the number of commits that have a bitmap.
func (f *File) Len() int { return f.count }

// A View is a File while it is being read. It is safe for concurrent use, but only
// within the Do that made it.
type View struct {
	f    *File
	data []byte
}

// Do calls use with a view of the file, which must not be kept, and returns its
// error, as mmap.File.Do does.
func (f *File) Do(use func(v *View) error) error {
	return f.named(f.file.Do(func(data []byte) error { return use(&View{f, data}) }))
}

func (v *View) row(i int) row {
	if v.f.table == 0 {
		return v.f.rows[i]
	}
	d := v.data[v.f.table+rowSize*i:]
	return row{binary.BigEndian.Uint32(d), binary.BigEndian.Uint64(d[4:]), binary.BigEndian.Uint32(d[12:])}
}

// Commit returns the number of the commit of row i, 0 <= i < File.Len(), in the
// order of IDs. Rows are sorted by it.
func (v *View) Commit(i int) int { return int(v.row(i).commit) }

// Find returns the row of a commit, given its number in the order of IDs; ok is
// false if it has no bitmap.
func (v *View) Find(commit int) (i int, ok bool) {
	lo, hi := 0, v.f.count
	for lo < hi {
		if mid := int(uint(lo+hi) >> 1); int64(v.row(mid).commit) < int64(commit) {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo, lo < v.f.count && int64(v.row(lo).commit) == int64(commit)
}

// AppendChain appends to dst the bitmaps whose exclusive or is what the commit of
// row i reaches. They are valid as long as v is. The error is a *CorruptError.
func (v *View) AppendChain(dst []ewah.Bitmap, i int) ([]ewah.Bitmap, error) {
	for steps := 0; ; steps++ {
		if steps > v.f.count {
			return dst, corrupt(v.f.table, "bitmaps differ from one another in a circle")
		}
		r := v.row(i)
		end := uint64(len(v.data))
		if v.f.table != 0 {
			end = uint64(v.f.table)
		}
		if r.offset > end || end-r.offset < entryHead {
			return dst, corrupt(v.f.table, "bitmap lies outside the file")
		}
		at := int(r.offset)
		if binary.BigEndian.Uint32(v.data[at:]) != r.commit {
			return dst, corrupt(at, "bitmap is not of the commit that the table says")
		}
		b, _, err := v.f.ewah(v.data[:end], at+entryHead)
		if err != nil {
			return dst, err
		}
		dst = append(dst, b)
		if r.base == noRow {
			return dst, nil
		}
		if uint64(r.base) >= uint64(v.f.count) {
			return dst, corrupt(at, "row of a bitmap out of range")
		}
		i = int(r.base)
	}
}

// Type returns the bitmap of the objects of a type. It is valid as long as v is.
func (v *View) Type(typ object.Type) (ewah.Bitmap, error) {
	b, _, err := v.f.ewah(v.data, v.f.types[typ-1])
	return b, err
}
