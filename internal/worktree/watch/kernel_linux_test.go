package watch

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

func TestMasks(t *testing.T) {
	for _, m := range [][2]uint32{
		{inModify, unix.IN_MODIFY}, {inAttrib, unix.IN_ATTRIB}, {inCloseWrite, unix.IN_CLOSE_WRITE},
		{inMovedFrom, unix.IN_MOVED_FROM}, {inMovedTo, unix.IN_MOVED_TO}, {inCreate, unix.IN_CREATE},
		{inDelete, unix.IN_DELETE}, {inDeleteSelf, unix.IN_DELETE_SELF}, {inMoveSelf, unix.IN_MOVE_SELF},
		{inUnmount, unix.IN_UNMOUNT}, {inQOverflow, unix.IN_Q_OVERFLOW}, {inIgnored, unix.IN_IGNORED},
		{inIsDir, unix.IN_ISDIR}, {eventHeader, unix.SizeofInotifyEvent}, {maxEvent, unix.SizeofInotifyEvent + unix.NAME_MAX + 1},
	} {
		if m[0] != m[1] {
			t.Errorf("%#x is %#x to the system", m[0], m[1])
		}
	}
}

func mustWrite(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

func mustMkdir(t testing.TB, path string) {
	t.Helper()
	if err := os.MkdirAll(path, 0o777); err != nil {
		t.Fatal(err)
	}
}

func mustAddPath(t testing.TB, w *Watcher, path string, node Node) {
	t.Helper()
	if err := w.AddPath(path, node); err != nil {
		t.Fatal(err)
	}
}

func wantMarks(t testing.TB, w *Watcher, want ...Mark) {
	t.Helper()
	if marks, whole := w.Take(nil); !whole || !slices.Equal(marks, want) {
		t.Errorf("Take = %v, %v, want %v", marks, whole, want)
	}
}

// The goroutine has read an event and not applied it yet when Take is called:
// nothing is in the queue, nothing is marked, and Take must know of it.
func TestTakeExact(t *testing.T) {
	dir := t.TempDir()
	p := NewPool(PoolOptions{})
	stalled, release := make(chan struct{}), make(chan struct{})
	p.stall = func() {
		stalled <- struct{}{}
		<-release
	}
	w, err := New(p, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	mustAddPath(t, w, dir, 1)
	mustMkdir(t, filepath.Join(dir, "sub"))
	<-stalled
	if w.in.mu.TryLock() {
		t.Error("the lock is free between reading and applying")
		w.in.mu.Unlock()
	}
	taken := make(chan []Mark)
	go func() {
		marks, _ := w.Take(nil)
		taken <- marks
	}()
	for range 1000 { // many chances to return too early
		select {
		case marks := <-taken:
			t.Fatalf("Take = %v while an event is on its way", marks)
		default:
			runtime.Gosched()
		}
	}
	release <- struct{}{}
	want := []Mark{{1, "", Names}, {1, "sub", Names | Dir}}
	if marks := <-taken; !slices.Equal(marks, want) {
		t.Errorf("Take = %v, want %v", marks, want)
	}
}

// Take consumes what is in the queue when it begins; what a storm adds meanwhile
// does not hold it.
func TestTakeStorm(t *testing.T) {
	dir := t.TempDir()
	mustWrite(t, filepath.Join(dir, "a.log"), "")
	mustWrite(t, filepath.Join(dir, "b.log"), "")
	p := NewPool(PoolOptions{})
	var read, bytes int
	sys := *p.sys
	p.sys.pending = func(fd int) (int, error) {
		n, err := sys.pending(fd)
		bytes = n
		return n, err
	}
	p.sys.read = func(fd int, buf []byte) (int, error) {
		n, err := sys.read(fd, buf)
		read++
		if bytes -= n; bytes < 0 {
			t.Error("more is read than was in the queue")
		}
		return n, err
	}
	storm := func() {
		for _, name := range []string{"a.log", "b.log"} {
			if err := os.Truncate(filepath.Join(dir, name), 0); err != nil {
				t.Error(err)
			}
		}
	}
	p.stall = storm // as much as is read, again and again
	w, err := New(p, Options{Ignore: func(_ Node, name []byte) bool { return string(name) != "kept" }})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	mustAddPath(t, w, dir, 1)
	storm()
	mustWrite(t, filepath.Join(dir, "kept"), "")
	marks, whole := w.Take(nil)
	if want := []Mark{{1, "", Names}, {1, "kept", Names}}; !whole || len(marks) != 2 || marks[0] != want[0] || marks[1].Name != "kept" {
		t.Errorf("Take = %v, %v, want %v", marks, whole, want)
	}
	if read == 0 {
		t.Error("nothing is read")
	}
	wantMarks(t, w)
}

// An ignored name in a watched directory is written 100,000 times, by a writer
// that is never more than a third of a queue ahead of the last Take: no event may
// be lost then, no ignored name marked, no other change missed.
func TestIgnoredStorm(t *testing.T) {
	dir := t.TempDir()
	_, w := newWatcher(t, Options{Ignore: func(_ Node, name []byte) bool { return string(name) == "a.log" || string(name) == "b.log" }})
	mustWrite(t, filepath.Join(dir, "kept"), "")
	mustWrite(t, filepath.Join(dir, "a.log"), "")
	mustWrite(t, filepath.Join(dir, "b.log"), "")
	mustAddPath(t, w, dir, 1)
	const writes, burst = 100_000, 1000
	ahead := make(chan struct{}, max(1, w.in.pool.sys.maxQueue()/3/burst))
	done := make(chan error)
	go func() { done <- writeStorm(dir, writes/burst, burst, ahead) }()
	var dst []Mark
	for i := range writes / burst {
		ahead <- struct{}{} // another burst, while the rest happens
		if err := os.Truncate(filepath.Join(dir, "kept"), int64(i)); err != nil {
			t.Fatal(err)
		}
		var whole bool
		if dst, whole = w.Take(dst[:0]); !whole || len(dst) != 1 || dst[0] != (Mark{1, "kept", Content}) {
			t.Fatalf("Take = %v, %v, want kept", dst, whole)
		}
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	wantMarks(t, w)
}

// writeStorm writes to two files in turn, so that no two events are equal.
func writeStorm(dir string, bursts, burst int, ahead <-chan struct{}) error {
	var files [2]*os.File
	for i, name := range []string{"a.log", "b.log"} {
		var err error
		if files[i], err = os.OpenFile(filepath.Join(dir, name), os.O_WRONLY, 0); err != nil {
			return err
		}
		defer files[i].Close()
	}
	for range bursts {
		<-ahead
		for i := range burst {
			if _, err := files[i%2].WriteAt([]byte("x"), 0); err != nil {
				return err
			}
		}
	}
	return nil
}

// A queue overflows for real: a loss for every watcher of the instance, once; and
// a directory that was replaced meanwhile is watched again when it is added again.
func TestOverflow(t *testing.T) {
	dir, elsewhere := t.TempDir(), t.TempDir()
	p := NewPool(PoolOptions{Instances: 1})
	defer p.Close()
	var ws [2]*Watcher
	for i := range ws {
		var err error
		if ws[i], err = New(p, Options{}); err != nil {
			t.Fatal(err)
		}
	}
	sub := filepath.Join(dir, "sub")
	mustMkdir(t, sub)
	mustAddPath(t, ws[0], dir, 1)
	mustAddPath(t, ws[0], sub, 2)
	mustAddPath(t, ws[1], elsewhere, 1)
	p.all[0].mu.Lock() // nobody drains
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	mustWrite(t, a, "")
	for range p.sys.maxQueue()/2 + 10 { // two events each
		if err := os.Rename(a, b); err != nil {
			t.Fatal(err)
		}
		a, b = b, a
	}
	if err := os.Remove(sub); err != nil {
		t.Fatal(err)
	}
	mustMkdir(t, sub)
	p.all[0].mu.Unlock()
	for i, w := range ws {
		if marks, whole := w.Take(nil); whole || len(marks) != 0 {
			t.Errorf("watcher %d: Take = %v, %v, want a loss", i, marks, whole)
		}
		wantMarks(t, w)
	}
	if s := p.Stats(); s.Overflows != 1 || s.Watches != 3 {
		t.Errorf("Stats = %+v", s)
	}
	mustAddPath(t, ws[0], dir, 1)
	mustAddPath(t, ws[0], sub, 2)
	mustMkdir(t, filepath.Join(sub, "new"))
	wantMarks(t, ws[0], Mark{2, "", Names}, Mark{2, "new", Names | Dir})
	if s := p.Stats(); s.Watches != 3 {
		t.Errorf("%d watches, want 3", s.Watches)
	}
}

func TestAddRefuses(t *testing.T) {
	dir := t.TempDir()
	p, w := newWatcher(t, Options{})
	mustWrite(t, filepath.Join(dir, "file"), "")
	if err := os.Symlink(".", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]error{"file": unix.ENOTDIR, "link": unix.ENOTDIR, "missing": unix.ENOENT} {
		if err := w.AddPath(filepath.Join(dir, name), 1); !errors.Is(err, want) {
			t.Errorf("AddPath(%s) = %v, want %v", name, err, want)
		}
	}
	f, err := os.Open(filepath.Join(dir, "file"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := w.Add(int(f.Fd()), 1); !errors.Is(err, unix.ENOTDIR) {
		t.Errorf("Add of a file = %v", err)
	}
	if err := w.Add(-1, 1); !errors.Is(err, unix.ENOENT) {
		t.Errorf("Add of no descriptor = %v", err)
	}
	if n := p.Stats().Watches; n != 0 {
		t.Errorf("%d watches", n)
	}
	wantMarks(t, w)
}

// The directory that was opened is watched, not what stands at its path now.
func TestAddOpened(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	mustMkdir(t, a)
	d, err := os.Open(a)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if err := os.Rename(a, b); err != nil {
		t.Fatal(err)
	}
	mustMkdir(t, a)
	_, w := newWatcher(t, Options{})
	mustAdd(t, w, int(d.Fd()), 1)
	mustMkdir(t, filepath.Join(a, "not"))
	mustMkdir(t, filepath.Join(b, "this"))
	wantMarks(t, w, Mark{1, "", Names}, Mark{1, "this", Names | Dir})
}

// The goroutine wakes up for events only, tells of them, and empties the queue
// though nobody takes.
func TestWakeups(t *testing.T) {
	dir := t.TempDir()
	p, w := newWatcher(t, Options{})
	mustAddPath(t, w, dir, 1)
	ready := make(chan struct{}, 1)
	w.Ready(ready)
	for i := range 3 {
		mustMkdir(t, filepath.Join(dir, fmt.Sprint("d", i)))
		<-ready
		if marks, whole := w.Take(nil); !whole || len(marks) == 0 {
			t.Errorf("Take = %v, %v", marks, whole)
		}
	}
	before := p.Stats().Wakeups
	for range 1000 {
		wantMarks(t, w)
	}
	// A wake-up for the last directory may have been on its way.
	if after := p.Stats().Wakeups; after > before+1 {
		t.Errorf("%d wake-ups without events", after-before)
	}
}

// Nothing is left open by watchers and pools that are closed.
func TestDescriptors(t *testing.T) {
	dir := t.TempDir()
	count := func() int {
		entries, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(entries)
	}
	before := count()
	for range 3 {
		p := NewPool(PoolOptions{})
		var all []*Watcher
		for range 2 * defaultInstances {
			w, err := New(p, Options{})
			if err != nil {
				t.Fatal(err)
			}
			mustAddPath(t, w, dir, 1)
			all = append(all, w)
		}
		for _, w := range all[:len(all)/2+3] { // some alone in their instance by then, some not
			w.Close()
		}
		p.Close()
	}
	m, err := OpenMountTable()
	if err != nil {
		t.Fatal(err)
	}
	m.Close()
	if after := count(); after != before {
		t.Errorf("%d descriptors before, %d after", before, after)
	}
}

func TestGenerationAllocs(t *testing.T) {
	m, err := OpenMountTable()
	if err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(100, func() { m.Generation() }); n != 0 {
		t.Errorf("Generation allocates %v times", n)
	}
	m.Close()
	if a, b := m.Generation(), m.Generation(); a == b {
		t.Error("a closed table seems unchanged")
	}
}

func TestTrusted(t *testing.T) {
	for magic, want := range map[uint32]bool{
		unix.EXT4_SUPER_MAGIC: true, unix.BTRFS_SUPER_MAGIC: true, unix.XFS_SUPER_MAGIC: true, unix.TMPFS_MAGIC: true,
		unix.NFS_SUPER_MAGIC: false, unix.FUSE_SUPER_MAGIC: false, unix.V9FS_MAGIC: false, unix.CIFS_SUPER_MAGIC: false, 0: false,
	} {
		if got := trusted(magic); got != want {
			t.Errorf("trusted(%#x) = %v", magic, got)
		}
	}
	proc, err := os.Open("/proc")
	if err != nil {
		t.Fatal(err)
	}
	defer proc.Close()
	if Watchable(int(proc.Fd())) || Watchable(-1) {
		t.Error("/proc, or nothing, is watchable")
	}
}

func BenchmarkTakeIdle(b *testing.B) {
	p := NewPool(PoolOptions{})
	defer p.Close()
	w, err := New(p, Options{})
	if err != nil {
		b.Fatal(err)
	}
	if err := w.AddPath(b.TempDir(), 1); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		w.Take(nil)
	}
}

func BenchmarkGeneration(b *testing.B) {
	m, err := OpenMountTable()
	if err != nil {
		b.Fatal(err)
	}
	defer m.Close()
	for b.Loop() {
		m.Generation()
	}
}

// BenchmarkAdd watches a directory, open already, and ends the watch.
func BenchmarkAdd(b *testing.B) {
	p := NewPool(PoolOptions{})
	defer p.Close()
	w, err := New(p, Options{})
	if err != nil {
		b.Fatal(err)
	}
	const many = 1000
	var dirs [many]*os.File
	root := b.TempDir()
	for i := range dirs {
		path := filepath.Join(root, fmt.Sprint(i))
		mustMkdir(b, path)
		if dirs[i], err = os.Open(path); err != nil {
			b.Fatal(err)
		}
		defer dirs[i].Close()
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		mustAdd(b, w, int(dirs[i%many].Fd()), Node(i%many))
		if i++; i%many == 0 {
			b.StopTimer()
			w.Reset()
			b.StartTimer()
		}
	}
}
