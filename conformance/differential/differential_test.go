package differential

import (
	"flag"
	"fmt"
	"maps"
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

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"gust/internal/gittest"
)

// The flags of `make conformance`. The default number of seeds takes about half
// a minute on two cores.
var (
	seeds    = flag.Int("seeds", 60, "how many random repositories to play")
	first    = flag.Uint64("first", 1, "the first seed")
	off      = flag.String("off", "", "features to leave out, separated by commas")
	only     = flag.String("only", "", "the only features to use, separated by commas")
	jobs     = flag.Int("jobs", runtime.NumCPU(), "how many to play at a time")
	shrink   = flag.Duration("shrink", 60*time.Second, "how long to shrink each failing scenario")
	failures = flag.Int("failures", 5, "how many failing seeds to shrink and report")
	out      = flag.String("out", "", "a directory for what reproduces failures: scripts, and texts for testdata/regressions")
	temp     = flag.String("temp", "", "where to make the repositories, in place of the temporary directory")
	verbose  = flag.Bool("what", false, "list the steps with a failing command, and what git's answers said")
)

// gitstatusd is the path of the program under test, set by TestMain.
var gitstatusd string

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(gittest.BuildAndRun(m, map[string]*string{"gitstatusd": &gitstatusd}))
}

// TestDifferential plays random scenarios and compares every answer of one
// long-lived gitstatusd with git.
func TestDifferential(t *testing.T) {
	playAll(t, maker(t), tempDir(t), seedRange(*first, *seeds), StartDaemon(gitstatusd))
}

// TestDifferentialCoarse plays scenarios on a file system whose times are coarse:
// there a change within a clock tick leaves no trace in them.
func TestDifferentialCoarse(t *testing.T) {
	dir, ok := gittest.CoarseDir(t)
	if !ok {
		return
	}
	m := maker(t)
	m.Only = []string{"editors", "restored", "inplace", "ignore", "untracked", "tag", "global", "flags"}
	playAll(t, m, dir, seedRange(*first, max(*seeds/5, 1)), StartDaemon(gitstatusd))
}

func seedRange(from uint64, n int) []uint64 {
	list := make([]uint64, n)
	for i := range list {
		list[i] = from + uint64(i)
	}
	return list
}

// TestRegressions plays the scenarios that once ended in a disagreement.
func TestRegressions(t *testing.T) {
	files, err := filepath.Glob("testdata/regressions/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no regressions: %v", err)
	}
	git := gittest.Newest(t)
	for _, name := range files {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txt"), func(t *testing.T) {
			t.Parallel()
			f, err := os.Open(name)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			s, err := Parse(f)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			for how, start := range map[string]func(*gittest.Env, string, gittest.Options) (answerer, error){
				"polling": StartDaemon(gitstatusd), "watching": startWatching,
			} {
				r := &Runner{Git: git, Oracle: git, Temp: t.TempDir(), Start: start}
				failure, err := r.Run(s)
				if err != nil {
					t.Fatal(err)
				}
				if failure != nil {
					t.Errorf("%s, %s: %v\nlog: %s", name, how, failure, failure.Log)
				}
				if r.Unknown > 0 || r.Asked == 0 {
					t.Errorf("%s, %s: git could not tell %d of %d answers", name, how, r.Unknown, r.Asked)
				}
			}
		})
	}
}

// TestFormat writes random scenarios and reads them again.
func TestFormat(t *testing.T) {
	m := &Maker{Git: gittest.System(t), Off: map[string]bool{}}
	for seed := range uint64(50) {
		s := m.Make(seed)
		var text strings.Builder
		if err := s.Format(&text, "nothing\nat all"); err != nil {
			t.Fatal(err)
		}
		got, err := Parse(strings.NewReader(text.String()))
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		want := &Scenario{Steps: s.Steps, Options: s.Options, Env: s.Env}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("seed %d: %s", seed, diff)
		}
	}
}

// maker returns the generator as the flags set it, and says what it cannot test.
func maker(t *testing.T) *Maker {
	t.Helper()
	m := &Maker{Off: map[string]bool{}, Root: os.Getuid() == 0}
	known := Features()
	for f := range strings.SplitSeq(*off, ",") {
		if f != "" && known[f] == 0 {
			t.Fatalf("-off: no feature is called %q", f)
		}
		m.Off[f] = true
	}
	if *only != "" {
		m.Only = strings.Split(*only, ",")
		for _, f := range m.Only {
			if known[f] == 0 {
				t.Fatalf("-only: no feature is called %q", f)
			}
		}
	}
	if !m.Root {
		t.Log("NOT TESTED: repositories of another owner (only root can make them)")
	}
	if m.LFS = exec.Command("git-lfs", "version").Run() == nil; !m.LFS {
		t.Log("NOT TESTED: there is no git-lfs")
	}
	if m.Mmap = exec.Command("python3", "-c", "import mmap").Run() == nil; !m.Mmap {
		t.Log("NOT TESTED: writes through a mapping (there is no python3)")
	}
	return m
}

// tempDir returns the directory to make repositories in.
func tempDir(t *testing.T) string {
	t.Helper()
	dir := *temp
	if dir == "" {
		dir = t.TempDir()
	}
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// playAll plays the seeds on a few goroutines, reports the first failures, shrunk,
// and returns the number of answers that were compared.
func playAll(t *testing.T, m *Maker, dir string, list []uint64, start func(*gittest.Env, string, gittest.Options) (answerer, error)) int {
	t.Helper()
	gits := gittest.All(t)
	p := &player{t: t, m: m, dir: dir, list: list, gits: gits, start: start, statuses: map[string]int{}, seen: map[string]int{}}
	begin := time.Now()
	var wg sync.WaitGroup
	for range max(*jobs, 1) {
		wg.Go(p.work)
	}
	wg.Wait()
	if p.unreported > 0 {
		t.Errorf("%d more seeds fail", p.unreported)
	}
	t.Logf("%d seeds, %d answers compared, %d beyond git itself, %d steps with a failing command, %d git processes of the oracle, %.1f seeds/s",
		p.played, p.asked, p.unknown, p.failing, p.processes, float64(p.played)/time.Since(begin).Seconds())
	if p.unknown*20 > p.asked {
		t.Errorf("git could not tell %d of %d answers: the generator makes too much that is broken", p.unknown, p.asked)
	}
	if *verbose {
		for _, text := range slices.Sorted(maps.Keys(p.statuses)) {
			t.Logf("failed %4d times: %s", p.statuses[text], text)
		}
		for _, what := range slices.Sorted(maps.Keys(p.seen)) {
			t.Logf("seen %5d times: %s", p.seen[what], what)
		}
	}
	return p.asked
}

// A player shares a list of seeds among goroutines.
type player struct {
	t     *testing.T
	m     *Maker
	dir   string
	list  []uint64
	gits  []gittest.Git
	start func(*gittest.Env, string, gittest.Options) (answerer, error)
	next  atomic.Int64

	mu                                         sync.Mutex // guards what follows
	reported, unreported                       int
	played, asked, unknown, failing, processes int
	statuses, seen                             map[string]int
}

func (p *player) work() {
	r := &Runner{Temp: p.dir, Start: p.start, Statuses: map[string]int{}, Seen: map[string]int{}}
	for {
		i := int(p.next.Add(1)) - 1
		if i >= len(p.list) {
			break
		}
		p.one(r, p.list[i])
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked, p.unknown, p.failing, p.processes = p.asked+r.Asked, p.unknown+r.Unknown, p.failing+r.Failing, p.processes+r.Processes
	p.played += r.Played
	for text, n := range r.Statuses {
		p.statuses[text] += n
	}
	for what, n := range r.Seen {
		p.seen[what] += n
	}
}

func (p *player) one(r *Runner, seed uint64) {
	// Odd seeds are made by the newest git, even ones by the system's; what is true
	// is what the newest says.
	m := *p.m
	r.Oracle = p.gits[len(p.gits)-1]
	r.Git = p.gits[int(seed)%len(p.gits)]
	m.Git = r.Git
	s := m.Make(seed)
	f, err := r.Run(s)
	if err != nil {
		p.t.Errorf("seed %d (%v): %v", seed, s.Features, err)
		return
	}
	if f == nil {
		return
	}
	p.mu.Lock()
	report := p.reported < *failures
	if report {
		p.reported++
	} else {
		p.unreported++
	}
	p.mu.Unlock()
	if !report {
		p.t.Logf("seed %d fails: %v", seed, f)
		return
	}
	trial := &Runner{Temp: r.Temp, Start: r.Start, Oracle: r.Oracle, Git: r.Git}
	small, sf := trial.Shrink(s, f, *shrink)
	script := Script(small, r.Git, sf)
	where := ""
	if *out != "" {
		where = filepath.Join(*out, fmt.Sprintf("seed-%d.sh", seed))
		if err := os.WriteFile(where, []byte(script), 0o755); err != nil {
			p.t.Error(err)
		}
		var text strings.Builder
		if err := small.Format(&text, fmt.Sprintf("by seed %d: %v", seed, sf)); err != nil {
			p.t.Error(err)
		}
		if err := os.WriteFile(strings.TrimSuffix(where, ".sh")+".txt", []byte(text.String()), 0o644); err != nil {
			p.t.Error(err)
		}
	}
	p.t.Errorf("seed %d, run again with -seeds=1 -first=%d: %v\nshrunk to %d of %d steps in %d plays %s\n%s\nlog: %s", seed, seed, f,
		len(small.Steps), len(s.Steps), trial.Played, where, script, sf.Log)
}
