package watch

import (
	"encoding/binary"
	"errors"
	"sync"
	"testing"
	"time"
)

// A fake is a kernel whose queues a test fills. Its instances are numbered from
// 1000; a directory's descriptor is its watch descriptor.
type fake struct {
	mu     sync.Mutex
	queues map[int][]byte
	calls  map[string]int
	next   int
	fail   map[string]error
	waiter *fakeWaiter
}

func newFake() *fake {
	return &fake{
		queues: map[int][]byte{}, calls: map[string]int{}, next: 1000, fail: map[string]error{},
		waiter: &fakeWaiter{woken: make(chan struct{}, 1), look: make(chan bool), looked: make(chan time.Duration)},
	}
}

var (
	errLimit = errors.New("no space")
	errRead  = errors.New("cannot read")
)

// called counts a call and returns the error that it is to give.
func (f *fake) called(name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls[name]++
	return f.fail[name]
}

func (f *fake) system() *system {
	return &system{
		open: func() (int, error) {
			err := f.called("open")
			f.next++
			return f.next, err
		},
		shut:    func(int) { f.called("shut") },
		openDir: func(string) (int, error) { return 1, f.called("openDir") },
		add:     func(_, dir int) (int32, error) { return int32(dir), f.called("add") },
		remove:  func(int, int32) { f.called("remove") },
		pending: func(fd int) (int, error) {
			err := f.called("pending")
			f.mu.Lock()
			defer f.mu.Unlock()
			return len(f.queues[fd]), err
		},
		read: func(fd int, buf []byte) (int, error) {
			if err := f.called("read"); err != nil {
				return 0, err
			}
			f.mu.Lock()
			defer f.mu.Unlock()
			n := copy(buf, f.queues[fd])
			f.queues[fd] = f.queues[fd][n:]
			return n, nil
		},
		newWaiter: func() (waiter, error) { return f.waiter, f.called("newWaiter") },
		limit: func(err error) string {
			if err == errLimit {
				return "max_user_watches"
			}
			return ""
		},
		maxWatches: func() int { return 1000 },
		maxQueue:   func() int { return 64 },
	}
}

// send queues an event for w's instance.
func (f *fake) send(w *Watcher, wd int32, mask uint32, name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.queues[w.in.fd] = appendEvent(f.queues[w.in.fd], wd, mask, name)
}

// appendEvent appends an event as inotify(7) lays it out.
func appendEvent(dst []byte, wd int32, mask uint32, name string) []byte {
	padded := 0
	if name != "" {
		padded = (len(name) + 16) &^ 15
	}
	dst = binary.NativeEndian.AppendUint32(dst, uint32(wd))
	dst = binary.NativeEndian.AppendUint32(dst, mask)
	dst = binary.NativeEndian.AppendUint32(dst, 0)
	dst = binary.NativeEndian.AppendUint32(dst, uint32(padded))
	dst = append(dst, name...)
	return append(dst, make([]byte, padded-len(name))...)
}

// A fakeWaiter waits until it is told.
type fakeWaiter struct {
	woken  chan struct{}
	look   chan bool          // ends a wait; true: everything is readable
	looked chan time.Duration // gets the timeout of each wait that begins, if listened to
	listen bool
}

func (w *fakeWaiter) wait(_ []int, ready []bool, timeout time.Duration) {
	woken := w.woken
	switch {
	case w.listen:
		select {
		case w.looked <- timeout:
		case <-w.woken:
			return
		}
		select {
		case <-w.woken: // for what happened before the test began to listen
		default:
		}
		woken = nil // the test ends each wait that it was told of
	case timeout >= 0:
		return
	}
	select {
	case <-woken:
	case all := <-w.look:
		for i := range ready {
			ready[i] = all
		}
	}
}

func (w *fakeWaiter) wake() {
	select {
	case w.woken <- struct{}{}:
	default:
	}
}

func (w *fakeWaiter) close() {}

// newFakePool returns a Pool over f.
func newFakePool(t testing.TB, f *fake, o PoolOptions) *Pool {
	p := NewPool(o)
	p.sys = f.system()
	t.Cleanup(p.Close)
	return p
}

func newFakeWatcher(t testing.TB, p *Pool, o Options) *Watcher {
	t.Helper()
	w, err := New(p, o)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func mustAdd(t testing.TB, w *Watcher, dir int, node Node) {
	t.Helper()
	if err := w.Add(dir, node); err != nil {
		t.Fatal(err)
	}
}
