// Measures gust on whole repositories against git and against the kernel's floor,
// and says whether the targets of docs/performance.md are reached.
//
//	go run ./bench [-prefix build] [-rows T1,T2] [-history DIR] [-out bench/results]
//
// It builds what it measures on, once, under BENCH_DIR (default: the cache folder,
// gust-bench); the large tree takes 1.5 GB. Every answer of gust is checked: a fast
// wrong one ends the run.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"gust/bench/report"
	"gust/bench/repos"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	prefix := flag.String("prefix", "build", "where gust is installed: its bin/gust and libexec/gust/gitstatusd are measured")
	git := flag.String("git", "git", "the git to compare with")
	only := flag.String("rows", "", "comma-separated rows, all if empty: T1,T2,T16,T17,T18,T20")
	history := flag.String("history", "", "repository with a long history, as git's own, for T17 and T20")
	out := flag.String("out", filepath.Join("bench", "results"), "folder for the table, JSON and plot; none if empty")
	threads := flag.Int("threads", runtime.NumCPU(), "threads of gust and of the floor")
	rounds := flag.Int("rounds", 15, "turns of each subject of the large rows; small rows take more")
	strict := flag.Bool("strict", false, "exit 1 when a target is missed")
	flag.Parse()

	b, err := newBench(*prefix, *git, *threads, *rounds)
	if err == nil {
		defer b.close()
		b.history = *history
		err = b.run(ctx, *only, *out)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
	if *strict && b.report.Missed() > 0 {
		os.Exit(1)
	}
}

// A bench is one run: what is measured, on what, and the rows so far.
type bench struct {
	daemon  string // gitstatusd
	gust    string
	history string // may be ""
	floor   string // the floor program
	git     string
	threads int
	rounds  int
	sizes   sizes
	store   *repos.Store
	temp    string
	report  report.Report
}

// sizes are how large the repositories are; tests make them tiny.
type sizes struct {
	large       repos.Shape
	tags, apart int
}

// newBench finds the programs and builds the floor.
func newBench(prefix, git string, threads, rounds int) (*bench, error) {
	daemon, err := filepath.Abs(filepath.Join(prefix, "libexec", "gust", "gitstatusd"))
	if err != nil {
		return nil, err
	}
	gust, err := filepath.Abs(filepath.Join(prefix, "bin", "gust"))
	if err != nil {
		return nil, err
	}
	for _, program := range []string{daemon, gust} {
		if _, err := os.Stat(program); err != nil {
			return nil, fmt.Errorf("nothing to measure: %w", err)
		}
	}
	dir := os.Getenv("BENCH_DIR")
	if dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return nil, err
		}
		dir = filepath.Join(cache, "gust-bench")
	}
	temp, err := os.MkdirTemp("", "gust-bench-")
	if err != nil {
		return nil, err
	}
	b := &bench{
		daemon: daemon, gust: gust, floor: filepath.Join(temp, "floor"), git: git, threads: threads, rounds: rounds, temp: temp,
		sizes: sizes{repos.Large, 50_000, 20_000},
		store: &repos.Store{Dir: dir, Git: git, Log: os.Stderr},
	}
	build := exec.Command("go", "build", "-o", b.floor, "gust/bench/floor")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		b.close()
		return nil, fmt.Errorf("cannot build the floor: %w", err)
	}
	return b, nil
}

func (b *bench) close() { os.RemoveAll(b.temp) }

// run measures the rows that only names and writes the report to standard output
// and to files in out.
func (b *bench) run(ctx context.Context, only, out string) error {
	if err := os.MkdirAll(b.store.Dir, 0o777); err != nil {
		return err
	}
	b.report.Date, b.report.Machine = time.Now(), b.machine()
	for _, group := range []struct {
		id      string
		measure func(context.Context) error
	}{
		{"T1", b.polling}, {"T2", b.first}, {"T16", b.tags}, {"T16", b.exactTag},
		{"T17", func(ctx context.Context) error { return b.past(ctx, "T17") }}, {"T18", b.apart},
		{"T20", func(ctx context.Context) error { return b.past(ctx, "T20") }},
	} {
		if only != "" && !strings.Contains(","+only+",", ","+group.id+",") {
			continue
		}
		if err := group.measure(ctx); err != nil {
			return fmt.Errorf("%s: %w", group.id, err)
		}
	}
	if err := b.report.Table(os.Stdout); err != nil {
		return err
	}
	if out == "" {
		return nil
	}
	return b.write(out)
}

// write puts the report into files named by its date.
func (b *bench) write(dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	for ending, write := range map[string]func(*os.File) error{
		".txt":  func(f *os.File) error { return b.report.Table(f) },
		".json": func(f *os.File) error { return b.report.JSON(f) },
		".svg":  func(f *os.File) error { return b.report.Plot(f) },
	} {
		f, err := os.Create(filepath.Join(dir, b.report.Date.Format(time.DateOnly)+ending))
		if err != nil {
			return err
		}
		if err := write(f); err != nil {
			f.Close()
			return err
		}
		if err := f.Close(); err != nil {
			return err
		}
	}
	return nil
}

// machine describes this one. What cannot be found out stays "unknown".
func (b *bench) machine() report.Machine {
	m := report.Machine{
		System: runtime.GOOS + "/" + runtime.GOARCH + " " + firstLine("/proc/sys/kernel/osrelease"),
		CPU:    "unknown", Cores: runtime.NumCPU(), Go: runtime.Version(),
		FileSystem: b.says("findmnt", "-n", "-o", "FSTYPE", "-T", b.store.Dir),
		Git:        b.says(b.git, "version"),
		Gust:       b.says("git", "rev-parse", "--short", "HEAD"),
	}
	if b.says("git", "status", "--porcelain", "--untracked-files=no") != "unknown" {
		m.Gust += "+"
	}
	info, _ := os.ReadFile("/proc/cpuinfo") // absent elsewhere
	for line := range strings.Lines(string(info)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			m.CPU = strings.TrimSpace(value)
			break
		}
	}
	return m
}

// says returns the first line that a program prints, "unknown" if none.
func (b *bench) says(program string, args ...string) string {
	out, err := exec.Command(program, args...).Output()
	line, _, _ := strings.Cut(string(out), "\n")
	if err != nil || line == "" {
		return "unknown"
	}
	return line
}

func firstLine(path string) string {
	data, _ := os.ReadFile(path) // absent elsewhere
	line, _, _ := strings.Cut(string(data), "\n")
	return line
}
