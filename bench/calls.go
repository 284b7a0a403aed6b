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
	waits     int64 // of these, by which Go's runtime waits and wakes threads; they grow with the machine's load
	how       string
}

// countCalls runs a daemon twice, for a few answers and for a few more, under a
// counter of system calls: the difference is what the further ones cost, without
// start and first scan. perf(1) counts at full speed; where it may not, strace(1)
// counts, and the runtime's waits, which grow as it is slowed down, are left out.
func (b *bench) countCalls(ctx context.Context, dir string, check func([]string) error) (calls, error) {
	const base = 3 // answers until all that is remembered is remembered
	counters := []struct {
		how   string
		more  int // answers whose cost is counted
		count func(answers int) (calls, error)
	}{
		{"counted by perf stat, with", 10, func(n int) (calls, error) { return b.perf(ctx, dir, n, check) }},
		{"counted by strace -c -f, which leaves out", 2, func(n int) (calls, error) { return b.strace(ctx, dir, n, check) }},
	}
	var failed error
	for _, c := range counters {
		few, err := c.count(base)
		if err == nil {
			var many calls
			many, err = c.count(base + c.more)
			if err == nil {
				more := int64(c.more)
				return calls{(many.perAnswer - few.perAnswer) / more, (many.waits - few.waits) / more, c.how}, nil
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

// waiting are the system calls by which Go's runtime waits, wakes and interrupts
// threads.
func waiting(name string) bool {
	switch name {
	case "futex", "nanosleep", "epoll_pwait", "sched_yield", "tgkill", "getpid", "madvise":
		return true
	}
	return strings.HasPrefix(name, "rt_sig")
}

// perfEvents counts all system calls, and those of waiting.
const perfEvents = "raw_syscalls:sys_enter,syscalls:sys_enter_futex,syscalls:sys_enter_nanosleep,syscalls:sys_enter_epoll_pwait," +
	"syscalls:sys_enter_sched_yield,syscalls:sys_enter_tgkill,syscalls:sys_enter_getpid,syscalls:sys_enter_madvise,syscalls:sys_enter_rt_sigreturn"

// perf returns the calls of a whole daemon that gives n answers.
func (b *bench) perf(ctx context.Context, dir string, n int, check func([]string) error) (calls, error) {
	out := filepath.Join(b.temp, "perf")
	if err := b.answers(ctx, dir, n, check, "perf", "stat", "-x", ",", "-o", out, "-e", perfEvents, "--"); err != nil {
		return calls{}, err
	}
	data, err := os.ReadFile(out)
	if err != nil {
		return calls{}, err
	}
	return parsePerf(string(data))
}

// parsePerf reads the counts of perfEvents: lines of comma-separated values,
// comments with '#' (perf-stat(1), "CSV FORMAT").
func parsePerf(text string) (c calls, err error) {
	for line := range strings.Lines(text) {
		f := strings.Split(line, ",")
		if len(f) < 3 || strings.HasPrefix(line, "#") {
			continue
		}
		n, err := strconv.ParseInt(f[0], 10, 64)
		if err != nil {
			return calls{}, fmt.Errorf("perf did not count %s: '%s'", f[2], f[0])
		}
		name, one := strings.CutPrefix(f[2], "syscalls:sys_enter_")
		switch {
		case f[2] == "raw_syscalls:sys_enter":
			c.perAnswer = n
		case one && waiting(name):
			c.waits += n
		}
	}
	if c.perAnswer == 0 {
		return calls{}, fmt.Errorf("perf counted nothing: %q", text)
	}
	return c, nil
}

// strace returns the calls of a whole daemon that gives n answers, without waits.
func (b *bench) strace(ctx context.Context, dir string, n int, check func([]string) error) (calls, error) {
	out := filepath.Join(b.temp, "strace")
	if err := b.answers(ctx, dir, n, check, "strace", "-f", "-c", "-o", out); err != nil {
		return calls{}, err
	}
	data, err := os.ReadFile(out)
	if err != nil {
		return calls{}, err
	}
	return parseStrace(string(data))
}

// parseStrace sums the fourth column, calls, of strace's summary.
func parseStrace(text string) (c calls, err error) {
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) < 5 || f[len(f)-1] == "total" {
			continue
		}
		n, err := strconv.ParseInt(f[3], 10, 64)
		if err != nil {
			continue // the heading and its rule
		}
		if waiting(f[len(f)-1]) {
			c.waits += n
		} else {
			c.perAnswer += n
		}
	}
	if c.perAnswer == 0 {
		return calls{}, fmt.Errorf("strace counted nothing: %q", text)
	}
	return c, nil
}
