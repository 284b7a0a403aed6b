package status

import (
	"context"
	"errors"
	"fmt"

	"gust/internal/worktree/scan"
)

// A Watch watches the directories of one working tree; see scan.Watch.
type Watch interface {
	scan.Watch
	// Take appends to dst what happened since the last Take. If whole is false events
	// were lost: everything must be looked at, and every directory added again.
	Take(dst []scan.Event) (events []scan.Event, whole bool)
	// Ready sends to ready, without waiting, whenever there is something to Take that
	// was not there before. nil ends that.
	Ready(ready chan<- struct{})
	// Close ends every watch.
	Close()
}

// A watching is how a Repo is watched.
type watching struct {
	open   func() (Watch, error) // makes a Watch; nil: poll
	watch  Watch                 // nil before the first scan that uses it
	why    error                 // why nothing is watched
	events []scan.Event
	ready  chan<- struct{} // told of events; may be nil
}

// Watch makes s, and its submodules, watch their working trees from the next
// answer on, by watches that open makes. Where watching is not possible they go on
// polling, and Watched tells why.
func (s *Repo) Watch(open func() (Watch, error)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.watch(open)
	}
}

func (s *Repo) watch(open func() (Watch, error)) {
	if s.watching.open == nil && open == nil {
		return
	}
	s.unwatch(nil)
	s.watching.open = open
	for _, sub := range s.subs {
		sub.repo.Watch(open)
	}
}

// Watched reports whether the last answer came from a watch, and why not.
func (s *Repo) Watched() (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.watching.watch != nil, s.watching.why
}

// Lost returns what ended the watching that Watch began, as far as the last answer
// knows; nil if nothing did. It does not wait for an answer in progress.
func (s *Repo) Lost() error {
	if why := s.lost.Load(); why != nil {
		return *why
	}
	return nil
}

// Ready sends to ready, without waiting, whenever the working tree of s or of a
// submodule may have changed since the last answer, as far as that is watched. It
// reports whether it is. nil ends that.
func (s *Repo) Ready(ready chan<- struct{}) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watching.ready = ready
	if s.watching.watch != nil {
		s.watching.watch.Ready(ready)
	}
	for _, sub := range s.subs {
		sub.repo.Ready(ready)
	}
	return s.watching.watch != nil
}

// unwatch goes back to polling.
func (s *Repo) unwatch(why error) {
	if s.watching.watch != nil {
		s.watching.watch.Close()
	}
	if s.tree != nil {
		s.tree.Unwatch()
	}
	s.watching = watching{why: why, ready: s.watching.ready}
	s.lost.Store(nil)
	if why != nil {
		s.lost.Store(&why)
	}
}

// pass looks at the working tree: at what changed, if that is watched.
func (s *Repo) pass(ctx context.Context, o *scan.Options, back *backend) (scan.Result, error) {
	w := &s.watching
	if w.open != nil && w.watch == nil {
		watch, err := w.open()
		if err != nil {
			s.unwatch(err)
		} else {
			w.watch = watch
			w.watch.Ready(w.ready)
			s.tree.Unwatch()
		}
	}
	if w.watch == nil {
		return s.tree.Scan(ctx, s.r.WorkTree, o, back)
	}
	all := *o
	all.MaxUnstaged, all.MaxUntracked, all.Watch = -1, -1, w.watch
	events, whole := w.watch.Take(w.events[:0])
	w.events = events
	res, err := scan.Result{}, scan.ErrStale
	if whole {
		res, err = s.tree.Update(ctx, s.r.WorkTree, &all, back, events)
	} else {
		s.tree.Unwatch()
	}
	if err == scan.ErrStale {
		res, err = s.tree.Scan(ctx, s.r.WorkTree, &all, back)
	}
	if err == nil && res.Unwatched != nil {
		s.unwatch(fmt.Errorf("cannot watch '%s': %w", s.r.WorkTree, res.Unwatched))
	}
	res.Unstaged, res.Untracked = clamp(res.Unstaged, o.MaxUnstaged), clamp(res.Untracked, o.MaxUntracked)
	res.Deleted = min(res.Deleted, res.Unstaged)
	return res, err
}

// ErrDiffers says that a watched answer was not what a scan finds.
var ErrDiffers = errors.New("the watched state differs from the working tree")

// Verify compares what the watch led to with a scan of everything, and keeps what
// the scan found. It returns ErrDiffers if they differ although nothing happened
// meanwhile; nil if they agree, or if nothing can be said.
func (s *Repo) Verify(ctx context.Context, q Request) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.watching.watch == nil || s.ix == nil || !s.ix.Unchanged() {
		return nil
	}
	// Packs that a repack removed need not be held any longer.
	if err := s.db.Refresh(); err != nil {
		return fmt.Errorf("cannot look for packs of '%s': %w", s.r.GitDir, err)
	}
	q.Limits.Unstaged, q.Limits.Untracked = -1, -1
	o := s.scanOptions(q)
	kept, err := s.scan(ctx, o)
	if err != nil || s.watching.watch == nil {
		return nil
	}
	s.tree.Distrust()
	found, err := s.scan(ctx, o)
	if err != nil || s.watching.watch == nil {
		return nil
	}
	events, whole := s.watching.watch.Take(nil)
	if !whole || len(events) > 0 {
		s.tree.Distrust() // they belong to the next answer, which now scans
		return nil
	}
	kept.Work, found.Work = scan.Work{}, scan.Work{}
	if kept != found {
		return fmt.Errorf("'%s': %w: it had %+v, a scan finds %+v", s.r.WorkTree, ErrDiffers, kept, found)
	}
	return nil
}
