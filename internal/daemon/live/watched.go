package live

import (
	"context"
	"errors"
	"sync"
	"time"

	"gust/internal/disk/dirlist"
	"gust/internal/engine/status"
	"gust/internal/worktree/scan"
	"gust/internal/worktree/watch"
)

// A watcher makes the watches of one State.
type watcher struct {
	pool   *watch.Pool
	mounts *watch.MountTable
}

// open returns a watch of one working tree.
func (w *watcher) open() (status.Watch, error) {
	if w.mounts == nil {
		return nil, errors.New("mount table cannot be watched")
	}
	one, err := watch.New(w.pool, watch.Options{})
	if err != nil {
		return nil, err
	}
	return &treeWatch{Watcher: one, mounts: w.mounts, generation: w.mounts.Generation()}, nil
}

// A treeWatch is a Watcher as status.Watch wants it.
type treeWatch struct {
	*watch.Watcher
	mounts     *watch.MountTable
	generation uint64 // of mounts when everything was looked at last
	marks      []watch.Mark
}

// Add watches dir as number id.
func (t *treeWatch) Add(dir dirlist.Dir, id uint32) error {
	return t.Watcher.Add(dir.Fd(), watch.Node(id))
}

// Remove ends the watch of number id.
func (t *treeWatch) Remove(id uint32) { t.Watcher.Remove(watch.Node(id)) }

// Take appends to dst what the marks since the last Take mean to a scan.
func (t *treeWatch) Take(dst []scan.Event) (events []scan.Event, whole bool) {
	marks, whole := t.Watcher.Take(t.marks[:0])
	t.marks = marks
	// A file system that was mounted over a watched directory raises no event in it.
	if now := t.mounts.Generation(); now != t.generation {
		t.generation, whole = now, false
	}
	if !whole {
		t.Watcher.Reset()
		return dst, false
	}
	for _, m := range marks {
		e := scan.Event{ID: uint32(m.Node)}
		switch {
		case m.Name == "" && m.Change&(watch.Gone|watch.Attributes) != 0:
			e.Below = true
		case m.Name == "" && m.Change&watch.All == 0:
			continue // each of the names has a mark of its own
		case m.Name == "":
			e.Made = true // nobody knows which
		case m.Change == watch.Content:
			e.Name = m.Name
		default:
			dst = append(dst, scan.Event{ID: e.ID, Name: m.Name, Made: true})
		}
		dst = append(dst, e)
	}
	return dst, true
}

const (
	// earned is the query at which a repository is watched, unless Options.Eager says
	// that the first is.
	earned = 2
	// retry is how long a repository polls that could not be watched.
	retry = 5 * time.Minute
	// verifyEvery is the least time between two verifications of what is kept.
	verifyEvery = time.Minute
	// distrust is how long a repository polls whose kept state was wrong.
	distrust = time.Hour
)

// background is what runs beside the requests of a State.
type background struct {
	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup
}

// afterwards returns what is due for k after an answer to q, with s.mu held; nil
// if nothing is. k is busy until that has run.
func (s *State) afterwards(k *kept, r *status.Repo, q status.Request) func(context.Context) {
	if s.watcher == nil || k.busy {
		return nil
	}
	now := time.Now()
	switch {
	case (s.o.Eager || k.queries >= earned) && !k.watched && now.After(k.pollUntil):
		k.busy = true
		return func(ctx context.Context) {
			r.Watch(s.watcher.open)
			_, err := r.Summary(ctx, q) // the answer from which on the watch is complete
			watched, why := r.Watched()
			if why == nil {
				why = err
			}
			s.settle(k, watched, why, now.Add(retry))
		}
	case k.watched && now.Sub(k.verified) >= verifyEvery:
		k.busy = true
		return func(ctx context.Context) {
			err := r.Verify(ctx, q)
			watched, why := r.Watched()
			until := now.Add(retry)
			if err != nil {
				s.report(err)
			}
			if errors.Is(err, status.ErrDiffers) {
				r.Watch(nil)
				watched, why, until = false, err, now.Add(distrust)
			}
			s.settle(k, watched, why, until)
		}
	}
	return nil
}

// run runs f for k, which it holds on to: in the background, unless it is waited
// for.
func (s *State) run(k *kept, f func(context.Context)) {
	if s.o.Eager {
		f(s.background.ctx)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.background.ctx.Err() != nil {
		return // Close waits for what runs
	}
	k.refs++
	s.background.wg.Go(func() {
		defer s.release(k)
		f(s.background.ctx)
	})
}

// settle notes how k is looked at from now on.
func (s *State) settle(k *kept, watched bool, why error, pollUntil time.Time) {
	s.mu.Lock()
	k.busy, k.watched, k.why, k.verified = false, watched, why, time.Now()
	if !watched {
		k.pollUntil = pollUntil
	}
	s.mu.Unlock()
	if !watched {
		k.endHub()
	}
}

func (s *State) report(err error) {
	if s.o.Report != nil {
		s.o.Report(err)
	}
}

// A RepositoryStatus tells how one repository is kept.
type RepositoryStatus struct {
	WorkTree string
	GitDir   string
	Watched  bool
	Why      string // why it is not watched; empty if nothing keeps it from it
	Queries  int
	LastUsed time.Time
}

// Repositories tells of every repository that is kept, in no order.
func (s *State) Repositories() []RepositoryStatus {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []RepositoryStatus
	for id, k := range s.repos {
		r := RepositoryStatus{GitDir: id.loc.GitDir, WorkTree: k.workTree, Watched: k.watched, Queries: k.queries, LastUsed: k.used}
		switch {
		case k.watched:
		case k.why != nil:
			r.Why = k.why.Error()
		case s.watcher == nil:
			r.Why = "this process does not watch"
		case k.queries < earned:
			r.Why = "asked for too seldom yet"
		}
		all = append(all, r)
	}
	return all
}
