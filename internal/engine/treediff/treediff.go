// Package treediff compares tree against tree and tree against index, pruned by
// the cache tree.
package treediff

import (
	"context"
	"fmt"

	"gust/internal/format/index"
	"gust/internal/pure/object"
	"gust/internal/pure/oid"
)

// An objectReader is the part of the object database that a comparison reads.
type objectReader interface {
	Read(id oid.ID, dst []byte) (object.Type, []byte, error)
}

// Counts are paths that differ between a tree and the index. A rename counts
// twice, as deleted and as new.
type Counts struct {
	Changed int // in either way …
	New     int // … of these, only in the index
	Deleted int // … of these, only in the tree
}

// Options limit a comparison. The zero value has no limit.
type Options struct {
	Limit int // stop when that many changes were counted; 0 or less: never
	// RootReplaced says that refs/replace has another object for the tree itself, so
	// that the cache tree's ID of the root says nothing. Git goes by the IDs of the
	// trees below, replaced or not.
	RootReplaced bool
}

// Index compares the tree with the given ID with ix and counts the paths that
// differ. A null ID is the empty tree. Unmerged paths do not count, and an
// intent-to-add entry counts as absent (git-diff(1), --cached). Directories
// whose cache tree names the same tree are not read.
//
// Errors are those of reading objects, wrapped.
func Index(ctx context.Context, objects objectReader, tree oid.ID, ix *index.Index, o Options) (Counts, error) {
	d := differ{ctx: ctx, objects: objects, ix: ix, limit: o.Limit, rootReplaced: o.RootReplaced}
	err := d.dir(tree, 0, 0)
	if err == errLimit {
		err = nil
	}
	return d.counts, err
}

// maxDepth bounds the depth of trees, as a tree that contains itself by a
// corrupted name, or a hostile one, must not exhaust the stack: paths of that
// depth fit no index entry that Git accepts (4096 bytes by default).
const maxDepth = 2048

type limitError struct{}

func (limitError) Error() string { return "limit reached" }

// errLimit ends a comparison early.
var errLimit error = limitError{}

type differ struct {
	ctx     context.Context
	objects objectReader
	ix      *index.Index
	limit   int
	counts  Counts

	rootReplaced bool
}

func (d *differ) add(isNew, deleted bool) error {
	d.counts.Changed++
	if isNew {
		d.counts.New++
	}
	if deleted {
		d.counts.Deleted++
	}
	if d.limit > 0 && d.counts.Changed >= d.limit {
		return errLimit
	}
	return nil
}

func (d *differ) readTree(id oid.ID, depth int) ([]byte, error) {
	if err := d.ctx.Err(); err != nil {
		return nil, err
	}
	if depth > maxDepth {
		return nil, fmt.Errorf("tree %s is nested more than %d deep", id, maxDepth)
	}
	if id.IsNull() || id == oid.Hash(id.Algo(), "tree", nil) {
		return nil, nil // the empty tree exists everywhere
	}
	typ, data, err := d.objects.Read(id, nil)
	if err != nil {
		return nil, fmt.Errorf("cannot read tree %s: %w", id, err)
	}
	if typ != object.Tree {
		return nil, fmt.Errorf("object %s is a %s, not a tree", id, typ)
	}
	return data, nil
}

// dir compares a tree with directory n of the index.
func (d *differ) dir(tree oid.ID, n, depth int) error {
	dir := &d.ix.Dirs[n]
	if prune := depth > 0 || !d.rootReplaced; prune && dir.Tree >= 0 && d.ix.Trees[dir.Tree].ID == tree {
		return nil
	}
	data, err := d.readTree(tree, depth)
	if err != nil {
		return err
	}
	r := object.NewTreeReader(data, d.ix.Algo)
	var te object.TreeEntry
	i, kids := dir.First, d.ix.Kids(n)
	more, err := r.Next(&te)
	for err == nil && (more || i < dir.Last) {
		c := d.component(i, dir.Last, n, &kids)
		order := 0
		switch {
		case !more:
			order = 1
		case i >= dir.Last:
			order = -1
		default:
			order = compareNames(te.Name, te.Mode.IsTree(), c.name, c.isDir)
		}
		if order < 0 {
			err = d.onlyTree(&te, depth)
		} else if order > 0 {
			err = d.onlyIndex(&c, depth)
		} else {
			err = d.both(&te, &c, depth)
		}
		if err != nil {
			return err
		}
		if order >= 0 {
			i = c.next
			if c.kid >= 0 {
				kids = kids[1:]
			}
		}
		if order <= 0 {
			more, err = r.Next(&te)
		}
	}
	if err != nil {
		return fmt.Errorf("cannot read tree %s: %w", tree, err)
	}
	return nil
}

// A component is what the index has under one name of a directory.
type component struct {
	name  string
	isDir bool
	kid   int // its directory number; -1 for a file or sparse directory
	entry int // its first entry
	next  int // the entry after its last one
}

// component returns the component of directory n that begins at entry i.
func (d *differ) component(i, last, n int, kids *[]uint32) component {
	if i >= last {
		return component{kid: -1, next: i}
	}
	if int(d.ix.Entries[i].Dir) != n {
		k := int((*kids)[0])
		z := d.ix.DirNameZ(k)
		return component{z[:len(z)-1], true, k, i, d.ix.Dirs[k].Last}
	}
	c := component{d.ix.Name(i), d.ix.IsSparseDir(i), -1, i, i + 1}
	for c.next < last && d.ix.Entries[c.next].Stage() != 0 && int(d.ix.Entries[c.next].Dir) == n && d.ix.Name(c.next) == c.name {
		c.next++
	}
	return c
}

// compareNames orders two names as Git sorts trees and the index: a directory's
// name as if it ended in a slash.
func compareNames(a []byte, aDir bool, b string, bDir bool) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return int(a[i]) - int(b[i])
		}
	}
	return int(nameEnd(a, n, aDir)) - int(nameEnd(b, n, bDir))
}

func nameEnd[S string | []byte](s S, n int, dir bool) byte {
	if n < len(s) {
		return s[n]
	}
	if dir {
		return '/'
	}
	return 0
}

// onlyTree counts a tree entry that the index lacks.
func (d *differ) onlyTree(te *object.TreeEntry, depth int) error {
	if te.Mode.IsTree() {
		return d.wholeTree(te.ID, depth+1, false, true)
	}
	return d.add(false, true)
}

// wholeTree counts each file below a tree.
func (d *differ) wholeTree(id oid.ID, depth int, isNew, deleted bool) error {
	data, err := d.readTree(id, depth)
	if err != nil {
		return err
	}
	r := object.NewTreeReader(data, d.ix.Algo)
	var te object.TreeEntry
	for {
		more, err := r.Next(&te)
		if err != nil {
			return fmt.Errorf("cannot read tree %s: %w", id, err)
		}
		if !more {
			return nil
		}
		if te.Mode.IsTree() {
			err = d.wholeTree(te.ID, depth+1, isNew, deleted)
		} else {
			err = d.add(isNew, deleted)
		}
		if err != nil {
			return err
		}
	}
}

// onlyIndex counts a component that the tree lacks.
func (d *differ) onlyIndex(c *component, depth int) error {
	for i := c.entry; i < c.next; i++ {
		e := &d.ix.Entries[i]
		var err error
		switch {
		case e.Stage() != 0 || e.Flags&index.IntentToAdd != 0:
		case d.ix.IsSparseDir(i):
			err = d.wholeTree(d.ix.ID(i), depth+1, true, false)
		default:
			err = d.add(true, false)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// both compares a tree entry and a component of one name, both directories or
// both not.
func (d *differ) both(te *object.TreeEntry, c *component, depth int) error {
	if c.kid >= 0 {
		return d.dir(te.ID, c.kid, depth+1)
	}
	e := &d.ix.Entries[c.entry]
	if c.isDir {
		return d.trees(te.ID, d.ix.ID(c.entry), depth+1)
	}
	switch {
	case e.Stage() != 0:
		return nil
	case e.Flags&index.IntentToAdd != 0:
		return d.add(false, true)
	case te.Mode.Canonical() == object.Mode(e.Mode) && te.ID.EqualRaw(d.ix.RawID(c.entry)):
		return nil
	}
	return d.add(false, false)
}

// trees counts what differs between two trees: a is HEAD's, b stands for the
// index.
func (d *differ) trees(a, b oid.ID, depth int) error {
	if a == b {
		return nil
	}
	da, err := d.readTree(a, depth)
	if err != nil {
		return err
	}
	db, err := d.readTree(b, depth)
	if err != nil {
		return err
	}
	ra, rb := object.NewTreeReader(da, d.ix.Algo), object.NewTreeReader(db, d.ix.Algo)
	var ea, eb object.TreeEntry
	ma, err := ra.Next(&ea)
	if err != nil {
		return err
	}
	mb, err := rb.Next(&eb)
	for err == nil && (ma || mb) {
		order := 0
		switch {
		case !ma:
			order = 1
		case !mb:
			order = -1
		default:
			order = compareNames(ea.Name, ea.Mode.IsTree(), string(eb.Name), eb.Mode.IsTree())
		}
		switch {
		case order < 0:
			err = d.onlyTree(&ea, depth)
		case order > 0 && eb.Mode.IsTree():
			err = d.wholeTree(eb.ID, depth+1, true, false)
		case order > 0:
			err = d.add(true, false)
		case ea.Mode.IsTree():
			err = d.trees(ea.ID, eb.ID, depth+1)
		case ea.Mode.Canonical() != eb.Mode.Canonical() || ea.ID != eb.ID:
			err = d.add(false, false)
		}
		if err == nil && order <= 0 {
			ma, err = ra.Next(&ea)
		}
		if err == nil && order >= 0 {
			mb, err = rb.Next(&eb)
		}
	}
	return err
}
