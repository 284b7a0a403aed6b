package reach

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"gust/internal/format/bitmap"
	"gust/internal/history/revwalk"
	"gust/internal/pure/ewah"
	"gust/internal/pure/object"
	"gust/internal/pure/oid"
	"gust/internal/store/odb"
)

// ErrNotClosed says that an object of a pack reaches one outside of it, so that the
// pack can have no bitmap.
var ErrNotClosed = errors.New("pack does not hold all that its objects reach")

// Which commits get a bitmap, by their place in history, the latest first: each of
// the first ones, then one in so many, later fewer. Walks start at recent commits
// and at the tips of refs.
const (
	everyUntil  = 100
	denseUntil  = 20_000
	denseEvery  = 100
	sparseEvery = 5_000
)

// Build makes the bitmaps of a pack or multi-pack-index: of recent commits among
// those that w's tips reach, and of tips spaced further apart with age. progress,
// which may be nil, is told how many of how many commits are done. The error is
// ErrNotClosed wrapped, a *MissingError, or that of reading objects.
func (w *Walk) Build(ctx context.Context, n *odb.Numbered, progress func(done, total int)) (*bitmap.Writer, error) {
	s, err := w.Select(ctx)
	if err != nil {
		return nil, err
	}
	b := newBuilder(ctx, w, n)
	chosen, err := b.choose(s)
	if err != nil {
		return nil, err
	}
	// Ancestors first: what they reach is then known.
	for i := len(chosen) - 1; i >= 0; i-- {
		if progress != nil {
			progress(len(chosen)-1-i, len(chosen))
		}
		if err := b.reach(&chosen[i]); err != nil {
			return nil, err
		}
	}
	out := bitmap.NewWriter(w.DB.Algo(), n.Objects(), n.Hash())
	for i := range chosen {
		bits := ewah.NewBits(n.Objects())
		if _, err := b.known(chosen[i].number, bits); err != nil {
			return nil, err
		}
		out.Add(chosen[i].number, bits)
	}
	if progress != nil {
		progress(len(chosen), len(chosen))
	}
	return out, b.setTypes(out)
}

// Verify computes anew what every commit of b reaches and compares that with what b
// says, and the types of all objects. The error tells of the first difference.
func (w *Walk) Verify(ctx context.Context, b *odb.Bitmap, progress func(done, total int)) error {
	if err := b.Verify(); err != nil {
		return err
	}
	return b.Do(func(v *bitmap.View) error {
		u := newBuilder(ctx, w, &b.Numbered)
		file := covered{b: &b.Numbered, v: v}
		commits := make([]chosen, b.Len())
		for i := range commits {
			id, err := b.At(v.Commit(i))
			if err != nil {
				return err
			}
			commits[i] = chosen{id, v.Commit(i)}
		}
		if err := w.oldestFirst(ctx, commits); err != nil {
			return err
		}
		for i := range commits {
			if progress != nil {
				progress(i+1, len(commits))
			}
			if err := u.compare(&file, &commits[i]); err != nil {
				return err
			}
		}
		return u.compareTypes(v)
	})
}

// A chosen is a commit that has a bitmap.
type chosen struct {
	id     oid.ID
	number int // in the order of IDs
}

// A builder computes bitmaps.
type builder struct {
	c    covered
	done map[int][]byte // compressed, by number of commit
}

func newBuilder(ctx context.Context, w *Walk, n *odb.Numbered) *builder {
	b := &builder{done: make(map[int][]byte)}
	b.c = covered{w: w, ctx: ctx, b: n, stored: b.known, closed: true, types: make([]object.Type, n.Objects()), lately: make([]placed, latelyMany)}
	return b
}

// known is covered.stored from what was computed.
func (b *builder) known(i int, into ewah.Bits) (bool, error) {
	data, ok := b.done[i]
	if !ok {
		return false, nil
	}
	e, _, err := ewah.Parse(data, b.c.b.Objects())
	if err == nil {
		into.Or(&e)
	}
	return true, err
}

// choose returns the commits that get a bitmap, the latest first.
func (b *builder) choose(s *Selection) ([]chosen, error) {
	var all []chosen
	for i := 0; i < len(s.Commits); {
		step := 1
		switch {
		case i >= denseUntil:
			step = sparseEvery
		case i >= everyUntil:
			step = denseEvery
		}
		best := i
		for k := i; k < min(i+step, len(s.Commits)); k++ {
			if s.Commits[k].Tip {
				best = k
				break
			}
		}
		number, ok, err := b.c.b.Position(&s.Commits[best].ID)
		if err != nil {
			return nil, err
		}
		if ok { // others came after the pack was made
			all = append(all, chosen{s.Commits[best].ID, number})
		}
		i += step
	}
	if len(all) == 0 {
		return nil, errors.New("no commit that a ref leads to is in the pack")
	}
	return all, nil
}

// reach computes what a commit reaches.
func (b *builder) reach(c *chosen) error {
	s, err := b.c.reach([]root{{c.id, object.Commit}}, nil)
	if err != nil {
		return err
	}
	b.done[c.number] = s.in.AppendCompressed(nil, b.c.b.Objects())
	return nil
}

// typeOf returns the type of the object with a number, from the walk or its data.
func (b *builder) typeOf(i int) (object.Type, int, error) {
	bit := int(b.c.bits[i])
	if typ := b.c.types[bit]; typ != 0 {
		return typ, bit, nil
	}
	id, err := b.c.b.At(i)
	if err != nil {
		return 0, 0, err
	}
	typ, _, err := b.c.w.DB.Stat(id)
	return typ, bit, err
}

// setTypes tells out the types of all objects.
func (b *builder) setTypes(out *bitmap.Writer) error {
	for i := range b.c.b.Objects() {
		typ, bit, err := b.typeOf(i)
		if err != nil {
			return err
		}
		out.SetType(bit, typ)
	}
	return nil
}

// compare compares what is computed of a commit with what the file says.
func (b *builder) compare(file *covered, c *chosen) error {
	if err := b.reach(c); err != nil {
		return err
	}
	want, got := ewah.NewBits(b.c.b.Objects()), ewah.NewBits(b.c.b.Objects())
	if _, err := b.known(c.number, want); err != nil {
		return err
	}
	if _, err := file.fromFile(c.number, got); err != nil {
		return err
	}
	for i := range want {
		if want[i] != got[i] {
			return &odb.CorruptError{Path: b.c.b.BitmapPath(), Problem: fmt.Sprintf("bitmap of commit %s has %d objects, not %d", c.id, got.Count(), want.Count())}
		}
	}
	return nil
}

// compareTypes compares the types of all objects with what the file says.
func (b *builder) compareTypes(v *bitmap.View) error {
	var all [4]ewah.Bits
	for k := range all {
		e, err := v.Type(object.Type(k + 1))
		if err != nil {
			return err
		}
		all[k] = ewah.NewBits(b.c.b.Objects())
		all[k].Or(&e)
	}
	for i := range b.c.b.Objects() {
		typ, bit, err := b.typeOf(i)
		if err != nil {
			return err
		}
		for k := range all {
			if all[k].Get(bit) != (object.Type(k+1) == typ) {
				return &odb.CorruptError{Path: b.c.b.BitmapPath(), Problem: fmt.Sprintf("type of object %d is wrong: it is a %v", i, typ)}
			}
		}
	}
	return nil
}

// oldestFirst sorts commits by their times, which is about ancestors first.
func (w *Walk) oldestFirst(ctx context.Context, commits []chosen) error {
	return w.Walker.Walk(ctx, func(c *revwalk.Commits) error {
		times := make(map[oid.ID]int64, len(commits))
		for i := range commits {
			time, err := c.Time(c.Number(&commits[i].id))
			if err != nil {
				return err
			}
			times[commits[i].id] = time
		}
		slices.SortStableFunc(commits, func(a, b chosen) int { return cmp.Compare(times[a.id], times[b.id]) })
		return nil
	})
}
