package cli

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gust/conformance/differential"
	"gust/internal/face/cli"
	"gust/internal/face/porcelain"
	"gust/internal/gittest"
)

// The flags of `make conformance`.
var (
	seeds   = flag.Int("seeds", 24, "how many random repositories to play")
	first   = flag.Uint64("first", 1, "the first seed")
	only    = flag.String("only", "", "the only features to use, separated by commas")
	shrink  = flag.Duration("shrink", 30*time.Second, "how long to shrink each failing scenario")
	reports = flag.Int("failures", 5, "how many failing seeds to shrink and report")
	group   = flag.String("group", "", "the only group of commands to ask")
)

// TestMatrix plays random repositories, and asks git and gust the same in each: the
// standard output, the standard error and the exit code must be the same bytes.
func TestMatrix(t *testing.T) {
	m := &matrix{t: t, asked: map[string]*[2]int{}}
	var next, failed atomic.Int64
	var wg sync.WaitGroup
	for range runtime.NumCPU() {
		wg.Go(func() {
			for i := next.Add(1); i <= int64(*seeds); i = next.Add(1) {
				if !m.play(*first+uint64(i-1)) && failed.Add(1) >= int64(*reports) {
					return
				}
			}
		})
	}
	wg.Wait()
	for _, name := range slices.Sorted(maps.Keys(m.asked)) {
		t.Logf("%-12s %6d answered, %6d left to git", name, m.asked[name][0], m.asked[name][1])
	}
}

// A matrix is the run of all seeds.
type matrix struct {
	t     *testing.T
	mu    sync.Mutex
	asked map[string]*[2]int // by group: answered, left to git
}

// play plays one seed and reports whether all is well.
func (m *matrix) play(seed uint64) bool {
	gits := gittest.All(m.t)
	git := gits[seed%uint64(len(gits))]
	maker := &differential.Maker{Git: git, Off: map[string]bool{}, Root: os.Getuid() == 0}
	if *only != "" {
		maker.Only = strings.Split(*only, ",")
	}
	s := maker.Make(seed)
	dir, err := filepath.EvalSymlinks(m.t.TempDir())
	if err != nil {
		m.t.Error(err)
		return false
	}
	r := &differential.Runner{Git: git, Oracle: git, Temp: dir}
	lines := 6
	r.Look = func(e *gittest.Env, p gittest.Place, step *differential.Step) error {
		// The same questions whenever the scenario is played: it may be shrunk.
		rnd := rand.New(rand.NewPCG(seed, uint64(len(step.Commands))))
		for range lines {
			if err := m.compare(e, git, p, question(rnd)); err != nil {
				return err
			}
		}
		return nil
	}
	f, err := r.Run(s)
	if err != nil {
		m.t.Errorf("seed %d: %v", seed, err)
		return false
	}
	if f == nil {
		return true
	}
	lines = 60
	s, f = r.Shrink(s, f, *shrink)
	var script strings.Builder
	for i := range s.Steps {
		fmt.Fprintf(&script, "%s\n", strings.Join(s.Steps[i].Commands, "\n"))
	}
	m.t.Errorf("seed %d under %v (%s, %s): %v\n%s", seed, git, strings.Join(s.Features, ","), s.Env, f.Broken, script.String())
	return false
}

// compare asks both about a place.
func (m *matrix) compare(e *gittest.Env, git gittest.Git, p gittest.Place, q command) error {
	dir, args := p.Dir, q.args
	if p.GitDir {
		dir, args = filepath.Dir(p.Dir), append([]string{"--git-dir", p.Dir}, args...)
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil
	}
	env := append(e.Environ(), "GIT_OPTIONAL_LOCKS=0")
	if len(q.args)%3 > 0 {
		env = slices.DeleteFunc(env, func(v string) bool { return strings.HasPrefix(v, "GIT_ADVICE=") })
	}
	got, ok := inProcess(git, env, dir, args)
	m.mu.Lock()
	count := m.asked[q.group]
	if count == nil {
		count = new([2]int)
		m.asked[q.group] = count
	}
	if ok {
		count[0]++
	} else {
		count[1]++
	}
	m.mu.Unlock()
	if !ok {
		if got.Out+got.Err != "" {
			return fmt.Errorf("gust %q wrote %q and %q before it left the command to git", args, got.Out, got.Err)
		}
		return nil
	}
	want := asked(git, env, dir, args)
	if got == want {
		return nil
	}
	// Git may believe a stat that says nothing, of a file changed in the same second as
	// the index: with an index that looks older than all files it compares contents.
	if index, ok := oldIndex(e, git, env, dir, p); ok {
		if again := asked(git, append(env, "GIT_INDEX_FILE="+index), dir, args); got == again {
			return nil
		}
	}
	return fmt.Errorf("%q in %s\ngot  %d %s%s\nwant %d %s%s", args, dir, got.Code, got.Out, got.Err, want.Code, want.Out, want.Err)
}

// oldIndex makes a copy of the index with an old time stamp.
func oldIndex(e *gittest.Env, git gittest.Git, env []string, dir string, p gittest.Place) (string, bool) {
	args := []string{"rev-parse", "--path-format=absolute", "--git-path", "index"}
	if p.GitDir {
		args = append([]string{"--git-dir", p.Dir}, args...)
	}
	path := strings.TrimSuffix(asked(git, env, dir, args).Out, "\n")
	data, err := os.ReadFile(path)
	if err != nil {
		return "", false
	}
	copied := filepath.Join(filepath.Dir(path), "index-of-the-oracle")
	if os.WriteFile(copied, data, 0o600) != nil || os.Chtimes(copied, time.Unix(1, 0), time.Unix(1, 0)) != nil {
		return "", false
	}
	return copied, true
}

// inProcess runs gust in this process; ok is false if it leaves the command to git.
func inProcess(git gittest.Git, env []string, dir string, args []string) (a answer, ok bool) {
	var out, errs bytes.Buffer
	ok = true
	a.Code = cli.Run(context.Background(), &cli.Program{
		Args: args, Env: env, In: strings.NewReader(""), Out: &out, Err: &errs, Name: "git",
		Dir:        func() (string, error) { return dir, nil },
		GitVersion: func() (porcelain.Version, error) { return porcelain.Version{Major: git.Major, Minor: git.Minor}, nil },
		HandOver:   func([]string, []byte) int { ok = false; return 0 },
	})
	a.Out, a.Err = out.String(), errs.String()
	return a, ok
}

// asked runs git.
func asked(git gittest.Git, env []string, dir string, args []string) (a answer) {
	var out, errs bytes.Buffer
	cmd := exec.Command(git.Path, args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, env, &out, &errs
	_ = cmd.Run() // the exit code is part of the answer
	if cmd.ProcessState != nil {
		a.Code = cmd.ProcessState.ExitCode()
	}
	a.Out, a.Err = out.String(), errs.String()
	return a
}
