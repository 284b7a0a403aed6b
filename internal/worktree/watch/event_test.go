package watch

import (
	"testing"
)

func TestNext(t *testing.T) {
	buf := appendEvent(nil, 7, inCreate|inIsDir, "a name of more than sixteen bytes")
	buf = appendEvent(buf, 8, inDeleteSelf, "")
	for _, want := range []event{
		{7, inCreate | inIsDir, []byte("a name of more than sixteen bytes")},
		{8, inDeleteSelf, nil},
	} {
		var e event
		rest, ok := next(buf, &e)
		if !ok || e.wd != want.wd || e.mask != want.mask || string(e.name) != string(want.name) {
			t.Errorf("next = %+v, %v, want %+v", e, ok, want)
		}
		buf = rest
	}
	if len(buf) != 0 {
		t.Errorf("%d bytes are left", len(buf))
	}
	whole := appendEvent(nil, 1, inModify, "name")
	for n := range whole {
		var e event
		if _, ok := next(whole[:n], &e); ok {
			t.Errorf("%d of %d bytes are an event", n, len(whole))
		}
	}
}

// FuzzEvents gives arbitrary bytes to two Watchers that share an instance and a
// directory: whatever they say, the tables stay consistent and Take answers.
func FuzzEvents(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{1, 2, 3})
	f.Add(appendEvent(appendEvent(nil, 1, inCreate, "name"), 2, inDeleteSelf|inIsDir, ""))
	f.Add(appendEvent(appendEvent(nil, 2, inIgnored, ""), 2, inModify, "late"))
	f.Add(appendEvent(appendEvent(nil, 3, inUnmount, ""), 3, inIgnored, ""))
	f.Add(appendEvent(appendEvent(nil, -1, inQOverflow, ""), 1, inModify, "x"))
	f.Fuzz(func(t *testing.T, data []byte) {
		fk := newFake()
		p := newFakePool(t, fk, PoolOptions{Instances: 1})
		a, b := newFakeWatcher(t, p, Options{}), newFakeWatcher(t, p, Options{})
		for i := 1; i <= 3; i++ {
			mustAdd(t, a, i, Node(i))
			mustAdd(t, b, min(i, 2), Node(i))
		}
		fk.queues[a.in.fd] = data
		marks, whole := a.Take(nil)
		if !whole && len(marks) > 0 {
			t.Errorf("a loss, and %v", marks)
		}
		b.Take(nil)
		in := a.in
		if int(p.watches.Load()) != len(in.owners) {
			t.Errorf("%d watches counted, %d owned", p.watches.Load(), len(in.owners))
		}
		owned := 0
		for wd, first := range in.owners {
			for _, o := range append([]owner{first}, in.others[wd]...) {
				owned++
				if in.watchers[o.slot].wds[o.node] != wd {
					t.Errorf("node %d of watcher %d is not of descriptor %d", o.node, o.slot, wd)
				}
			}
		}
		if in.open && owned != a.Len()+b.Len() {
			t.Errorf("%d owners, %d nodes", owned, a.Len()+b.Len())
		}
		a.Close()
		b.Close()
		if n := p.watches.Load(); n != 0 {
			t.Errorf("%d watches are left", n)
		}
	})
}
