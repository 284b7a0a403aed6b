package packfile

import (
	"cmp"
	"encoding/binary"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"gust/internal/disk/mmap"
)

// revHead is the size of a .rev file's header: "RIDX", 4-byte version (1), 4-byte
// number of the hash. Then comes for each object, in the order of the pack, its
// 4-byte position in the order of IDs; the pack's hash; and the hash of all of the
// above (gitformat-pack(5)).
const revHead = 12

// Order calls use with the order of the objects in the pack: for each, a 4-byte
// position in the order of IDs, in network byte order, from the .rev file or, where
// that is missing, computed. The error is a *CorruptError or that of reading.
func (p *Pack) Order(use func(order []byte) error) error {
	idx, err := p.Index()
	if err != nil {
		return err
	}
	path := strings.TrimSuffix(p.path, ".pack") + ".rev"
	file, err := mmap.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		order, err := idx.order()
		if err != nil {
			return err
		}
		return use(order)
	}
	if err != nil {
		return err
	}
	defer file.Close()
	return file.Do(func(data []byte) error {
		hash := p.algo.Size()
		if want := revHead + 4*idx.Len() + 2*hash; len(data) != want {
			return &CorruptError{Path: path, Offset: int64(len(data)), Problem: "reverse index has the wrong size"}
		}
		if string(data[:4]) != "RIDX" || binary.BigEndian.Uint32(data[4:]) != 1 || binary.BigEndian.Uint32(data[8:]) != uint32(p.algo)+1 {
			return &CorruptError{Path: path, Problem: "no reverse index"}
		}
		of, err := idx.PackHash()
		if err != nil {
			return err
		}
		if at := len(data) - 2*hash; !of.EqualRaw(data[at : at+hash]) {
			return &CorruptError{Path: path, Offset: int64(at), Problem: "reverse index of another pack"}
		}
		return use(data[revHead : len(data)-2*hash])
	})
}

// order computes what a .rev file says.
func (x *Index) order() ([]byte, error) {
	type at struct {
		off int64
		i   uint32
	}
	all := make([]at, x.count)
	err := x.file.Do(func(data []byte) error {
		for i := range all {
			off, err := x.offset(data, i)
			if err != nil {
				return err
			}
			all[i] = at{off, uint32(i)}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b at) int { return cmp.Compare(a.off, b.off) })
	order := make([]byte, 0, 4*len(all))
	for i := range all {
		order = binary.BigEndian.AppendUint32(order, all[i].i)
	}
	return order, nil
}
