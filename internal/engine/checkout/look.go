package checkout

import (
	"context"
	"os"
	"sync"
	"sync/atomic"

	"gust/internal/disk/dirlist"
	"gust/internal/disk/filestat"
	"gust/internal/format/index"
	"gust/internal/pure/object"
	"gust/internal/pure/oid"
	"gust/internal/worktree/content"
	"gust/internal/worktree/scan"
)

// A verdict is what was found at the path of an entry.
type verdict uint8

const (
	same    verdict = iota // the file is the entry's
	changed                // it is another one
	retyped                // another kind of file
	absent                 // there is none
)

// look is what was found of the working tree.
type look struct {
	rules    *scan.StatRules
	verdicts []verdict             // by entry
	inodes   []uint32              // of the files, by entry
	fresh    map[int]filestat.Stat // of the files whose content was compared

	mu  sync.Mutex // guards fresh and err
	err error
}

// settle sets the stats of the files that were compared.
func (l *look) settle(entry func(i int) *index.Entry) {
	for i, st := range l.fresh {
		if !l.modified(i) {
			entry(i).SetStat(&st)
		} else if !l.rules.Differs(entry(i), &st) {
			entry(i).Size = 0 // its stat must not vouch for it under a younger index
		}
	}
}

// modified reports whether entry i's file is there and is another one.
func (l *look) modified(i int) bool { return l.verdicts[i] == changed || l.verdicts[i] == retyped }

func (l *look) fail(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil {
		l.err = err
	}
}

// lookRun is how many directories a worker takes at once.
const lookRun = 64

// lookAround compares the entries that matter with their files.
func (m *Move) lookAround(ctx context.Context) (err error) {
	o := lookOptions{rewrites: m.q.Force}
	if l := m.q.Limit; l != nil {
		o.skip = m.skipped
		if !l.Files {
			m.look = newLook(m.rules, m.ix)
			return nil
		}
	}
	m.look, err = m.lookAt(ctx, m.ix, o)
	return err
}

func newLook(r *rules, ix *index.Index) *look {
	return &look{rules: &r.Stat, verdicts: make([]verdict, len(ix.Entries)), inodes: make([]uint32, len(ix.Entries)), fresh: make(map[int]filestat.Stat)}
}

type lookOptions struct {
	skip     func(i int) bool // picks entries that count as same; nil picks none
	rewrites bool             // a file whose stat is another one is changed, whatever is in it
	refresh  bool             // a directory in a file's place is another kind of file
}

// lookAt compares the entries of ix with their files, on all threads.
func (m *Move) lookAt(ctx context.Context, ix *index.Index, o lookOptions) (*look, error) {
	l := newLook(m.rules, ix)
	root, err := dirlist.Open(m.r.WorkTree)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if local, ok := root.Local(); ok {
		root = local.Hot()
	}
	var next atomic.Int64
	work := func() {
		w := &looker{m: m, ix: ix, look: l, lookOptions: o, ctx: ctx, empty: oid.Hash(ix.Algo, "blob", nil), root: root}
		defer w.leave(-1)
		for {
			hi := int(next.Add(lookRun))
			lo := hi - lookRun
			if lo >= len(ix.Dirs) || ctx.Err() != nil {
				return
			}
			for d := lo; d < min(hi, len(ix.Dirs)); d++ {
				w.dir(d)
			}
		}
	}
	var wg sync.WaitGroup
	for range min(m.q.Threads, 1+len(ix.Dirs)/lookRun) - 1 {
		wg.Go(work)
	}
	work()
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return l, l.err
}

// A looker looks at directories, one after the other in index order.
type looker struct {
	lookOptions
	m     *Move
	ix    *index.Index
	look  *look
	ctx   context.Context
	empty oid.ID
	root  dirlist.Dir
	open  []level // the directory at hand and those above it, but for the root
	conv  *conversions
	same  *content.Comparer
	dir0  dirlist.Dir // of the file being compared
	path  []byte
}

type level struct {
	d    int
	dir  dirlist.Dir
	gone bool
	left verdict // if gone: what its entries are
}

// leave closes the directories that d is not in.
func (w *looker) leave(d int) {
	for n := len(w.open); n > 0; n-- {
		top := w.open[n-1]
		if d >= 0 && top.d <= d && d < w.ix.Dirs[top.d].End {
			return
		}
		if !top.gone {
			top.dir.Close()
		}
		w.open = w.open[:n-1]
	}
}

// enter opens directory d.
func (w *looker) enter(d int) level {
	w.leave(d)
	if d == 0 {
		return level{dir: w.root}
	}
	if n := len(w.open); n > 0 && w.open[n-1].d == d {
		return w.open[n-1]
	}
	up := w.enter(w.ix.Dirs[d].Parent)
	l := level{d: d, gone: up.gone, left: up.left}
	if !up.gone {
		var err error
		if l.dir, err = up.dir.OpenDir(w.ix.DirNameZ(d)); err != nil {
			l.gone, l.left = true, w.blocked(d, up.dir)
			if !filestat.IsAbsent(err) && !dirlist.IsNotDir(err) {
				w.look.fail(&Refusal{Reason: "cannot be looked into", Path: w.ix.DirPath(d), Err: err})
			}
		}
	}
	w.open = append(w.open, l)
	return l
}

// blocked returns the verdict on the entries of directory d, which cannot be opened
// in up.
func (w *looker) blocked(d int, up dirlist.Dir) verdict {
	var st filestat.Stat
	if !w.refresh || up.StatName(&st, w.ix.DirNameZ(d)) != nil {
		return absent
	}
	if st.IsSymlink() {
		w.look.fail(refuse("is a symbolic link", w.ix.DirPath(d))) // which Git follows here
	}
	return changed // Git gets ENOTDIR, and takes only ENOENT for absence
}

// dir looks at the entries directly in directory d.
func (w *looker) dir(d int) {
	l := w.enter(d)
	for _, i := range w.ix.Files(d) {
		if w.skip != nil && w.skip(int(i)) {
			continue
		}
		if l.gone {
			w.look.verdicts[i] = l.left
			continue
		}
		w.entry(int(i), l.dir)
	}
}

func (w *looker) entry(i int, dir dirlist.Dir) {
	ix := w.ix
	e := &ix.Entries[i]
	if e.Stage() != 0 {
		w.look.verdicts[i] = changed
		return
	}
	var st filestat.Stat
	if err := dir.StatName(&st, ix.NameZ(i)); err != nil {
		if !filestat.IsAbsent(err) {
			w.look.fail(&Refusal{Reason: "cannot be looked at", Path: string(ix.AppendPath(nil, i)), Err: err})
			return
		}
		w.look.verdicts[i] = absent
		return
	}
	w.look.inodes[i] = uint32(st.Ino)
	if object.Mode(e.Mode) == object.ModeGitlink {
		w.submodule(i, dir, &st)
		return
	}
	switch w.look.rules.Match(e, &st, e.Size == 0 && w.empty.EqualRaw(ix.RawID(i)), ix) {
	case scan.Modified:
		w.look.verdicts[i] = changed
		if st.IsDir() && !w.refresh {
			w.look.verdicts[i] = absent // a directory in a file's place: the file is gone
		} else if st.IsSymlink() != (object.Mode(e.Mode) == object.ModeSymlink) || !st.IsSymlink() && !st.IsRegular() {
			w.look.verdicts[i] = retyped
		}
	case scan.Unsure:
		if w.rewrites && (w.look.rules.Differs(e, &st) || e.Size != index.RecordedSize(st.Size)) {
			// Git writes it anew, and so by the conversions of today.
			w.look.verdicts[i] = changed
			return
		}
		w.compare(i, dir, &st)
	}
}

// submodule looks at the place of a submodule. Only one that is not populated is
// known to have no changes.
func (w *looker) submodule(i int, dir dirlist.Dir, st *filestat.Stat) {
	var git filestat.Stat
	if st.IsDir() {
		if sub, err := dir.OpenDir(w.ix.NameZ(i)); err == nil {
			err = sub.StatName(&git, ".git\x00")
			sub.Close()
			if filestat.IsAbsent(err) {
				return
			}
		}
	}
	w.look.fail(&Refusal{Reason: "is a submodule with something in it", Path: string(w.ix.AppendPath(nil, i))})
}

// compare compares the content of entry i's file.
func (w *looker) compare(i int, dir dirlist.Dir, st *filestat.Stat) {
	ix := w.ix
	if w.same == nil {
		w.conv = w.m.rules.conversions()
		w.same = content.New(ix.Algo, content.Files{
			Open:     func(nameZ string) (*os.File, error) { return w.dir0.OpenFile(nameZ, string(w.path)) },
			Readlink: func(nameZ string) (string, error) { return w.dir0.Readlink(nameZ, string(w.path)) },
		})
	}
	w.dir0, w.path = dir, ix.AppendPath(w.path[:0], i)
	plan, err := w.conv.plan(string(w.path))
	if err != nil {
		w.look.fail(err)
		return
	}
	e := &ix.Entries[i]
	ok, err := w.same.Same(w.ctx, content.Entry{ID: ix.ID(i), Size: e.Size}, &content.File{
		Name: ix.NameZ(i), Path: string(w.path), Size: st.Size,
		Symlink: object.Mode(e.Mode) == object.ModeSymlink,
		Plan:    plan,
		Indexed: func() ([]byte, error) { return w.m.rules.blob(ix.ID(i)) },
	})
	if err != nil {
		w.look.fail(&Refusal{Reason: "cannot be compared", Path: string(w.path), Err: err})
		return
	}
	if !ok {
		w.look.verdicts[i] = changed
	}
	w.look.mu.Lock()
	w.look.fresh[i] = *st
	w.look.mu.Unlock()
}
