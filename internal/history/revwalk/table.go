package revwalk

import (
	"bytes"
	"errors"
	"fmt"
	"hash/maphash"

	"gust/internal/format/commitgraph"
	"gust/internal/pure/object"
	"gust/internal/pure/oid"
)

// A table holds the commits seen, numbered from zero, in little memory: a long
// walk holds many.
type table struct {
	algo    oid.Algo
	seed    maphash.Seed
	nodes   []node
	ids     []byte   // raw IDs of the nodes, one behind the other
	trees   []byte   // raw IDs of their trees, likewise; of no use before the node is loaded
	parents []uint32 // numbers of the nodes' parents
	slots   []uint32 // open hash table of numbers plus one; its length is a power of two
}

// A node is a commit.
type node struct {
	time    int64  // of the commit, in seconds since 1970
	parent  uint32 // of the first one, in table.parents
	parents uint32 // how many
	flags   uint8
	loaded  bool // time and parents are known
}

func newTable(a oid.Algo) table {
	return table{algo: a, seed: maphash.MakeSeed(), slots: make([]uint32, 1<<10)}
}

// reset forgets all commits and keeps the memory.
func (t *table) reset() {
	t.nodes, t.ids, t.trees, t.parents = t.nodes[:0], t.ids[:0], t.trees[:0], t.parents[:0]
	clear(t.slots)
}

// find returns the number of the commit with the given raw ID.
func (t *table) find(raw []byte) (i uint32, ok bool) {
	i, ok, _ = t.probe(raw)
	return i, ok
}

func (t *table) probe(raw []byte) (i uint32, ok bool, slot int) {
	mask := len(t.slots) - 1
	// The seed keeps made-up IDs from meeting in one slot.
	slot = int(maphash.Bytes(t.seed, raw)) & mask
	for ; t.slots[slot] != 0; slot = (slot + 1) & mask {
		i := t.slots[slot] - 1
		if bytes.Equal(t.raw(i), raw) {
			return i, true, slot
		}
	}
	return 0, false, slot
}

// add returns the number of the commit with the given raw ID, a new one if need
// be.
func (t *table) add(raw []byte) uint32 {
	i, ok, slot := t.probe(raw)
	if ok {
		return i
	}
	i = uint32(len(t.nodes))
	t.nodes = append(t.nodes, node{})
	t.ids = append(t.ids, raw...)
	t.trees = append(t.trees, raw...) // as large
	t.slots[slot] = i + 1
	if len(t.nodes)*2 > len(t.slots) {
		t.grow()
	}
	return i
}

func (t *table) grow() {
	t.slots = make([]uint32, 2*len(t.slots))
	mask := len(t.slots) - 1
	for i := range t.nodes {
		slot := int(maphash.Bytes(t.seed, t.raw(uint32(i)))) & mask
		for t.slots[slot] != 0 {
			slot = (slot + 1) & mask
		}
		t.slots[slot] = uint32(i) + 1
	}
}

func (t *table) raw(i uint32) []byte {
	n := t.algo.Size()
	return t.ids[int(i)*n : int(i)*n+n]
}

func (t *table) id(i uint32) oid.ID { return oid.FromBytes(t.algo, t.raw(i)) }

// parentsOf returns the numbers of the parents of commit i, which must be loaded.
// The slice is valid until the next commit is loaded.
func (t *table) parentsOf(i uint32) []uint32 {
	n := &t.nodes[i]
	return t.parents[n.parent : n.parent+n.parents]
}

// headSize is the number of bytes first inflated of a commit: what comes before
// the end of the committer line where there are two parents and names of some 30
// bytes. Merges and long names are rare enough to be read twice.
const headSize = 288

// load reads time and parents of commit i, from v if that is not nil and has it.
func (w *Walker) load(v *commitgraph.View, i uint32) error {
	t := &w.commits
	if t.nodes[i].loaded {
		return nil
	}
	id := t.id(i)
	if v != nil {
		if pos, ok := v.Lookup(&id); ok {
			return w.loadFrom(v, i, pos)
		}
	}
	parents, err := w.parents(id)
	if err != nil {
		return &objectError{id, err}
	}
	first := uint32(len(t.parents))
	for k := range parents {
		p := t.add(parents[k].Raw())
		t.parents = append(t.parents, p)
	}
	copy(t.trees[int(i)*t.algo.Size():], w.r.head.Tree.Raw())
	t.nodes[i].set(w.r.head.CommitTime, first, len(parents))
	return nil
}

// parents reads the commit id into w.r and returns its parents.
func (w *Walker) parents(id oid.ID) ([]oid.ID, error) {
	a := w.help()
	if a != nil && a.take(id, &w.r.head) {
		return w.r.head.Parents, nil
	}
	w.objects++
	if err := w.read(&w.r, id); err != nil {
		return nil, err
	}
	parents := w.parentsOf(&w.r, id)
	if a != nil {
		a.tell(parents, &w.r.head)
	}
	return parents, nil
}

// parentsOf returns the parents of the commit id, which was read into r.
func (w *Walker) parentsOf(r *headReader, id oid.ID) []oid.ID {
	if o, ok := w.o.Overrides[id]; ok {
		return o
	}
	return r.head.Parents
}

func (n *node) set(time int64, first uint32, parents int) {
	n.time, n.parent, n.parents, n.loaded = time, first, uint32(parents), true
}

// loadFrom is load for the commit at position pos of v.
func (w *Walker) loadFrom(v *commitgraph.View, i, pos uint32) error {
	t := &w.commits
	var err error
	if w.stack, err = v.AppendParents(w.stack[:0], pos); err != nil {
		return err
	}
	first := uint32(len(t.parents))
	for _, p := range w.stack {
		id := v.ID(p)
		k := t.add(id.Raw())
		t.parents = append(t.parents, k)
	}
	tree := v.Tree(pos)
	copy(t.trees[int(i)*t.algo.Size():], tree.Raw())
	t.nodes[i].set(v.CommitTime(pos), first, len(w.stack))
	return nil
}

// read reads the start of the commit id into r. It may run beside others.
func (w *Walker) read(r *headReader, id oid.ID) error {
	for n := headSize; ; n *= 8 {
		typ, size, data, err := w.db.ReadPart(id, r.buf[:0], n)
		if err != nil {
			return err
		}
		r.buf = data
		if typ != object.Commit {
			return fmt.Errorf("object is a %v", typ)
		}
		whole := int64(len(data)) == size
		ok, err := r.head.ParseHead(data, whole, w.db.Algo())
		if ok || err != nil {
			return err
		}
		if whole || n > 1<<30 {
			return errors.New("commit has no end of headers")
		}
	}
}
