package revwalk

import (
	"context"

	"gust/internal/format/commitgraph"
	"gust/internal/pure/object"
	"gust/internal/pure/oid"
)

// Commits are the commits of a database, numbered as a walk meets them: those of
// the commit-graph by their position in it, so that following parents there looks
// nothing up, the others behind them. It is not safe for concurrent use.
type Commits struct {
	w    *Walker
	v    *commitgraph.View // may be nil
	base uint32            // commits in v
}

// Walk calls use with the commits, for walks of its own, and returns its error. If
// the commit-graph is found broken meanwhile, use is called once more, without it:
// an error of one of Commits' methods is to be returned as it is. No two walks run
// at once.
func (w *Walker) Walk(ctx context.Context, use func(c *Commits) error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.begin()
	return w.withGraph(ctx, func(v *commitgraph.View) error {
		c := &Commits{w: w, v: v}
		if v != nil {
			c.base = uint32(v.Len())
		}
		return use(c)
	})
}

// IsCommit reports whether the object id is a commit.
func (w *Walker) IsCommit(id oid.ID) bool {
	typ, _, err := w.db.Stat(id)
	return err == nil && typ == object.Commit
}

// Number returns the number of the commit id, which need not exist.
func (c *Commits) Number(id *oid.ID) uint32 {
	if c.v != nil {
		if pos, ok := c.v.Lookup(id); ok {
			return pos
		}
	}
	return c.base + c.w.commits.add(id.Raw())
}

// Known reports whether id is known to be a commit, without looking for it.
func (c *Commits) Known(id *oid.ID) bool {
	if c.v != nil {
		if _, ok := c.v.Lookup(id); ok {
			return true
		}
	}
	i, ok := c.w.commits.find(id.Raw())
	return ok && c.w.commits.nodes[i].loaded
}

// ID returns the ID of commit i.
func (c *Commits) ID(i uint32) oid.ID {
	if i < c.base {
		return c.v.ID(i)
	}
	return c.w.commits.id(i - c.base)
}

// Time returns the commit time of commit i; see Load.
func (c *Commits) Time(i uint32) (int64, error) {
	if i < c.base {
		return c.v.CommitTime(i), nil
	}
	err := c.w.load(nil, i-c.base)
	return c.w.commits.nodes[i-c.base].time, err
}

// Tree returns the ID of the tree of commit i, which was loaded.
func (c *Commits) Tree(i uint32) oid.ID {
	if i < c.base {
		return c.v.Tree(i)
	}
	t := &c.w.commits
	return oid.FromBytes(t.algo, t.trees[int(i-c.base)*t.algo.Size():])
}

// Load returns the commit time of commit i in seconds since 1970 and appends its
// parents to dst, in order. The error names a commit that is missing, broken or
// none.
func (c *Commits) Load(i uint32, dst []uint32) (time int64, parents []uint32, err error) {
	if i < c.base {
		parents, err = c.v.AppendParents(dst, i)
		return c.v.CommitTime(i), parents, err
	}
	w := c.w
	if err := w.load(nil, i-c.base); err != nil {
		return 0, dst, err
	}
	for _, p := range w.commits.parentsOf(i - c.base) {
		if c.v != nil {
			id := w.commits.id(p)
			if pos, ok := c.v.Lookup(&id); ok {
				dst = append(dst, pos)
				continue
			}
		}
		dst = append(dst, c.base+p)
	}
	return w.commits.nodes[i-c.base].time, dst, nil
}

// Len returns a bound of the numbers given so far: all are below it.
func (c *Commits) Len() int { return int(c.base) + len(c.w.commits.nodes) }

// Marks are flags of commits, by number. The zero Marks has none.
type Marks struct{ flags []uint32 }

// Of returns the flags of commit i.
func (m *Marks) Of(i uint32) uint32 {
	if int(i) < len(m.flags) {
		return m.flags[i]
	}
	return 0
}

// Add sets flags of commit i and returns all that it had before.
func (m *Marks) Add(i, flags uint32) (before uint32) {
	if int(i) >= len(m.flags) {
		m.flags = append(m.flags, make([]uint32, int(i)+1-len(m.flags)+len(m.flags)/2)...)
	}
	before = m.flags[i]
	m.flags[i] |= flags
	return before
}

// Clear clears flags of commit i, which has some, and returns all that it had.
func (m *Marks) Clear(i, flags uint32) (before uint32) {
	before = m.flags[i]
	m.flags[i] &^= flags
	return before
}
