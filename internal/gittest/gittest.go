// Package gittest makes throwaway repositories with the real git, and asks the
// real git what is true about them. It is for tests only.
//
// An [Env] is a directory, a home and an environment that nothing of the
// machine's own configuration reaches. An [Oracle] answers every field of the
// gitstatusd protocol by asking git alone; it never changes what it asks about.
package gittest

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// NewestEnv names the environment variable that holds the path of a git of
// version 2.51 or newer, for what the system's git does not know.
const NewestEnv = "GUST_TEST_GIT"

// A Git is one git program.
type Git struct {
	Path         string // absolute
	Major, Minor int

	exec, program string // see direct
}

// String returns the version, as test names use it: "git-2.39".
func (g Git) String() string { return fmt.Sprintf("git-%d.%d", g.Major, g.Minor) }

// AtLeast reports whether g is version major.minor or newer.
func (g Git) AtLeast(major, minor int) bool {
	return g.Major > major || g.Major == major && g.Minor >= minor
}

// Find returns the git at path, which may be a bare command name.
func Find(path string) (Git, error) {
	abs, err := exec.LookPath(path)
	if err != nil {
		return Git{}, err
	}
	if abs, err = filepath.Abs(abs); err != nil {
		return Git{}, err
	}
	out, err := exec.Command(abs, "--version").Output()
	if err != nil {
		return Git{}, fmt.Errorf("cannot run '%s': %w", abs, err)
	}
	m := regexp.MustCompile(`git version (\d+)\.(\d+)`).FindSubmatch(out)
	if m == nil {
		return Git{}, fmt.Errorf("'%s' prints no version: %q", abs, out)
	}
	g := Git{Path: abs}
	g.Major, _ = strconv.Atoi(string(m[1]))
	g.Minor, _ = strconv.Atoi(string(m[2]))
	g.exec, g.program = g.direct()
	return g, nil
}

// direct returns g's directory of programs and the git in it, if it has one: where
// g is a script that finds a git elsewhere, this saves a shell per process.
func (g Git) direct() (execPath, program string) {
	out, err := exec.Command(g.Path, "--exec-path").Output()
	if err != nil {
		return "", ""
	}
	execPath = strings.TrimSuffix(string(out), "\n")
	program = filepath.Join(execPath, "git")
	cmd := exec.Command(program, "--version")
	cmd.Env = append(os.Environ(), "GIT_EXEC_PATH="+execPath)
	if out, err = cmd.Output(); err != nil || !strings.HasPrefix(string(out), fmt.Sprintf("git version %d.%d.", g.Major, g.Minor)) {
		return "", ""
	}
	return execPath, program
}

// System returns the git on PATH. The test ends where there is none: without
// its oracle no test of gust says anything.
func System(t testing.TB) Git {
	t.Helper()
	g, err := Find("git")
	if err != nil {
		t.Fatalf("no git to compare with: %v", err)
	}
	return g
}

// All returns the gits to compare with, the newest last: the system's, and the
// one that GUST_TEST_GIT names. Where that is unset, the log says what is then
// not tested.
func All(t testing.TB) []Git {
	t.Helper()
	sys := System(t)
	path := os.Getenv(NewestEnv)
	if path == "" {
		if !sys.AtLeast(2, 51) {
			t.Logf("NOT TESTED with a git of 2.51 or newer: %s is unset and the system has %s", NewestEnv, sys)
		}
		return []Git{sys}
	}
	g, err := Find(path)
	if err != nil {
		t.Fatalf("%s=%q is no git: %v", NewestEnv, path, err)
	}
	switch {
	case g.Path == sys.Path:
		return []Git{sys}
	case sys.AtLeast(g.Major, g.Minor):
		return []Git{g, sys}
	}
	return []Git{sys, g}
}

// Newest returns the newest git there is.
func Newest(t testing.TB) Git {
	t.Helper()
	all := All(t)
	return all[len(all)-1]
}

// An Env is an isolated place to run git in.
type Env struct {
	Git  Git
	Dir  string // an empty directory, absolute, without symbolic links
	Home string // Dir's sibling, with a .gitconfig
	vars []string
}

// New returns an Env whose files vanish with the test. Its `git` command is g.
func New(t testing.TB, g Git) *Env {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	e, err := NewAt(top, g)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { makeRemovable(top) })
	return e
}

// globalConfig is what every throwaway home has: no maintenance process may
// outlive the command that started it, clones may use plain paths, and nothing
// waits for a disk.
const globalConfig = `[core]
	fsync = none
[init]
	defaultBranch = main
[protocol "file"]
	allow = always
[gc]
	auto = 0
[maintenance]
	auto = false
[user]
	name = A U Thor
	email = author@example.com
`

// NewAt makes an Env below top, an existing directory given by its absolute path
// without symbolic links: its work in top/w, its home in top/home.
func NewAt(top string, g Git) (*Env, error) {
	e := &Env{Git: g, Dir: filepath.Join(top, "w"), Home: filepath.Join(top, "home")}
	bin := filepath.Join(top, "bin")
	for _, dir := range []string{e.Dir, e.Home, bin} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, err
		}
	}
	path := os.Getenv("PATH")
	if sys, err := exec.LookPath("git"); err != nil || sys != g.Path {
		program := g.Path
		if g.program != "" {
			program = g.program
			e.vars = append(e.vars, "GIT_EXEC_PATH="+g.exec)
		}
		if err := os.Symlink(program, filepath.Join(bin, "git")); err != nil {
			return nil, err
		}
		path = bin + string(os.PathListSeparator) + path
	}
	e.vars = append(e.vars,
		"PATH="+path, "HOME="+e.Home, "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0",
		"GUST_SERVER=0", // a test that wants one gives it a place of its own
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@x", "GIT_AUTHOR_DATE=1700000000 +0000",
		"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@x", "GIT_COMMITTER_DATE=1700000000 +0000",
		"GIT_EDITOR=true", "GIT_SEQUENCE_EDITOR=true", "GIT_MERGE_AUTOEDIT=no", "GIT_ADVICE=0",
		"LC_ALL=C.UTF-8", "TZ=UTC",
	)
	if runtime.GOOS == "windows" {
		e.vars = append(e.vars, "SYSTEMROOT="+os.Getenv("SYSTEMROOT"))
	}
	return e, os.WriteFile(filepath.Join(e.Home, ".gitconfig"), []byte(globalConfig), 0o644)
}

// makeRemovable gives every directory below top its write bit back, so that the
// test's temporary directory can be removed.
func makeRemovable(top string) {
	_ = filepath.WalkDir(top, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return nil
		}
		if info, err := d.Info(); err == nil && info.Mode().Perm()&0o700 != 0o700 {
			_ = os.Chmod(path, 0o755)
		}
		return nil
	})
}

// Environ returns the environment of e's commands: nothing else reaches them.
// The slice is the caller's.
func (e *Env) Environ() []string { return append([]string(nil), e.vars...) }

// Setenv sets a variable for the commands that start later.
func (e *Env) Setenv(key, value string) {
	e.Unsetenv(key)
	e.vars = append(e.vars, key+"="+value)
}

// Unsetenv removes a variable for the commands that start later.
func (e *Env) Unsetenv(key string) {
	var kept []string
	for _, v := range e.vars {
		if !strings.HasPrefix(v, key+"=") {
			kept = append(kept, v)
		}
	}
	e.vars = kept
}

// Path returns the absolute path of name, which is relative to e.Dir.
func (e *Env) Path(name string) string { return filepath.Join(e.Dir, name) }

// Command returns a git command that runs in dir, relative to e.Dir.
func (e *Env) Command(dir string, args ...string) *exec.Cmd {
	cmd := exec.Command(e.Git.Path, args...)
	cmd.Dir = dir
	if !filepath.IsAbs(dir) {
		cmd.Dir = e.Path(dir)
	}
	cmd.Env = e.vars
	return cmd
}

// Run runs git in dir and returns what it printed; the test ends if git fails.
func (e *Env) Run(t testing.TB, dir string, args ...string) string {
	t.Helper()
	cmd := e.Command(dir, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git %q in '%s': %v\n%s", args, cmd.Dir, err, stderr.Bytes())
	}
	return string(out)
}

// Script runs a POSIX shell script in e.Dir, with D set to e.Dir, and returns
// what it printed. The script stops at its first failing command, and the test
// with it.
func (e *Env) Script(t testing.TB, script string) string {
	t.Helper()
	out, err := e.TryScript("set -e\n" + script)
	if err != nil {
		t.Fatalf("script: %v\n%s\nprinted:\n%s", err, script, out)
	}
	return out
}

// TryScript is like Script, but goes on after failing commands, and leaves the
// judgement to the caller.
func (e *Env) TryScript(script string) (string, error) {
	cmd := exec.Command("sh", "-c", script)
	cmd.Dir = e.Dir
	cmd.Env = append(e.Environ(), "D="+e.Dir)
	out, err := cmd.CombinedOutput()
	return string(out), err
}
