// Package measure times things side by side. Machines are shared and noisy, so
// what is compared is run in turns, A B A B …, and every figure that is judged is
// a ratio of two medians from one such run. Where others compete for the
// processors, the time on them says more than the clock; both are kept.
package measure

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// A Cost is what one run took: by the clock, and on all processors together. CPU
// is 0 where it is not known.
type Cost struct{ Wall, CPU time.Duration }

// A Subject is one of the things that take turns. Run does it once and returns
// what the part that counts cost.
type Subject struct {
	Name string
	Run  func() (Cost, error)
}

// A Sample is what one subject's runs took, by the clock and on the processors,
// each sorted.
type Sample struct {
	Name        string
	Times, CPUs []time.Duration
}

// Interleave runs each subject once unmeasured, so that caches are as warm for
// the first as for the last, then all of them in turns, rounds times. Every other
// round goes backwards, so that none always follows the same neighbour.
func Interleave(rounds int, subjects ...Subject) ([]Sample, error) {
	samples := make([]Sample, len(subjects))
	once := func(i int) (Cost, error) {
		d, err := subjects[i].Run()
		if err != nil {
			return Cost{}, fmt.Errorf("%s: %w", subjects[i].Name, err)
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
			samples[i].Times = append(samples[i].Times, d.Wall)
			samples[i].CPUs = append(samples[i].CPUs, d.CPU)
		}
	}
	for i := range samples {
		slices.Sort(samples[i].Times)
		slices.Sort(samples[i].CPUs)
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
func (s *Sample) Median() time.Duration { return middle(s.Times) }

// MedianCPU returns the same of the time on processors.
func (s *Sample) MedianCPU() time.Duration { return middle(s.CPUs) }

func middle(times []time.Duration) time.Duration {
	n := len(times)
	if n == 0 {
		return 0
	}
	return (times[(n-1)/2] + times[n/2]) / 2
}
