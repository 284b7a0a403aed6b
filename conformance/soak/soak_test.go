package soak

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"gust/conformance/daemon"
	"gust/internal/daemon/client"
	"gust/internal/daemon/wire"
	"gust/internal/gittest"
)

var (
	last = flag.Duration("last", 20*time.Second, "how long to go on")
	seed = flag.Uint64("seed", 1, "of the order of changes")
)

// clients is how many shells ask at once.
const clients = 4

var gitstatusd string

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(gittest.BuildAndRun(m, map[string]*string{"gitstatusd": &gitstatusd}))
}

// A soak is one server, the shells that ask it, and a repository that changes.
type soak struct {
	*testing.T
	env      *gittest.Env
	oracle   *gittest.Oracle
	rand     *rand.Rand
	shells   [clients]*daemon.Daemon
	turn     int
	compared int
	wrong    int
	recent   []string // the last changes, for the report
}

// TestSoak changes a repository at random and has all shells ask at once right
// after each change, while a build rewrites ignored files. In the last part, servers
// and relays are killed, too.
func TestSoak(t *testing.T) {
	s := begin(t)
	stop := make(chan struct{})
	var build sync.WaitGroup
	build.Go(func() { s.build(stop) })
	end := time.Now().Add(*last * 4 / 5)
	first := s.warm()
	steady := first
	for half := time.Now().Add(*last * 2 / 5); time.Now().Before(end) && s.wrong < 5; {
		s.step(s.rand.IntN(len(changes)))
		if steady == first && time.Now().After(half) {
			steady = s.status()
		}
	}
	st := s.status()
	t.Logf("server: %d answers, %d watches, %d goroutines, %d MB, %d descriptors", st.Queries, st.Watches, st.Goroutines, st.Memory>>20, s.descriptors(st))
	if st.PID != first.PID {
		t.Errorf("the server %d was not there for long: it is %d in the end", first.PID, st.PID)
	}
	// Nothing grows with time.
	if st.Goroutines > steady.Goroutines+20 || st.Memory > 2*steady.Memory+32<<20 || s.descriptors(st) > 200 {
		t.Errorf("it grows: %d goroutines and %d MB, before %d and %d MB; %d descriptors",
			st.Goroutines, st.Memory>>20, steady.Goroutines, steady.Memory>>20, s.descriptors(st))
	}
	if st.Queries < s.compared/2 {
		t.Errorf("the server gave %d of %d answers", st.Queries, s.compared)
	}
	for end := time.Now().Add(*last / 5); time.Now().Before(end) && s.wrong < 5; {
		if s.turn%3 == 0 {
			s.kill()
		}
		s.step(s.rand.IntN(len(changes)))
	}
	close(stop)
	build.Wait()
	t.Logf("seed %d: %d turns, %d answers compared, %d wrong", *seed, s.turn, s.compared, s.wrong)
}

func begin(t *testing.T) *soak {
	runtime, err := os.MkdirTemp("", "gust") // an address needs a short name
	if err != nil {
		t.Fatal(err)
	}
	e := gittest.New(t, gittest.Newest(t))
	e.Setenv("XDG_RUNTIME_DIR", runtime)
	e.Setenv("XDG_STATE_HOME", e.Path("state"))
	e.Setenv("GUST_SERVER", "1")
	s := &soak{T: t, env: e, rand: rand.New(rand.NewPCG(*seed, 0)), oracle: gittest.NewOracle(e.Git, e.Environ(), t.TempDir())}
	t.Cleanup(func() {
		for _, d := range s.shells {
			if d != nil {
				d.Kill()
			}
		}
		if st := s.status(); st != nil {
			signal(st.PID, os.Interrupt)
		}
		if t.Failed() {
			log, _ := os.ReadFile(e.Path("state/gust/server.log"))
			t.Logf("log of the server:\n%s", log)
		}
		os.RemoveAll(runtime)
	})
	e.Script(t, `git init -q seed; cd seed
		for d in a b c/d/e f/g; do mkdir -p $d; for i in 1 2 3 4 5 6 7 8; do echo $i >$d/$i; done; done
		printf 'build/\n*.log\n' >.gitignore; mkdir build; echo kept >build/kept; git add -f .; git commit -qm one; cd ..
		git clone -q --bare seed origin; git clone -q origin r`)
	for i := range s.shells {
		s.start(i)
	}
	return s
}

// start starts a shell's gitstatusd.
func (s *soak) start(i int) {
	s.Helper()
	var err error
	if s.shells[i], err = daemon.Start(gitstatusd, s.env.Environ(), gittest.Unlimited().Args()...); err != nil {
		s.Fatal(err)
	}
}

// warm asks until the repository is watched, and returns the server's status.
func (s *soak) warm() *wire.ServerStatus {
	s.Helper()
	for end := time.Now().Add(time.Minute); ; {
		s.step(0)
		st := s.status()
		if st != nil {
			for _, r := range st.Repositories {
				if r.Mode == "watched" {
					return st
				}
			}
		}
		if time.Now().After(end) {
			s.Fatalf("the repository is never watched: %+v", st)
		}
	}
}

// build rewrites ignored files until stop is closed.
func (s *soak) build(stop <-chan struct{}) {
	for i := 0; ; i++ {
		select {
		case <-stop:
			return
		case <-time.After(time.Millisecond):
		}
		// The directory comes and goes with the repository.
		_ = os.WriteFile(s.env.Path("r/build/o"+strconv.Itoa(i%50)), []byte(strconv.Itoa(i)), 0o644)
		_ = os.WriteFile(s.env.Path("r/a/x.log"), []byte(strconv.Itoa(i)), 0o644)
	}
}

// changes are scripts, in the directory of the repository r, which they may fail in:
// what git says afterwards counts. $N is a number, $P and $Q are files.
var changes = []string{
	`echo $N >>$P`, `echo $N >$P`, `echo $N >u$N`, `rm -f $P`, `git add -A`, `git commit -qam $N`, `git checkout -q -- .`,
	`git add $P; git reset -q`, `git stash -q -u`, `git stash pop -q`, `git switch -q -c b$N`, `git switch -q -f -`, `git reset -q --hard HEAD~1`,
	`git merge -q -m m -`, `git merge --abort`, `git rebase -q HEAD~1`, `git clean -qfd`, `mkdir -p n$N/x/y; touch n$N/x/y/z`, `mkdir n$N`, `touch n*/t$N`, `rm -rf n*`,
	`mv a a2 && mv b a && mv a2 b`, `mv c moved`, `mv moved c`, `mv c/d c/d2; mkdir -p c/d/e; touch c/d/e/1`, `rm -rf c; git checkout -q -- c`,
	`echo "u$N" >>.gitignore`, `git checkout -q -- .gitignore`, `echo '*.tmp' >.git/info/exclude; touch $N.tmp`, `rm -f *.tmp`, `echo $N >>build/kept`, `rm -rf build; mkdir build`,
	`git config status.showUntrackedFiles all`, `git config --unset status.showUntrackedFiles`, `git gc -q`, `git pack-refs --all`, `git tag t$N`, `git tag -d t$N`,
	`git worktree add -q ../w$N && echo $N >../w$N/f && git worktree remove -f ../w$N`, `git push -q origin HEAD:main$N; git fetch -q`, `git branch -q -u origin/master`,
	`cd ..; rm -rf r; git clone -q origin r`, `cd ..; mv r r2; git clone -q origin r; rm -rf r2`, `git init -q sub$N; rm -rf sub$N`, `git update-index --refresh -q`,
	`ln -f $P hard; echo $N >>hard`, `rm -f hard`, `ln -sf $P $Q`, `chmod +x $P`, `touch $P`, `git mv $P m$N`, `git rm -q --cached $P`,
	burst,
}

// burst is the change that overflows the kernel's queue of events.
const burst = "burst"

// step makes change k, has all shells ask at once, and compares.
func (s *soak) step(k int) {
	s.Helper()
	s.turn++
	file := func() string {
		dir := []string{"a", "b", "c/d/e", "f/g"}[s.rand.IntN(4)]
		return dir + "/" + strconv.Itoa(1+s.rand.IntN(8))
	}
	change := changes[k]
	vars := fmt.Sprintf("N=%d P=%s Q=%s", s.turn, file(), file())
	if len(s.recent) == 30 {
		s.recent = s.recent[1:]
	}
	s.recent = append(s.recent, vars+"; "+change)
	if change == burst {
		s.burst()
	} else {
		s.env.TryScript(vars + "; cd r && { " + change + "; }")
	}
	place, opts := gittest.Place{Dir: s.env.Path("r")}, gittest.Unlimited()
	var answers [clients][]string
	var failed [clients]error
	var asked sync.WaitGroup
	for i, d := range s.shells {
		asked.Go(func() { answers[i], failed[i] = d.Ask(place, false) })
	}
	asked.Wait()
	truths, err := s.oracle.Ask(place, opts)
	if err != nil {
		s.Fatalf("turn %d, after %q with %s: git: %v", s.turn, change, vars, err)
	}
	for i, got := range answers {
		if failed[i] != nil {
			s.Errorf("turn %d, after %q: no answer: %v", s.turn, change, failed[i])
			s.wrong++
			continue
		}
		s.compared++
		if bad := truths[0].Check(got[0], opts, false, got); bad != nil {
			if s.wrong == 0 {
				s.Logf("the last changes:\n%s", strings.Join(s.recent, "\n"))
			}
			s.wrong++
			s.Errorf("turn %d, after %q with %s: shell %d: %v", s.turn, change, vars, i, bad)
		}
	}
}

// burst raises 100,000 events, more than the kernel's queue holds.
func (s *soak) burst() {
	var names []string
	for _, n := range []string{"1", "2", "3"} {
		names = append(names, s.env.Path("r/f/g/"+n))
	}
	for i := range 100_000 {
		now := time.Unix(1_600_000_000+int64(i), 0)
		_ = os.Chtimes(names[i%len(names)], now, now) // a file may be gone
	}
}

// kill kills the server or a relay, without a warning.
func (s *soak) kill() {
	i := s.rand.IntN(2 * clients)
	if i < clients {
		s.shells[i].Kill()
		s.start(i)
		return
	}
	if st := s.status(); st != nil {
		signal(st.PID, os.Kill)
	}
}

// signal sends a signal to a process, which may have ended.
func signal(pid int, s os.Signal) {
	if p, err := os.FindProcess(pid); err == nil {
		_ = p.Signal(s)
		_ = p.Release()
	}
}

// status returns what the server says of itself, nil if there is none.
func (s *soak) status() *wire.ServerStatus {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	c, err := (&client.Dialer{Env: s.env.Environ()}).Connect(ctx)
	if err != nil {
		return nil
	}
	defer c.Close()
	a, err := c.Do(ctx, wire.Request{Op: wire.Status})
	if err != nil {
		return nil
	}
	return a.Server
}

// descriptors returns how many the server has open; 0 where that cannot be known.
func (s *soak) descriptors(st *wire.ServerStatus) int {
	out, err := exec.Command("ls", fmt.Sprintf("/proc/%d/fd", st.PID)).Output()
	if err != nil {
		return 0
	}
	return strings.Count(string(out), "\n")
}
