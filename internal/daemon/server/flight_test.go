package server

import (
	"context"
	"errors"
	"runtime"
	"testing"

	"gust/internal/pure/summary"
)

// TestTurns has one ask, two wait for the turn after it, and one of these leave.
func TestTurns(t *testing.T) {
	for _, leaving := range []int{0, 1, 2} {
		var f flights
		begun, release := make(chan context.Context, 3), make(chan struct{})
		ask := func(ctx context.Context) (*summary.Summary, error) {
			begun <- ctx
			select {
			case <-release:
				return &summary.Summary{}, nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		first := make(chan error, 1)
		go func() {
			_, err := f.do(context.Background(), "k", ask)
			first <- err
		}()
		<-begun
		waiters := make(chan error, 2)
		var leave [2]context.CancelFunc
		for i := range leave {
			var ctx context.Context
			ctx, leave[i] = context.WithCancel(context.Background())
			go func() {
				_, err := f.do(ctx, "k", ask)
				waiters <- err
			}()
		}
		waiting := func() int {
			f.mu.Lock()
			defer f.mu.Unlock()
			if next := f.lanes["k"].next; next != nil {
				return next.waiters
			}
			return 0
		}
		for waiting() != 2 {
			runtime.Gosched()
		}
		for i := range leaving {
			leave[i]()
			if err := <-waiters; !errors.Is(err, context.Canceled) {
				t.Errorf("who left got %v", err)
			}
		}
		if got := waiting(); got != 2-leaving {
			t.Errorf("%d of 2 left, %d wait", leaving, got)
		}
		close(release)
		if err := <-first; err != nil {
			t.Errorf("the first got %v", err)
		}
		for range 2 - leaving {
			if err := <-waiters; err != nil {
				t.Errorf("with %d gone, who stayed got %v", leaving, err)
			}
		}
		f.wg.Wait()
		if turns := len(begun); leaving < 2 && turns != 1 || leaving == 2 && turns != 0 {
			t.Errorf("with %d of 2 gone, there were %d more turns", leaving, turns)
		}
		if len(f.lanes) != 0 {
			t.Errorf("%d questions are still worked on", len(f.lanes))
		}
		leave[0]()
		leave[1]()
	}
}
