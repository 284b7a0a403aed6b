package cli

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"gust/internal/gittest"
)

// gust is the program under test.
var gust string

func TestMain(m *testing.M) { os.Exit(gittest.BuildAndRun(m, map[string]*string{"gust": &gust})) }

// An answer is what a command leaves behind.
type answer struct {
	Out, Err string
	Code     int
	Signal   string
}

// run runs the program at path, which finds itself called as argv[0].
func run(t testing.TB, path string, argv []string, dir, in string, env []string) answer {
	t.Helper()
	var out, errs bytes.Buffer
	cmd := exec.Cmd{Path: path, Args: argv, Dir: dir, Env: env, Stdin: strings.NewReader(in), Stdout: &out, Stderr: &errs}
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("%q: %v", argv, err)
	}
	a := answer{Out: out.String(), Err: errs.String(), Code: cmd.ProcessState.ExitCode()}
	if ws, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		a.Signal = ws.Signal().String()
	}
	return a
}

// withPath returns env with another PATH.
func withPath(env []string, dirs ...string) []string {
	return append(env[:len(env):len(env)], "PATH="+strings.Join(dirs, string(filepath.ListSeparator)))
}

// TestPassthrough hands over what gust has no words for: everything arrives as it is.
func TestPassthrough(t *testing.T) {
	for _, g := range gittest.All(t) {
		t.Run(g.String(), func(t *testing.T) {
			e := gittest.New(t, g)
			e.Script(t, `git init -q r; cd r; echo a >a; git add a; git commit -qm a; git config alias.st status; git config alias.die '!kill -TERM $$'
				git config alias.says '!printf "%s|" "$@" "$GIT_PREFIX"; :'`)
			for _, args := range [][]string{
				{"log", "--format=%H %s"}, {"st"}, {"nothing"}, {"hash-object", "--stdin"}, {"cat-file", "-e", "HEAD:b"}, {"init", "--bogus"}, {"init", "-q", "sub"},
				{"says", "a b", "", "$x"}, {"die"}, {"--version"}, {"version"}, {"version", "--build-options"}, {"-C", "nowhere", "status"}, {"--bogus"}, {"-c"},
				{"help", "-a"}, {"describe", "-h"}, {"rev-list", "--stdin", "--bogus"}, {"config", "--get", "alias.st"}, {"-c", "alias.x=config -l", "x"}, {""},
			} {
				want := run(t, g.Path, append([]string{"git"}, args...), e.Path("r"), "HEAD\n", e.Environ())
				for _, name := range []string{"gust", "git"} {
					if name == "gust" && (args[0] == "version" && len(args) == 1) {
						continue // gust's own
					}
					got := run(t, gust, append([]string{name}, args...), e.Path("r"), "HEAD\n", e.Environ())
					if got != want {
						t.Errorf("%s %q:\ngot  %+v\nwant %+v", name, args, got, want)
					}
				}
			}
		})
	}
}

// TestPassthroughNoLoop puts gust in git's place in every way there is.
func TestPassthroughNoLoop(t *testing.T) {
	g := gittest.System(t)
	e := gittest.New(t, g)
	program, err := os.ReadFile(gust)
	if err != nil {
		t.Fatal(err)
	}
	write := func(name string, data []byte) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(e.Path(name)), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(e.Path(name), data, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	write("copy/git", program)
	write("other/git", append(program[:len(program):len(program)], "of another version"...))
	write("exec/git", []byte("#!/bin/sh\nexec '"+gust+"' \"$@\"\n"))
	write("child/git", []byte("#!/bin/sh\n'"+gust+"' \"$@\"\n"))
	write("plain/git", []byte("#!/bin/sh\necho plain:$GUST_HANDED_TO:; exec '"+g.Path+"' \"$@\"\n"))
	write("text/README", nil)
	if err := os.MkdirAll(e.Path("link"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(gust, e.Path("link/git")); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(e.Path("dir/git"), 0o777); err != nil {
		t.Fatal(err)
	}
	real := filepath.Dir(g.Path)
	none := answer{Err: "gust: cannot hand over to git: no git on PATH\n", Code: 127}
	found := run(t, g.Path, []string{"git", "--version"}, e.Dir, "", e.Environ())
	for _, test := range []struct {
		name string
		dirs []string
		want answer
	}{
		{"copy", []string{"copy", real}, found}, {"other-version", []string{"other", real}, found}, {"link", []string{"link", real}, found},
		{"script-exec", []string{"exec", real}, found}, {"script-child", []string{"child", real}, found}, {"both-scripts", []string{"exec", "child", "link", real}, found},
		{"directory", []string{"dir", real}, found}, {"same-twice", []string{"exec", "exec", "child", "exec", real}, found},
		{"only-links", []string{"link", "copy", "other"}, none}, {"only-scripts", []string{"exec", "child"}, none}, {"nothing", []string{"text", "missing"}, none},
		{"wrapper", []string{"plain"}, answer{Out: "plain:" + e.Path("plain/git") + ":\n" + found.Out}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var dirs []string
			for _, d := range test.dirs {
				if !filepath.IsAbs(d) {
					d = e.Path(d)
				}
				dirs = append(dirs, d)
			}
			if got := run(t, gust, []string{"git", "--version"}, e.Dir, "", withPath(e.Environ(), dirs...)); got != test.want {
				t.Errorf("got  %+v\nwant %+v", got, test.want)
			}
		})
	}
}

// TestPassthroughInput hands over a standard input of which gust has read.
func TestPassthroughInput(t *testing.T) {
	g := gittest.System(t)
	e := gittest.New(t, g)
	e.Script(t, `git init -q r; cd r; echo a >a; git add a; git commit -qm a`)
	in := strings.Repeat("HEAD\n", 15_000) + "--glob=refs/heads/*\n"
	args := []string{"git", "rev-list", "--count", "--stdin"}
	want := run(t, g.Path, args, e.Path("r"), in, e.Environ())
	if got := run(t, gust, args, e.Path("r"), in, e.Environ()); got != want || want.Code != 128 {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// TestTrace2 has git write the trace that the user's configuration asks for.
func TestTrace2(t *testing.T) {
	e := gittest.New(t, gittest.Newest(t))
	e.Script(t, `git init -q r; cd r; git commit -q --allow-empty -m a; git tag v1; git config trace2.eventTarget "$PWD/not-this"`)
	trace := func(want bool) {
		t.Helper()
		if a := run(t, gust, []string{"git", "describe", "--tags"}, e.Path("r"), "", e.Environ()); a.Out != "v1\n" {
			t.Errorf("%+v", a)
		}
		_, err := os.Stat(e.Path("trace"))
		if got := err == nil; got != want {
			t.Errorf("there is a trace: %v", got)
		}
	}
	trace(false)
	e.Script(t, `git config --global trace2.perfTarget `+e.Path("trace")+`; rm -f trace`)
	trace(true)
}
