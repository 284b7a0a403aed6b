package server

import (
	"context"
	"sync"

	"gust/internal/pure/summary"
)

// flights let equal questions share their work. An answer must reflect what had
// happened before its question was asked, so a question never joins work that has
// begun: all that arrive meanwhile share the next turn.
type flights struct {
	wg sync.WaitGroup // turns that run on their own

	mu    sync.Mutex       // guards lanes and what they hold
	lanes map[string]*lane // by question; there while it is worked on
}

type lane struct {
	next *turn // nil: nobody waits
}

// A turn is one piece of work that several may wait for.
type turn struct {
	waiters int // guarded by flights.mu
	ctx     context.Context
	cancel  context.CancelFunc

	done chan struct{} // closed when sum and err are set
	sum  *summary.Summary
	err  error
}

// do returns what ask returns, for the question that key stands for. ask's
// context ends when nobody waits for it any more. The summary may be shared: it
// must not be changed.
func (f *flights) do(ctx context.Context, key string, ask func(context.Context) (*summary.Summary, error)) (*summary.Summary, error) {
	f.mu.Lock()
	l := f.lanes[key]
	if l == nil {
		if f.lanes == nil {
			f.lanes = make(map[string]*lane)
		}
		f.lanes[key] = new(lane)
		f.mu.Unlock()
		defer f.advance(key, ask)
		return ask(ctx)
	}
	if l.next == nil {
		l.next = &turn{done: make(chan struct{})}
		l.next.ctx, l.next.cancel = context.WithCancel(context.Background())
	}
	t := l.next
	t.waiters++
	f.mu.Unlock()
	select {
	case <-t.done:
		return t.sum, t.err
	case <-ctx.Done():
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if t.waiters--; t.waiters == 0 {
		t.cancel()
		if l.next == t {
			l.next = nil
		}
	}
	return nil, ctx.Err()
}

// advance ends what is worked on for key, and begins the turn that waits.
func (f *flights) advance(key string, ask func(context.Context) (*summary.Summary, error)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	l := f.lanes[key]
	t := l.next
	if t == nil {
		delete(f.lanes, key)
		return
	}
	l.next = nil
	f.wg.Add(1)
	go func() {
		defer f.wg.Done()
		t.sum, t.err = ask(t.ctx)
		close(t.done)
		t.cancel()
		f.advance(key, ask)
	}()
}
