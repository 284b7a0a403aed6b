package odb

import (
	"math/bits"
	"os"
	"path/filepath"

	"gust/internal/disk/filestat"
	"gust/internal/format/packfile"
	"gust/internal/pure/oid"
)

// MinAbbrev is the number of hexadecimal digits of the shortest abbreviation that
// Git takes for an object ID.
const MinAbbrev = 4

// WithPrefix visits the IDs of the objects whose hexadecimal form starts with
// prefix, at least MinAbbrev digits of either case, until visit returns false. The
// order is that of storage; an object that is stored twice is visited twice. The
// error is one of reading an index.
func (db *DB) WithPrefix(prefix string, visit func(id oid.ID) bool) error {
	lo, ok := paddedID(db.o.Algo, prefix, '0')
	if !ok {
		return nil
	}
	hi, _ := paddedID(db.o.Algo, prefix, 'f')
	return db.between(&lo, &hi, visit)
}

// between visits the IDs from lo to hi, whose first bytes are the same.
func (db *DB) between(lo, hi *oid.ID, visit func(id oid.ID) bool) error {
	snap := db.current.Load()
	more := true
	each := func(t idTable) error {
		i, err := t.LowerBound(lo)
		for ; err == nil && more && i < t.Len(); i++ {
			var id oid.ID
			if id, err = t.at(i); err != nil || id.Compare(*hi) > 0 {
				return err
			}
			more = visit(id)
		}
		return err
	}
	for _, d := range snap.dirs {
		for _, x := range d.midx {
			if err := each(midxTable{x}); err != nil {
				return err
			}
		}
		for _, p := range d.single {
			x, err := p.Index()
			if err != nil {
				continue // as Git does, which complains and goes on
			}
			if err := each(packTable{x}); err != nil {
				return err
			}
		}
	}
	for _, d := range snap.dirs {
		if !more {
			break
		}
		if err := looseBetween(d.path, lo, hi, func(id oid.ID) { more = more && visit(id) }); err != nil {
			return err
		}
	}
	return nil
}

// An idTable is a sorted table of IDs.
type idTable interface {
	Len() int
	LowerBound(id *oid.ID) (int, error)
	at(i int) (oid.ID, error)
}

type packTable struct{ *packfile.Index }

func (t packTable) at(i int) (oid.ID, error) {
	id, _, err := t.At(i)
	return id, err
}

type midxTable struct{ x *index }

func (t midxTable) Len() int                           { return t.x.file.Len() }
func (t midxTable) LowerBound(id *oid.ID) (int, error) { return t.x.file.LowerBound(id) }
func (t midxTable) at(i int) (oid.ID, error) {
	id, _, _, err := t.x.file.At(i)
	return id, err
}

// looseBetween visits the loose objects in the object directory dir with IDs from
// lo to hi.
func looseBetween(dir string, lo, hi *oid.ID, visit func(id oid.ID)) error {
	head := lo.String()[:2]
	f, err := os.Open(filepath.Join(dir, head))
	if err != nil {
		if filestat.IsAbsent(err) {
			return nil
		}
		return err
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	if err != nil {
		return err
	}
	for _, name := range names {
		id, err := oid.Parse(lo.Algo(), head+name)
		if err == nil && id.Compare(*lo) >= 0 && id.Compare(*hi) <= 0 {
			visit(id)
		}
	}
	return nil
}

// paddedID returns the ID of prefix, followed by as many digits pad as it takes.
func paddedID(a oid.Algo, prefix string, pad byte) (oid.ID, bool) {
	if len(prefix) < MinAbbrev || len(prefix) > a.HexSize() {
		return oid.Null(a), false
	}
	digits := make([]byte, a.HexSize())
	for i := copy(digits, prefix); i < len(digits); i++ {
		digits[i] = pad
	}
	id, err := oid.Parse(a, digits)
	return id, err == nil
}

// UniqueLen returns the number of hexadecimal digits, at least min, by which id
// differs from every other object, whether it is there itself or not.
func (db *DB) UniqueLen(id oid.ID, min int) (int, error) {
	if min >= db.o.Algo.HexSize() {
		return db.o.Algo.HexSize(), nil
	}
	n := max(min, MinAbbrev)
	err := db.WithPrefix(id.String()[:n], func(other oid.ID) bool {
		if other != id {
			n = max(n, commonDigits(&id, &other)+1)
		}
		return true
	})
	return n, err
}

func commonDigits(a, b *oid.ID) int {
	x, y := a.Raw(), b.Raw()
	for i := range x {
		if d := x[i] ^ y[i]; d != 0 {
			return 2*i + bits.LeadingZeros8(d)/4
		}
	}
	return 2 * len(x)
}

// AutoAbbrev is the number of hexadecimal digits that core.abbrev=auto stands for:
// about as many as keep abbreviations unique, given the number of objects in packs.
func (db *DB) AutoAbbrev() int {
	const least = 7
	n := 0
	for _, d := range db.current.Load().dirs {
		for _, x := range d.midx {
			n += x.file.Len()
		}
		for _, p := range d.single {
			if x, err := p.Index(); err == nil {
				n += x.Len()
			}
		}
	}
	// Objects collide in half of the bits that number them: two bits of that are one
	// digit.
	return max(least, (bits.Len(uint(n))+1)/2)
}
