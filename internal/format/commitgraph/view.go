package commitgraph

import (
	"encoding/binary"
	"sort"

	"gust/internal/format/chunk"
	"gust/internal/pure/oid"
)

// A View is a Graph while it is being read. It is safe for concurrent use, but
// only within the Do that made it.
type View struct {
	g    *Graph
	data [][]byte // of each layer
}

// Do calls use with a view of the graph, which must not be kept after use
// returns, and returns its error. If a file cannot be read, for instance because
// it was truncated, use is abandoned where it stands and Do returns an error; so
// use must hold no lock.
func (g *Graph) Do(use func(v *View) error) error {
	return g.do(&View{g: g, data: make([][]byte, 0, len(g.layers))}, use)
}

func (g *Graph) do(v *View, use func(v *View) error) error {
	if len(v.data) == len(g.layers) {
		return use(v)
	}
	return g.layers[len(v.data)].file.Do(func(data []byte) error {
		v.data = append(v.data, data)
		return g.do(v, use)
	})
}

// Len returns the number of commits. Positions are below it.
func (v *View) Len() int { return v.g.count }

// Lookup returns the position of the commit id.
//
// Hot path: once per commit that starts a walk. Does not allocate.
func (v *View) Lookup(id *oid.ID) (pos uint32, ok bool) {
	// Newest first: what starts a walk is recent.
	for i := len(v.data) - 1; i >= 0; i-- {
		l, data := v.g.layers[i], v.data[i]
		p, ok := chunk.Search(l.fanout.Of(data), l.ids.Of(data), v.g.algo.Size(), 0, id)
		if ok {
			return uint32(l.base + p), true
		}
	}
	return 0, false
}

// layer returns the layer of the commit at pos, its content, and the commit's
// number in it.
func (v *View) layer(pos uint32) (l *layer, data []byte, i int) {
	n := len(v.g.layers) - 1
	if int(pos) < v.g.layers[n].base {
		n = sort.Search(n, func(i int) bool { return v.g.layers[i+1].base > int(pos) })
	}
	l = v.g.layers[n]
	return l, v.data[n], int(pos) - l.base
}

// ID returns the ID of the commit at pos, which must be below Graph.Len.
func (v *View) ID(pos uint32) oid.ID {
	l, data, i := v.layer(pos)
	return oid.FromBytes(v.g.algo, data[l.ids.Start+i*v.g.algo.Size():])
}

// Tree returns the ID of the tree of the commit at pos, which must be below
// Graph.Len.
func (v *View) Tree(pos uint32) oid.ID {
	l, data, i := v.layer(pos)
	return oid.FromBytes(v.g.algo, data[l.commits.Start+i*(v.g.algo.Size()+16):])
}

// CommitTime returns the commit time, in seconds since 1970, of the commit at
// pos, which must be below Graph.Len.
func (v *View) CommitTime(pos uint32) int64 {
	l, data, i := v.layer(pos)
	return commitTime(data, v.row(l, i))
}

// row returns the offset of what follows the tree ID in the data of commit i.
func (v *View) row(l *layer, i int) int {
	hash := v.g.algo.Size()
	return l.commits.Start + i*(hash+16) + hash
}

func commitTime(data []byte, row int) int64 {
	return int64(u32(data, row+8)&3)<<32 | int64(u32(data, row+12))
}

// Generation returns the generation number of the commit at pos, which must be
// below Graph.Len. It is greater than that of every ancestor, unless it is zero:
// very old versions of Git did not compute it.
//
// Hot path: once per commit walked. Does not allocate.
func (v *View) Generation(pos uint32) (uint64, error) {
	l, data, i := v.layer(pos)
	row := v.row(l, i)
	if !v.g.corrected {
		return uint64(u32(data, row+8) >> 2), nil
	}
	at := l.dates.Start + 4*i
	far := uint64(u32(data, at))
	if far>>31 != 0 {
		large := int64(l.farDates.Start) + 8*int64(far&0x7fffffff)
		if large+8 > int64(l.farDates.End) {
			return 0, l.corrupt(at, "large generation number out of range")
		}
		far = binary.BigEndian.Uint64(data[large:])
	}
	return uint64(commitTime(data, row)) + far, nil
}

const (
	noParent = 0x70000000
	edgeFlag = 0x80000000 // in a second parent: row of EDGE; in an edge: the last
)

// AppendParents appends the positions of the parents of the commit at pos, which
// must be below Graph.Len, to dst, in order. They are below Graph.Len. The error
// is a *CorruptError.
//
// Hot path: once per commit walked. Does not allocate if dst has room.
func (v *View) AppendParents(dst []uint32, pos uint32) ([]uint32, error) {
	l, data, i := v.layer(pos)
	row := v.row(l, i)
	limit := uint32(l.base + l.count)
	first, second := u32(data, row), u32(data, row+4)
	if first == noParent {
		return dst, nil
	}
	if first >= limit {
		return dst, l.corrupt(row, "parent out of range")
	}
	dst = append(dst, first)
	if second == noParent {
		return dst, nil
	}
	if second&edgeFlag == 0 {
		if second >= limit {
			return dst, l.corrupt(row+4, "parent out of range")
		}
		return append(dst, second), nil
	}
	for at := int64(l.edges.Start) + 4*int64(second&^edgeFlag); ; at += 4 {
		if at+4 > int64(l.edges.End) {
			return dst, l.corrupt(row+4, "list of parents out of range")
		}
		edge := u32(data, int(at))
		if edge&^edgeFlag >= limit {
			return dst, l.corrupt(int(at), "parent out of range")
		}
		dst = append(dst, edge&^edgeFlag)
		if edge&edgeFlag != 0 {
			return dst, nil
		}
	}
}

func (l *layer) corrupt(at int, problem string) error {
	return &CorruptError{Path: l.file.Path(), Offset: int64(at), Problem: problem}
}
