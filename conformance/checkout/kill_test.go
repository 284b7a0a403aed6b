package checkout

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"gust/internal/gittest"
)

// everyCall makes TestKill and TestFailure go through every system call that touches
// a file, which takes some minutes, and not only through those that change one.
var everyCall = flag.Bool("everycall", false, "kill and fail at every system call")

// changing are the system calls that change files; all others that a run makes on
// files come with -everycall.
var changing = []string{"renameat2", "renameat", "mkdirat", "unlinkat", "fsync", "symlinkat"}

var others = []string{"openat", "openat2", "write", "close", "fstat", "newfstatat", "pwrite64", "read", "pread64", "getdents64", "mmap"}

// maxCalls ends the search for the last call of a kind that a run makes.
const maxCalls = 2000

var buildOnce = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "gust-checkout-")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "gust")
	out, err := exec.Command("go", "build", "-buildvcs=false", "-o", path, "gust/cmd/gust").CombinedOutput()
	if err != nil {
		err = fmt.Errorf("go build: %w\n%s", err, out)
	}
	return path, err
})

// A rig is a repository to switch in while things go wrong.
type rig struct {
	e      *gittest.Env
	gust   string
	strace string
	dir    string
	before string // what is there before a switch, and after one
	after  string
}

const rigScript = `git init -q base; cd base
put() { mkdir -p "$(dirname "$1")"; echo "$2" >"$1"; }
for i in 1 2 3 4 5 6 7 8; do put d$((i%3))/f$i $i; done; put gone/g/h x; put gone/i x; put f2d x; put d2f/x x; ln -s a link; put user 1; put d1/user 1
git add .; git commit -qm 1
git switch -qc to; for i in 1 2 3 4 5 6; do put d$((i%3))/f$i $i$i; done; git rm -qr gone f2d d2f d2/f8; put f2d/y y; put d2f y; put new/n/a a; put new/b b; ln -sf b link
git add .; git commit -qm 2; git switch -q main
echo mine >user; echo mine >d1/user; put mine/u u; touch -d @1600000000 .git/index`

func newRig(t *testing.T) *rig {
	t.Helper()
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Logf("NOT TESTED: what a kill or an error at a system call leaves: %v", err)
		return nil
	}
	gust, err := buildOnce()
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{e: gittest.New(t, gittest.System(t)), gust: gust, strace: strace}
	r.e.Setenv("GUST_SERVER", "0")
	r.e.Script(t, rigScript)
	r.dir = r.e.Path("base")
	r.before = r.state(t)
	r.e.Script(t, "cp -a base done; cd done; git switch -q to")
	r.dir = r.e.Path("done")
	r.after = r.state(t)
	r.dir = r.e.Path("r")
	return r
}

// fresh makes the repository anew.
func (r *rig) fresh(t *testing.T) {
	t.Helper()
	r.e.Script(t, "rm -rf r; cp -a base r; cd r; git update-index -q --refresh || true")
}

// state is the working tree and the index.
func (r *rig) state(t *testing.T) string {
	t.Helper()
	return listTree(t, r.dir, func(rel string) bool { return rel == ".git" }) + r.e.Run(t, r.dir, "ls-files", "-s")
}

// run runs gust switch under strace, which does what inject says; path comes first
// in PATH.
func (r *rig) run(inject, path string, args ...string) (code int, output string) {
	cmd := exec.Command(r.strace, append([]string{"-f", "-qq", "-o", "/dev/null", "-e", "trace=" + strings.SplitN(inject, ":", 2)[0], "-e", "inject=" + inject, r.gust}, args...)...)
	if inject == "" {
		cmd = exec.Command(r.gust, args...)
	}
	cmd.Dir = r.dir
	cmd.Env = r.e.Environ()
	if path != "" {
		for i, v := range cmd.Env {
			if strings.HasPrefix(v, "PATH=") {
				cmd.Env[i] = "PATH=" + path + string(os.PathListSeparator) + v[len("PATH="):]
			}
		}
	}
	out, err := cmd.CombinedOutput()
	return exitCode(err), string(out)
}

// calls are the kinds of calls to try.
func calls() []string {
	if *everyCall {
		return append(append([]string(nil), changing...), others...)
	}
	return changing
}

// clean checks that nothing is left in the git directory, once it was swept.
func (r *rig) clean(t *testing.T, what string) {
	t.Helper()
	r.run("", "", "__sweep", filepath.Join(r.dir, ".git"))
	for _, name := range []string{"gust-checkout", "gust-trash", "index.lock", "HEAD.lock"} {
		if _, err := os.Lstat(filepath.Join(r.dir, ".git", name)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s leaves %s", what, name)
		}
	}
	if out, err := r.e.Command(r.dir, "fsck", "--cache", "--no-dangling").CombinedOutput(); err != nil {
		t.Errorf("%s: git fsck: %v\n%s", what, err, out)
	}
}

// A run that is killed at any call can be completed by the same command, or taken
// back.
func TestKill(t *testing.T) {
	for _, call := range calls() {
		t.Run(call, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			if r == nil {
				return
			}
			killed := 0
			for n := 1; n < maxCalls; n++ {
				r.fresh(t)
				code, _ := r.run(fmt.Sprintf("%s:signal=SIGKILL:when=%d", call, n), "", "switch", "-q", "to")
				if code == 0 {
					break
				}
				killed++
				what := fmt.Sprintf("a kill at %s number %d", call, n)
				for _, lock := range []string{"index.lock", "HEAD.lock"} {
					os.Remove(filepath.Join(r.dir, ".git", lock)) // as git asks
				}
				r.e.Run(t, r.dir, "status")
				r.recovered(t, what, n)
				r.clean(t, what)
				if t.Failed() {
					return
				}
			}
			t.Logf("killed %d times", killed)
		})
	}
}

// recovered takes back or completes what a kill left, in turn.
func (r *rig) recovered(t *testing.T, what string, n int) {
	t.Helper()
	if n%2 == 0 {
		code, out := r.run("", "", "switch", "-q", "to")
		if got := r.state(t); code != 0 || got != r.after {
			t.Errorf("%s: the same command again: exit code %d, %s\n%s", what, code, out, difference(got, r.after))
		}
		return
	}
	code, out := r.run("", "", "switch", "--abort")
	got := r.state(t)
	// Killed before the first change, or after the last.
	if got != r.before && got != r.after || code != 0 && code != 1 {
		t.Errorf("%s: --abort: exit code %d, %s\n%s", what, code, out, difference(got, r.before))
	}
}

func difference(got, want string) string {
	var b strings.Builder
	lines(&b, got, want)
	return b.String()
}

// A call that fails makes gust take everything back before it asks git.
func TestFailure(t *testing.T) {
	errorOf := map[string]string{"write": "ENOSPC", "pwrite64": "ENOSPC", "fsync": "EIO", "read": "EIO", "pread64": "EIO"}
	for _, call := range calls() {
		if call == "mmap" || call == "close" {
			continue // the Go runtime does not live with these
		}
		t.Run(call, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			if r == nil {
				return
			}
			bin := r.e.Path("bin")
			r.e.Script(t, "mkdir -p bin; printf '#!/bin/sh\\nexit 99\\n' >bin/git; chmod +x bin/git")
			failed := 0
			for n := 1; n < maxCalls; n++ {
				r.fresh(t)
				name := errorOf[call]
				if name == "" {
					name = "EACCES"
				}
				code, out := r.run(fmt.Sprintf("%s:error=%s:when=%d", call, name, n), bin, "switch", "-q", "to")
				what := fmt.Sprintf("%s for %s number %d", name, call, n)
				got := r.state(t)
				switch {
				case code == 0 && withoutDirs(got) == withoutDirs(r.after): // a directory that cannot be removed stays
				case code == 99 && got == r.before:
					failed++
				case code == 128 && got == r.after: // after the index was written
					failed++
				case code == 128 || code == 99:
					failed++
					r.recovered(t, what, 1)
				default:
					t.Errorf("%s: exit code %d, %s\n%s", what, code, out, difference(got, r.before))
				}
				r.clean(t, what)
				if t.Failed() {
					return
				}
				if code == 0 && n > 3 && !r.reaches(call, n) {
					break
				}
			}
			t.Logf("failed %d times", failed)
		})
	}
}

// withoutDirs leaves directories out of a state.
func withoutDirs(state string) string {
	var b strings.Builder
	for l := range strings.SplitSeq(state, "\n") {
		if !strings.Contains(l, " drwx") {
			b.WriteString(l + "\n")
		}
	}
	return b.String()
}

// reaches reports whether some thread of a run makes a call n times: a run that
// succeeds may have lived with the failure.
func (r *rig) reaches(call string, n int) bool {
	r.e.TryScript("rm -rf r; cp -a base r")
	code, _ := r.run(fmt.Sprintf("%s:signal=SIGKILL:when=%d", call, n), "", "switch", "-q", "to")
	return code != 0
}
