package scan

import (
	"bytes"

	"gust/internal/format/index"
	"gust/internal/pure/object"
)

// Carry makes t a tree for ix, another index of the same working tree, keeping
// what still holds: listings of directories with the same names in the index,
// verdicts on entries with the same path and object ID, results, and watches. It
// ends those of directories that are not in ix in unwatch, which may be nil.
func (t *Tree) Carry(ix *index.Index, unwatch Watch) {
	old := *t
	*t = *NewTree(ix)
	t.key, t.noCase, t.scan = old.key, old.noCase, old.scan
	t.incremental = old.incremental
	// An older index makes racy what was not.
	if ix.MtimeSec < old.ix.MtimeSec || ix.MtimeSec == old.ix.MtimeSec && ix.MtimeNsec < old.ix.MtimeNsec {
		t.whole = false
	}
	t.owners = make([]owner, len(old.owners))
	for i := range t.owners {
		t.owners[i].dir = -1
	}
	c := carrier{Tree: t, old: &old, number: make([]int32, len(old.ix.Dirs))}
	for i := range c.number {
		c.number[i] = -1
	}
	t.stale, t.always = nil, nil
	c.linked = make(map[uint32]bool, len(old.always))
	for _, i := range old.always {
		c.linked[i] = true
	}
	c.dir(0, 0)
	t.renumber(c.number, old.stale)
	t.dropOwners(unwatch)
}

// A carrier is one Carry.
type carrier struct {
	*Tree
	old    *Tree
	number []int32         // new numbers of the old directories; -1 where there is none
	linked map[uint32]bool // old.always
}

// dir carries directory n of the new index from directory o of the old one. It
// recurses as deep as the tree is, which the length of paths bounds.
func (c *carrier) dir(o, n int) {
	c.number[o] = int32(n)
	from, to := &c.old.ix.Dirs[o], &c.ix.Dirs[n]
	c.nodes[n] = c.old.nodes[o]
	node := &c.nodes[n]
	// The index may say another thing now of a rule file that is not on disk.
	node.ignoreFile.absent, node.attrFile.absent = false, false
	c.own(node, owner{int32(n), true})
	r := c.old.results[o]
	r.dirty = nil
	if from.Names != to.Names {
		node.listed = false
		c.Tree.stale = append(c.Tree.stale, Mark{Node: uint32(n)})
	}
	if c.noCase && c.alike(node, n) {
		c.Tree.stale = append(c.Tree.stale, Mark{Node: uint32(n)})
	}
	c.files(o, n, c.old.results[o].dirty, &r)
	c.results[n] = r
	ok, nk := c.old.ix.Kids(o), c.ix.Kids(n)
	for len(ok) > 0 || len(nk) > 0 {
		switch {
		case len(nk) == 0:
			ok = ok[1:]
		case len(ok) == 0:
			c.added(int(nk[0]))
			nk = nk[1:]
		default:
			a, b := int(ok[0]), int(nk[0])
			switch an, bn := c.old.ix.DirNameZ(a), c.ix.DirNameZ(b); {
			case an == bn:
				c.dir(a, b)
				ok, nk = ok[1:], nk[1:]
			case lessDir(an, bn):
				ok = ok[1:]
			default:
				c.added(b)
				nk = nk[1:]
			}
		}
	}
}

// alike makes the directories in n that have the name of one in the index in another
// case be listed again: which of their names the index has may be others now. It
// reports whether there are any.
func (c *carrier) alike(n *node, d int) (found bool) {
	for i := range n.kids {
		k := &n.kids[i]
		if !k.dir {
			continue
		}
		like := int32(c.ix.FoldDir(d, []byte(k.nameZ[:len(k.nameZ)-1])))
		if like != noDir || k.like != noDir {
			k.like, found = like, true
			k.node.unlist()
		}
	}
	return found
}

// unlist makes n, and the directories in it that are not in the index, be listed again.
func (n *node) unlist() {
	if n == nil {
		return
	}
	n.listed = false
	for i := range n.kids {
		n.kids[i].node.unlist()
	}
}

// own notes whose n, and the directories below it that are not in the index, are
// now.
func (c *carrier) own(n *node, o owner) {
	if n.id != 0 {
		c.owners[n.id] = o
	}
	for i := range n.kids {
		if k := n.kids[i].node; k != nil {
			c.own(k, owner{o.dir, false})
		}
	}
}

// added notes a directory that the old index did not have.
func (c *carrier) added(n int) {
	c.Tree.stale = append(c.Tree.stale, Mark{Node: uint32(n), Below: true})
}

// files carries what is known of the entries directly in a directory: dirty is
// the old result, r the new one.
func (c *carrier) files(o, n int, dirty []uint32, r *result) {
	of, nf := c.old.ix.Files(o), c.ix.Files(n)
	for i, j := 0, 0; i < len(of) && j < len(nf); {
		a, b := int(of[i]), int(nf[j])
		switch an, bn := c.old.ix.NameZ(a), c.ix.NameZ(b); {
		case an < bn:
			i++
		case an > bn:
			j++
		default:
			c.entry(a, b, n, dirty, r)
			i++
			j++
		}
	}
}

// entry carries what is known of old entry a to new entry b of the same path.
func (c *carrier) entry(a, b, n int, dirty []uint32, r *result) {
	ea, eb := &c.old.ix.Entries[a], &c.ix.Entries[b]
	sameID := bytes.Equal(c.old.ix.RawID(a), c.ix.RawID(b))
	if v := c.old.verdicts[a]; v != nil && sameID && ea.Mode == eb.Mode {
		c.verdicts[b] = v
	}
	if (ea.Flags^eb.Flags)&index.SkipWorktree != 0 {
		c.Tree.stale = append(c.Tree.stale, Mark{Node: uint32(n)}) // result.present counts for another set
	} else if !sameID || !ea.Same(eb) {
		c.Tree.stale = append(c.Tree.stale, Mark{Node: uint32(n), Name: c.ix.Name(b)})
	}
	if c.linked[uint32(a)] || object.Mode(eb.Mode) == object.ModeGitlink {
		c.always = append(c.always, uint32(b))
	}
	for _, i := range dirty {
		if int(i&^goneBit) == a {
			r.dirty = append(r.dirty, uint32(b)|i&goneBit)
		}
	}
}
