package differential

import (
	"time"

	"gust/internal/gittest"
)

// Shrink returns the smallest part of s that it finds, in the given time, whose
// play still ends in a disagreement about one of the same fields, and that
// disagreement. It returns s and f if the disagreement does not come again.
func (r *Runner) Shrink(s *Scenario, f *Failure, budget time.Duration) (*Scenario, *Failure) {
	deadline := time.Now().Add(budget)
	best, bestFailure := s, f
	try := func(c *Scenario) bool {
		if time.Now().After(deadline) {
			return false
		}
		got, err := r.Run(c)
		if err != nil || got == nil || !overlap(got.fields(), f.fields()) {
			return false
		}
		best, bestFailure = cut(c, got), got
		return true
	}
	try(cut(s, f))
	// Runs of steps, halving: delta debugging without its complements, which gain
	// little on lists of twenty.
	for size := len(best.Steps) / 2; size >= 1; size /= 2 {
		for again := true; again; {
			again = false
			for from := len(best.Steps) - size; from >= 0; from -= size {
				if from+size <= len(best.Steps) && try(without(best, from, size)) {
					again = size == 1
				}
			}
		}
	}
	// Fewer questions on the way say whether kept state matters.
	for i := len(best.Steps) - 2; i >= 0; i-- {
		if i < len(best.Steps)-1 && len(best.Steps[i].Queries) > 0 {
			try(changed(best, i, func(s *Step) { s.Queries = nil }))
		}
	}
	for i := len(best.Steps) - 1; i >= 0; i-- {
		for c := len(best.Steps[i].Commands) - 1; c >= 0; c-- {
			if n := len(best.Steps[i].Commands); n > 1 && c < n {
				try(changed(best, i, func(s *Step) {
					s.Commands = append(append([]string(nil), s.Commands[:c]...), s.Commands[c+1:]...)
				}))
			}
		}
	}
	return best, bestFailure
}

func overlap(a, b map[int]bool) bool {
	for k := range a {
		if b[k] {
			return true
		}
	}
	return false
}

// cut returns s up to the failing step, which asks nothing after the failing
// question, and with the failing daemon only.
func cut(s *Scenario, f *Failure) *Scenario {
	c := *s
	c.Steps = append([]Step(nil), s.Steps[:f.Step+1]...)
	c.Steps[f.Step].Queries = []Query{f.Query}
	c.Options = []gittest.Options{f.Options}
	return &c
}

func without(s *Scenario, from, n int) *Scenario {
	c := *s
	c.Steps = append(append([]Step(nil), s.Steps[:from]...), s.Steps[from+n:]...)
	return &c
}

func changed(s *Scenario, step int, change func(*Step)) *Scenario {
	c := *s
	c.Steps = append([]Step(nil), s.Steps...)
	change(&c.Steps[step])
	return &c
}
