package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// calls is how many system calls one more hot answer costs a running daemon.
type calls struct {
	perAnswer int64
	how       string
}

// countCalls runs a daemon twice, for a few answers and for a few more, under a
// counter of system calls: the difference is what the further ones cost, without
// start and first scan. perf(1) counts at full speed; where it may not, strace(1)
// counts, and what Go's runtime does while it is slowed down (sleeping, waking
// threads) is left out, and said.
func (b *bench) countCalls(ctx context.Context, dir string, check func([]string) error) (calls, error) {
	const base = 3 // answers until all that is remembered is remembered
	counters := []struct {
		how   string
		more  int // answers whose cost is counted
		count func(answers int) (int64, error)
	}{
		{"counted by perf stat -e raw_syscalls:sys_enter", 10, func(n int) (int64, error) { return b.perf(ctx, dir, n, check) }},
		{"counted by strace -c -f, without futex, nanosleep, epoll_pwait, sched_yield, tgkill, rt_sig*, madvise", 2, func(n int) (int64, error) { return b.strace(ctx, dir, n, check) }},
	}
	var failed error
	for _, c := range counters {
		few, err := c.count(base)
		if err == nil {
			var many int64
			many, err = c.count(base + c.more)
			if err == nil {
				return calls{(many - few) / int64(c.more), c.how}, nil
			}
		}
		failed = errors.Join(failed, err)
	}
	return calls{}, fmt.Errorf("system calls cannot be counted here: %w", failed)
}

// answers gets n answers from a daemon that runs under the program wrap.
func (b *bench) answers(ctx context.Context, dir string, n int, check func([]string) error, wrap ...string) error {
	if _, err := exec.LookPath(wrap[0]); err != nil {
		return err
	}
	t, err := b.startDaemon(ctx, wrap...)
	if err != nil {
		return err
	}
	for range n {
		fields, err := query(t, dir, '0')
		if err == nil {
			err = check(fields)
		}
		if err != nil {
			t.close()
			return err
		}
	}
	return t.close()
}

func (b *bench) perf(ctx context.Context, dir string, n int, check func([]string) error) (int64, error) {
	out := filepath.Join(b.temp, "perf")
	if err := b.answers(ctx, dir, n, check, "perf", "stat", "-x", ",", "-o", out, "-e", "raw_syscalls:sys_enter", "--"); err != nil {
		return 0, err
	}
	data, err := os.ReadFile(out)
	if err != nil {
		return 0, err
	}
	return parsePerf(string(data))
}

// parsePerf reads the count of the only event: lines of comma-separated values,
// comments with '#' (perf-stat(1), "CSV FORMAT").
func parsePerf(text string) (int64, error) {
	for line := range strings.Lines(text) {
		value, rest, ok := strings.Cut(line, ",")
		if ok && strings.Contains(rest, "raw_syscalls:sys_enter") {
			return strconv.ParseInt(value, 10, 64)
		}
	}
	return 0, fmt.Errorf("perf counted nothing: %q", text)
}

func (b *bench) strace(ctx context.Context, dir string, n int, check func([]string) error) (int64, error) {
	out := filepath.Join(b.temp, "strace")
	if err := b.answers(ctx, dir, n, check, "strace", "-f", "-c", "-o", out); err != nil {
		return 0, err
	}
	data, err := os.ReadFile(out)
	if err != nil {
		return 0, err
	}
	return parseStrace(string(data))
}

// parseStrace sums the fourth column, calls, of strace's summary, without calls
// by which Go's runtime waits and wakes.
func parseStrace(text string) (int64, error) {
	var total int64
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) < 5 || f[len(f)-1] == "total" {
			continue
		}
		n, err := strconv.ParseInt(f[3], 10, 64)
		if err != nil {
			continue // the heading and its rule
		}
		switch name := f[len(f)-1]; {
		case name == "futex", name == "nanosleep", name == "epoll_pwait", name == "sched_yield", name == "tgkill", name == "madvise", strings.HasPrefix(name, "rt_sig"):
		default:
			total += n
		}
	}
	if total == 0 {
		return 0, fmt.Errorf("strace counted nothing: %q", text)
	}
	return total, nil
}
