package server

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"gust/internal/daemon/live"
	"gust/internal/daemon/wire"
	"gust/internal/pure/summary"
)

// maxKnown bounds the answers, and the repositories, that are kept for the next
// question about them.
const maxKnown = 256

// questionKey returns a text that is equal for equal questions and no others.
func questionKey(q *live.Request) string {
	l := &q.Limits
	var b []byte
	for _, n := range [...]int{l.Staged, l.Unstaged, l.Conflicted, l.Untracked, l.DirtyMaxIndexSize, l.SummaryLen} {
		for range 8 {
			b = append(b, byte(n))
			n >>= 8
		}
	}
	for _, on := range [...]bool{q.GitDir, q.NoIndex, l.RecurseUntracked, l.IgnoreStatusShowUntracked, l.IgnoreBashShowUntracked, l.IgnoreBashShowDirty} {
		c := byte('-')
		if on {
			c = '+'
		}
		b = append(b, c)
	}
	b = append(b, q.Dir...)
	for _, v := range q.Env {
		b = append(append(b, 0), v...)
	}
	return string(b)
}

// known are the last complete answers, for those who cannot wait.
type known struct {
	mu      sync.Mutex // guards answers
	answers map[string]*summary.Summary
}

// put notes an answer. Of many, any other one goes.
func (k *known) put(key string, s *summary.Summary) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if s == nil {
		delete(k.answers, key)
		return
	}
	if k.answers == nil {
		k.answers = make(map[string]*summary.Summary)
	}
	if _, ok := k.answers[key]; !ok && len(k.answers) >= maxKnown {
		for other := range k.answers {
			delete(k.answers, other)
			break
		}
	}
	k.answers[key] = s
}

func (k *known) get(key string) *summary.Summary {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.answers[key]
}

// stats are how long answers took, by repository.
type stats struct {
	mu      sync.Mutex // guards what follows
	queries int
	repos   map[string]*repoStats
}

type repoStats struct {
	queries int
	times   []time.Duration // the last ones, a ring of maxTimes
	problem string
	used    time.Time
}

// maxTimes is how many times the median and the 99th of a hundred are taken from.
const maxTimes = 256

// add notes an answer about dir.
func (s *stats) add(dir string, sum *summary.Summary, err error, took time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queries++
	if sum != nil {
		dir = sum.WorkDir
	} else if err == nil || errors.Is(err, context.Canceled) {
		return // no repository
	}
	r := s.repos[dir]
	if r == nil {
		if s.repos == nil {
			s.repos = make(map[string]*repoStats)
		}
		if len(s.repos) >= maxKnown {
			s.evict()
		}
		r = new(repoStats)
		s.repos[dir] = r
	}
	if len(r.times) < maxTimes {
		r.times = append(r.times, took)
	} else {
		r.times[r.queries%maxTimes] = took
	}
	r.queries++
	r.used = time.Now()
	if err != nil {
		r.problem = err.Error()
	}
}

// evict forgets the repository that was not asked for longest.
func (s *stats) evict() {
	oldest := ""
	for dir, r := range s.repos {
		if oldest == "" || r.used.Before(s.repos[oldest].used) {
			oldest = dir
		}
	}
	delete(s.repos, oldest)
}

// report returns the number of all queries, and the repositories in the order of
// their names: those that are kept, and those that were asked about.
func (s *stats) report(kept []live.RepositoryStatus) (int, []wire.Repository) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := []wire.Repository{}
	listed := make(map[string]bool)
	add := func(dir string, k *live.RepositoryStatus) {
		listed[dir] = true
		r := wire.Repository{WorkDir: dir}
		if k != nil {
			r.GitDir, r.Mode, r.Why, r.Queries = k.GitDir, "polled", k.Why, k.Queries
			if k.Watched {
				r.Mode = "watched"
			}
		}
		if own := s.repos[dir]; own != nil {
			times := slices.Sorted(slices.Values(own.times))
			ms := func(i int) float64 { return float64(times[i].Microseconds()) / 1000 }
			r.Queries, r.Error = own.queries, own.problem
			r.Median, r.P99 = ms(len(times)/2), ms(len(times)*99/100)
		}
		list = append(list, r)
	}
	for i := range kept {
		add(kept[i].WorkTree, &kept[i])
	}
	for dir := range s.repos {
		if !listed[dir] {
			add(dir, nil)
		}
	}
	slices.SortFunc(list, func(a, b wire.Repository) int {
		return cmp.Or(strings.Compare(a.WorkDir, b.WorkDir), strings.Compare(a.GitDir, b.GitDir))
	})
	return s.queries, list
}
