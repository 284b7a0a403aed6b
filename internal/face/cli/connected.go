package cli

import (
	"bufio"
	"context"
	"fmt"
	"strings"
	"time"

	"gust/internal/engine/past"
	"gust/internal/history/reach"
	"gust/internal/pure/oid"
)

// checkConnected is `gust check-connected`: it reads object IDs, one a line, and tells
// by its exit code whether everything that they reach is there: 0, or 1 and the first
// object that is not.
func (p *Program) checkConnected(ctx context.Context, args []string) int {
	if len(args) > 0 {
		return p.fail(exitUsage, "check-connected: unexpected argument '%s': object IDs are read from the standard input", args[0])
	}
	past, err := p.openPast()
	if err != nil {
		return p.fail(exitDie, "check-connected: %v", err)
	}
	defer past.Close()
	w := &reach.Walk{DB: past.DB, Walker: past.Walker, Options: reach.Options{Objects: true}}
	in := bufio.NewScanner(p.In)
	for line := 1; in.Scan(); line++ {
		id, err := oid.Parse(past.Repo.Algo, strings.TrimSpace(in.Text()))
		if err != nil {
			return p.fail(exitUsage, "check-connected: line %d: %v", line, err)
		}
		w.Tips = append(w.Tips, reach.Tip{ID: id})
	}
	if err := in.Err(); err != nil {
		return p.fail(exitDie, "check-connected: %v", err)
	}
	count := p.counting("Checking connectivity")
	err = p.connected(ctx, past, w, count.show)
	count.end()
	if m, ok := reach.IsMissing(err); ok {
		return p.fail(exitFail, "check-connected: %v", m)
	}
	if err != nil {
		return p.fail(exitDie, "check-connected: %v", err)
	}
	return exitOK
}

// connected checks what w's tips reach, against a bitmap or else the refs.
func (p *Program) connected(ctx context.Context, past *past.Past, w *reach.Walk, progress func(int)) error {
	if past.Whole {
		b, err := past.DB.Bitmap()
		if err == nil && b != nil {
			err = w.CheckConnected(ctx, b, progress)
			b.Close()
			if err == nil {
				return nil
			}
		}
		// What is missing may lie behind the refs, which are not doubted.
	}
	// A tip that is missing is to be told of as such.
	for i := range w.Tips {
		if err := w.DB.Has(w.Tips[i].ID); err != nil {
			return &reach.MissingError{ID: w.Tips[i].ID, Err: err}
		}
	}
	err := past.Repo.Refs.List("refs/", func(_ string, id, _ oid.ID) bool {
		if w.DB.Has(id) == nil {
			w.Tips = append(w.Tips, reach.Tip{ID: id, Not: true})
		}
		return true
	})
	if err != nil {
		return err
	}
	return w.CheckConnected(ctx, nil, progress)
}

// A counter tells on a terminal how far something is that takes long.
type counter struct {
	p     *Program
	title string
	begin time.Time
	last  time.Time
	shown int
}

// Nothing is shown of what is over soon; after that ten times a second is enough.
const (
	countDelay = 2 * time.Second
	countEvery = 100 * time.Millisecond
)

func (p *Program) counting(title string) *counter {
	return &counter{p: p, title: title, begin: time.Now()}
}

// show is told how much is done.
func (m *counter) show(n int) {
	if now := time.Now(); m.p.ErrTerminal && now.Sub(m.begin) >= countDelay && now.Sub(m.last) >= countEvery {
		m.last, m.shown = now, n
		fmt.Fprintf(m.p.Err, "%s: %d\r", m.title, n)
	}
}

func (m *counter) end() {
	if m.shown > 0 {
		fmt.Fprintf(m.p.Err, "%s: %d, done.\n", m.title, m.shown)
	}
}
