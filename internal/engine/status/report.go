package status

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"gust/internal/disk/filestat"
	"gust/internal/engine/submodule"
	"gust/internal/engine/treediff"
	"gust/internal/format/index"
	"gust/internal/pure/object"
	"gust/internal/pure/oid"
	"gust/internal/store/refs"
	"gust/internal/worktree/scan"
)

// ErrUnlikeGit says that what git status says depends on something that a Report does
// not know. It is returned wrapped.
var ErrUnlikeGit = errors.New("git has to be asked")

// A ReportRequest asks for one Report.
type ReportRequest struct {
	Threads   int // goroutines that scan the working tree; at least 1
	Untracked scan.UntrackedMode
}

// A Report is what git-status(1) says of the index and the working tree, path by
// path.
type Report struct {
	Head      refs.Head
	Files     []File   // what differs, sorted by path
	Untracked []string // sorted; directories end in a slash
	Index     *index.Index
	// Skipped and Tracked count the entries that a sparse checkout leaves out, and all.
	Skipped, Tracked int
	Sparse           bool // the index has sparse directories
}

// A File is a path that differs, or is unmerged.
type File struct {
	Path             string
	Staged, Unstaged Change
	Head, Index      treediff.Side    // the zero Side where there is nothing
	WorkTree         object.Mode      // 0 where there is nothing
	Stages           [3]treediff.Side // of an unmerged path: base, ours, theirs
	Unmerged         bool
	Sub              SubState
}

// A Change is how a path differs between two of HEAD, index and working tree.
type Change struct {
	Kind  byte   // 'M', 'A', 'D', 'T', 'R' or 'C' as git-status(1) has them; 0 for none
	From  string // where a renamed or copied file was
	Score int    // … and how alike the two are, in percent
}

// A SubState is the state of a submodule's working tree.
type SubState struct {
	Is                          bool // the path is a submodule
	Commit, Modified, Untracked bool // another commit, changes, untracked files
}

// Report returns what differs now. Errors are those of Summary, ErrUnlikeGit, and
// those of reading what cannot be read.
func (s *Repo) Report(ctx context.Context, q ReportRequest) (*Report, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, ErrClosed
	}
	r := &Report{}
	var err error
	if r.Head, err = s.r.Refs.Head(); err != nil {
		return nil, err
	}
	if err := s.history.update(s.r, s.db); err != nil {
		return nil, err
	}
	if err := s.history.readHead(s.db, r.Head.ID); err != nil {
		return nil, err
	}
	if err := s.loadIndex(); err != nil {
		return nil, err
	}
	if s.expanded() {
		return nil, fmt.Errorf("%w: it warns of patterns or expands the index", ErrUnlikeGit)
	}
	o := s.scanOptions(Request{Threads: q.Threads, Limits: Limits{Unstaged: -1, Untracked: -1, IgnoreBashShowUntracked: true, IgnoreStatusShowUntracked: true}})
	o.Untracked = q.Untracked
	res, err := s.scan(ctx, o)
	if err != nil {
		return nil, err
	}
	if res.Warns || s.full != nil {
		return nil, fmt.Errorf("%w: it may write a warning", ErrUnlikeGit)
	}
	if info, err := os.Lstat(s.r.WorkTree + "/.git"); len(s.ix.Gitlinks) > 0 && err == nil && info.Mode()&os.ModeSymlink != 0 {
		return nil, fmt.Errorf("%w: it may not find submodules from a linked repository", ErrUnlikeGit)
	}
	if err := s.openSubmodules(); err != nil {
		return nil, err
	}
	b := reporter{s: s, r: r, ctx: ctx, files: make(map[string]*File)}
	if err := b.fill(o.Untracked); err != nil {
		return nil, err
	}
	r.Skipped -= res.Present
	return r, nil
}

// openSubmodules opens the submodules that are there: of one that cannot be opened Git
// says more than that it is unchanged.
func (s *Repo) openSubmodules() error {
	back := &backend{s: s, ix: s.ix}
	for _, i := range s.ix.Gitlinks {
		path := string(s.ix.AppendPath(nil, int(i)))
		if _, err := os.Lstat(s.r.WorkTree + "/" + path + "/.git"); err != nil {
			continue
		}
		if _, err := back.open(path); err != nil {
			return fmt.Errorf("%w: %w", ErrUnlikeGit, err)
		}
	}
	return nil
}

// A reporter is the making of a Report.
type reporter struct {
	s     *Repo
	r     *Report
	ctx   context.Context
	files map[string]*File
}

func (b *reporter) fill(untracked scan.UntrackedMode) error {
	ix := b.s.tree.Index()
	b.r.Index, b.r.Tracked, b.r.Skipped, b.r.Sparse = ix, len(ix.Entries), ix.SkipWorktree, b.s.ix.Sparse
	if err := b.unmerged(ix); err != nil {
		return err
	}
	if err := b.staged(ix); err != nil {
		return err
	}
	if err := b.unstaged(ix, untracked); err != nil {
		return err
	}
	b.s.tree.Untracked(untracked, func(path []byte) { b.r.Untracked = append(b.r.Untracked, string(path)) })
	slices.Sort(b.r.Untracked)
	b.r.Files = make([]File, 0, len(b.files))
	for _, f := range b.files {
		b.r.Files = append(b.r.Files, *f)
	}
	slices.SortFunc(b.r.Files, func(x, y File) int { return strings.Compare(x.Path, y.Path) })
	return nil
}

// file returns the File of path.
func (b *reporter) file(path string) *File {
	f := b.files[path]
	if f == nil {
		f = &File{Path: path}
		b.files[path] = f
	}
	return f
}

// unmerged notes the unmerged paths.
func (b *reporter) unmerged(ix *index.Index) error {
	for i := 0; ix.Unmerged > 0 && i < len(ix.Entries); i++ {
		e := &ix.Entries[i]
		stage := e.Stage()
		if stage == 0 {
			continue
		}
		if object.Mode(e.Mode) == object.ModeGitlink {
			return fmt.Errorf("%w: a submodule is unmerged", ErrUnlikeGit)
		}
		f := b.file(string(ix.AppendPath(nil, i)))
		f.Unmerged = true
		f.Stages[stage-1] = treediff.Side{Mode: object.Mode(e.Mode), ID: ix.ID(i)}
		if f.WorkTree == 0 {
			var err error
			if f.WorkTree, err = b.mode(f.Path, object.Mode(e.Mode)); err != nil {
				return err
			}
		}
	}
	return nil
}

// staged compares HEAD with the index.
func (b *reporter) staged(ix *index.Index) error {
	if ix.Sparse {
		if err := b.s.expand(); err != nil {
			return err
		}
		ix = b.s.full
	}
	tree := b.s.history.tree(b.s.r.Algo)
	if _, replaced := b.s.history.replaced[tree]; replaced {
		return fmt.Errorf("%w: HEAD's tree is replaced", ErrUnlikeGit)
	}
	intended := make(map[int]bool)
	err := treediff.Entries(b.ctx, b.s.db, tree, ix, func(path []byte, head treediff.Side, at int) error {
		var e *index.Entry
		if at >= 0 {
			if e = &ix.Entries[at]; e.Stage() != 0 {
				return nil
			}
			if e.Flags&index.IntentToAdd != 0 {
				intended[at] = true
				e = nil
			}
		}
		if e == nil && head == (treediff.Side{}) {
			return nil
		}
		f := b.file(string(path))
		f.Head = head
		switch {
		case e == nil:
			f.Staged.Kind, f.Sub.Is = 'D', head.Mode == object.ModeGitlink
			return nil
		case head == (treediff.Side{}):
			f.Staged.Kind = 'A'
		case kindOf(object.Mode(e.Mode)) != kindOf(head.Mode):
			f.Staged.Kind = 'T'
		default:
			f.Staged.Kind = 'M'
		}
		f.Index = treediff.Side{Mode: object.Mode(e.Mode), ID: ix.ID(at)}
		f.WorkTree = f.Index.Mode
		f.Sub.Is = f.Index.Mode == object.ModeGitlink || head.Mode == object.ModeGitlink
		return nil
	})
	if err != nil || ix.IntentToAdd == 0 || tree.IsNull() {
		return err
	}
	for i := range ix.Entries { // those that HEAD has in the very same way
		e := &ix.Entries[i]
		if e.Flags&index.IntentToAdd != 0 && !intended[i] {
			f := b.file(string(ix.AppendPath(nil, i)))
			f.Staged.Kind, f.Head = 'D', treediff.Side{Mode: object.Mode(e.Mode), ID: ix.ID(i)}
		}
	}
	return nil
}

// kindOf returns the bits of a mode that tell what kind of file it is.
func kindOf(m object.Mode) object.Mode { return m & 0o170000 }

// unstaged notes what the scan found.
func (b *reporter) unstaged(ix *index.Index, untracked scan.UntrackedMode) error {
	var failed error
	b.s.tree.Differing(func(i int, gone bool) {
		if failed != nil {
			return
		}
		e := &ix.Entries[i]
		f := b.file(string(ix.AppendPath(nil, i)))
		f.Index = treediff.Side{Mode: object.Mode(e.Mode), ID: ix.ID(i)}
		if f.Staged.Kind == 0 {
			f.Head = f.Index
		}
		f.WorkTree = 0
		if !gone {
			if f.WorkTree, failed = b.mode(f.Path, f.Index.Mode); failed != nil {
				return
			}
		}
		f.Unstaged.Kind = 'M'
		switch {
		case f.WorkTree == 0:
			f.Unstaged.Kind = 'D'
		case e.Flags&index.IntentToAdd != 0:
			f.Unstaged.Kind = 'A'
		case kindOf(f.WorkTree) != kindOf(f.Index.Mode):
			f.Unstaged.Kind = 'T'
		}
		if e.Flags&index.IntentToAdd != 0 {
			f.Index = treediff.Side{}
			if f.Staged.Kind == 0 {
				f.Head = treediff.Side{}
			}
		}
		if f.Index.Mode == object.ModeGitlink {
			f.Sub, failed = b.submodule(i, f.Path, gone, untracked)
		}
	})
	return failed
}

// mode returns Git's mode of the file at path, whose entry has mode indexed; 0 if
// there is none.
func (b *reporter) mode(path string, indexed object.Mode) (object.Mode, error) {
	var st filestat.Stat
	rules := &b.s.settings.stat
	switch err := filestat.Of(&st, b.s.r.WorkTree+"/"+path); {
	case filestat.IsAbsent(err):
		return 0, nil
	case err != nil:
		return 0, err
	case st.IsSymlink():
		return object.ModeSymlink, nil
	case st.IsDir():
		if indexed == object.ModeGitlink || b.repositoryAt(path) {
			return object.ModeGitlink, nil
		}
		return 0, nil
	case !st.IsRegular():
		return 0, fmt.Errorf("%w: '%s' is no file that Git keeps", ErrUnlikeGit, path)
	case rules.NoSymlinks && indexed == object.ModeSymlink:
		return object.ModeSymlink, nil
	case rules.IgnoreExec:
		if kindOf(indexed) == object.ModeFile&0o170000 {
			return indexed, nil
		}
		return object.ModeFile, nil
	case st.Mode&0o100 != 0:
		return object.ModeExec, nil
	}
	return object.ModeFile, nil
}

func (b *reporter) repositoryAt(path string) bool {
	back := backend{s: b.s}
	return back.IsRepository(path)
}

// submodule returns the state of the submodule at entry i.
func (b *reporter) submodule(i int, path string, missing bool, untracked scan.UntrackedMode) (SubState, error) {
	st := SubState{Is: true}
	if missing {
		return st, nil
	}
	back := &backend{s: b.s, ix: b.s.tree.Index(), untracked: untracked}
	ignored := b.s.modules.Ignore(b.s.r, path, b.s.settings.ignoreSubs)
	sub, err := back.open(path)
	if err != nil {
		return st, err
	}
	head, err := sub.r.Refs.Head()
	if err != nil {
		return st, err
	}
	st.Commit = !head.ID.IsNull() && head.ID != back.ix.ID(i)
	if ignored >= submodule.Dirty {
		return st, nil
	}
	mode := scan.UntrackedNormal
	if ignored >= submodule.Untracked || untracked == scan.UntrackedNo {
		mode = scan.UntrackedNo
	}
	r, err := sub.Report(b.ctx, ReportRequest{Threads: 1, Untracked: mode})
	if err != nil {
		return st, err
	}
	st.Untracked = len(r.Untracked) > 0
	for i := range r.Files {
		f := &r.Files[i]
		if f.Sub.Is && f.Sub.Untracked && !f.Sub.Commit && !f.Sub.Modified && f.Staged.Kind == 0 && f.Unstaged.Kind == 'M' {
			st.Untracked = true
			continue
		}
		st.Modified = true
	}
	return st, nil
}

// AheadBehind counts the commits that only a, and only b, leads to.
func (s *Repo) AheadBehind(ctx context.Context, a, b oid.ID) (ahead, behind int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.history.aheadBehind(ctx, a, b)
}
