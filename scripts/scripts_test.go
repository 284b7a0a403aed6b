// Package scripts tests the scripts behind make's targets, as a person runs them.
package scripts

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// run runs a command at the module's root without a terminal and returns what it
// printed on standard output.
func run(t *testing.T, env []string, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = ".."
	cmd.Env = append(append(os.Environ(), "GUST_SERVER=0"), env...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s%s", name, args, err, out, stderr.String())
	}
	return string(out)
}

// files returns the files below dir, as paths from it.
func files(t *testing.T, dir string) string {
	t.Helper()
	var list []string
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			path, err = filepath.Rel(dir, path)
			list = append(list, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(list, " ")
}

func TestInstallTryRemove(t *testing.T) {
	prefix := filepath.Join(t.TempDir(), "a prefix")
	run(t, nil, "scripts/install", prefix)
	want := "bin/gust libexec/gust/gitstatusd share/gust/gitstatus.plugin.sh share/gust/gitstatus.plugin.zsh share/gust/gitstatus.prompt.sh share/gust/gitstatus.prompt.zsh"
	if got := files(t, prefix); got != want {
		t.Errorf("installed: %s\nwant: %s", got, want)
	}
	if got := run(t, nil, filepath.Join(prefix, "bin", "gust"), "version"); got == "" {
		t.Error("the installed gust has no version")
	}

	// Without a terminal, try prints the prompt of the current folder's repository.
	repository := t.TempDir()
	run(t, nil, "git", "init", "-q", "-b", "a-branch", repository)
	script, err := filepath.Abs("try")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(script, prefix)
	cmd.Dir = repository
	if out, err := cmd.Output(); err != nil || !strings.Contains(string(out), "a-branch") {
		t.Errorf("try: %q, %v, want the branch", out, err)
	}
	// Outside a repository there is nothing to print, and nothing wrong.
	cmd = exec.Command(script, prefix)
	cmd.Dir = t.TempDir()
	if out, err := cmd.Output(); err != nil || len(out) > 0 {
		t.Errorf("try outside a repository: %q, %v", out, err)
	}

	run(t, nil, "scripts/install", "--remove", prefix)
	if got := files(t, prefix); got != "" {
		t.Errorf("left behind: %s", got)
	}
}

// A shell that does not expand a tilde after an equals sign hands it to make.
func TestPrefixWithTilde(t *testing.T) {
	home := t.TempDir()
	if got := run(t, []string{"HOME=" + home}, "make", "-n", "install", "PREFIX=~/x"); !strings.Contains(got, "'"+home+"/x'") {
		t.Errorf("make -n install PREFIX=~/x: %s", got)
	}
}

// Every target of make has a line in its help, but for those that are parts of
// others.
func TestHelp(t *testing.T) {
	help := run(t, nil, "make", "help")
	for _, target := range []string{"try", "test", "check", "fuzz", "conformance", "bench", "install", "clean"} {
		if !strings.Contains(help, "make "+target+" ") {
			t.Errorf("make help does not list %s:\n%s", target, help)
		}
	}
}
