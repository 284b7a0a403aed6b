package cli

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gust/internal/gittest"
)

// TestCheckIgnore asks about random paths under random rules.
func TestCheckIgnore(t *testing.T) {
	gits := gittest.All(t)
	for seed := range uint64(10) {
		t.Run(fmt.Sprintf("seed-%d", seed), func(t *testing.T) {
			t.Parallel()
			g := gits[seed%uint64(len(gits))]
			e := gittest.New(t, g)
			r := rand.New(rand.NewPCG(seed, 1))
			ignoring(t, e, r)
			for range 60 {
				argv, in := ignoreQuestion(r, e)
				dir := e.Path(oneOf(r, "r", "r", "r/a", "r/a/b", "linked"))
				want := run(t, g.Path, argv, dir, in, e.Environ())
				if got := run(t, gust, argv, dir, in, e.Environ()); got != want {
					t.Errorf("%q, input %q in %s:\n%+v, git\n%+v", argv, in, dir, got, want)
				}
			}
		})
	}
}

var ignoreNames = []string{"a", "b", "c", "x.o", "x.c", "build", "a b", "é", "q\"", "*", "[x]", "#h", "!n", "deep"}

func randomPath(r *rand.Rand) string {
	var parts []string
	for range 1 + r.IntN(3) {
		parts = append(parts, ignoreNames[r.IntN(len(ignoreNames))])
	}
	return strings.Join(parts, "/")
}

func randomRules(r *rand.Rand) string {
	var b strings.Builder
	for range r.IntN(6) {
		p := oneOf(r, "*.o", "*", "build/", "/a/*", "a/**/c", "!*.c", "\\#h", "\\!n", "# comment", "", "b ", "c\\ ", "[a-c]", "**/x.c", "a/b", "!/a", "!b/", "x.?", "é", "\\*", "q\"", "/build", randomPath(r), "!"+randomPath(r), randomPath(r)+"/", "a/\r")
		b.WriteString(p + "\n")
	}
	return b.String()
}

// ignoring makes a repository with rules of every source.
func ignoring(t *testing.T, e *gittest.Env, r *rand.Rand) {
	e.Script(t, "git init -q r; cd r; git commit -q --allow-empty -m a; git worktree add -q ../linked; git init -q ../lib; git -C ../lib commit -q --allow-empty -m l; mkdir -p a/b build")
	write := func(path, text string) {
		t.Helper()
		path = e.Path(path)
		if os.MkdirAll(filepath.Dir(path), 0o755) == nil {
			os.WriteFile(path, []byte(text), 0o644) // where a file is in the way there is none
		}
	}
	for range 12 {
		write("r/"+randomPath(r), "x")
	}
	for _, dir := range []string{"r", "r/a", "r/a/b", "r/build", "linked"} {
		if r.IntN(3) > 0 {
			write(dir+"/.gitignore", randomRules(r))
		}
	}
	write("r/.git/info/exclude", randomRules(r))
	write("../home/.config/git/ignore", randomRules(r))
	if r.IntN(2) == 0 {
		write("../home/my rules", randomRules(r))
		e.Script(t, "git config --global core.excludesFile '~/my rules'")
	}
	e.Script(t, `cd r; ln -s a link; git submodule --quiet add -f ../lib module; git init -q nested; : >nested/f; git add -f '*.c' 2>/dev/null || :; git add -f a/b 2>/dev/null || :`)
	for _, setting := range []string{"core.quotePath false", "core.ignoreCase true"} {
		if r.IntN(3) == 0 {
			e.Script(t, "cd r; git config "+setting)
		}
	}
}

// ignoreQuestion returns a command, and its input.
func ignoreQuestion(r *rand.Rand, e *gittest.Env) (argv []string, in string) {
	path := func() string {
		p := randomPath(r)
		switch r.IntN(16) {
		case 0:
			p = "./" + p
		case 1:
			p = "../" + p
		case 2:
			p += "/"
		case 3:
			p = e.Path("r") + "/" + p
		case 4:
			p = oneOf(r, ".", "..", "", "/", "../..", "link", "link/x.c", "module", "module/f", "nested", "nested/f", "a//b", "a/./b", ":(top)a", ":/a", "a/..", ".gitignore", ".git", ".git/x", "A", "X.O")
		case 5:
			p = oneOf(r, "a/*", "*.c", "[ab]", "b?", `\*`)
		}
		return p
	}
	argv = []string{"git", "check-ignore"}
	for _, option := range []string{"-v", "-n", "--no-index", "-q", "-z", "-vn", "--verbose"} {
		if r.IntN(5) == 0 {
			argv = append(argv, option)
		}
	}
	if r.IntN(3) > 0 {
		for range 1 + r.IntN(3)*r.IntN(3) {
			argv = append(argv, path())
		}
		return argv, ""
	}
	end := "\n"
	if strings.Contains(strings.Join(argv, " "), "-z") || r.IntN(8) == 0 {
		end = "\x00"
		argv = append(argv, "-z")
	}
	var b strings.Builder
	for range r.IntN(8) {
		p := path()
		if p == "" || end == "\n" && r.IntN(6) == 0 {
			p = fmt.Sprintf("%q", p)
		}
		b.WriteString(p + end)
	}
	return append(argv, "--stdin"), strings.TrimSuffix(b.String(), oneOf(r, end, "none"))
}

// TestCheckIgnoreCoprocess has each path answered before the next is given.
func TestCheckIgnoreCoprocess(t *testing.T) {
	e := gittest.New(t, gittest.Newest(t))
	e.Script(t, `git init -q r; cd r; echo '*.o' >.gitignore`)
	answers := converse(t, e, []string{"check-ignore", "-vn", "--stdin"}, []string{"a.o\n", "b\n", "c.o\n"})
	want := []string{".gitignore:1:*.o\ta.o\n", "::\tb\n", ".gitignore:1:*.o\tc.o\n"}
	if fmt.Sprint(answers) != fmt.Sprint(want) {
		t.Errorf("%q, want %q", answers, want)
	}
}

// converse runs gust, gives it each line and reads one for it.
func converse(t *testing.T, e *gittest.Env, args, lines []string) (answers []string) {
	t.Helper()
	cmd := exec.Command(gust, args...)
	cmd.Dir, cmd.Env = e.Path("r"), withPath(e.Environ(), e.Path("no-git-here"))
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(out)
	for _, line := range lines {
		if _, err := io.WriteString(in, line); err != nil {
			t.Fatal(err)
		}
		answer, err := r.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		answers = append(answers, answer)
	}
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	return answers
}
