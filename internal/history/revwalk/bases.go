package revwalk

import (
	"context"

	"gust/internal/pure/oid"
)

// MergeBases returns common ancestors of the commits a and b that include all best
// ones, those which are behind no other (git-merge-base(1), --all). Errors are
// AheadBehind's, and so is how wrong clocks are borne with.
func (w *Walker) MergeBases(ctx context.Context, a, b oid.ID) ([]oid.ID, error) {
	var bases []oid.ID
	err := w.Walk(ctx, func(c *Commits) error {
		var err error
		bases, err = c.mergeBases(ctx, c.Number(&a), c.Number(&b))
		return err
	})
	return bases, err
}

// common is the flag of a commit that is behind a common ancestor.
const common = 1 << 4

func (c *Commits) mergeBases(ctx context.Context, a, b uint32) ([]oid.ID, error) {
	var m Marks
	var q Queue
	var parents, found []uint32
	fresh := 0 // commits in the queue that are behind no common ancestor
	push := func(i, flags uint32) error {
		before := m.Add(i, flags)
		now := before | flags
		if before&common == 0 && now&common != 0 && before&queued != 0 {
			fresh--
		}
		if before&queued != 0 || before == now {
			return nil
		}
		time, err := c.Time(i)
		if err != nil {
			return err
		}
		m.Add(i, queued)
		q.Push(time, i)
		if now&common == 0 {
			fresh++
		}
		return nil
	}
	if err := push(a, fromA); err != nil {
		return nil, err
	}
	if err := push(b, fromB); err != nil {
		return nil, err
	}
	for steps := 0; fresh > 0; steps++ {
		if steps&1023 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		i := q.Pop()
		flags := m.Clear(i, queued)
		if flags&common == 0 {
			fresh--
		}
		if flags&(both|common) == both {
			found = append(found, i)
		}
		flags &= both | common
		if flags&both == both {
			flags |= common
		}
		var err error
		if _, parents, err = c.Load(i, parents[:0]); err != nil {
			return nil, err
		}
		for _, p := range parents {
			if err := push(p, flags); err != nil {
				return nil, err
			}
		}
	}
	var bases []oid.ID
	for _, i := range found {
		if m.Of(i)&common == 0 {
			bases = append(bases, c.ID(i))
		}
	}
	return bases, nil
}
