package packfile

import (
	"encoding/binary"
	"errors"
	"fmt"

	"gust/internal/disk/mmap"
	"gust/internal/format/chunk"
	"gust/internal/pure/oid"
)

// An Index is an open .idx file. It is safe for concurrent use.
type Index struct {
	file    *mmap.File
	algo    oid.Algo
	count   int
	version int
}

// OpenIndex maps the .idx file at path. Its layout is checked, not its hash, as
// Git does. The error is a *CorruptError or tells why it cannot be opened. The
// caller must Close the Index.
func OpenIndex(path string, a oid.Algo) (*Index, error) {
	file, err := mmap.Open(path)
	if err != nil {
		return nil, err
	}
	return newIndex(file, a)
}

func newIndex(file *mmap.File, a oid.Algo) (*Index, error) {
	x := &Index{file: file, algo: a}
	if err := file.Do(x.check); err != nil {
		file.Close()
		return nil, named(err, file.Path())
	}
	return x, nil
}

// named puts path into a CorruptError that has none.
func named(err error, path string) error {
	var c *CorruptError
	if errors.As(err, &c) && c.Path == "" {
		c.Path = path
	}
	return err
}

const (
	idxMagic  = "\xfftOc"
	idxV2Head = 8
)

func (x *Index) check(data []byte) error {
	x.version = 1
	if len(data) >= idxV2Head && string(data[:4]) == idxMagic {
		if v := binary.BigEndian.Uint32(data[4:]); v != 2 {
			return &CorruptError{Offset: 4, Problem: fmt.Sprintf("unknown pack index version %d", v)}
		}
		x.version = 2
	}
	hash := x.algo.Size()
	head := x.fanoutStart() + chunk.FanoutSize
	if len(data) < head+2*hash {
		return &CorruptError{Offset: int64(len(data)), Problem: "pack index is cut off"}
	}
	n, ok := chunk.CheckFanout(data[x.fanoutStart():])
	if !ok {
		return &CorruptError{Offset: int64(x.fanoutStart()), Problem: "pack index fan-out does not ascend"}
	}
	x.count = n
	size, rows := int64(len(data)), int64(n)
	want := int64(head) + rows*int64(hash+4) + 2*int64(hash)
	if x.version == 2 {
		want += rows * 4 // the CRCs
	}
	// Version 2 may have up to one 8-byte offset for every object but one: the
	// first lies at the pack's start.
	if size == want || x.version == 2 && size > want && size <= want+8*(rows-1) && (size-want)%8 == 0 {
		return nil
	}
	return &CorruptError{Offset: size, Problem: fmt.Sprintf("pack index of %d objects has the wrong size", n)}
}

func (x *Index) fanoutStart() int {
	if x.version == 2 {
		return idxV2Head
	}
	return 0
}

// Close releases the file once calls in progress have returned. Later calls fail
// with mmap.ErrClosed.
func (x *Index) Close() error { return x.file.Close() }

// Path returns the path the index was opened by.
func (x *Index) Path() string { return x.file.Path() }

// Len returns the number of objects.
func (x *Index) Len() int { return x.count }

// Find returns the offset in the pack of the entry of id; ok is false if the
// pack has none.
//
// Hot path: once per object looked up. Does not allocate.
func (x *Index) Find(id *oid.ID) (off int64, ok bool, err error) {
	err = x.file.Do(func(data []byte) error {
		ids, stride, skip := x.ids(data)
		pos, found := chunk.Search(data[x.fanoutStart():], ids, stride, skip, id)
		if !found {
			return nil
		}
		off, err = x.offset(data, pos)
		ok = err == nil
		return err
	})
	return off, ok, err
}

// Position returns the position of id in the order of IDs; ok is false if the pack
// has no such object.
func (x *Index) Position(id *oid.ID) (i int, ok bool, err error) {
	err = x.file.Do(func(data []byte) error {
		ids, stride, skip := x.ids(data)
		i, ok = chunk.Search(data[x.fanoutStart():], ids, stride, skip, id)
		return nil
	})
	return i, ok, err
}

// LowerBound returns the position, in the order of IDs, of the first object whose
// ID is not below id; Len() if there is none.
func (x *Index) LowerBound(id *oid.ID) (i int, err error) {
	err = x.file.Do(func(data []byte) error {
		ids, stride, skip := x.ids(data)
		i = chunk.LowerBound(data[x.fanoutStart():], ids, stride, skip, id)
		return nil
	})
	return i, err
}

// At returns the ID of the i-th object in the order of IDs, 0 <= i < Len(), and
// the offset of its entry in the pack.
func (x *Index) At(i int) (id oid.ID, off int64, err error) {
	err = x.file.Do(func(data []byte) error {
		ids, stride, skip := x.ids(data)
		id = oid.FromBytes(x.algo, ids[i*stride+skip:])
		off, err = x.offset(data, i)
		return err
	})
	return id, off, err
}

// ids returns the table that holds the object IDs, for chunk.Search.
func (x *Index) ids(data []byte) (ids []byte, stride, skip int) {
	stride = x.algo.Size()
	if x.version == 1 {
		stride, skip = stride+4, 4
	}
	start := x.fanoutStart() + chunk.FanoutSize
	return data[start : start+x.count*stride], stride, skip
}

func (x *Index) offset(data []byte, pos int) (int64, error) {
	hash := x.algo.Size()
	if x.version == 1 {
		return int64(binary.BigEndian.Uint32(data[chunk.FanoutSize+pos*(hash+4):])), nil
	}
	table := idxV2Head + chunk.FanoutSize + x.count*(hash+4)
	v := binary.BigEndian.Uint32(data[table+4*pos:])
	if v>>31 == 0 {
		return int64(v), nil
	}
	large := int64(table+4*x.count) + 8*int64(v&0x7fffffff)
	if large+8 > int64(len(data)-2*hash) {
		return 0, x.corrupt(table+4*pos, "large offset out of range")
	}
	off := binary.BigEndian.Uint64(data[large:])
	if off>>63 != 0 {
		return 0, x.corrupt(int(large), "offset out of range")
	}
	return int64(off), nil
}

func (x *Index) corrupt(at int, problem string) error {
	return &CorruptError{Path: x.Path(), Offset: int64(at), Problem: problem}
}

// PackHash returns the hash of the pack that the index was made for.
func (x *Index) PackHash() (h oid.ID, err error) {
	err = x.file.Do(func(data []byte) error {
		h = oid.FromBytes(x.algo, data[len(data)-2*x.algo.Size():])
		return nil
	})
	return h, err
}
