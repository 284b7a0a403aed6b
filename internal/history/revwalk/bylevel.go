package revwalk

import (
	"context"
	"errors"

	"gust/internal/format/commitgraph"
)

// A levelWalk paints the commits of a commit-graph with where they are reachable
// from, those with the highest generation number first. That number exceeds all
// ancestors', so a commit's flags are final when its turn comes, and the walk is
// over once all that are left are reachable from both sides.
type levelWalk struct {
	flags   []uint8 // by position
	touched []uint32
	heap    []leveled
	parents []uint32
	single  int // commits in the heap reachable from one side only
}

type leveled struct {
	gen uint64
	pos uint32
}

func (l *levelWalk) reset() {
	for _, p := range l.touched {
		l.flags[p] = 0
	}
	l.touched, l.heap, l.single = l.touched[:0], l.heap[:0], 0
}

var errGeneration = errors.New("commit-graph: generation number of a parent is not below its child's")

// tooNew is the number of commits that the graph lacks and that both sides reach
// at which the graph is deemed too old: it gives no order to them, so that all
// would have to be walked.
const tooNew = 4096

// byLevel counts by generation number; ok is false if the graph covers too little
// of history.
func (w *Walker) byLevel(ctx context.Context, v *commitgraph.View, a, b uint32) (ahead, behind int, ok bool, err error) {
	l := &w.levels
	if n := v.Len(); len(l.flags) < n {
		l.flags = make([]uint8, n)
	}
	ok, err = w.aboveGraph(ctx, v, a, b)
	if err != nil || !ok {
		return 0, 0, false, err
	}
	ahead, behind = w.count()
	for steps := 0; l.single > 0; steps++ {
		if steps&1023 == 0 && ctx.Err() != nil {
			return 0, 0, false, ctx.Err()
		}
		top := l.heap[0]
		flags := l.flags[top.pos]
		if flags != both {
			l.single--
			if flags == fromA {
				ahead++
			} else {
				behind++
			}
		}
		if l.parents, err = v.AppendParents(l.parents[:0], top.pos); err != nil {
			return 0, 0, false, err
		}
		if err := l.descend(v, top.gen, flags); err != nil {
			return 0, 0, false, err
		}
	}
	return ahead, behind, true, nil
}

// descend replaces the top of the heap, which has generation gen, by those of
// l.parents that are new to it, and paints them all.
func (l *levelWalk) descend(v *commitgraph.View, gen uint64, flags uint8) error {
	replaced := false
	for _, p := range l.parents {
		before := l.flags[p]
		if before != 0 {
			l.flags[p] |= flags
			if before != both && before|flags == both {
				l.single--
			}
			continue
		}
		g, err := v.Generation(p)
		if err != nil {
			return err
		}
		if g >= gen {
			return errGeneration
		}
		l.see(p, flags)
		if !replaced {
			// Most commits have one parent that is about as young: cheaper than to
			// take the top off and put the parent in.
			l.heap[0] = leveled{g, p}
			l.sink()
			replaced = true
			continue
		}
		l.push(leveled{g, p})
	}
	if !replaced {
		last := len(l.heap) - 1
		l.heap[0] = l.heap[last]
		l.heap = l.heap[:last]
		l.sink()
	}
	return nil
}

// see paints a commit that has no flags yet and is about to enter the heap.
func (l *levelWalk) see(p uint32, flags uint8) {
	l.flags[p] = flags
	l.touched = append(l.touched, p)
	if flags != both {
		l.single++
	}
}

func (l *levelWalk) push(x leveled) {
	l.heap = append(l.heap, x)
	h := l.heap
	k := len(h) - 1
	for k > 0 && h[(k-1)/2].gen < x.gen {
		h[k] = h[(k-1)/2]
		k = (k - 1) / 2
	}
	h[k] = x
}

// sink moves the top of the heap to where it belongs.
func (l *levelWalk) sink() {
	h := l.heap
	if len(h) == 0 {
		return
	}
	x := h[0]
	k := 0
	for {
		c := 2*k + 1
		if c >= len(h) {
			break
		}
		if c+1 < len(h) && h[c+1].gen > h[c].gen {
			c++
		}
		if h[c].gen <= x.gen {
			break
		}
		h[k] = h[c]
		k = c
	}
	h[k] = x
}

// seed paints the commit at position p and puts it into the heap.
func (l *levelWalk) seed(v *commitgraph.View, p uint32, flags uint8) error {
	if before := l.flags[p]; before != 0 {
		if before != both && before|flags == both {
			l.single--
		}
		l.flags[p] |= flags
		return nil
	}
	g, err := v.Generation(p)
	if err != nil {
		return err
	}
	l.see(p, flags)
	l.push(leveled{g, p})
	return nil
}

// aboveGraph paints all commits that the graph lacks and hands their flags to its
// commits. No commit of a graph has a parent outside, so what is above it can be
// walked to its end first; ok is false if that would take too long.
func (w *Walker) aboveGraph(ctx context.Context, v *commitgraph.View, a, b uint32) (ok bool, err error) {
	d := dateWalk{w: w, v: v, above: true}
	if err := d.begin(a, b); err != nil {
		return false, err
	}
	for common := 0; len(w.queue.items) > 0; {
		i := w.queue.Pop()
		if w.commits.nodes[i].flags&both == both {
			if common++; common > tooNew {
				return false, nil
			}
		}
		if err := d.step(ctx, i); err != nil {
			return false, err
		}
	}
	return true, nil
}

// position returns the position in v of commit i.
func (w *Walker) position(v *commitgraph.View, i uint32) (pos uint32, ok bool) {
	if w.commits.nodes[i].flags != 0 {
		return 0, false // looked up before: only commits above the graph are marked
	}
	id := w.commits.id(i)
	return v.Lookup(&id)
}
