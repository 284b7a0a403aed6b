package revwalk

import (
	"context"

	"gust/internal/format/commitgraph"
)

// A dateWalk paints commits with where they are reachable from, the latest first.
type dateWalk struct {
	w      *Walker
	v      *commitgraph.View // may be nil
	above  bool              // commits in v belong to w.levels
	single int               // commits in the queue reachable from one side only
	walked int
}

// begin puts both ends into the queue.
func (d *dateWalk) begin(a, b uint32) error {
	if err := d.paint(a, fromA); err != nil {
		return err
	}
	return d.paint(b, fromB)
}

// Once all commits in the queue are reachable from both sides, the walk is done
// if no clock was ever wrong. A commit that looks older than it is may yet lead
// back to commits painted with one side only. So the walk goes on as long as
// commits are no earlier than the earliest of those, and then for a while:
// slopMin commits more, which makes small histories exact, or a slopPart of what
// was walked, up to slopMax. Git stops after 5.
const (
	slopMin  = 256
	slopPart = 64
	slopMax  = 4096
)

// byDate counts without generation numbers.
func (w *Walker) byDate(ctx context.Context, v *commitgraph.View, a, b uint32) (ahead, behind int, err error) {
	d := dateWalk{w: w, v: v}
	if err := d.begin(a, b); err != nil {
		return 0, 0, err
	}
	for d.single > 0 {
		if err := d.step(ctx, w.queue.Pop()); err != nil {
			return 0, 0, err
		}
	}
	if err := d.slop(ctx); err != nil {
		return 0, 0, err
	}
	ahead, behind = w.count()
	return ahead, behind, nil
}

// slop walks on where only wrong clocks could matter.
func (d *dateWalk) slop(ctx context.Context) error {
	w := d.w
	earliest, any := int64(0), false
	for _, i := range w.touched {
		n := &w.commits.nodes[i]
		if n.flags&both != both && (!any || n.time < earliest) {
			earliest, any = n.time, true
		}
	}
	if !any {
		return nil
	}
	left := min(max(slopMin, d.walked/slopPart), slopMax)
	for turn := 0; len(w.queue.items) > 0; turn++ {
		if w.queue.items[0].time < earliest {
			if left == 0 {
				return nil
			}
			left--
		}
		// The commits that look oldest are the suspects: give every other turn to
		// them.
		next := w.queue.Pop
		if turn&1 == 1 && left > 0 {
			next = w.queue.popEarliest
		}
		if err := d.step(ctx, next()); err != nil {
			return err
		}
	}
	return nil
}

// step walks one commit taken from the queue.
func (d *dateWalk) step(ctx context.Context, i uint32) error {
	w := d.w
	d.walked++
	if d.walked&255 == 0 && ctx.Err() != nil {
		return ctx.Err()
	}
	n := &w.commits.nodes[i]
	n.flags = n.flags&^queued | walked
	flags := n.flags & both
	if flags != both {
		d.single--
	}
	for k := range n.parents {
		// Painting may move the tables.
		n := &w.commits.nodes[i]
		if err := d.paint(w.commits.parents[n.parent+k], flags); err != nil {
			return err
		}
	}
	return nil
}

// paint adds flags to commit i and puts it into the queue if it is new. If it was
// walked already, what its children had then was not all: they looked younger
// than they are. Its ancestors are painted at once.
func (d *dateWalk) paint(i uint32, flags uint8) error {
	w := d.w
	before, own, err := d.mark(i, flags)
	if err != nil || !own {
		return err
	}
	if before == 0 {
		v := d.v
		if d.above {
			v = nil // which is known not to have it
		}
		if err := w.load(v, i); err != nil {
			return err
		}
		n := &w.commits.nodes[i]
		n.flags |= queued
		if flags != both {
			d.single++
		}
		w.queue.Push(n.time, i)
		return nil
	}
	if d.gained(i, before) {
		return d.repaint(i)
	}
	return nil
}

// mark adds flags to commit i and returns what they were before; own is false if
// the commit belongs to w.levels, which then has the flags.
func (d *dateWalk) mark(i uint32, flags uint8) (before uint8, own bool, err error) {
	if d.above {
		if pos, ok := d.w.position(d.v, i); ok {
			return 0, false, d.w.levels.seed(d.v, pos, flags)
		}
	}
	return d.w.mark(i, flags), true, nil
}

// gained reports whether commit i, whose flags were before, has more now and was
// walked already.
func (d *dateWalk) gained(i uint32, before uint8) bool {
	n := &d.w.commits.nodes[i]
	if n.flags == before {
		return false
	}
	if n.flags&queued != 0 {
		d.single-- // it can only have become both
		return false
	}
	return true
}

// repaint hands the flags of commit i down to ancestors that were walked.
func (d *dateWalk) repaint(i uint32) error {
	w := d.w
	w.stack = append(w.stack[:0], i)
	for len(w.stack) > 0 {
		i := w.stack[len(w.stack)-1]
		w.stack = w.stack[:len(w.stack)-1]
		flags := w.commits.nodes[i].flags & both
		for _, p := range w.commits.parentsOf(i) {
			// A parent of a commit that was walked is marked, so loaded.
			before, own, err := d.mark(p, flags)
			if err != nil {
				return err
			}
			if own && d.gained(p, before) {
				w.stack = append(w.stack, p)
			}
		}
	}
	return nil
}
