package gittest

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// A Tree is a throwaway repository with a working tree, for comparing with several
// gits what they say of the files in it.
type Tree struct {
	T   testing.TB
	Env *Env
	Dir string // the root of the working tree, absolute
}

// NewTree makes a Tree with the system's git; init are options of git-init(1).
func NewTree(t testing.TB, init ...string) *Tree {
	t.Helper()
	e := New(t, System(t))
	e.Setenv("GIT_ATTR_NOSYSTEM", "1")
	e.Run(t, ".", append(append([]string{"init", "-q"}, init...), "tree")...)
	return &Tree{T: t, Env: e, Dir: e.Path("tree")}
}

// Git runs g and returns what it printed. An exit code of 1 is an answer, as
// git-check-ignore(1) has it, unless there is a message; the test ends at others.
func (r *Tree) Git(g Git, stdin []byte, args ...string) string {
	r.T.Helper()
	cmd := exec.Command(g.Path, args...)
	cmd.Dir, cmd.Env, cmd.Stdin = r.Dir, r.Env.vars, bytes.NewReader(stdin)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil && (cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != 1 || stderr.Len() > 0) {
		r.T.Fatalf("%s %q: %v\n%s", g, args, err, stderr.Bytes())
	}
	return string(out)
}

// Run runs the system's git.
func (r *Tree) Run(args ...string) string {
	r.T.Helper()
	return r.Git(r.Env.Git, nil, args...)
}

// Write writes a file below the root, and the directories that lead to it.
func (r *Tree) Write(name string, data []byte) {
	r.T.Helper()
	path := filepath.Join(r.Dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		r.T.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o666); err != nil {
		r.T.Fatal(err)
	}
}
