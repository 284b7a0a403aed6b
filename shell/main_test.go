package shell_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gust/internal/gittest"
)

// deadline is how long a test waits for what must come. It bounds a failing run;
// a passing one never waits for it.
const deadline = 30 * time.Second

func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == fakeName {
		os.Exit(fakeDaemon(os.Args[1:]))
	}
	code := m.Run()
	if built, err := binaries(); err == nil {
		os.RemoveAll(built)
	}
	os.Exit(code)
}

// binaries builds gust as it is installed, and returns the prefix.
var binaries = sync.OnceValues(func() (string, error) {
	prefix, err := os.MkdirTemp("", "gust-shell-test-")
	if err != nil {
		return "", err
	}
	// What is compared with paths of a shell's must have no symbolic link in it.
	if prefix, err = filepath.EvalSymlinks(prefix); err != nil {
		return "", err
	}
	for _, b := range [][2]string{{"bin/gust", "gust/cmd/gust"}, {"libexec/gust/gitstatusd", "gust/cmd/gitstatusd"}} {
		if out, err := exec.Command("go", "build", "-o", filepath.Join(prefix, b[0]), b[1]).CombinedOutput(); err != nil {
			return "", fmt.Errorf("cannot build %s: %w\n%s", b[1], err, out)
		}
	}
	share := filepath.Join(prefix, "share", "gust")
	if err := os.MkdirAll(filepath.Dir(share), 0o755); err != nil {
		return "", err
	}
	return prefix, os.CopyFS(share, os.DirFS("scripts"))
})

// prefix returns the prefix under which gust is installed for the tests.
func prefix(t testing.TB) string {
	t.Helper()
	p, err := binaries()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// program returns the path of a program that a test needs. Where it is missing the
// test is skipped, loudly, but not where everything must be there.
func program(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err == nil {
		return path
	}
	if os.Getenv("CI") == "true" {
		t.Fatalf("%s is not installed, and CI must test with it", name)
	}
	t.Skipf("NOT TESTED: %s is not installed", name)
	return ""
}

// waitFor waits until ok says so.
func waitFor(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(deadline); !ok(); {
		if time.Now().After(end) {
			t.Fatalf("waited %v in vain for %s", deadline, what)
		}
		runtime.Gosched()
		time.Sleep(2 * time.Millisecond)
	}
}

// running returns the processes that were started as the program at path, but for
// those that are dead and only waited for.
func running(t testing.TB, path string) (pids []string) {
	t.Helper()
	out, err := exec.Command("ps", "-A", "-ww", "-o", "pid=", "-o", "stat=", "-o", "args=").Output()
	if err != nil {
		t.Fatalf("cannot list processes: %v", err)
	}
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		if len(f) >= 3 && f[2] == path && !strings.HasPrefix(f[1], "Z") {
			pids = append(pids, f[0])
		}
	}
	return pids
}

// newEnv returns a home and a place for repositories.
func newEnv(t testing.TB) *gittest.Env {
	t.Helper()
	return gittest.New(t, gittest.System(t))
}

// link makes a path of its own for a program, by which its processes are told
// from those of other tests.
func link(t testing.TB, program, name string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, name)
	if err := os.Symlink(program, path); err != nil {
		t.Fatal(err)
	}
	return path
}

// realDaemon returns a path of gitstatusd that is this test's alone.
func realDaemon(t testing.TB) string {
	t.Helper()
	return link(t, filepath.Join(prefix(t), "libexec", "gust", "gitstatusd"), "gitstatusd")
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// read returns the text of a file, "" if there is none.
func read(t testing.TB, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return string(data)
}

// entries lists a directory.
func entries(t testing.TB, dir string) (names []string) {
	t.Helper()
	all, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		names = append(names, e.Name())
	}
	slices.Sort(names)
	return names
}
