package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"gust/bench/measure"
)

// What the targets of docs/performance.md allow of git's time.
const (
	maxExact    = 0.5 // T16, whole process
	maxDescribe = 0.5 // T17
	maxCount    = 0.4 // T20, of a commit that has a bitmap
	maxFilled   = 0.5 // T20, of one that has none
)

// asGit measures the same command of gust and of git, whose answers must be equal.
func (b *bench) asGit(ctx context.Context, id, what, dir string, maxRatio float64, args ...string) error {
	want, err := b.gitOutput(ctx, dir, args...)
	if err != nil {
		return err
	}
	samples, err := measure.Interleave(b.smallRounds(),
		measure.Subject{Name: "gust", Run: func() (measure.Cost, error) {
			cmd := exec.CommandContext(ctx, b.gust, args...)
			var out strings.Builder
			cmd.Dir, cmd.Env, cmd.Stderr, cmd.Stdout = dir, append(b.store.Env(), "GUST_SERVER=0"), os.Stderr, &out
			cost, err := measure.Command(cmd)
			if got := strings.TrimSuffix(out.String(), "\n"); err == nil && got != want {
				err = fmt.Errorf("wrong answer: %q, git says %q", got, want)
			}
			return cost, err
		}},
		measure.Subject{Name: "git " + args[0], Run: func() (measure.Cost, error) {
			_, cost, err := b.gitCost(ctx, dir, args...)
			return cost, err
		}},
	)
	if err != nil {
		return err
	}
	b.compare(id, what, &samples[0], &samples[1], maxRatio)
	return nil
}

// exactTag measures the second half of T16.
func (b *bench) exactTag(ctx context.Context) error {
	dir, err := b.store.Tags(ctx, b.sizes.tags)
	if err != nil {
		return err
	}
	return b.asGit(ctx, "T16", fmt.Sprintf("describe --tags --exact-match, %d tags", b.sizes.tags), dir, maxExact, "describe", "--tags", "--exact-match")
}

// past measures T17 and T20 on a real history.
func (b *bench) past(ctx context.Context, id string) error {
	if b.history == "" {
		fmt.Fprintf(os.Stderr, "bench: %s is not measured: -history names no repository\n", id)
		return nil
	}
	dir, err := b.store.Past(ctx, b.history)
	if err != nil {
		return err
	}
	if id == "T17" {
		return b.asGit(ctx, id, "describe", dir, maxDescribe, "describe", "--always")
	}
	count := []string{"rev-list", "--count", "--objects", "--use-bitmap-index"}
	if err := b.asGit(ctx, id, "count of all that HEAD reaches", dir, maxCount, append(count, "HEAD")...); err != nil {
		return err
	}
	tags, err := b.gitOutput(ctx, dir, "for-each-ref", "--sort=creatordate", "--format=%(refname)", "refs/tags")
	if err != nil {
		return err
	}
	names := strings.Fields(tags)
	if len(names) == 0 {
		return fmt.Errorf("'%s' has no tags", b.history)
	}
	return b.asGit(ctx, id, "count of all that an old tag reaches", dir, maxFilled, append(count, names[len(names)*2/3])...)
}
