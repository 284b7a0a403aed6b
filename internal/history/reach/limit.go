package reach

import (
	"context"
	"errors"

	"gust/internal/history/revwalk"
)

// A limiter walks commits, the latest first, and tells those that are wanted from
// those that are not, as far as Git does: it follows unwanted commits as long as
// wanted ones are left, and a few steps more, since clocks may be wrong.
type limiter struct {
	c       *revwalk.Commits
	s       *Selection
	objects bool
	limits  Limits

	marks     revwalk.Marks
	queue     revwalk.Queue
	tips      []uint32
	parents   []uint32
	stack     []uint32
	above     []uint32
	wanted    []uint32 // commits walked, in order; some may turn out to be unwanted
	limited   bool     // there are unwanted tips
	symmetric bool     // there are left tips
	waitings  int      // wanted commits in the queue
	kept      int      // commits walked that limits keep
}

// ErrClocks says that clocks were wrong in a history of which a symmetric difference
// is wanted: what git makes of it hangs on which commits it had read before.
var ErrClocks = errors.New("commit times do not ascend")

// Flags of commits.
const (
	seen     = 1 << iota // was in the queue
	waiting              // is in the queue
	unwanted             // reachable from an unwanted tip
	left                 // reachable from a left tip
	isTip                // a wanted tip
	read                 // was read before the walk began
	onEdge               // its tree is on the boundary
)

// tip adds a tip.
func (l *limiter) tip(i uint32, not, isLeft bool) error {
	flags := uint32(isTip)
	if not {
		flags = unwanted
		l.limited = true
	}
	if isLeft {
		flags |= left
		l.symmetric = true
	}
	// It must be there even if nothing is ever asked of it.
	if _, err := l.c.Time(i); err != nil {
		return err
	}
	l.marks.Add(i, flags|read)
	l.tips = append(l.tips, i)
	return nil
}

// begin puts the tips into the queue.
func (l *limiter) begin() error {
	for _, i := range l.tips {
		if l.marks.Of(i)&unwanted != 0 {
			if err := l.spread(i); err != nil {
				return err
			}
		}
	}
	for _, i := range l.tips {
		if err := l.push(i, 0); err != nil {
			return err
		}
	}
	return nil
}

// push adds flags to commit i and puts it into the queue if it is new.
func (l *limiter) push(i, flags uint32) error {
	before := l.marks.Add(i, flags|seen)
	if before&seen != 0 {
		return nil
	}
	time, err := l.c.Time(i)
	if err != nil {
		return err
	}
	l.queue.Push(time, i)
	if l.marks.Add(i, waiting)&unwanted == 0 {
		l.waitings++
	}
	return nil
}

// refuse marks commit i as unwanted and reports whether that is new.
func (l *limiter) refuse(i uint32) bool {
	before := l.marks.Add(i, unwanted)
	if before&unwanted != 0 {
		return false
	}
	if before&waiting != 0 {
		l.waitings--
	}
	return true
}

// slop is how many unwanted commits are walked after the last wanted one: Git's
// number.
const slop = 5

func (l *limiter) run(ctx context.Context) error {
	left := slop
	date := int64(1<<63 - 1) // of the last wanted commit
	for steps := 0; l.queue.Len() > 0; steps++ {
		if steps&1023 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		i := l.queue.Pop()
		flags := l.marks.Clear(i, waiting)
		if flags&unwanted == 0 {
			l.waitings--
		}
		time, err := l.follow(i, flags)
		if err != nil {
			return err
		}
		if l.marks.Of(i)&unwanted == 0 {
			date = time
			l.wanted = append(l.wanted, i)
			if l.enough(len(l.parents)) {
				return nil
			}
			continue
		}
		if l.queue.Len() == 0 {
			return nil
		}
		next, err := l.c.Time(l.queue.First())
		if err != nil {
			return err
		}
		if date <= next || l.waitings > 0 {
			left = slop
		} else if left--; left == 0 {
			return nil
		}
	}
	return nil
}

// enough reports whether no commit after the one that was walked last, which has so
// many parents, can be among those that limits keep.
func (l *limiter) enough(parents int) bool {
	if l.limited || l.limits.Max < 0 {
		return false // the latest commits may yet turn out to be unwanted
	}
	if l.limits.keeps(parents) {
		l.kept++
	}
	return l.kept-l.limits.Skip >= l.limits.Max
}

// follow hands what commit i is to its parents, and puts those that are new into the
// queue. It returns the time of i.
func (l *limiter) follow(i, flags uint32) (int64, error) {
	time, parents, err := l.c.Load(i, l.parents[:0])
	if err != nil {
		return 0, err
	}
	l.parents = parents
	if flags&unwanted == 0 {
		if l.limits.FirstParent {
			parents = parents[:min(1, len(parents))]
		}
		for _, p := range parents {
			if err := l.push(p, flags&left); err != nil {
				return 0, err
			}
		}
		return time, nil
	}
	for _, p := range parents {
		l.refuse(p)
		if err := l.push(p, 0); err != nil {
			if _, _, ok := revwalk.Unreadable(err); ok {
				continue // what is unwanted need not be there
			}
			return 0, err
		}
		if err := l.spread(p); err != nil {
			return 0, err
		}
	}
	return time, nil
}

// spread marks the ancestors of commit i, which is unwanted, as far as they were
// read for this walk.
func (l *limiter) spread(i uint32) error {
	l.stack = append(l.stack[:0], i)
	for len(l.stack) > 0 {
		i := l.stack[len(l.stack)-1]
		l.stack = l.stack[:len(l.stack)-1]
		if l.marks.Of(i)&(read|seen) == 0 {
			continue
		}
		_, parents, err := l.c.Load(i, l.above[:0])
		if err != nil {
			return err
		}
		l.above = parents
		for _, p := range parents {
			if l.refuse(p) {
				l.stack = append(l.stack, p)
			}
		}
	}
	return nil
}

// collect fills in the selection.
func (l *limiter) collect() error {
	l.s.Commits = make([]Commit, 0, len(l.wanted))
	for _, i := range l.wanted {
		flags := l.marks.Of(i)
		if flags&unwanted != 0 {
			if l.symmetric {
				return ErrClocks
			}
			if err := l.edge(i); err != nil {
				return err
			}
			continue
		}
		keep, err := l.keeps(i)
		if err != nil {
			return err
		}
		if !keep {
			continue
		}
		l.s.Commits = append(l.s.Commits, Commit{ID: l.c.ID(i), Tree: l.c.Tree(i), Left: flags&left != 0, Tip: flags&isTip != 0})
		if !l.limited || !l.objects {
			continue
		}
		_, parents, err := l.c.Load(i, l.parents[:0])
		if err != nil {
			return err
		}
		l.parents = parents
		for _, p := range parents {
			if err := l.edge(p); err != nil {
				return err
			}
		}
	}
	return nil
}

// keeps reports whether limits keep commit i; those before it were asked about.
func (l *limiter) keeps(i uint32) (bool, error) {
	if l.limits.MinParents > 0 || l.limits.MaxParents >= 0 {
		_, parents, err := l.c.Load(i, l.parents[:0])
		if err != nil {
			return false, err
		}
		l.parents = parents
		if !l.limits.keeps(len(parents)) {
			return false, nil
		}
	}
	if l.limits.Skip > 0 {
		l.limits.Skip--
		return false, nil
	}
	if l.limits.Max == 0 {
		return false, nil
	}
	l.limits.Max--
	return true, nil
}

// edge notes the tree of commit i if that is unwanted.
func (l *limiter) edge(i uint32) error {
	if l.marks.Of(i)&unwanted == 0 || l.marks.Add(i, onEdge)&onEdge != 0 {
		return nil
	}
	if _, err := l.c.Time(i); err != nil { // loads it
		if _, _, ok := revwalk.Unreadable(err); ok {
			return nil
		}
		return err
	}
	l.s.edges = append(l.s.edges, l.c.Tree(i))
	return nil
}
