// Package live keeps open repositories and their status current between requests.
package live

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"gust/internal/disk/filestat"
	"gust/internal/engine/status"
	"gust/internal/pure/summary"
	"gust/internal/repo"
	"gust/internal/worktree/watch"
)

// Limits bound the work of an answer and what it counts; see status.Limits.
type Limits = status.Limits

// Options configure a State.
type Options struct {
	Threads int // goroutines that scan one working tree; at least 1
	// TTL is how long a repository is kept after its last request; 0 or less: for
	// ever.
	TTL time.Duration
	// Pool makes repositories that are asked for again watched; nil: all are polled.
	Pool *watch.Pool
	// Eager watches a repository from its first answer on, which waits for that, and
	// verifies what is kept before an answer is given, not after. Else the second
	// query makes a repository watched, in the background: a visit that is not
	// repeated costs nothing.
	Eager bool
	// Report is told what went wrong beside an answer, for a log. It may be nil.
	Report func(error)
}

// A Request asks for the summary of the repository that a directory is in. It
// does not say how it arrived.
type Request struct {
	Dir     string   // absolute
	GitDir  bool     // Dir is a git directory, as GIT_DIR would name it
	Env     []string // NAME=value, Git's environment variables
	NoIndex bool     // compute nothing that reads the index
	Limits  Limits
}

// A State holds the repositories that were asked for. It is safe for concurrent
// use; requests for different repositories do not wait for each other.
type State struct {
	o          Options
	watcher    *watcher // nil: poll
	background background

	mu    sync.Mutex // guards ttl, repos and the used fields of what it holds
	ttl   time.Duration
	repos map[key]*kept
}

// A key says which repository is meant, and how it is seen.
type key struct {
	loc repo.Location
	env string // what of the environment matters, sorted
	dir identity
}

// An identity tells a directory from another one that took its place.
type identity struct{ dev, ino uint64 }

type kept struct {
	mu   sync.Mutex // guards repo and hub; held while repo is opened, not while it answers
	repo *status.Repo
	hub  *hub // while somebody waits for changes
	refs int  // requests that use it, guarded by State.mu
	used time.Time
	gone bool // no longer in State.repos: the last user closes it

	// Guarded by State.mu.
	workTree  string
	queries   int
	busy      bool // something runs in the background
	watched   bool
	why       error // why it is not
	pollUntil time.Time
	verified  time.Time
}

// New returns an empty State.
func New(o Options) *State {
	o.Threads = max(o.Threads, 1)
	s := &State{o: o, ttl: o.TTL, repos: make(map[key]*kept)}
	s.background.ctx, s.background.cancel = context.WithCancel(context.Background())
	if o.Pool != nil {
		s.watcher = &watcher{pool: o.Pool}
		s.watcher.mounts, _ = watch.OpenMountTable() // without one, open says why nothing is watched
	}
	return s
}

// Query answers q. The summary is nil where there is no repository, none with a
// working tree, or one that Git itself refuses; the error then says why, for a
// log. A summary that comes with an error is incomplete, and its action says so.
func (s *State) Query(ctx context.Context, q Request) (*summary.Summary, error) {
	env := repo.EnvFrom(q.Env)
	loc, err := repo.Locate(q.Dir, q.GitDir, env)
	if err != nil {
		if errors.Is(err, repo.ErrNotFound) {
			return nil, nil
		}
		return nil, err
	}
	k := s.acquire(loc, env)
	defer s.release(k)
	ask := status.Request{NoIndex: q.NoIndex, Threads: s.o.Threads, Limits: q.Limits}
	for {
		r, fresh, err := k.open(loc, env)
		if err != nil || r == nil {
			return nil, err
		}
		sum, err := r.Summary(ctx, ask)
		if errors.Is(err, status.ErrClosed) {
			continue // another request found its configuration changed
		}
		if err != nil {
			return sum, fmt.Errorf("'%s': %w", loc.GitDir, err)
		}
		due, ended := s.answered(k, r, fresh, sum.WorkDir, ask)
		if ended {
			k.endHub()
		}
		if due != nil {
			s.run(k, due)
		}
		return sum, nil
	}
}

// answered notes that r, which k holds, answered q, and returns what is due now,
// nil if nothing is, and whether k was watched before and is not any more.
func (s *State) answered(k *kept, r *status.Repo, fresh bool, workTree string, q status.Request) (due func(context.Context), ended bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k.workTree = workTree
	if k.watched && !k.busy {
		if why := r.Lost(); why != nil {
			k.watched, k.why, ended = false, why, true
			k.pollUntil = time.Now().Add(retry)
		}
	}
	if fresh {
		k.watched = false // open ended it
	}
	if q.NoIndex {
		return nil, ended
	}
	k.queries++
	return s.afterwards(k, r, q), ended
}

// open returns the repository, read anew where its configuration changed; nil if
// it has no working tree. fresh says that it remembers nothing.
func (k *kept) open(loc repo.Location, env repo.Env) (opened *status.Repo, fresh bool, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.repo != nil && k.repo.Unchanged() {
		return k.repo, false, nil
	}
	r, err := repo.Open(loc, env)
	if err == nil && r.WorkTree != "" && k.repo != nil && k.repo.Reload(r) {
		return k.repo, false, nil
	}
	k.shut()
	if err != nil {
		return nil, false, err
	}
	if r.WorkTree == "" {
		r.Close()
		return nil, false, nil
	}
	if opened, err = status.New(r); err != nil {
		r.Close()
		return nil, false, err
	}
	k.repo = opened
	return opened, true, nil
}

func (s *State) acquire(loc repo.Location, env repo.Env) *kept {
	id := key{loc: loc, env: envKey(env)}
	var st filestat.Stat
	if filestat.Of(&st, loc.GitDir) == nil {
		id.dir = identity{st.Dev, st.Ino}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.repos[id]
	if k == nil {
		k = new(kept)
		s.repos[id] = k
	}
	k.refs++
	return k
}

func (s *State) release(k *kept) {
	s.mu.Lock()
	k.refs--
	k.used = time.Now()
	closing := k.gone && k.refs == 0
	s.mu.Unlock()
	if closing {
		k.close()
	}
}

func (k *kept) close() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.shut()
}

// shut closes what k holds, with k.mu held.
func (k *kept) shut() {
	k.dropHub()
	if k.repo != nil {
		k.repo.Close()
		k.repo = nil
	}
}

// envKey returns what of env tells one view of a repository from another.
func envKey(env repo.Env) string {
	vars := make([]string, 0, len(env))
	for name, value := range env {
		vars = append(vars, name+"="+value)
	}
	slices.Sort(vars)
	return strings.Join(vars, "\x00")
}

// SetTTL sets Options.TTL anew.
func (s *State) SetTTL(ttl time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ttl = ttl
}

// Expire frees the repositories that were not asked for since the TTL, and
// returns how many are left. One that a subscriber waits for stays.
func (s *State) Expire(now time.Time) int {
	return s.drop(func(_ key, k *kept) bool { return s.ttl > 0 && k.refs == 0 && now.Sub(k.used) >= s.ttl })
}

// Drop forgets what is known of q's repository: a request may have left it in
// disorder. The next one reads it anew.
func (s *State) Drop(q Request) {
	env := repo.EnvFrom(q.Env)
	loc, err := repo.Locate(q.Dir, q.GitDir, env)
	if err != nil {
		return // what is kept can be asked for no more
	}
	s.drop(func(id key, _ *kept) bool { return id.loc == loc })
}

// Close frees every repository once the requests in progress are answered.
func (s *State) Close() {
	s.background.cancel()
	s.drop(func(key, *kept) bool { return true })
	s.background.wg.Wait()
	if s.watcher != nil && s.watcher.mounts != nil {
		s.watcher.mounts.Close()
	}
}

func (s *State) drop(which func(key, *kept) bool) (left int) {
	var closing, ended []*kept
	s.mu.Lock()
	for id, k := range s.repos {
		if !which(id, k) {
			continue
		}
		delete(s.repos, id)
		k.gone = true
		if k.refs == 0 {
			closing = append(closing, k)
		} else if k.watched {
			ended = append(ended, k) // who waits for changes asks the next one
		}
	}
	left = len(s.repos)
	s.mu.Unlock()
	for _, k := range closing {
		k.close()
	}
	for _, k := range ended {
		k.endHub()
	}
	return left
}
