// Package midx holds multi-pack-index files and incremental chains.
//
// The file (gitformat-pack(5), numbers in network byte order):
//
//	"MIDX", 1-byte version (1 or 2), 1-byte hash (1 SHA-1, 2 SHA-256),
//	1-byte number of chunks, 1-byte number of base files (0),
//	4-byte number of packs
//	table of contents and chunks, see package chunk:
//	  PNAM  names of the packs' .idx files, each ending in NUL, then padding
//	  OIDF  fan-out table
//	  OIDL  raw object IDs, in order
//	  OOFF  for each object: 4-byte number of its pack, 4-byte offset in it;
//	        with the highest bit set, if there is LOFF, the rest is a row of that
//	  LOFF  8-byte offsets
//	  RIDX  positions in the order of IDs, 4 bytes each, in the pseudo-pack order
//	hash of all of the above
//
// Version 2 differs in that its packs need not be sorted by name. Other chunks
// are skipped.
//
// An incremental chain is the file multi-pack-index.d/multi-pack-index-chain: one
// hexadecimal hash a line, oldest first, each naming a layer, the file
// multi-pack-index-HASH.midx beside it. A layer numbers its packs from zero.
package midx

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"

	"gust/internal/disk/mmap"
	"gust/internal/format/chunk"
	"gust/internal/pure/object"
	"gust/internal/pure/oid"
)

// A CorruptError names the file and the offset of bytes that break the format.
type CorruptError = object.CorruptError

// A File is an open multi-pack-index file. It is safe for concurrent use.
type File struct {
	file  *mmap.File
	algo  oid.Algo
	packs []string
	count int

	fanout, ids, offsets, large, order chunk.Span
}

// Open maps the multi-pack-index file at path. Its layout is checked, not its
// hash, as Git does. The error is a *CorruptError or tells why the file cannot be
// opened. The caller must Close the File.
func Open(path string, a oid.Algo) (*File, error) {
	file, err := mmap.Open(path)
	if err != nil {
		return nil, err
	}
	return newFile(file, a)
}

func newFile(file *mmap.File, a oid.Algo) (*File, error) {
	f := &File{file: file, algo: a}
	if err := file.Do(f.parse); err != nil {
		file.Close()
		var c *CorruptError
		if errors.As(err, &c) && c.Path == "" {
			c.Path = file.Path()
		}
		return nil, err
	}
	return f, nil
}

const headSize = 12

func (f *File) parse(data []byte) error {
	bad := func(off int, format string, args ...any) error {
		return &CorruptError{Offset: int64(off), Problem: fmt.Sprintf(format, args...)}
	}
	hash := f.algo.Size()
	if len(data) < headSize+hash {
		return bad(len(data), "multi-pack-index is cut off")
	}
	if string(data[:4]) != "MIDX" {
		return bad(0, "no multi-pack-index signature")
	}
	if v := data[4]; v != 1 && v != 2 {
		return bad(4, "unknown multi-pack-index version %d", v)
	}
	if want := byte(f.algo) + 1; data[5] != want {
		return bad(5, "multi-pack-index of hash %d, want %d", data[5], want)
	}
	packs := binary.BigEndian.Uint32(data[8:])
	table, err := chunk.Parse(data, headSize, int(data[6]), hash)
	if err != nil {
		return err
	}
	if f.fanout, err = table.Require("OIDF", chunk.FanoutSize); err != nil {
		return err
	}
	n, ok := chunk.CheckFanout(f.fanout.Of(data))
	if !ok {
		return bad(f.fanout.Start, "fan-out does not ascend")
	}
	f.count = n
	if f.ids, err = table.Require("OIDL", int64(n)*int64(hash)); err != nil {
		return err
	}
	if f.offsets, err = table.Require("OOFF", int64(n)*8); err != nil {
		return err
	}
	if start, end, ok := table.Find(chunk.ID("LOFF")); ok {
		f.large = chunk.Span{Start: start, End: end}
	}
	if _, _, ok := table.Find(chunk.ID("RIDX")); ok {
		if f.order, err = table.Require("RIDX", int64(n)*4); err != nil {
			return err
		}
	}
	names, err := table.Require("PNAM", -1)
	if err != nil {
		return err
	}
	return f.parseNames(names, names.Of(data), packs)
}

func (f *File) parseNames(at chunk.Span, data []byte, packs uint32) error {
	if uint64(packs) > uint64(len(data)) {
		return &CorruptError{Offset: 8, Problem: "more packs than names"}
	}
	f.packs = make([]string, 0, packs)
	for range packs {
		name, rest, ok := bytes.Cut(data, []byte{0})
		off := int64(at.End - len(data))
		if !ok {
			return &CorruptError{Offset: off, Problem: "pack name is cut off"}
		}
		s := string(name)
		if s == "" || strings.ContainsAny(s, `/\`) || !strings.HasSuffix(s, ".idx") {
			return &CorruptError{Offset: off, Problem: fmt.Sprintf("bad pack name %q", s)}
		}
		f.packs = append(f.packs, s)
		data = rest
	}
	return nil
}

// Close releases the file once calls in progress have returned. Later calls fail
// with mmap.ErrClosed.
func (f *File) Close() error { return f.file.Close() }

// Path returns the path the file was opened by.
func (f *File) Path() string { return f.file.Path() }

// Len returns the number of objects.
func (f *File) Len() int { return f.count }

// Packs returns the names of the packs' .idx files. The slice is f's own.
func (f *File) Packs() []string { return f.packs }

// Find returns where the object id is: the number of its pack, an index of
// Packs, and the offset of its entry. ok is false if it is in none of them.
//
// Hot path: once per object looked up. Does not allocate.
func (f *File) Find(id *oid.ID) (pack int, off int64, ok bool, err error) {
	err = f.file.Do(func(data []byte) error {
		pos, found := chunk.Search(f.fanout.Of(data), f.ids.Of(data), f.algo.Size(), 0, id)
		if !found {
			return nil
		}
		pack, off, err = f.at(data, pos)
		ok = err == nil
		return err
	})
	return pack, off, ok, err
}

// Position returns the position of id in the order of IDs; ok is false if there is
// no such object.
func (f *File) Position(id *oid.ID) (i int, ok bool, err error) {
	err = f.file.Do(func(data []byte) error {
		i, ok = chunk.Search(f.fanout.Of(data), f.ids.Of(data), f.algo.Size(), 0, id)
		return nil
	})
	return i, ok, err
}

// Hash returns the hash at the end of the file.
func (f *File) Hash() (h oid.ID, err error) {
	err = f.file.Do(func(data []byte) error {
		h = oid.FromBytes(f.algo, data[len(data)-f.algo.Size():])
		return nil
	})
	return h, err
}

// Order calls use with the pseudo-pack order: for each object in it, a 4-byte
// position in the order of IDs. It reports whether the file says.
func (f *File) Order(use func(order []byte) error) (ok bool, err error) {
	if f.order.End == 0 {
		return false, nil
	}
	return true, f.file.Do(func(data []byte) error { return use(f.order.Of(data)) })
}

// LowerBound returns the position, in the order of IDs, of the first object whose
// ID is not below id; Len() if there is none.
func (f *File) LowerBound(id *oid.ID) (i int, err error) {
	err = f.file.Do(func(data []byte) error {
		i = chunk.LowerBound(f.fanout.Of(data), f.ids.Of(data), f.algo.Size(), 0, id)
		return nil
	})
	return i, err
}

// At returns the i-th object in the order of IDs, 0 <= i < Len(), and where it is.
func (f *File) At(i int) (id oid.ID, pack int, off int64, err error) {
	err = f.file.Do(func(data []byte) error {
		id = oid.FromBytes(f.algo, f.ids.Of(data)[i*f.algo.Size():])
		pack, off, err = f.at(data, i)
		return err
	})
	return id, pack, off, err
}

func (f *File) at(data []byte, pos int) (pack int, off int64, err error) {
	row := f.offsets.Start + 8*pos
	p, o := binary.BigEndian.Uint32(data[row:]), binary.BigEndian.Uint32(data[row+4:])
	if uint64(p) >= uint64(len(f.packs)) {
		return 0, 0, f.corrupt(row, "pack number out of range")
	}
	if o>>31 == 0 || f.large.End == 0 {
		return int(p), int64(o), nil
	}
	large := int64(f.large.Start) + 8*int64(o&0x7fffffff)
	if large+8 > int64(f.large.End) {
		return 0, 0, f.corrupt(row+4, "large offset out of range")
	}
	v := binary.BigEndian.Uint64(data[large:])
	if v > math.MaxInt64 {
		return 0, 0, f.corrupt(int(large), "offset out of range")
	}
	return int(p), int64(v), nil
}

func (f *File) corrupt(at int, problem string) error {
	return &CorruptError{Path: f.Path(), Offset: int64(at), Problem: problem}
}
