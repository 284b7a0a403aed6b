package treediff

import (
	"context"
	"fmt"

	"gust/internal/format/index"
	"gust/internal/pure/object"
	"gust/internal/pure/oid"
)

// A Side is what a tree has at a path. The zero Side is nothing.
type Side struct {
	Mode object.Mode // canonical, no tree's
	ID   oid.ID
}

// Trees visits the paths at which the trees a and b differ, in the order of an
// index where one of them has files only; a null ID is the empty tree. path is
// valid during the call. It stops with the first error of visit.
//
// entered, if not nil, is called for each directory that b has and that was looked
// into, with its tree.
func Trees(ctx context.Context, objects objectReader, a, b oid.ID, visit func(path []byte, a, b Side) error, entered func(dir []byte, tree oid.ID)) error {
	d := sides{differ: differ{ctx: ctx, objects: objects, ix: &index.Index{Algo: a.Algo()}}, visit: visit, entered: entered}
	return d.trees(a, b, 0)
}

// Entries visits the paths at which the tree with the given ID differs from ix. at
// is the number of the path's first entry, which may be unmerged; -1 if there is
// none. Sparse directories must have been expanded. Directories whose cache tree
// names the same tree are not read.
func Entries(ctx context.Context, objects objectReader, tree oid.ID, ix *index.Index, visit func(path []byte, tree Side, at int) error) error {
	d := sides{differ: differ{ctx: ctx, objects: objects, ix: ix}}
	d.entry = visit
	return d.dir(tree, 0, 0)
}

// sides walks two trees, or a tree and an index.
type sides struct {
	differ
	path    []byte
	visit   func(path []byte, a, b Side) error
	entry   func(path []byte, tree Side, at int) error
	entered func(dir []byte, tree oid.ID)
}

func sideOf(te *object.TreeEntry) Side { return Side{te.Mode.Canonical(), te.ID} }

// push appends a name to the path and returns the length to go back to.
func (d *sides) push(name []byte) int {
	keep := len(d.path)
	if keep > 0 {
		d.path = append(d.path, '/')
	}
	d.path = append(d.path, name...)
	return keep
}

// A cursor goes through the entries of a tree.
type cursor struct {
	r    object.TreeReader
	te   object.TreeEntry
	more bool
}

func (d *sides) open(id oid.ID, depth int) (*cursor, error) {
	data, err := d.readTree(id, depth)
	if err != nil {
		return nil, err
	}
	c := &cursor{r: object.NewTreeReader(data, d.ix.Algo)}
	if err := c.next(); err != nil {
		return nil, fmt.Errorf("cannot read tree %s: %w", id, err)
	}
	return c, nil
}

func (c *cursor) next() (err error) {
	c.more, err = c.r.Next(&c.te)
	return err
}

func (d *sides) trees(a, b oid.ID, depth int) error {
	if a == b {
		return nil
	}
	x, err := d.open(a, depth)
	if err != nil {
		return err
	}
	y, err := d.open(b, depth)
	if err != nil {
		return err
	}
	if d.entered != nil && !b.IsNull() {
		d.entered(d.path, b)
	}
	null := oid.Null(d.ix.Algo)
	for x.more || y.more {
		order := 0
		switch {
		case !x.more:
			order = 1
		case !y.more:
			order = -1
		default:
			order = compareNames(x.te.Name, x.te.Mode.IsTree(), string(y.te.Name), y.te.Mode.IsTree())
		}
		var err error
		switch {
		case order < 0:
			err = d.pair(&x.te, nil, null, depth)
		case order > 0:
			err = d.pair(nil, &y.te, null, depth)
		case x.te.ID != y.te.ID || x.te.Mode.Canonical() != y.te.Mode.Canonical():
			err = d.pair(&x.te, &y.te, null, depth)
		}
		if err == nil && order <= 0 {
			err = x.next()
		}
		if err == nil && order >= 0 {
			err = y.next()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// pair visits what two trees have under one name, both trees or both not; one may
// be nil.
func (d *sides) pair(a, b *object.TreeEntry, null oid.ID, depth int) error {
	any, ida, idb := a, null, null
	var sa, sb Side
	if a != nil {
		ida, sa = a.ID, sideOf(a)
	}
	if b != nil {
		any, idb, sb = b, b.ID, sideOf(b)
	}
	keep := d.push(any.Name)
	defer func() { d.path = d.path[:keep] }()
	if any.Mode.IsTree() {
		return d.trees(ida, idb, depth+1)
	}
	return d.visit(d.path, sa, sb)
}

func (d *sides) dir(tree oid.ID, n, depth int) error {
	dir := &d.ix.Dirs[n]
	if dir.Tree >= 0 && d.ix.Trees[dir.Tree].ID == tree {
		return nil
	}
	x, err := d.open(tree, depth)
	if err != nil {
		return err
	}
	i, kids := dir.First, d.ix.Kids(n)
	for x.more || i < dir.Last {
		c := d.component(i, dir.Last, n, &kids)
		order := 0
		switch {
		case !x.more:
			order = 1
		case i >= dir.Last:
			order = -1
		default:
			order = compareNames(x.te.Name, x.te.Mode.IsTree(), c.name, c.isDir)
		}
		var te *object.TreeEntry
		var have *component
		if order <= 0 {
			te = &x.te
		}
		if order >= 0 {
			have = &c
		}
		if err := d.at(te, have, depth); err != nil {
			return err
		}
		if order >= 0 {
			i = c.next
			if c.kid >= 0 {
				kids = kids[1:]
			}
		}
		if order <= 0 {
			if err := x.next(); err != nil {
				return fmt.Errorf("cannot read tree %s: %w", tree, err)
			}
		}
	}
	return nil
}

// at visits what a tree and the index have under one name; one may be nil.
func (d *sides) at(te *object.TreeEntry, c *component, depth int) error {
	name := ""
	if c != nil {
		name = c.name
	} else {
		name = string(te.Name)
	}
	keep := d.push([]byte(name))
	defer func() { d.path = d.path[:keep] }()
	switch {
	case c == nil && te.Mode.IsTree():
		return d.onlyIn(te.ID, depth+1)
	case c == nil:
		return d.entry(d.path, sideOf(te), -1)
	case c.kid >= 0 && te == nil:
		return d.dir(oid.Null(d.ix.Algo), c.kid, depth+1)
	case c.kid >= 0:
		return d.dir(te.ID, c.kid, depth+1)
	case te == nil:
		return d.entry(d.path, Side{}, c.entry)
	}
	e := &d.ix.Entries[c.entry]
	if e.Stage() == 0 && te.Mode.Canonical() == object.Mode(e.Mode) && te.ID.EqualRaw(d.ix.RawID(c.entry)) && e.Flags&index.IntentToAdd == 0 {
		return nil
	}
	return d.entry(d.path, sideOf(te), c.entry)
}

// onlyIn visits the files of a tree that the index has nothing of.
func (d *sides) onlyIn(tree oid.ID, depth int) error {
	x, err := d.open(tree, depth)
	if err != nil {
		return err
	}
	for x.more {
		keep := d.push(x.te.Name)
		if x.te.Mode.IsTree() {
			err = d.onlyIn(x.te.ID, depth+1)
		} else {
			err = d.entry(d.path, sideOf(&x.te), -1)
		}
		d.path = d.path[:keep]
		if err == nil {
			err = x.next()
		}
		if err != nil {
			return err
		}
	}
	return nil
}
