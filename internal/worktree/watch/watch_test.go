package watch

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"
)

func TestTakeAllocs(t *testing.T) {
	f := newFake()
	w := newFakeWatcher(t, newFakePool(t, f, PoolOptions{}), Options{Ignore: func(_ Node, name []byte) bool { return string(name) == "log" }})
	mustAdd(t, w, 1, 1)
	dst := make([]Mark, 0, 8)
	if n := testing.AllocsPerRun(100, func() {
		if marks, whole := w.Take(dst[:0]); len(marks) != 0 || !whole {
			t.Fatal(marks, whole)
		}
	}); n != 0 {
		t.Errorf("Take of nothing allocates %v times", n)
	}
	// Events on ignored names, and on names that are marked already, cost nothing
	// either. The first ones make the buffers.
	queue := appendEvent(appendEvent(nil, 1, inModify, "log"), 1, inModify, "kept")
	drain := func() {
		f.queues[w.in.fd] = queue
		w.in.mu.Lock()
		w.in.drain(w)
		w.in.mu.Unlock()
	}
	drain()
	if n := testing.AllocsPerRun(100, drain); n != 0 {
		t.Errorf("known events allocate %v times", n)
	}
	if marks, whole := w.Take(nil); len(marks) != 1 || !whole {
		t.Errorf("Take = %v, %v", marks, whole)
	}
}

// An idle Take is one system call.
func TestTakeCalls(t *testing.T) {
	f := newFake()
	w := newFakeWatcher(t, newFakePool(t, f, PoolOptions{}), Options{})
	mustAdd(t, w, 1, 1)
	clear(f.calls)
	const takes = 100
	for range takes {
		w.Take(nil)
	}
	if len(f.calls) != 1 || f.calls["pending"] != takes {
		t.Errorf("%d idle takes made the calls %v", takes, f.calls)
	}
}

// An event of a new watch must not be read before the watch is known.
func TestAddLocked(t *testing.T) {
	f := newFake()
	p := newFakePool(t, f, PoolOptions{})
	w := newFakeWatcher(t, p, Options{})
	add := p.sys.add
	p.sys.add = func(fd, dir int) (int32, error) {
		if w.in.mu.TryLock() {
			t.Error("the queue may be read while a watch is added")
			w.in.mu.Unlock()
		}
		return add(fd, dir)
	}
	mustAdd(t, w, 1, 1)
	if f.calls["add"] != 1 {
		t.Error("nothing is added")
	}
}

// More names than a bound collapse to their directory, and the names that were
// marked before go.
func TestTakeCollapse(t *testing.T) {
	f := newFake()
	w := newFakeWatcher(t, newFakePool(t, f, PoolOptions{}), Options{})
	mustAdd(t, w, 1, 1)
	mustAdd(t, w, 2, 2)
	for i := range maxNames {
		f.send(w, 1, inModify, fmt.Sprint("name", i))
	}
	f.send(w, 2, inModify, "other")
	if marks, whole := w.Take(nil); len(marks) != maxNames+1 || !whole {
		t.Errorf("%d marks, %v; want each name's", len(marks), whole)
	}
	for i := range maxNames + 3 {
		f.send(w, 1, inModify, fmt.Sprint("name", i))
	}
	f.send(w, 2, inModify, "other")
	f.send(w, 1, inModify, "name0")
	want := []Mark{{1, "", All | Names}, {2, "other", Content}}
	if marks, whole := w.Take(nil); !slices.Equal(marks, want) || !whole {
		t.Errorf("Take = %v, %v, want %v", marks, whole, want)
	}
	f.send(w, 1, inModify, "name0")
	if marks, _ := w.Take(nil); !slices.Equal(marks, []Mark{{1, "name0", Content}}) {
		t.Errorf("after a collapse, Take = %v", marks)
	}
	// All names together are bounded, too; directories are not.
	const dirs = maxTotal/maxNames + 10
	for d := range dirs {
		if d > 2 {
			mustAdd(t, w, d, Node(d))
		}
		for i := range maxNames {
			f.send(w, int32(d), inModify, fmt.Sprint("name", i))
		}
	}
	marks, whole := w.Take(nil)
	names, all := 0, 0
	for _, m := range marks {
		if m.Name != "" {
			names++
		} else if m.Change == All|Names {
			all++
		}
	}
	// Node 0 is not watched.
	if names != maxTotal || all != dirs-1-maxTotal/maxNames || !whole {
		t.Errorf("%d names and %d directories marked, %v", names, all, whole)
	}
}

// Pending marks of dropped, collapsed and renamed nodes survive a renumbering.
func TestRenumberPending(t *testing.T) {
	f := newFake()
	w := newFakeWatcher(t, newFakePool(t, f, PoolOptions{}), Options{})
	for d := 1; d <= 3; d++ {
		mustAdd(t, w, d, Node(d))
		f.send(w, int32(d), inCreate, "name")
	}
	for i := range maxNames + 1 {
		f.send(w, 1, inModify, fmt.Sprint("name", i))
	}
	f.send(w, 2, inDeleteSelf, "")
	f.send(w, 2, inIgnored, "")
	w.in.mu.Lock()
	w.in.drain(nil)
	w.in.mu.Unlock()
	w.Renumber(func(old Node) (Node, bool) { return old + 1, old != 3 }, nil)
	f.send(w, 1, inModify, "more") // collapsed already
	f.send(w, 3, inModify, "more") // dropped
	want := []Mark{{2, "", All | Names}, {3, "", Names | Gone}, {3, "name", Names}}
	if marks, whole := w.Take(nil); !slices.Equal(marks, want) || !whole {
		t.Errorf("Take = %v, %v, want %v", marks, whole, want)
	}
	if n := w.Len(); n != 1 {
		t.Errorf("%d nodes are watched, want 1", n)
	}
}

// The new numbers and the new Ignore hold from the same moment on.
func TestRenumberIgnore(t *testing.T) {
	f := newFake()
	ignore := func(want Node) func(Node, []byte) bool {
		return func(node Node, name []byte) bool {
			if node != want {
				t.Errorf("Ignore is asked about node %d, want %d", node, want)
			}
			return string(name) == "log"
		}
	}
	w := newFakeWatcher(t, newFakePool(t, f, PoolOptions{}), Options{Ignore: ignore(1)})
	mustAdd(t, w, 1, 1)
	f.send(w, 1, inModify, "log")
	w.Take(nil)
	w.Renumber(func(old Node) (Node, bool) { return 5, true }, ignore(5))
	f.send(w, 1, inModify, "log")
	f.send(w, 1, inModify, "kept")
	if marks, _ := w.Take(nil); !slices.Equal(marks, []Mark{{5, "kept", Content}}) {
		t.Errorf("Take = %v", marks)
	}
}

func TestRenumberPanics(t *testing.T) {
	w := newFakeWatcher(t, newFakePool(t, newFake(), PoolOptions{}), Options{})
	mustAdd(t, w, 1, 1)
	mustAdd(t, w, 2, 2)
	defer func() {
		if recover() == nil {
			t.Error("two nodes got one number, and nobody noticed")
		}
	}()
	w.Renumber(func(Node) (Node, bool) { return 1, true }, nil)
}

// What loses events, loses them for every watcher of the instance, once.
func TestLoss(t *testing.T) {
	for _, test := range []struct {
		name  string
		cause func(f *fake, w *Watcher)
		ends  bool // the instance is given up
	}{
		{"overflow", func(f *fake, w *Watcher) { f.send(w, -1, inQOverflow, "") }, false},
		{"unmount", func(f *fake, w *Watcher) { f.send(w, 1, inUnmount, ""); f.send(w, 1, inIgnored, "") }, false},
		{"read", func(f *fake, w *Watcher) { f.send(w, 1, inModify, "x"); f.fail["read"] = errRead }, true},
		{"pending", func(f *fake, _ *Watcher) { f.fail["pending"] = errRead }, true},
		{"garbage", func(f *fake, w *Watcher) { f.queues[w.in.fd] = append(f.queues[w.in.fd], 1, 2, 3) }, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newFake()
			p := newFakePool(t, f, PoolOptions{Instances: 1})
			w, other := newFakeWatcher(t, p, Options{}), newFakeWatcher(t, p, Options{})
			mustAdd(t, w, 1, 1)
			mustAdd(t, other, 2, 2)
			f.send(w, 1, inModify, "before")
			test.cause(f, w)
			f.send(w, 2, inModify, "after")
			for _, w := range []*Watcher{other, w} {
				if marks, whole := w.Take(nil); whole || len(marks) != 0 {
					t.Errorf("Take = %v, %v, want a loss", marks, whole)
				}
				if marks, whole := w.Take(nil); whole == test.ends || len(marks) != 0 {
					t.Errorf("the next Take = %v, %v", marks, whole)
				}
			}
			err := other.Add(3, 3)
			if test.ends {
				if !errors.Is(err, ErrClosed) {
					t.Errorf("Add = %v, want ErrClosed", err)
				}
				if n := p.Stats().Watches; n != 0 {
					t.Errorf("%d watches are left", n)
				}
				return
			}
			f.send(w, 3, inModify, "next")
			if marks, whole := other.Take(nil); err != nil || !whole || !slices.Equal(marks, []Mark{{3, "next", Content}}) {
				t.Errorf("Add = %v, then Take = %v, %v", err, marks, whole)
			}
		})
	}
}

func TestStorm(t *testing.T) {
	for _, test := range []struct {
		at   []time.Duration // of overflows
		want bool
	}{
		{nil, false},
		{[]time.Duration{0, time.Second}, false},
		{[]time.Duration{0, 30 * time.Second, 59 * time.Second}, true},
		{[]time.Duration{0, 30 * time.Second, 61 * time.Second}, false},
		{[]time.Duration{0, 50 * time.Second, 100 * time.Second, 105 * time.Second}, true},
		{[]time.Duration{0, 50 * time.Second, 100 * time.Second, 111 * time.Second}, false},
	} {
		start := time.Unix(1e9, 0)
		now := start
		f := newFake()
		w := newFakeWatcher(t, newFakePool(t, f, PoolOptions{Now: func() time.Time { return now }}), Options{})
		for _, at := range test.at {
			now = start.Add(at)
			f.send(w, -1, inQOverflow, "")
			w.Take(nil)
		}
		if got := w.Storm(); got != test.want {
			t.Errorf("overflows at %v: Storm = %v", test.at, got)
		}
		now = now.Add(stormRest)
		if w.Storm() {
			t.Errorf("overflows at %v: the storm does not end", test.at)
		}
	}
}

func TestLimits(t *testing.T) {
	f := newFake()
	p := newFakePool(t, f, PoolOptions{Budget: 2})
	w := newFakeWatcher(t, p, Options{})
	mustAdd(t, w, 1, 1)
	mustAdd(t, w, 2, 2)
	mustAdd(t, w, 2, 2)
	var limit *LimitError
	if err := w.Add(3, 3); !errors.As(err, &limit) || limit.Limit != "budget" {
		t.Errorf("Add over the budget = %v", err)
	}
	for range 2 {
		if _, whole := w.Take(nil); whole {
			t.Error("Take is whole, though a directory is not watched")
		}
	}
	w.Reset()
	if _, whole := w.Take(nil); !whole || p.Stats().Watches != 0 || w.Len() != 0 {
		t.Errorf("after Reset: whole is %v, %+v", whole, p.Stats())
	}
	f.fail["add"] = errLimit
	if err := w.Add(3, 3); !errors.As(err, &limit) || limit.Limit != "max_user_watches" || !errors.Is(err, errLimit) {
		t.Errorf("Add over the system's limit = %v", err)
	}
	if _, whole := w.Take(nil); whole {
		t.Error("Take is whole, though a directory is not watched")
	}
	w.Reset()
	f.fail["add"] = errRead
	if err := w.Add(3, 3); !errors.Is(err, errRead) || errors.As(err, &limit) && limit.Limit == "" {
		t.Errorf("Add of what cannot be read = %v", err)
	}
	if _, whole := w.Take(nil); !whole {
		t.Error("an error about one directory is the caller's, no loss")
	}
	// No further instance: watchers share. Not even one: an error.
	f.fail["open"] = errLimit
	second, err := New(p, Options{})
	if err != nil || second.in != w.in {
		t.Errorf("New without a further instance: %v", err)
	}
	if _, err := New(newFakePool(t, f, PoolOptions{}), Options{}); !errors.As(err, &limit) {
		t.Errorf("New without any instance: %v", err)
	}
	f.fail["open"] = ErrUnsupported
	if _, err := New(newFakePool(t, f, PoolOptions{}), Options{}); !errors.Is(err, ErrUnsupported) {
		t.Errorf("New where nothing can be watched: %v", err)
	}
	delete(f.fail, "open")
	f.fail["newWaiter"] = errLimit
	q := newFakePool(t, f, PoolOptions{})
	if _, err := New(q, Options{}); !errors.As(err, &limit) || f.calls["shut"] == 0 {
		t.Errorf("New without a waiter: %v", err)
	}
	delete(f.fail, "newWaiter")
	if _, err := New(q, Options{}); err != nil {
		t.Errorf("New after all: %v", err)
	}
}

// Watchers get an instance each until there are 16, then share evenly; an
// instance goes with its last Watcher.
func TestPoolShares(t *testing.T) {
	f := newFake()
	p := newFakePool(t, f, PoolOptions{})
	if p.Close(); p.Stats().Instances != 0 {
		t.Error("a Pool without Watchers has instances")
	}
	if _, err := New(p, Options{}); !errors.Is(err, ErrClosed) {
		t.Errorf("New in a closed Pool: %v", err)
	}
	p = newFakePool(t, f, PoolOptions{})
	users := map[*instance]int{}
	var all []*Watcher
	for i := range 3 * defaultInstances {
		w := newFakeWatcher(t, p, Options{})
		for d := range 1 + i%2 {
			mustAdd(t, w, d, Node(d))
		}
		users[w.in]++
		all = append(all, w)
	}
	for _, n := range users {
		if n != 3 {
			t.Errorf("%d watchers share an instance, want 3", n)
		}
	}
	if s := p.Stats(); s.Instances != defaultInstances || s.Budget != 500 {
		t.Errorf("Stats = %+v", s)
	}
	for _, w := range all {
		w.Close()
		w.Close()
		if _, whole := w.Take(nil); whole || !errors.Is(w.Add(1, 1), ErrClosed) {
			t.Error("a closed Watcher goes on")
		}
	}
	if s := p.Stats(); s.Instances != 0 || s.Watches != 0 || f.calls["shut"] != defaultInstances {
		t.Errorf("after closing all: %+v, %d descriptors closed", s, f.calls["shut"])
	}
	w := newFakeWatcher(t, p, Options{})
	p.Close()
	if _, whole := w.Take(nil); whole {
		t.Error("a Watcher outlives its Pool")
	}
	w.Close()
}

// A slot and a number that are used again do not get what was meant for others.
func TestSlotReuse(t *testing.T) {
	f := newFake()
	p := newFakePool(t, f, PoolOptions{Instances: 1})
	first, second := newFakeWatcher(t, p, Options{}), newFakeWatcher(t, p, Options{})
	mustAdd(t, first, 1, 1)
	mustAdd(t, second, 1, 1)
	mustAdd(t, second, 2, 2)
	first.Close()
	third := newFakeWatcher(t, p, Options{})
	if third.slot != first.slot {
		t.Errorf("slot %d is not used again", first.slot)
	}
	f.send(third, 1, inModify, "x")
	if marks, whole := third.Take(nil); len(marks) != 0 || !whole {
		t.Errorf("a new Watcher gets %v", marks)
	}
	if marks, _ := second.Take(nil); !slices.Equal(marks, []Mark{{1, "x", Content}}) {
		t.Errorf("the other Watcher of the directory gets %v", marks)
	}
	if n := p.Stats().Watches; n != 2 {
		t.Errorf("%d watches, want 2", n)
	}
}

func TestReady(t *testing.T) {
	f := newFake()
	p := newFakePool(t, f, PoolOptions{Instances: 1})
	w := newFakeWatcher(t, p, Options{Ignore: func(_ Node, name []byte) bool { return string(name) == "log" }})
	other := newFakeWatcher(t, p, Options{})
	mustAdd(t, w, 1, 1)
	ready := make(chan struct{}, 1)
	tokens := func(want int, when string) {
		t.Helper()
		if len(ready) != want {
			t.Errorf("%s: %d tokens, want %d", when, len(ready), want)
		}
		for len(ready) > 0 {
			<-ready
		}
	}
	w.Ready(ready)
	tokens(0, "at the start")
	f.send(w, 1, inModify, "x")
	other.Take(nil)
	tokens(1, "after another's Take")
	f.send(w, 1, inModify, "log")
	other.Take(nil)
	tokens(0, "for an ignored name")
	w.Take(nil)
	f.send(w, 1, inModify, "x")
	w.Take(nil)
	tokens(0, "after its own Take")
	f.send(w, 1, inModify, "x")
	f.waiter.look <- true
	<-ready // the Pool's goroutine drains
	tokens(0, "after one")
	w.Ready(nil)
	w.Ready(ready)
	tokens(1, "while there is something to take")
	f.send(w, -1, inQOverflow, "")
	other.Take(nil)
	tokens(1, "after a loss")
	w.Ready(nil)
	f.send(w, 1, inModify, "y")
	other.Take(nil)
	tokens(0, "when it is off")
}

// The goroutine drains at once, then waits, and looks whether a queue is half full
// meanwhile.
func TestPace(t *testing.T) {
	f := newFake()
	f.waiter.listen = true
	w := newFakeWatcher(t, newFakePool(t, f, PoolOptions{}), Options{})
	mustAdd(t, w, 1, 1)
	left := func() int {
		f.mu.Lock()
		defer f.mu.Unlock()
		return len(f.queues[w.in.fd])
	}
	f.send(w, 1, inModify, "x")
	for begun := range f.waiter.looked { // the first wait may begin before there is an instance
		if begun >= 0 {
			t.Fatalf("waits %v, with nothing read", begun)
		}
		f.waiter.look <- true
		if begun = <-f.waiter.looked; begun == lookEvery {
			break
		}
		f.waiter.look <- false
	}
	if n := left(); n != 0 {
		t.Errorf("%d bytes are left after the first drain", n)
	}
	half := 64 / 2 * eventHeader
	for looks := 1; ; looks++ {
		before := left()
		f.send(w, 1, inModify, "x")
		f.waiter.look <- false
		begun := <-f.waiter.looked
		if after := left(); before+32 >= half && after != 0 || before+32 < half && after != before+32 {
			t.Errorf("look %d: %d bytes before, %d after", looks, before+32, after)
		}
		if begun < 0 {
			if want := int(drainEvery / lookEvery); looks != want {
				t.Errorf("%d looks between two waits, want %d", looks, want)
			}
			f.waiter.look <- false
			break
		}
		for left() < half-32-32*(looks%2) { // every other time half full, at the look
			f.send(w, 1, inModify, "x")
		}
	}
}
