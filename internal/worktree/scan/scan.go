// Package scan makes one pass over the working tree: what differs from the index,
// what is untracked.
//
// A Tree remembers the last pass, so that the next one does the least work: one
// open, fstat and close for each directory, one fstatat for each index entry. A
// directory is listed again only if its time stamps moved, or were too young to
// be believed when it was listed; what is kept of a listing are the names that
// are not in the index.
package scan

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"gust/internal/disk/dirlist"
	"gust/internal/pure/oid"
	"gust/internal/rules/attr"
	"gust/internal/rules/ignore"
)

// An UntrackedMode says which untracked files are counted, as
// status.showUntrackedFiles does (git-config(1)).
type UntrackedMode uint8

const (
	UntrackedNormal UntrackedMode = iota // a directory without an index entry below it counts once
	UntrackedAll                         // each file in such directories counts
	UntrackedNo                          // none is looked for
)

// Options are what a scan needs to know beside the index. The zero value of each
// optional field is Git's default.
type Options struct {
	Threads   int // directories are scanned in parallel by this many goroutines; at least 1
	Untracked UntrackedMode

	// MaxUnstaged and MaxUntracked end the search when that many were found; 0
	// looks for none, a negative number has no limit.
	MaxUnstaged, MaxUntracked int

	Stat StatRules

	// Ignore holds the patterns of lower precedence than every .gitignore file:
	// core.excludesFile and info/exclude. Attrs holds those of lower precedence
	// than every .gitattributes file. The same pointers promise the same patterns.
	Ignore     *ignore.Stack
	Attrs      *attr.Stack
	IgnoreCase bool // core.ignoreCase

	// SparseCheckout makes a skip-worktree entry whose file is present an ordinary
	// one (core.sparseCheckout without sparse.expectFilesOutsideOfPatterns).
	SparseCheckout bool

	// ContentKey changes when a file's content may be cleaned in another way than
	// before, for other reasons than Attrs. It invalidates remembered verdicts.
	ContentKey any

	// Watch, if not nil, watches each directory that an answer depends on.
	Watch Watch
}

// A Watch is told which directories an answer depends on. Its methods are called
// from several goroutines at once.
type Watch interface {
	// Add watches dir under the number id, before dir is looked at. A number that was
	// in use is given to the new directory.
	Add(dir dirlist.Dir, id uint32) error
	// Remove ends the watch under id.
	Remove(id uint32)
}

// A Backend answers what a scan cannot know of itself. It is called from several
// goroutines at once.
type Backend interface {
	// Same reports whether a file, once cleaned, is the content that its entry names.
	Same(ctx context.Context, f *File) (bool, error)
	// ReadBlob returns the content of entry i's blob, for a .gitignore or
	// .gitattributes file that is in the index but not in the working tree.
	ReadBlob(i int) ([]byte, error)
	// IsRepository reports whether the directory at path, which is not in the
	// index and has a .git, is a repository of its own.
	IsRepository(path string) bool
	// SubmoduleModified reports whether Git lists the submodule at entry i as
	// modified. missing is true where no directory is in its place.
	SubmoduleModified(ctx context.Context, i int, path string, missing bool) bool
}

// A Result is what one scan found. Counts stop at the limits of Options.
type Result struct {
	Unstaged  int // entries that differ from the working tree, unmerged ones left out
	Deleted   int // … of these, without a file
	Untracked int
	Present   int   // skip-worktree entries that counted as ordinary, see Options.SparseCheckout
	Unwatched error // why Options.Watch does not cover the answer; nil if it does or there is none
	Expand    bool  // a sparse directory is present: the counts hold only for an expanded index
	Warns     bool  // Git may write a warning: of a directory, or a rule file, that it cannot read; only what the scan met anew

	Work Work
}

// Work counts what a scan did, for tests and for finding out where time went.
type Work struct {
	Stats    int // fstatat calls on entries and names
	Opened   int // directories opened
	Listed   int // directories listed
	Compared int // files whose content was read
}

func (w *Work) add(v *Work) {
	w.Stats += v.Stats
	w.Opened += v.Opened
	w.Listed += v.Listed
	w.Compared += v.Compared
}

// Scan compares the working tree at root with the index that t is for. It stops
// early when the limits of o are reached, and with ctx's error when ctx is done.
// Files that vanish or cannot be read while it looks are as Git treats them: a
// missing one is deleted, one that may not be looked at is not counted.
//
// Scan never writes: entries it found racily clean are remembered in t.
func (t *Tree) Scan(ctx context.Context, root string, o *Options, back Backend) (Result, error) {
	t.whole = false
	p, err := t.start(ctx, root, o, back)
	if err != nil {
		return Result{}, err
	}
	defer p.root.Close()
	p.dirtyFirst()
	if !p.done() {
		p.all()
	}
	return p.finish()
}

// start begins a pass. Its root must be closed.
func (t *Tree) start(ctx context.Context, root string, o *Options, back Backend) (*pass, error) {
	p := &pass{tree: t, o: o, back: back, ctx: ctx, now: time.Now().UnixNano(), ix: t.ix, empty: oid.Hash(t.ix.Algo, "blob", nil)}
	t.begin(o)
	p.wantUnstaged = o.MaxUnstaged != 0
	p.wantUntracked = o.MaxUntracked != 0 && o.Untracked != UntrackedNo
	p.wantPresent = o.SparseCheckout && t.ix.SkipWorktree > 0
	dir, err := dirlist.Open(root)
	if err != nil {
		return nil, err
	}
	if err := dir.Stat(&p.rootStat); err != nil {
		dir.Close()
		return nil, err
	}
	if p.root, p.trusts = dir.Local(); p.trusts {
		// A local file system: most of it is in memory, or its disk answers soon. A server
		// keeps a processor more than it has threads that scan.
		p.root = p.root.Hot()
	}
	return p, nil
}

// finish returns the result of the pass.
func (p *pass) finish() (Result, error) {
	if err := p.ctx.Err(); err != nil {
		return Result{}, err
	}
	if p.err != nil {
		return Result{}, p.err
	}
	p.settle(p.update)
	return p.result(), nil
}

// all scans every directory, in shards of whole directories.
func (p *pass) all() {
	shards := p.tree.shards(p.o.Threads)
	if len(shards) > 2 {
		p.spine(shards)
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	run := func() {
		w := &worker{pass: p}
		defer w.closeLevels(0)
		for {
			i := int(next.Add(1))
			if i >= len(shards) || p.done() || p.ctx.Err() != nil {
				break
			}
			w.shard(shards[i-1], shards[i])
		}
		p.mu.Lock()
		p.work.add(&w.work)
		p.linked = append(p.linked, w.linked...)
		p.mu.Unlock()
	}
	for range min(p.o.Threads, len(shards)-1) - 1 {
		wg.Go(run)
	}
	run()
	wg.Wait()
}
