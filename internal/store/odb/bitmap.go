package odb

import (
	"encoding/binary"
	"errors"
	"fmt"
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
	Numbered
}

// Numbered is a pack or a multi-pack-index, whose objects have bits.
type Numbered struct {
	table bitmapTable
	path  string // of the bitmap file, be it there or not
	hash  oid.ID
}

// BitmapPath returns the path at which Git looks for the bitmap.
func (n *Numbered) BitmapPath() string { return n.path }

// Hash returns the hash at the end of the pack or multi-pack-index.
func (n *Numbered) Hash() oid.ID { return n.hash }

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
	n, err := x.numbered()
	if err != nil {
		return nil, err
	}
	return n.open(a)
}

// numbered returns x's objects. All packs must be there: bits would stand for
// nothing.
func (x *index) numbered() (n Numbered, err error) {
	n.table = x.file
	if n.hash, err = x.file.Hash(); err != nil {
		return n, err
	}
	n.path = strings.TrimSuffix(x.file.Path(), ".midx")
	if hex := n.hash.String(); !strings.HasSuffix(n.path, hex) {
		n.path += "-" + hex
	}
	n.path += ".bitmap"
	for i, p := range x.packs {
		if p == nil && fileExists(n.path) {
			err = &CorruptError{Path: x.file.Path(), Problem: "pack '" + x.file.Packs()[i] + "' is missing"}
		}
	}
	return n, err
}

// open opens the bitmap, nil if there is none.
func (n *Numbered) open(a oid.Algo) (*Bitmap, error) {
	f, err := bitmap.Open(n.path, a, n.table.Len(), n.hash)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &Bitmap{f, *n}, nil
}

// indexedPack is a pack as a table of its objects.
type indexedPack struct {
	*packfile.Pack
	*packfile.Index
}

func packBitmap(p *packfile.Pack, a oid.Algo) (*Bitmap, error) {
	if !fileExists(packBitmapPath(p)) {
		return nil, nil
	}
	n, err := numberedPack(p)
	if err != nil {
		return nil, err
	}
	return n.open(a)
}

func packBitmapPath(p *packfile.Pack) string {
	return strings.TrimSuffix(p.Path(), ".pack") + ".bitmap"
}

func numberedPack(p *packfile.Pack) (n Numbered, err error) {
	idx, err := p.Index()
	if err != nil {
		return n, err
	}
	n.table, n.path = indexedPack{p, idx}, packBitmapPath(p)
	n.hash, err = idx.PackHash()
	return n, err
}

// Number returns the pack or multi-pack-index of the database's own object directory
// that a bitmap is to be written for. The error tells why there is none.
func (db *DB) Number(midx bool) (n Numbered, err error) {
	snap := db.current.Load()
	if len(snap.dirs) == 0 {
		return n, errors.New("there are no objects")
	}
	d := snap.dirs[0]
	if midx {
		if len(d.midx) != 1 {
			return n, errors.New("there is no multi-pack-index, or an incremental chain of them")
		}
		return d.midx[0].numbered()
	}
	if len(d.packs) != 1 {
		return n, fmt.Errorf("there are %d packs: a bitmap is of a single one, or of a multi-pack-index", len(d.packs))
	}
	for _, p := range d.packs {
		n, err = numberedPack(p.Pack)
	}
	return n, err
}

// WriteReverse writes the file that lists the objects in the order of their bits where
// Git would look for one.
func (n *Numbered) WriteReverse() error {
	if t, ok := n.table.(indexedPack); ok {
		return t.Pack.WriteReverse()
	}
	return nil // a multi-pack-index has its own
}

// Objects returns the number of objects that the bitmap has bits for.
func (n *Numbered) Objects() int { return n.table.Len() }

// Position returns the number of the object id in the order of IDs; ok is false if
// the bitmap has no bit for it.
func (n *Numbered) Position(id *oid.ID) (i int, ok bool, err error) { return n.table.Position(id) }

// At returns the ID of the object with a number.
func (n *Numbered) At(i int) (id oid.ID, err error) {
	switch t := n.table.(type) {
	case *midx.File:
		id, _, _, err = t.At(i)
	case indexedPack:
		id, _, err = t.Index.At(i)
	}
	return id, err
}

// Bits returns the bit of each object, by its number in the order of IDs.
func (n *Numbered) Bits() ([]uint32, error) {
	bits := make([]uint32, n.Objects())
	fill := func(order []byte) error {
		for bit := range bits {
			i := binary.BigEndian.Uint32(order[4*bit:])
			if uint64(i) >= uint64(len(bits)) {
				return &CorruptError{Path: n.path, Problem: "order of its objects out of range"}
			}
			bits[i] = uint32(bit)
		}
		return nil
	}
	switch t := n.table.(type) {
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
