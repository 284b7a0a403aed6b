package checkout

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"sort"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"gust/internal/disk/filestat"
	"gust/internal/disk/workfile"
	"gust/internal/pure/object"
)

// A state says how far a step has come.
type state uint8

const (
	untouched state = iota
	written         // the new file is in staging
	placed          // the new file is in its place, and the old one, if any, in staging
)

// work is the changing of the working tree.
type work struct {
	m       *Move
	journal journal
	made    bool // there is a staging directory
	stats   []filestat.Stat
	states  []state       // one worker writes one step's
	drawer  []uint8       // of each step: which one has its file
	removed []removedDir  // directories that were removed, the deepest first
	created []string      // directories that were made, the outermost first
	done    atomic.Int64  // files written
	mu      sync.Mutex    // guards err
	err     error         // the first one
	stop    chan struct{} // closed with err set
}

type removedDir struct {
	path string
	mode uint32
}

func (w *work) close() {
	if w.made {
		w.journal.close()
		w.made = false
	}
}

// run carries out the steps: what goes, then directories, then what comes.
func (w *work) run(ctx context.Context) error {
	if !w.made {
		return nil
	}
	w.stop = make(chan struct{})
	w.parallel(ctx, func(s *step) bool { return s.op == opRemove })
	if err := w.first(ctx); err != nil {
		return err
	}
	if err := w.removeDirs(); err != nil {
		return err
	}
	if err := w.makeDirs(); err != nil {
		return err
	}
	w.parallel(ctx, func(s *step) bool { return s.op == opCreate || s.op == opReplace })
	return w.first(ctx)
}

// first returns the first error.
func (w *work) first(ctx context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return w.err
	}
	return ctx.Err()
}

func (w *work) fail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		w.err = err
		close(w.stop)
	}
}

// A worker carries out steps, directory by directory.
type worker struct {
	*work
	n      int // its number, and that of its drawer
	conv   *conversions
	blob   []byte
	dir    string
	open   workfile.Dir
	isOpen bool
}

// runSteps is how many steps a worker takes at once.
const runSteps = 32

// workers returns how many goroutines carry out the steps.
func (m *Move) workers() int {
	return min(m.q.Threads, 1+len(m.steps)/runSteps, math.MaxUint8)
}

// A share is a worker's part of the steps: directories of its own, as far as can be,
// since the system has one file made in a directory at a time. Who is done helps the
// others.
type share struct {
	next atomic.Int64
	end  int
}

// take returns the next steps of a share, as a span of Move.order.
func (s *share) take() (lo, hi int, ok bool) {
	lo = int(s.next.Add(runSteps)) - runSteps
	return lo, min(lo+runSteps, s.end), lo < s.end
}

// parallel carries out the steps that want picks, on all threads.
func (w *work) parallel(ctx context.Context, want func(*step) bool) {
	n := w.m.workers()
	shares := make([]share, n)
	for i := range shares {
		shares[i].next.Store(int64(len(w.m.order) * i / n))
		shares[i].end = len(w.m.order) * (i + 1) / n
	}
	run := func(own int) {
		k := &worker{work: w, n: own, conv: w.m.rules.conversions()}
		defer k.leave()
		for i := range shares {
			s := &shares[(own+i)%n]
			for lo, hi, ok := s.take(); ok; lo, hi, ok = s.take() {
				if !k.steps(ctx, w.m.order[lo:hi], want) {
					return
				}
			}
		}
	}
	var wg sync.WaitGroup
	for i := 1; i < n; i++ {
		wg.Go(func() { run(i) })
	}
	run(0)
	wg.Wait()
}

// steps carries out those of the given steps that want picks, and reports whether to
// go on.
func (k *worker) steps(ctx context.Context, numbers []int, want func(*step) bool) bool {
	for _, i := range numbers {
		s := &k.m.steps[i]
		if !want(s) {
			continue
		}
		select {
		case <-k.stop:
			return false
		case <-ctx.Done():
			return false
		default:
		}
		if err := k.step(i); err != nil {
			k.fail(fmt.Errorf("'%s': %w", s.path, err))
			return false
		}
	}
	return true
}

func (k *worker) leave() {
	if k.isOpen {
		k.open.Close()
		k.isOpen = false
	}
}

// enter opens the directory that path is in.
func (k *worker) enter(path string) (workfile.Dir, error) {
	dir := parent(path)
	if k.isOpen && k.dir == dir {
		return k.open, nil
	}
	k.leave()
	open, err := k.m.rules.root.OpenDir(dir)
	if err == nil {
		k.open, k.dir, k.isOpen = open, dir, true
	}
	return open, err
}

// step carries out step i.
func (k *worker) step(i int) error {
	s := &k.m.steps[i]
	dir, err := k.enter(s.path)
	if err != nil {
		return err
	}
	name, number := base(s.path), strconv.Itoa(i)
	k.drawer[i] = uint8(k.n)
	if s.op == opRemove {
		if err := dir.Rename(name, k.journal.drawers[k.n].Dir, number); err != nil {
			return err
		}
		k.states[i] = placed
		return nil
	}
	content, err := k.content(s)
	if err != nil {
		return err
	}
	if s.op == opCreate {
		err = k.create(dir, name, s, content, i)
	} else {
		err = k.replace(dir, name, number, s, content, i)
	}
	if err == nil && k.m.q.Progress != nil {
		k.m.q.Progress(int(k.done.Add(1)), len(k.m.steps))
	}
	return err
}

// content returns what s writes, in memory that the next call reuses.
func (k *worker) content(s *step) ([]byte, error) {
	typ, data, err := k.m.db.Read(s.to.ID, k.blob[:0])
	if err != nil {
		return nil, err
	}
	if typ != object.Blob {
		return nil, fmt.Errorf("object %s is a %s, not a blob", s.to.ID, typ)
	}
	if cap(data) <= keepBlob {
		k.blob = data
	}
	if !s.to.Mode.IsRegular() {
		return data, nil
	}
	m, err := k.conv.smudge(s.path)
	if err != nil {
		return nil, err
	}
	if m.Identity() {
		return data, nil
	}
	return m.Apply(data, s.to.ID)
}

// keepBlob is the size of the buffer for blobs that is kept for the next one.
const keepBlob = 4 << 20

// create writes a file where there is none.
func (k *worker) create(dir workfile.Dir, name string, s *step, content []byte, i int) error {
	if s.to.Mode == object.ModeSymlink {
		if err := dir.Symlink(name, string(content)); err != nil {
			return err
		}
		k.states[i] = placed
		return dir.Stat(&k.stats[i], name)
	}
	made := func() error { k.states[i] = placed; return nil }
	return dir.WriteFile(name, s.to.Mode == object.ModeExec, content, &k.stats[i], made)
}

// replace writes a file in staging and swaps it with the one in its place.
func (k *worker) replace(dir workfile.Dir, name, number string, s *step, content []byte, i int) error {
	drawer := k.journal.drawers[k.n].Dir
	swap := func() error {
		k.states[i] = written
		err := exchange(drawer, number, dir, name)
		if err == nil {
			k.states[i] = placed
		}
		return err
	}
	if s.to.Mode != object.ModeSymlink {
		return drawer.WriteFile(number, s.to.Mode == object.ModeExec, content, &k.stats[i], swap)
	}
	if err := drawer.Symlink(number, string(content)); err != nil {
		return err
	}
	if err := swap(); err != nil {
		return err
	}
	return dir.Stat(&k.stats[i], name)
}

// exchange swaps a file in a drawer with the one in its place.
func exchange(drawer workfile.Dir, number string, dir workfile.Dir, name string) error {
	err := drawer.Exchange(number, dir, name)
	if errors.Is(err, workfile.ErrNoExchange) {
		err = swapInTwo(drawer, number, dir, name)
	}
	return err
}

// swapInTwo is Exchange where there is none: between its two renames the path has
// no file.
func swapInTwo(staging workfile.Dir, number string, dir workfile.Dir, name string) error {
	if err := dir.Rename(name, staging, number+oldSuffix); err != nil {
		return err
	}
	if err := staging.Rename(number, dir, name); err != nil {
		_ = staging.Rename(number+oldSuffix, dir, name)
		return err
	}
	return staging.Rename(number+oldSuffix, staging, number)
}

// oldSuffix marks, in staging, the old file of a step that is swapped in two.
const oldSuffix = ".old"

// removeDirs removes the directories that became empty. Where one cannot be removed,
// it has something in it, and stays.
func (w *work) removeDirs() error {
	needed := make(map[string]bool) // these hold files, or will
	for i := range w.m.steps {
		if op := w.m.steps[i].op; op == opCreate || op == opReplace {
			markAbove(needed, w.m.steps[i].path)
		}
	}
	if w.m.q.Dir != "" {
		markAbove(needed, w.m.q.Dir+"/.")
	}
	seen := make(map[string]bool)
	for i := range w.m.steps {
		if w.m.steps[i].op == opRemove {
			markAbove(seen, w.m.steps[i].path)
		}
	}
	var dirs []string
	for d := range seen {
		if d != "" && !needed[d] && !w.occupied(d) {
			dirs = append(dirs, d)
		}
	}
	// What is deeper is longer, and comes first.
	sort.Slice(dirs, func(i, j int) bool {
		if len(dirs[i]) != len(dirs[j]) {
			return len(dirs[i]) > len(dirs[j])
		}
		return dirs[i] < dirs[j]
	})
	for _, d := range dirs {
		if err := w.removeDir(d); err != nil {
			return fmt.Errorf("'%s': %w", d, err)
		}
	}
	return nil
}

func markAbove(set map[string]bool, path string) {
	for p := path; p != ""; {
		p = parent(p)
		if set[p] {
			return
		}
		set[p] = true
	}
}

// occupied reports whether a file of the index stays in directory dir.
func (w *work) occupied(dir string) bool {
	ix := w.m.ix
	d := 0
	for name := range strings.SplitSeq(dir, "/") {
		k, ok := ix.FindDir(d, []byte(name))
		if !ok {
			return false
		}
		d = k
	}
	removed := 0
	for i := ix.Dirs[d].First; i < ix.Dirs[d].Last; i++ {
		if w.m.look.verdicts[i] != absent {
			removed++
		}
	}
	lo := sort.Search(len(w.m.steps), func(i int) bool { return w.m.steps[i].path >= dir+"/" })
	for i := lo; i < len(w.m.steps) && strings.HasPrefix(w.m.steps[i].path, dir+"/"); i++ {
		if s := &w.m.steps[i]; s.op == opRemove {
			removed -= w.stages(s.entry)
		}
	}
	return removed > 0
}

// stages returns the number of entries of the path of entry i, its first one.
func (w *work) stages(i int) int {
	ix, n := w.m.ix, 1
	for i+n < len(ix.Entries) && ix.Entries[i].Stage() != 0 && ix.Entries[i+n].Dir == ix.Entries[i].Dir && ix.Name(i+n) == ix.Name(i) {
		n++
	}
	return n
}

func (w *work) removeDir(dir string) error {
	up, err := w.m.rules.root.OpenDir(parent(dir))
	if filestat.IsAbsent(err) {
		return nil
	}
	if err != nil {
		return err
	}
	defer up.Close()
	var st filestat.Stat
	if err := up.Stat(&st, base(dir)); err != nil {
		return err
	}
	if up.Rmdir(base(dir)) == nil {
		w.removed = append(w.removed, removedDir{dir, st.Mode})
	}
	return nil
}

// makeDirs makes the directories that new files need.
func (w *work) makeDirs() error {
	there := map[string]bool{"": true}
	for dir, is := range w.m.there {
		if is {
			there[dir] = true // nothing that is needed was removed
		}
	}
	for i := range w.m.steps {
		if s := &w.m.steps[i]; s.op == opCreate {
			if err := w.makeDir(parent(s.path), there); err != nil {
				return fmt.Errorf("'%s': %w", s.path, err)
			}
		}
	}
	return nil
}

// makeDir makes dir, and those above it, unless there is known to have it.
func (w *work) makeDir(dir string, there map[string]bool) error {
	if there[dir] {
		return nil
	}
	if _, known := w.m.there[dir]; !known {
		if d, err := w.m.rules.root.OpenDir(dir); err == nil {
			d.Close()
			markAbove(there, dir+"/.")
			return nil
		}
	}
	if err := w.makeDir(parent(dir), there); err != nil {
		return err
	}
	up, err := w.m.rules.root.OpenDir(parent(dir))
	if err != nil {
		return err
	}
	defer up.Close()
	if err := up.Mkdir(base(dir)); err != nil {
		return err
	}
	w.created = append(w.created, dir)
	there[dir] = true
	return nil
}

// rollback takes back everything, and removes the staging directory. After an error
// that is still there.
func (w *work) rollback() error {
	if !w.made {
		return nil
	}
	var errs []error
	for i := range w.m.steps {
		if s := &w.m.steps[i]; s.op != opRemove {
			errs = append(errs, w.takeBack(i))
		}
	}
	for i := len(w.created) - 1; i >= 0; i-- {
		errs = append(errs, w.inParent(w.created[i], workfile.Dir.Rmdir))
	}
	for i := len(w.removed) - 1; i >= 0; i-- {
		d := w.removed[i]
		errs = append(errs, w.inParent(d.path, workfile.Dir.Mkdir))
		errs = append(errs, w.inParent(d.path, func(up workfile.Dir, name string) error { return up.Chmod(name, d.mode&0o7777) }))
	}
	for i := range w.m.steps {
		if s := &w.m.steps[i]; s.op == opRemove && w.states[i] == placed {
			errs = append(errs, w.inParent(s.path, func(up workfile.Dir, name string) error {
				return w.journal.drawers[w.drawer[i]].Rename(strconv.Itoa(i), up, name)
			}))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return w.journal.remove()
}

// takeBack takes back step i, which wrote a file.
func (w *work) takeBack(i int) error {
	if w.states[i] != placed {
		return nil
	}
	s := &w.m.steps[i]
	return w.inParent(s.path, func(up workfile.Dir, name string) error {
		if s.op == opCreate {
			return up.Unlink(name)
		}
		return exchange(w.journal.drawers[w.drawer[i]].Dir, strconv.Itoa(i), up, name)
	})
}

// inParent calls do with the directory that path is in, and path's name there.
func (w *work) inParent(path string, do func(up workfile.Dir, name string) error) error {
	up, err := w.m.rules.root.OpenDir(parent(path))
	if err != nil {
		return fmt.Errorf("'%s': %w", path, err)
	}
	defer up.Close()
	if err := do(up, base(path)); err != nil {
		return fmt.Errorf("'%s': %w", path, err)
	}
	return nil
}

// remove removes the staging directory with what is in it.
func (j *journal) remove() error {
	// The journal goes last: without it nothing is known of the rest.
	for _, d := range j.drawers {
		names, err := d.Names()
		if err != nil {
			return err
		}
		for _, name := range names {
			if err := d.Unlink(name); err != nil {
				return err
			}
		}
		if err := j.staging.Rmdir(d.name); err != nil {
			return err
		}
	}
	if err := j.staging.Unlink(journalName); err != nil {
		return err
	}
	return os.Remove(j.dir)
}
