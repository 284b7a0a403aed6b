package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"gust/bench/measure"
	"gust/bench/report"
)

// What the targets of docs/performance.md allow.
const (
	maxPolling    = 1.05 // T1, of the floor
	spareCalls    = 200  // T1, besides one per file and three per directory
	maxFirst      = 0.45 // T2, of git status
	maxTag        = 50   // T16, microseconds
	maxApart      = 0.7  // T18, of git rev-list, without a commit-graph
	maxApartGraph = 0.3  // T18, with one
)

// smallRounds is for rows of a few milliseconds or less, where noise is larger
// than what is measured.
func (b *bench) smallRounds() int { return 10 * b.rounds }

func timing(s *measure.Sample) report.Timing {
	return report.Timing{
		Name: s.Name, Median: s.Median().Nanoseconds(), P25: s.Quantile(0.25).Nanoseconds(), P75: s.Quantile(0.75).Nanoseconds(), CPU: s.MedianCPU().Nanoseconds(), Runs: len(s.Times),
	}
}

// compare adds a row of two samples of one run.
func (b *bench) compare(id, what string, subject, reference *measure.Sample, maxRatio float64) {
	b.report.Rows = append(b.report.Rows, report.Row{
		ID: id, What: what, Subject: timing(subject), Reference: timing(reference), MaxRatio: maxRatio,
		Ratio: float64(subject.Median()) / float64(max(reference.Median(), 1)),
	})
}

// largeTree returns the large repository, the number of its files and of its
// directories.
func (b *bench) largeTree(ctx context.Context) (dir string, files, dirs int, err error) {
	dir, err = b.store.Tree(ctx, b.sizes.large)
	return dir, b.sizes.large.Files + 1, b.sizes.large.Dirs, err // the tree's .gitignore comes on top
}

// status is `git status` as prompts of old ran it.
func (b *bench) status(ctx context.Context, dir string) measure.Subject {
	return measure.Subject{Name: "git status", Run: func() (measure.Cost, error) {
		out, d, err := b.gitCost(ctx, dir, "status", "--porcelain=v2", "--branch")
		if err == nil && strings.Count(out, "\n") != 3 {
			err = fmt.Errorf("the tree is not clean, or not level with its upstream:\n%s", out)
		}
		return d, err
	}}
}

// ask is a query to a running daemon.
func ask(name string, t *talker, dir string, flag byte, check func([]string) error) measure.Subject {
	return measure.Subject{Name: name, Run: func() (measure.Cost, error) {
		var fields []string
		d, err := measure.Within(t.cmd.Process.Pid, func() (err error) {
			fields, err = query(t, dir, flag)
			return err
		})
		if err == nil {
			err = check(fields)
		}
		return d, err
	}}
}

// fresh is a daemon's whole start up to its first answer.
func (b *bench) fresh(ctx context.Context, name, dir string, check func([]string) error) measure.Subject {
	return measure.Subject{Name: name, Run: func() (measure.Cost, error) {
		began := time.Now()
		t, err := b.startDaemon(ctx)
		if err != nil {
			return measure.Cost{}, err
		}
		fields, err := query(t, dir, '0')
		cost := measure.Cost{Wall: time.Since(began)}
		if err == nil {
			err = check(fields)
		}
		if closed := t.close(); err == nil {
			err = closed
		}
		cost.CPU = t.cmd.ProcessState.UserTime() + t.cmd.ProcessState.SystemTime()
		return cost, err
	}}
}

// polling measures T1: a hot answer about a clean tree against the floor.
func (b *bench) polling(ctx context.Context) error {
	dir, files, dirs, err := b.largeTree(ctx)
	if err != nil {
		return err
	}
	daemon, err := b.startDaemon(ctx)
	if err != nil {
		return err
	}
	defer daemon.close()
	floor, err := b.startFloor(ctx, dir)
	if err != nil {
		return err
	}
	defer floor.close()
	clean := func(fields []string) error { return checkClean(fields, files) }
	samples, err := measure.Interleave(b.rounds,
		ask("gust", daemon, dir, '0', clean),
		measure.Subject{Name: "floor", Run: func() (measure.Cost, error) {
			var answer string
			d, err := measure.Within(floor.cmd.Process.Pid, func() (err error) {
				answer, err = floor.ask("\n")
				return err
			})
			if err == nil && answer != strconv.Itoa(files) {
				err = fmt.Errorf("the floor saw %s files of %d", answer, files)
			}
			return d, err
		}},
		b.status(ctx, dir),
	)
	if err != nil {
		return err
	}
	what := fmt.Sprintf("polling, clean, hot, %d files", b.sizes.large.Files)
	b.compare("T1", what, &samples[0], &samples[1], maxPolling)
	b.compare("T1", what, &samples[0], &samples[2], 0)

	row := report.Row{ID: "T1", What: "system calls of that answer"}
	calls, err := b.countCalls(ctx, dir, clean)
	if err != nil {
		row.Note = err.Error()
	} else {
		row.Count, row.Unit, row.Limit = calls.perAnswer, "calls", int64(files+3*dirs+spareCalls)
		row.Note = fmt.Sprintf("%d system calls per answer, allowed: %d files + 3 x %d directories + %d; %s %d by which Go's runtime waits and wakes",
			calls.perAnswer, files, dirs, spareCalls, calls.how, calls.waits)
	}
	b.report.Rows = append(b.report.Rows, row)
	return nil
}

// first measures T2: the first answer of a fresh process.
func (b *bench) first(ctx context.Context) error {
	dir, files, _, err := b.largeTree(ctx)
	if err != nil {
		return err
	}
	samples, err := measure.Interleave(b.rounds,
		b.fresh(ctx, "gust", dir, func(fields []string) error { return checkClean(fields, files) }),
		b.status(ctx, dir),
	)
	if err != nil {
		return err
	}
	b.compare("T2", fmt.Sprintf("first answer of a fresh process, %d files", b.sizes.large.Files), &samples[0], &samples[1], maxFirst)
	return nil
}

// tags measures T16: what the tag of HEAD costs among many. The same question is
// asked about two repositories that differ in nothing but their tags.
func (b *bench) tags(ctx context.Context) error {
	many, err := b.store.Tags(ctx, b.sizes.tags)
	if err != nil {
		return err
	}
	one, err := b.store.Tags(ctx, 1)
	if err != nil {
		return err
	}
	daemon, err := b.startDaemon(ctx)
	if err != nil {
		return err
	}
	defer daemon.close()
	check := func(fields []string) error {
		if fields[fieldTag] != "v-at-head" {
			return fmt.Errorf("wrong answer: tag %q", fields[fieldTag])
		}
		return nil
	}
	samples, err := measure.Interleave(b.smallRounds(), ask("gust", daemon, many, '1', check), ask("gust, one tag", daemon, one, '1', check))
	if err != nil {
		return err
	}
	extra := samples[0].Median() - samples[1].Median()
	b.report.Rows = append(b.report.Rows, report.Row{
		ID: "T16", What: fmt.Sprintf("HEAD's tag among %d, hot", b.sizes.tags), Subject: timing(&samples[0]), Reference: timing(&samples[1]),
		Count: max(0, extra.Microseconds()), Unit: "µs more", Limit: maxTag,
	})
	return nil
}

// apart measures T18: counting ahead and behind between branches that are far
// apart, with and without a commit-graph, in a fresh process and in a running one
// after each move of the upstream.
func (b *bench) apart(ctx context.Context) error {
	for _, graph := range []bool{true, false} {
		dir, err := b.store.Diverged(ctx, b.sizes.apart, graph)
		if err != nil {
			return err
		}
		what, limit := fmt.Sprintf("%d commits apart, no commit-graph", b.sizes.apart), maxApart
		if graph {
			what, limit = fmt.Sprintf("%d commits apart, commit-graph", b.sizes.apart), maxApartGraph
		}
		var counts string // what git said last
		check := func(fields []string) error {
			if got := fields[fieldAhead] + "\t" + fields[fieldBehind]; counts != "" && got != counts {
				return fmt.Errorf("wrong answer: ahead and behind %q, git says %q", got, counts)
			}
			return nil
		}
		samples, err := measure.Interleave(4*b.rounds, b.revList(ctx, dir, &counts), b.fresh(ctx, "gust", dir, check))
		if err != nil {
			return err
		}
		b.compare("T18", what+", fresh process", &samples[1], &samples[0], limit)

		running, err := b.moving(ctx, dir)
		if err != nil {
			return err
		}
		b.compare("T18", what+", upstream moved", &running[1], &running[0], limit)
	}
	return nil
}

// revList is git's own count, which it leaves in counts.
func (b *bench) revList(ctx context.Context, dir string, counts *string) measure.Subject {
	return measure.Subject{Name: "git rev-list", Run: func() (d measure.Cost, err error) {
		*counts, d, err = b.gitCost(ctx, dir, "rev-list", "--count", "--left-right", "main...origin/main")
		return d, err
	}}
}

// moving measures both while the upstream moves back by one commit before each
// turn of the pair, so that no answer is one that was given before. It works on a
// copy of the repository.
func (b *bench) moving(ctx context.Context, dir string) ([]measure.Sample, error) {
	temp, err := os.MkdirTemp(b.temp, "moving")
	if err != nil {
		return nil, err
	}
	if err := os.CopyFS(temp, os.DirFS(dir)); err != nil {
		return nil, err
	}
	rounds := b.rounds
	out, err := b.gitOutput(ctx, temp, "rev-list", "--first-parent", "-n", strconv.Itoa(2*rounds+2), "origin/main")
	if err != nil {
		return nil, err
	}
	tips := strings.Split(out, "\n")
	ref := filepath.Join(temp, ".git", "refs", "remotes", "origin", "main")
	daemon, err := b.startDaemon(ctx)
	if err != nil {
		return nil, err
	}
	defer daemon.close()

	// Interleave turns the order about, so either of the two may come first: the
	// one that does moves the upstream, both compare.
	turn := 0
	said := map[int]string{} // counts by pair of turns
	pair := func(counts string) error {
		if before, ok := said[turn/2]; ok && before != counts {
			return fmt.Errorf("answers differ: %q and %q", before, counts)
		}
		said[turn/2] = counts
		turn++
		return nil
	}
	move := func() error {
		if turn%2 == 1 {
			return nil
		}
		next := ref + ".lock"
		if err := os.WriteFile(next, []byte(tips[turn/2%len(tips)]+"\n"), 0o666); err != nil {
			return err
		}
		return os.Rename(next, ref)
	}
	subject := func(name string, count func() (string, measure.Cost, error)) measure.Subject {
		return measure.Subject{Name: name, Run: func() (measure.Cost, error) {
			if err := move(); err != nil {
				return measure.Cost{}, err
			}
			counts, d, err := count()
			if err == nil {
				err = pair(counts)
			}
			return d, err
		}}
	}
	return measure.Interleave(rounds,
		subject("git rev-list", func() (string, measure.Cost, error) {
			return b.gitCost(ctx, temp, "rev-list", "--count", "--left-right", "main...origin/main")
		}),
		subject("gust", func() (string, measure.Cost, error) {
			var fields []string
			d, err := measure.Within(daemon.cmd.Process.Pid, func() (err error) {
				fields, err = query(daemon, temp, '0')
				return err
			})
			if err != nil {
				return "", d, err
			}
			return fields[fieldAhead] + "\t" + fields[fieldBehind], d, nil
		}),
	)
}
