package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gust/internal/engine/past"
	"gust/internal/history/reach"
	"gust/internal/pure/oid"
)

// bitmap is `gust bitmap write` and `gust bitmap verify`.
func (p *Program) bitmap(ctx context.Context, args []string) int {
	if len(args) == 0 || args[0] != "write" && args[0] != "verify" {
		return p.fail(exitUsage, "bitmap: it is 'gust bitmap write [--lookup-table] [--midx]' or 'gust bitmap verify'")
	}
	table, midx := false, false
	for _, arg := range args[1:] {
		switch {
		case arg == "--lookup-table" && args[0] == "write":
			table = true
		case arg == "--midx" && args[0] == "write":
			midx = true
		default:
			return p.fail(exitUsage, "bitmap %s: unknown argument '%s'", args[0], arg)
		}
	}
	repo, err := p.openPast()
	if err != nil {
		return p.fail(exitDie, "bitmap %s: %v", args[0], err)
	}
	defer repo.Close()
	if !repo.Whole {
		return p.fail(exitDie, "bitmap %s: history is shallow, grafted or replaced in parts: bitmaps are of all of it", args[0])
	}
	run := p.verifyBitmap
	if args[0] == "write" {
		run = func(ctx context.Context, past *past.Past) error { return p.writeBitmap(ctx, past, table, midx) }
	}
	if err := run(ctx, repo); err != nil {
		return p.fail(exitFail, "bitmap %s: %v", args[0], err)
	}
	return exitOK
}

// fromRefs returns a walk from all refs.
func fromRefs(past *past.Past) (*reach.Walk, error) {
	w := &reach.Walk{DB: past.DB, Walker: past.Walker}
	err := past.Repo.Refs.List("refs/", func(_ string, id, _ oid.ID) bool {
		w.Tips = append(w.Tips, reach.Tip{ID: id})
		return true
	})
	if err != nil {
		return nil, err
	}
	head, err := past.Repo.Refs.Head()
	if err == nil && !head.ID.IsNull() {
		w.Tips = append(w.Tips, reach.Tip{ID: head.ID})
	}
	return w, err
}

func (p *Program) writeBitmap(ctx context.Context, past *past.Past, table, midx bool) error {
	n, err := past.DB.Number(midx)
	if err != nil {
		return err
	}
	w, err := fromRefs(past)
	if err != nil {
		return err
	}
	b, err := w.Build(ctx, &n, p.percent("Building bitmaps"))
	if err != nil {
		return err
	}
	if err := n.WriteReverse(); err != nil {
		return err
	}
	return b.WriteTo(n.BitmapPath(), table)
}

func (p *Program) verifyBitmap(ctx context.Context, past *past.Past) error {
	b, err := past.DB.Bitmap()
	if err != nil {
		return err
	}
	if b == nil {
		return errors.New("there is no bitmap")
	}
	defer b.Close()
	w := &reach.Walk{DB: past.DB, Walker: past.Walker}
	if err := w.Verify(ctx, b, p.percent("Verifying bitmaps")); err != nil {
		return err
	}
	fmt.Fprintf(p.Out, "%s: %d bitmaps of %d objects are right\n", b.Path(), b.Len(), b.Objects())
	return nil
}

// percent returns a function that shows progress on a terminal, nil elsewhere.
func (p *Program) percent(title string) func(done, total int) {
	if !p.ErrTerminal {
		return nil
	}
	return newMeter(p.Err, title, 2*time.Second).show
}
