// Package measure times things side by side. Machines are shared and noisy, so
// what is compared is run in turns, A B A B …, and every figure that is judged is
// a ratio of two medians from one such run.
package measure

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// A Subject is one of the things that take turns. Run does it once and returns
// how long the part that counts took.
type Subject struct {
	Name string
	Run  func() (time.Duration, error)
}

// A Sample is what one subject's runs took, sorted.
type Sample struct {
	Name  string
	Times []time.Duration
}

// Interleave runs each subject once unmeasured, so that caches are as warm for
// the first as for the last, then all of them in turns, rounds times. Every other
// round goes backwards, so that none always follows the same neighbour.
func Interleave(rounds int, subjects ...Subject) ([]Sample, error) {
	samples := make([]Sample, len(subjects))
	once := func(i int) (time.Duration, error) {
		d, err := subjects[i].Run()
		if err != nil {
			return 0, fmt.Errorf("%s: %w", subjects[i].Name, err)
		}
		return d, nil
	}
	for i, s := range subjects {
		samples[i].Name = s.Name
		if _, err := once(i); err != nil {
			return nil, err
		}
	}
	for round := range rounds {
		for k := range subjects {
			i := k
			if round%2 == 1 {
				i = len(subjects) - 1 - k
			}
			d, err := once(i)
			if err != nil {
				return nil, err
			}
			samples[i].Times = append(samples[i].Times, d)
		}
	}
	for i := range samples {
		slices.Sort(samples[i].Times)
	}
	return samples, nil
}

// Quantile returns the time that the fraction q of the runs did not exceed, by
// nearest rank.
func (s *Sample) Quantile(q float64) time.Duration {
	if len(s.Times) == 0 {
		return 0
	}
	i := int(math.Ceil(q*float64(len(s.Times)))) - 1
	return s.Times[min(max(i, 0), len(s.Times)-1)]
}

// Median returns the middle time, the mean of both if there are two.
func (s *Sample) Median() time.Duration {
	n := len(s.Times)
	if n == 0 {
		return 0
	}
	return (s.Times[(n-1)/2] + s.Times[n/2]) / 2
}

// Wall times f.
func Wall(f func() error) (time.Duration, error) {
	began := time.Now()
	err := f()
	return time.Since(began), err
}
