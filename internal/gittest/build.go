package gittest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Build makes the program of that name, "gust" or "gitstatusd", from this tree, and
// returns its path in dir. The race detector is on in it if GUST_TEST_RACE is set. A
// path in the variable GUST_TEST_GUST or GUST_TEST_GITSTATUSD is taken in its place.
func Build(dir, name string) (string, error) {
	if path := os.Getenv("GUST_TEST_" + strings.ToUpper(name)); path != "" {
		return filepath.Abs(path)
	}
	path := filepath.Join(dir, name)
	args := []string{"build", "-buildvcs=false", "-o", path}
	if os.Getenv("GUST_TEST_RACE") != "" {
		args = append(args, "-race")
	}
	out, err := exec.Command("go", append(args, "gust/cmd/"+name)...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("cannot build %s: %w\n%s", name, err, out)
	}
	return path, nil
}

// BuildAndRun is a TestMain's body: it builds the programs named, stores their paths,
// runs the tests and returns the exit status. Builds without a stamp are told apart by
// the times of their files: these have one.
func BuildAndRun(m *testing.M, programs map[string]*string) int {
	dir, err := os.MkdirTemp("", "gust-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	if err := os.Setenv("GUST_SERVER", "0"); err != nil { // nor do the programs find the user's
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	now := time.Now()
	for name, path := range programs {
		if *path, err = Build(dir, name); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		if filepath.Dir(*path) != dir {
			continue
		}
		if err := os.Chtimes(*path, now, now); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return m.Run()
}
