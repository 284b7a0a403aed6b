package describe

import (
	"cmp"
	"context"
	"slices"

	"gust/internal/history/revwalk"
	"gust/internal/pure/oid"
)

// A candidate is a name that was met on the way.
type candidate struct {
	name  *name
	depth int    // commits walked that it does not reach
	flag  uint32 // set on what it reaches
}

// A walk looks for the names that describe one commit.
type walk struct {
	d       *Describer
	c       *revwalk.Commits
	marks   revwalk.Marks
	queue   revwalk.Queue
	parents []uint32
	found   []candidate // in the order in which they were met, then the best first
	seen    int         // commits walked
	light   bool        // a tag was passed over because it is not annotated

	best    uint32 // in finish: flag of the best candidate
	outside int    // in finish: commits in the queue that the best one does not reach
}

// Flags beside the candidates'.
const (
	met     = 1 << 31 // was in the queue
	waiting = 1 << 30 // is in the queue
)

// lookEvery is how many commits are walked between looks at the whole queue.
const lookEvery = 32

// run walks back from commit, the latest commits first, until as many candidates
// were met as are wanted, or all names there are. The nearest is then the one that
// reaches most of what was walked.
func (w *walk) run(ctx context.Context, commit oid.ID) error {
	if len(w.d.names) == 0 {
		return nil
	}
	if err := w.push(w.c.Number(&commit), 0); err != nil {
		return err
	}
	for w.queue.Len() > 0 {
		if w.seen&1023 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if len(w.found) > 0 && (len(w.found) == w.d.o.Candidates || len(w.found) == len(w.d.names)) {
			if err := w.requeue(); err != nil {
				return err
			}
			break
		}
		i := w.pop()
		w.seen++
		if err := w.meet(i); err != nil {
			return err
		}
		flags := w.marks.Of(i)
		for k := range w.found {
			if flags&w.found[k].flag == 0 {
				w.found[k].depth++
			}
		}
		if err := w.follow(i, w.d.o.FirstParent); err != nil {
			return err
		}
		if w.seen%lookEvery == 0 && w.settled() {
			break
		}
	}
	if len(w.found) == 0 {
		return nil
	}
	slices.SortStableFunc(w.found, func(a, b candidate) int { return cmp.Compare(a.depth, b.depth) })
	return w.finish(ctx)
}

// meet notes what commit i is called.
func (w *walk) meet(i uint32) error {
	n, err := w.d.name(w.c.ID(i))
	switch {
	case err != nil:
		return err
	case n == nil:
	case !w.d.usable(n):
		w.light = true
	default:
		flag := uint32(1) << len(w.found)
		w.found = append(w.found, candidate{n, w.seen - 1, flag})
		w.marks.Add(i, flag)
	}
	return nil
}

// settled reports whether the best candidate reaches all that is left: it then
// stays the best, and its depth is known.
func (w *walk) settled() bool {
	if len(w.found) == 0 {
		return false
	}
	best := &w.found[0]
	for k := range w.found {
		if w.found[k].depth < best.depth {
			best = &w.found[k]
		}
	}
	all := true
	w.queue.Each(func(i uint32) bool {
		all = w.marks.Of(i)&best.flag != 0
		return all
	})
	return all
}

// finish walks on until the best candidate reaches all that is left, and so
// completes its depth.
func (w *walk) finish(ctx context.Context) error {
	best := &w.found[0]
	w.best, w.outside = best.flag, 0
	w.queue.Each(func(i uint32) bool {
		if w.marks.Of(i)&w.best == 0 {
			w.outside++
		}
		return true
	})
	for w.outside > 0 {
		if w.seen&1023 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		i := w.pop()
		w.seen++
		if w.marks.Of(i)&w.best == 0 {
			best.depth++
		}
		if err := w.follow(i, false); err != nil {
			return err
		}
	}
	return nil
}

func (w *walk) pop() uint32 {
	i := w.queue.Pop()
	if flags := w.marks.Clear(i, waiting); flags&w.best == 0 {
		w.outside--
	}
	return i
}

// requeue puts the first commit of the queue behind the others with its commit time:
// Git has taken it out when it gives up, and puts it back.
func (w *walk) requeue() error {
	i := w.queue.Pop()
	time, err := w.c.Time(i)
	w.queue.Push(time, i)
	return err
}

// follow hands the flags of commit i to its parents, or its first one, and puts
// those that are new into the queue.
func (w *walk) follow(i uint32, first bool) error {
	_, parents, err := w.c.Load(i, w.parents[:0])
	if err != nil {
		return err
	}
	w.parents = parents
	if first && len(parents) > 1 {
		parents = parents[:1]
	}
	flags := w.marks.Of(i) &^ (met | waiting)
	for _, p := range parents {
		if err := w.push(p, flags); err != nil {
			return err
		}
	}
	return nil
}

func (w *walk) push(i, flags uint32) error {
	before := w.marks.Add(i, flags|met)
	if before&met == 0 {
		time, err := w.c.Time(i)
		if err != nil {
			return err
		}
		w.queue.Push(time, i)
		w.marks.Add(i, waiting)
		if w.marks.Of(i)&w.best == 0 {
			w.outside++
		}
	} else if before&waiting != 0 && before&w.best == 0 && flags&w.best != 0 {
		w.outside--
	}
	return nil
}
