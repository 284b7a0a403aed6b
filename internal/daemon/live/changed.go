package live

import (
	"io/fs"
	"path/filepath"
	"sync"

	"gust/internal/repo"
	"gust/internal/worktree/watch"
)

// A hub tells subscribers that the answer about one repository may have changed.
type hub struct {
	mu    sync.Mutex // guards subs
	subs  map[chan struct{}]bool
	ready chan struct{} // what the watches of the working tree and the git dir send to
	done  chan struct{}
	git   *watch.Watcher
	dirs  map[string]watch.Node // of the git dir that are watched
	loc   repo.Location
}

// Changed returns a channel that gets a token whenever the answer to q may have
// changed since the last Query, and a function that ends this and must be called.
// The channel is nil where that cannot be known, because the repository is not
// watched: ask again now and then. It is closed where it is not known any more.
func (s *State) Changed(q Request) (changed <-chan struct{}, stop func()) {
	none := func() {}
	if s.watcher == nil {
		return nil, none
	}
	env := repo.EnvFrom(q.Env)
	loc, err := repo.Locate(q.Dir, q.GitDir, env)
	if err != nil {
		return nil, none
	}
	k := s.acquire(loc, env)
	sub := make(chan struct{}, 1)
	h := s.join(k, loc, sub)
	if h == nil {
		s.release(k)
		return nil, none
	}
	return sub, sync.OnceFunc(func() {
		k.mu.Lock()
		h.mu.Lock()
		delete(h.subs, sub)
		last := len(h.subs) == 0
		h.mu.Unlock()
		if last && k.hub == h {
			k.dropHub()
		}
		k.mu.Unlock()
		s.release(k)
	})
}

// join makes sub one of the subscribers of k's hub, and returns that; nil if k is
// not watched.
func (s *State) join(k *kept, loc repo.Location, sub chan struct{}) *hub {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.hub == nil {
		k.hub = s.newHub(k, loc)
	}
	if h := k.hub; h != nil {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.subs[sub] = true
	}
	return k.hub
}

// newHub makes k's hub, with k.mu held; nil if k is not watched.
func (s *State) newHub(k *kept, loc repo.Location) *hub {
	h := &hub{
		subs: make(map[chan struct{}]bool), ready: make(chan struct{}, 1), done: make(chan struct{}),
		dirs: make(map[string]watch.Node), loc: loc,
	}
	if k.repo == nil || !k.repo.Ready(h.ready) {
		return nil
	}
	var err error
	if h.git, err = watch.New(s.watcher.pool, watch.Options{}); err != nil {
		k.repo.Ready(nil)
		return nil
	}
	h.git.Ready(h.ready)
	h.watchGitDir()
	s.background.wg.Go(h.run)
	return h
}

// endHub tells those who wait for changes of k that nobody tells any more.
func (k *kept) endHub() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.dropHub()
}

// dropHub does endHub with k.mu held.
func (k *kept) dropHub() {
	h := k.hub
	if h == nil {
		return
	}
	k.hub = nil
	if k.repo != nil {
		k.repo.Ready(nil)
	}
	h.git.Close()
	close(h.done)
	h.mu.Lock()
	defer h.mu.Unlock()
	for sub := range h.subs {
		close(sub)
	}
	clear(h.subs)
}

// run passes tokens on.
func (h *hub) run() {
	for {
		select {
		case <-h.done:
			return
		case <-h.ready:
		}
		// Taking arms the watch again; new directories of refs join it.
		if marks, whole := h.git.Take(nil); len(marks) > 0 || !whole {
			if !whole {
				h.git.Reset()
				clear(h.dirs)
			}
			h.watchGitDir()
		}
		h.mu.Lock()
		for sub := range h.subs {
			select {
			case sub <- struct{}{}:
			default: // it has a token already
			}
		}
		h.mu.Unlock()
	}
}

// watchGitDir watches the directories of the git dir that an answer reads: HEAD,
// the index and the state of operations lie in the git dir, refs and the stash's
// reflog below the common dir.
func (h *hub) watchGitDir() {
	h.add(h.loc.GitDir)
	h.add(h.loc.GitDir + "/rebase-merge")
	h.add(h.loc.GitDir + "/rebase-apply")
	h.add(h.loc.CommonDir)
	h.add(h.loc.CommonDir + "/info")
	h.add(h.loc.CommonDir + "/logs/refs")
	h.add(h.loc.CommonDir + "/reftable")
	h.add(h.loc.GitDir + "/reftable")
	filepath.WalkDir(h.loc.CommonDir+"/refs", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			h.add(path)
		}
		return nil // what cannot be read has nothing to tell
	})
}

// add watches the directory at path, if there is one. Adding it again is right: it
// may be another directory by now.
func (h *hub) add(path string) {
	node, ok := h.dirs[path]
	if !ok {
		node = watch.Node(len(h.dirs) + 1)
	}
	if h.git.AddPath(path, node) == nil {
		h.dirs[path] = node
	}
}
