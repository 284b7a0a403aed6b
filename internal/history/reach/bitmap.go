package reach

import (
	"context"
	"encoding/binary"
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

// ErrNoUse says that a bitmap is of no use for what is wanted: nothing is, or all
// that is not lies outside of what the bitmap covers. Git then walks.
var ErrNoUse = errors.New("bitmap is of no use")

// CountExactly counts the objects that the tips reach by means of b, whatever
// changes how commits are read (grafts, a shallow cut, replaced objects, which must
// not be there). Unlike Count, it leaves out everything behind unwanted tips. The
// error is ErrNoUse, a *CorruptError of b, a *MissingError, or that of reading
// objects.
func (w *Walk) CountExactly(ctx context.Context, b *odb.Bitmap) (int, error) {
	n := 0
	err := b.Do(func(v *bitmap.View) error {
		c := covered{w: w, ctx: ctx, b: &b.Numbered, v: v, lately: make([]placed, latelyFew)}
		c.stored = c.fromFile
		var err error
		n, err = c.count()
		return err
	})
	return n, err
}

// covered answers from one bitmap.
type covered struct {
	w   *Walk
	ctx context.Context
	b   *odb.Numbered
	v   *bitmap.View
	// stored adds to into what the commit with a number reaches, if that is known.
	stored func(i int, into ewah.Bits) (bool, error)
	// closed says that no object may lie outside. types then notes their types.
	closed bool
	types  []object.Type

	bits   []uint32      // of each object, by its number in the order of IDs; nil until needed
	lately []placed      // objects that were placed last: neighbouring trees hold the same ones
	outer  []object.Type // of the objects that the bitmap has no bits for
	number map[oid.ID]int
	chain  []ewah.Bitmap
	buf    []byte
}

// How many objects' bits are remembered: no more than fit a processor's second cache
// where all trees are walked, and what is cheap to make where few are.
const (
	latelyMany = 1 << 14
	latelyFew  = 1 << 9
)

// placed is an object and its bit.
type placed struct {
	id    oid.ID
	bit   uint32
	known bool
}

// A reached is the set of the objects that some roots reach.
type reached struct {
	in  ewah.Bits
	out []bool // by number in covered.outer
}

func (c *covered) count() (int, error) {
	wanted, unwanted, err := c.roots()
	if err != nil {
		return 0, err
	}
	if len(wanted) == 0 || len(unwanted) > 0 && !c.anyCovered(unwanted) {
		return 0, ErrNoUse
	}
	not, err := c.reach(unwanted, nil)
	if err != nil {
		return 0, err
	}
	set, err := c.reach(wanted, not)
	if err != nil {
		return 0, err
	}
	if not != nil {
		set.in.AndNotBits(not.in)
		for i, out := range not.out {
			if out && i < len(set.out) {
				set.out[i] = false
			}
		}
	}
	return c.sum(set, wanted)
}

// A root is a tip, or what a tag among the tips leads to.
type root struct {
	id  oid.ID
	typ object.Type
}

// roots returns the tips with what tags among them lead to, wanted and not.
func (c *covered) roots() (wanted, unwanted []root, err error) {
	not := make(map[oid.ID]bool)
	for pass := range 2 { // unwanted ones first: they decide
		for i := range c.w.Tips {
			tip := &c.w.Tips[i]
			if tip.Not != (pass == 0) {
				continue
			}
			id := tip.ID
			for {
				typ, _, err := c.w.DB.Stat(id)
				if err != nil {
					return nil, nil, err
				}
				if pass == 0 {
					not[id] = true
				}
				if not[id] {
					unwanted = append(unwanted, root{id, typ})
				} else {
					wanted = append(wanted, root{id, typ})
				}
				if typ != object.Tag {
					break
				}
				_, data, err := c.w.DB.Read(id, c.buf[:0])
				if err != nil {
					return nil, nil, err
				}
				c.buf = data
				tag, err := object.ParseTag(data, id.Algo())
				if err != nil {
					return nil, nil, fmt.Errorf("object %s: %w", id, err)
				}
				if not[id] {
					not[tag.Object] = true
				}
				id = tag.Object
			}
		}
	}
	return wanted, unwanted, nil
}

func (c *covered) anyCovered(roots []root) bool {
	for i := range roots {
		if _, ok, err := c.b.Position(&roots[i].id); ok && err == nil {
			return true
		}
	}
	return false
}

// reach returns what roots reach, nil if there are none. What is in not need not be
// followed.
func (c *covered) reach(roots []root, not *reached) (*reached, error) {
	if len(roots) == 0 {
		return nil, nil
	}
	f := filler{c: c, s: &reached{in: ewah.NewBits(c.b.Objects())}, not: not}
	for i := range roots {
		if err := f.root(&roots[i]); err != nil {
			return nil, err
		}
	}
	if len(f.commits) > 0 {
		f.roots = len(f.trees)
		f.base = reached{slices.Clone(f.s.in), slices.Clone(f.s.out)}
		if err := c.w.Walker.Walk(c.ctx, f.fill); err != nil {
			return nil, err
		}
	}
	for i := range f.trees {
		if err := f.tree(&f.trees[i]); err != nil {
			return nil, err
		}
	}
	return f.s, nil
}

// place returns the bit of an object, or its number among those that have none.
func (c *covered) place(id *oid.ID, typ object.Type) (at int, in bool, err error) {
	raw := id.Raw()
	near := &c.lately[int(binary.LittleEndian.Uint16(raw[4:]))%len(c.lately)]
	if near.known && near.id == *id {
		return int(near.bit), true, nil
	}
	i, ok, err := c.b.Position(id)
	if err != nil {
		return 0, false, err
	}
	if ok {
		if c.bits == nil {
			if c.bits, err = c.b.Bits(); err != nil {
				return 0, false, err
			}
		}
		at := int(c.bits[i])
		if c.types != nil {
			c.types[at] = typ
		}
		*near = placed{*id, c.bits[i], true}
		return at, true, nil
	}
	if c.closed {
		return 0, false, fmt.Errorf("%v %s is not in the pack: %w", typ, id, ErrNotClosed)
	}
	at, known := c.number[*id]
	if !known {
		if c.number == nil {
			c.number = make(map[oid.ID]int)
		}
		at = len(c.outer)
		c.outer = append(c.outer, typ)
		c.number[*id] = at
	}
	return at, false, nil
}

// sum counts what the options want of s.
func (c *covered) sum(s *reached, wanted []root) (int, error) {
	o := &c.w.Options
	keeps := func(typ object.Type) bool { return (o.Objects || typ == object.Commit) && o.Filter.Keeps(typ) }
	n := 0
	for i, out := range s.out {
		if out && keeps(c.outer[i]) {
			n++
		}
	}
	if o.Objects && o.Filter == (Filter{}) {
		return n + s.in.Count(), nil
	}
	for _, typ := range []object.Type{object.Commit, object.Tree, object.Blob, object.Tag} {
		if !keeps(typ) {
			continue
		}
		b, err := c.v.Type(typ)
		if err != nil {
			return 0, err
		}
		n += s.in.CountAnd(&b)
	}
	if o.Objects && !o.Filter.Keeps(object.Commit) {
		more, err := c.tips(s, wanted)
		return n + more, err
	}
	return n, nil
}

// tips counts the commits among wanted that are in s.
func (c *covered) tips(s *reached, wanted []root) (int, error) {
	n, done := 0, make(map[oid.ID]bool)
	for i := range wanted {
		r := &wanted[i]
		if r.typ != object.Commit || done[r.id] {
			continue
		}
		done[r.id] = true
		at, in, err := c.place(&r.id, r.typ)
		if err != nil {
			return 0, err
		}
		if in && s.in.Get(at) || !in && at < len(s.out) && s.out[at] {
			n++
		}
	}
	return n, nil
}

// A filler fills in what bitmaps do not say.
type filler struct {
	c       *covered
	s, not  *reached
	commits []oid.ID // roots without a bitmap
	trees   []oid.ID
	roots   int     // how many of trees are roots
	base    reached // s before it was filled in
	bufs    [][]byte
}

// root adds a root: from its bitmap where it has one.
func (f *filler) root(r *root) error {
	switch r.typ {
	case object.Commit:
		if ok, err := f.stored(&r.id); ok || err != nil {
			return err
		}
		f.commits = append(f.commits, r.id)
	case object.Tree:
		f.trees = append(f.trees, r.id)
	default:
		_, err := f.add(&r.id, r.typ)
		return err
	}
	return nil
}

// stored adds what a commit reaches if there is a bitmap of it.
func (f *filler) stored(id *oid.ID) (bool, error) {
	i, ok, err := f.c.b.Position(id)
	if err != nil || !ok {
		return false, err
	}
	return f.c.stored(i, f.s.in)
}

// fromFile is covered.stored from the bitmap file.
func (c *covered) fromFile(i int, into ewah.Bits) (bool, error) {
	row, ok := c.v.Find(i)
	if !ok {
		return false, nil
	}
	var err error
	if c.chain, err = c.v.AppendChain(c.chain[:0], row); err != nil {
		return false, err
	}
	if len(c.chain) == 1 {
		into.Or(&c.chain[0])
		return true, nil
	}
	bits := ewah.NewBits(c.b.Objects())
	for k := range c.chain {
		bits.Xor(&c.chain[k])
	}
	into.OrBits(bits)
	return true, nil
}

// add adds one object and reports whether it is new and to be followed.
func (f *filler) add(id *oid.ID, typ object.Type) (bool, error) {
	at, in, err := f.c.place(id, typ)
	if err != nil {
		return false, err
	}
	if in {
		if f.s.in.Get(at) || f.not != nil && f.not.in.Get(at) {
			return false, nil
		}
		f.s.in.Set(at)
		return true, nil
	}
	for at >= len(f.s.out) {
		f.s.out = append(f.s.out, false)
	}
	if f.s.out[at] || f.not != nil && at < len(f.not.out) && f.not.out[at] {
		return false, nil
	}
	f.s.out[at] = true
	return true, nil
}

// fill follows the commits that have no bitmap until it meets some that have, the
// latest first: those are met before what they reach. It may be called again.
func (f *filler) fill(c *revwalk.Commits) error {
	f.trees = f.trees[:f.roots]
	copy(f.s.in, f.base.in)
	f.s.out = append(f.s.out[:0], f.base.out...)
	var q revwalk.Queue
	var seen revwalk.Marks
	var parents []uint32
	push := func(i uint32) error {
		if seen.Add(i, 1) != 0 {
			return nil
		}
		time, err := c.Time(i)
		if err == nil {
			q.Push(time, i)
		}
		return err
	}
	for k := range f.commits {
		if err := push(c.Number(&f.commits[k])); err != nil {
			return err
		}
	}
	for steps := 0; q.Len() > 0; steps++ {
		if steps&1023 == 0 && f.c.ctx.Err() != nil {
			return f.c.ctx.Err()
		}
		i := q.Pop()
		id := c.ID(i)
		ok, err := f.add(&id, object.Commit)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		if ok, err = f.stored(&id); err != nil {
			return err
		}
		if ok {
			continue
		}
		if _, parents, err = c.Load(i, parents[:0]); err != nil {
			return err
		}
		f.trees = append(f.trees, c.Tree(i))
		for _, p := range parents {
			if err := push(p); err != nil {
				return err
			}
		}
	}
	return nil
}

// tree adds the tree id and what is in it.
func (f *filler) tree(id *oid.ID) error {
	ok, err := f.add(id, object.Tree)
	if err != nil || !ok {
		return err
	}
	var buf []byte
	if n := len(f.bufs); n > 0 {
		buf, f.bufs = f.bufs[n-1], f.bufs[:n-1]
	}
	typ, data, err := f.c.w.DB.ReadLinked(*id, buf[:0])
	if err == nil && typ != object.Tree {
		err = fmt.Errorf("object is a %v", typ)
	}
	if err != nil {
		return &MissingError{*id, object.Tree, err}
	}
	r := object.NewTreeReader(data, id.Algo())
	var e object.TreeEntry
	for {
		ok, err := r.Next(&e)
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		switch {
		case e.Mode == object.ModeGitlink:
		case e.Mode.IsTree():
			err = f.tree(&e.ID)
		default:
			_, err = f.add(&e.ID, object.Blob)
		}
		if err != nil {
			return err
		}
	}
	f.bufs = append(f.bufs, data)
	return nil
}
