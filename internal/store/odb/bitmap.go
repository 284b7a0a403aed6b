package odb

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"strings"

	"gust/internal/format/bitmap"
	"gust/internal/format/midx"
	"gust/internal/format/packfile"
	"gust/internal/pure/object"
	"gust/internal/pure/oid"
)

// fileExists reports whether there is a file at path.
func fileExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// A Bitmap is the reachability bitmap of a pack or a multi-pack-index.
type Bitmap struct {
	*bitmap.File
	table bitmapTable
}

// bitmapTable is what numbers the objects of a bitmap.
type bitmapTable interface {
	Len() int
	Position(id *oid.ID) (i int, ok bool, err error)
}

// ErrChain says that there are bitmaps of an incremental multi-pack-index.
var ErrChain = errors.New("bitmaps of a chain of multi-pack-indexes")

// Bitmap opens the bitmap that Git would use: that of the first multi-pack-index
// that has one, or of the first pack. It returns nil without one. The error is
// ErrChain, a *CorruptError, or that of opening a file. The caller must Close the
// Bitmap, and not use it after the database was closed.
func (db *DB) Bitmap() (*Bitmap, error) {
	snap := db.current.Load()
	for _, d := range snap.dirs {
		for _, x := range d.midx {
			b, err := x.bitmap(db.o.Algo)
			if b == nil && err == nil {
				continue
			}
			if b != nil && len(d.midx) > 1 {
				b.Close()
				return nil, ErrChain
			}
			return b, err
		}
	}
	for _, d := range snap.dirs {
		for _, packs := range [2][]*packfile.Pack{d.single, d.covered} {
			for _, p := range packs {
				if b, err := packBitmap(p, db.o.Algo); b != nil || err != nil {
					return b, err
				}
			}
		}
	}
	return nil, nil
}

func (x *index) bitmap(a oid.Algo) (*Bitmap, error) {
	hash, err := x.file.Hash()
	if err != nil {
		return nil, err
	}
	path := strings.TrimSuffix(x.file.Path(), ".midx")
	if !strings.HasSuffix(path, hash.String()) {
		path += "-" + hash.String()
	}
	f, err := bitmap.Open(path+".bitmap", a, x.file.Len(), hash)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	// Packs that went away leave bits that stand for nothing.
	for i, p := range x.packs {
		if p == nil {
			f.Close()
			return nil, &CorruptError{Path: x.file.Path(), Problem: "pack '" + x.file.Packs()[i] + "' is missing"}
		}
	}
	return &Bitmap{f, x.file}, nil
}

// indexedPack is a pack as a table of its objects.
type indexedPack struct {
	*packfile.Pack
	*packfile.Index
}

func packBitmap(p *packfile.Pack, a oid.Algo) (*Bitmap, error) {
	path := strings.TrimSuffix(p.Path(), ".pack") + ".bitmap"
	if !fileExists(path) {
		return nil, nil
	}
	idx, err := p.Index()
	if err != nil {
		return nil, err
	}
	hash, err := idx.PackHash()
	if err != nil {
		return nil, err
	}
	f, err := bitmap.Open(path, a, idx.Len(), hash)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &Bitmap{f, indexedPack{p, idx}}, nil
}

// Objects returns the number of objects that the bitmap has bits for.
func (b *Bitmap) Objects() int { return b.table.Len() }

// Position returns the number of the object id in the order of IDs; ok is false if
// the bitmap has no bit for it.
func (b *Bitmap) Position(id *oid.ID) (i int, ok bool, err error) { return b.table.Position(id) }

// Bits returns the bit of each object, by its number in the order of IDs.
func (b *Bitmap) Bits() ([]uint32, error) {
	bits := make([]uint32, b.Objects())
	fill := func(order []byte) error {
		for bit := range bits {
			i := binary.BigEndian.Uint32(order[4*bit:])
			if uint64(i) >= uint64(len(bits)) {
				return &CorruptError{Path: b.Path(), Problem: "order of its objects out of range"}
			}
			bits[i] = uint32(bit)
		}
		return nil
	}
	switch t := b.table.(type) {
	case *midx.File:
		ok, err := t.Order(fill)
		if err == nil && !ok {
			err = &object.CorruptError{Path: t.Path(), Problem: "no order of its objects"}
		}
		return bits, err
	case indexedPack:
		return bits, t.Order(fill)
	}
	panic("odb: bitmap of neither a pack nor a multi-pack-index")
}
