package watch

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// defaultInstances of inotify at most: a user has 128 for all programs.
	defaultInstances = 16
	// drainEvery bounds how often the queues are emptied while nobody takes: often
	// enough for a live prompt, seldom enough not to disturb a build.
	drainEvery = 50 * time.Millisecond
	// lookEvery is how often, meanwhile, it is looked whether a queue is half full: to
	// fill the other half before the next look takes 800,000 events a second.
	lookEvery = 10 * time.Millisecond
)

// PoolOptions are what NewPool may be told.
type PoolOptions struct {
	Instances int              // at most this many inotify instances; 0 means 16
	Budget    int              // at most this many watches; 0 means half of what the user may have
	Now       func() time.Time // nil means time.Now
}

// A Pool is what the Watchers of a process share: inotify instances, a budget of
// watches, and a goroutine that waits for events, so that the kernel's queues do
// not overflow between two calls of Take. It wakes up only for events.
type Pool struct {
	sys       *system
	now       func() time.Time
	instances int          // most
	fixed     int          // PoolOptions.Budget
	budget    atomic.Int64 // most watches
	watches   atomic.Int64
	overflows atomic.Int64
	wakeups   atomic.Int64
	stall     func() // for tests: called between reading events and applying them

	mu     sync.Mutex // guards what follows; taken before instance.mu
	closed bool
	all    []*instance
	users  map[*instance]int // number of Watchers
	waiter waiter            // nil until there is an instance
	done   sync.WaitGroup    // the waiting goroutine
}

// A waiter waits until a descriptor is readable.
type waiter interface {
	// wait returns when one of fds is readable, and sets the same place in ready; or
	// after timeout, if that is not negative; or after wake.
	wait(fds []int, ready []bool, timeout time.Duration)
	wake()
	close()
}

// NewPool returns a Pool without instances; they are made as they are needed.
// Close it.
func NewPool(o PoolOptions) *Pool {
	p := &Pool{sys: newSystem(), now: o.Now, instances: o.Instances, fixed: o.Budget, users: map[*instance]int{}}
	if p.now == nil {
		p.now = time.Now
	}
	if p.instances <= 0 {
		p.instances = defaultInstances
	}
	return p
}

// Close ends the Pool's goroutine and all watches: its Watchers are closed.
func (p *Pool) Close() {
	p.mu.Lock()
	p.closed = true
	if p.waiter == nil {
		p.mu.Unlock()
		return
	}
	p.waiter.wake()
	p.mu.Unlock()
	p.done.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, in := range p.all {
		in.mu.Lock()
		in.fail()
		in.tell(nil)
		in.mu.Unlock()
	}
	if p.waiter != nil {
		p.waiter.close()
	}
	p.all, p.users, p.waiter = nil, nil, nil
}

// PoolStats describe a Pool.
type PoolStats struct {
	Instances int   // inotify instances in use
	Watches   int   // directories watched, each once for each instance
	Budget    int   // of watches
	Overflows int64 // times that the kernel dropped events
	Wakeups   int64 // times that the Pool's goroutine woke up
}

// Stats returns the present numbers.
func (p *Pool) Stats() PoolStats {
	p.mu.Lock()
	defer p.mu.Unlock()
	return PoolStats{
		Instances: len(p.all), Watches: int(p.watches.Load()), Budget: int(p.budget.Load()),
		Overflows: p.overflows.Load(), Wakeups: p.wakeups.Load(),
	}
}

func (p *Pool) full() bool { return p.watches.Load() >= p.budget.Load() }

// join finds an instance for w: a new one while there may be more, else the one
// with the fewest Watchers, since an overflow concerns all of them.
func (p *Pool) join(w *Watcher) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return ErrClosed
	}
	p.readBudget()
	var fewest *instance
	for _, in := range p.all {
		if in.usable() && (fewest == nil || p.users[in] < p.users[fewest]) {
			fewest = in
		}
	}
	if len(p.all) < p.instances {
		in, err := p.add()
		if err == nil {
			fewest = in
		} else if fewest == nil {
			return err
		}
	}
	if fewest == nil {
		return ErrClosed // each instance broke, and its Watchers are not closed yet
	}
	p.users[fewest]++
	fewest.join(w)
	return nil
}

// readBudget takes half of the user's limit, which an administrator may have
// changed since. The other half is for editors and file managers.
func (p *Pool) readBudget() {
	n := p.fixed
	if n <= 0 {
		n = p.sys.maxWatches() / 2
	}
	p.budget.Store(int64(n))
}

// add makes an instance, and the goroutine if it is the first.
func (p *Pool) add() (*instance, error) {
	fd, err := p.sys.open()
	if err != nil {
		if limit := p.sys.limit(err); limit != "" {
			return nil, &LimitError{limit, err}
		}
		return nil, err
	}
	if p.waiter == nil {
		if p.waiter, err = p.sys.newWaiter(); err != nil {
			p.waiter = nil
			p.sys.shut(fd)
			if limit := p.sys.limit(err); limit != "" {
				return nil, &LimitError{limit, err}
			}
			return nil, err
		}
		p.done.Add(1)
		go p.run(p.waiter)
	}
	in := &instance{
		pool: p, waiter: p.waiter, fd: fd, half: p.sys.maxQueue() / 2 * eventHeader,
		open: true, owners: map[int32]owner{},
	}
	p.all = append(p.all, in)
	p.waiter.wake() // to wait for this one too
	return in, nil
}

// leave closes w, and its instance with the last Watcher: that ends all watches
// at once.
func (p *Pool) leave(w *Watcher) {
	in := w.in
	in.mu.Lock()
	was := w.closed
	w.closed = true
	w.ready = nil
	in.mu.Unlock()
	if was {
		return
	}
	p.mu.Lock()
	alone := p.users[in] == 1
	if alone {
		p.drop(in)
	}
	p.mu.Unlock()
	if alone {
		return
	}
	w.removeAll()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	in.leave(w)
	if p.users[in]--; p.users[in] == 0 {
		p.drop(in) // the others left meanwhile
	}
}

// drop closes an instance without users. It is called with p.mu held.
func (p *Pool) drop(in *instance) {
	delete(p.users, in)
	p.all = slices.DeleteFunc(p.all, func(other *instance) bool { return other == in })
	in.mu.Lock()
	defer in.mu.Unlock()
	in.shut()
}

// run waits for events and drains the queues. It is the only place that waits,
// and it holds no lock meanwhile.
//
// It waits in poll(2), in a thread of its own, not in the runtime's poller: that
// one would wake up for every event even while the queues are left to fill.
func (p *Pool) run(wait waiter) {
	defer p.done.Done()
	var (
		ins   []*instance
		fds   []int
		ready []bool
	)
	for {
		var ok bool
		if ins, ok = p.list(ins[:0]); !ok {
			return
		}
		fds, ready = fds[:0], ready[:0]
		for _, in := range ins {
			fds, ready = append(fds, in.fd), append(ready, false)
		}
		wait.wait(fds, ready, -1)
		p.wakeups.Add(1)
		busy := false
		for i, in := range ins {
			if ready[i] {
				busy = true
				in.mu.Lock()
				if in.open {
					in.drain(nil)
				}
				in.mu.Unlock()
			}
		}
		for t := time.Duration(0); busy && t < drainEvery; t += lookEvery {
			wait.wait(nil, nil, lookEvery)
			if ins, ok = p.list(ins[:0]); !ok {
				return
			}
			for _, in := range ins {
				in.relieve()
			}
		}
	}
}

// list appends the open instances to dst. ok is false once p is closed.
func (p *Pool) list(dst []*instance) (ins []*instance, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return dst, false
	}
	for _, in := range p.all {
		if in.usable() {
			dst = append(dst, in)
		}
	}
	return dst, true
}

func (in *instance) usable() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.open
}
