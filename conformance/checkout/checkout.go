// Package checkout plays random commits with random local changes, and compares what
// gust's commands that change the working tree leave with what git's do. It is for
// tests only.
package checkout

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"gust/internal/face/cli"
	"gust/internal/gittest"
)

// A Case is a random repository, twice: one for git, one for gust.
type Case struct {
	Env       *gittest.Env
	Git, Gust string   // the twins
	Log       []string // what was done to both, as commands
	rand      *rand.Rand
	names     []string
}

// New makes the case of a seed.
func New(t testing.TB, env *gittest.Env, seed uint64) *Case {
	t.Helper()
	c := &Case{Env: env, rand: rand.New(rand.NewPCG(seed, 6)), Git: env.Path("git"), Gust: env.Path("gust")}
	c.names = []string{"a", "b", "d/a", "d/b", "d/e/f", "d/e/g", "d-x", "d.x", "n/e/w", "long/er", "sp ace", "ü", ".gitignore", "x.o"}
	if c.chance(40) {
		c.names = append(c.names, "b/a", "d/e", "n", "a/b/c")
	}
	if c.chance(20) {
		c.names = append(c.names, ".gitattributes", "d/.gitattributes")
	}
	base := env.Path("base")
	c.script(t, env.Dir, "git init -q base")
	c.config(t, base)
	branches := []string{"main", "side", "topic", "feat/one"}
	for i, b := range branches {
		if i > 0 {
			c.script(t, base, "git checkout -q -f -B "+b+" "+branches[c.rand.IntN(i)]+" 2>/dev/null || git checkout -q --orphan "+b+"; git clean -qfdx")
		}
		for range 1 + c.rand.IntN(3) {
			c.script(t, base, c.commitScript()+"git add -Af .; git commit -q --allow-empty -m '"+fmt.Sprintf("c%d", c.rand.IntN(100))+"'")
		}
	}
	c.script(t, base, "git tag v1 side; git checkout -q -f main; git clean -qfdx")
	if c.chance(30) {
		c.script(t, base, "git update-ref refs/remotes/origin/main "+branches[c.rand.IntN(4)]+"; git config remote.origin.url x; git config remote.origin.fetch '+refs/heads/*:refs/remotes/origin/*'; git config branch.main.remote origin; git config branch.main.merge refs/heads/main; git config branch.side.remote .; git config branch.side.merge refs/heads/topic")
	}
	for range c.rand.IntN(3) {
		c.script(t, base, "git checkout -q "+branches[c.rand.IntN(4)])
	}
	local := ""
	if c.chance(85) {
		local = c.localScript()
	}
	c.script(t, base, local)
	c.script(t, env.Dir, "cp -a base git; cp -a base gust")
	if c.chance(70) {
		// Copies are other files than those that the index has the stat of.
		for _, dir := range []string{c.Git, c.Gust} {
			c.script(t, dir, "git update-index -q --refresh || true")
		}
	}
	return c
}

func (c *Case) chance(percent int) bool { return c.rand.IntN(100) < percent }

func (c *Case) pick(list ...string) string { return list[c.rand.IntN(len(list))] }

func (c *Case) script(t testing.TB, dir, script string) {
	t.Helper()
	c.Log = append(c.Log, script)
	if strings.TrimSpace(script) == "" {
		return
	}
	c.Env.Script(t, functions+"cd '"+dir+"'\n"+script)
}

func (c *Case) config(t testing.TB, dir string) {
	for _, kv := range []string{"core.autocrlf input", "core.eol crlf", "advice.detachedHead false", "core.quotePath false", "core.logAllRefUpdates always", "core.logAllRefUpdates false", "index.version 4", "core.fileMode false", "core.abbrev 12"} {
		if c.chance(6) {
			c.script(t, dir, "git config "+kv)
		}
	}
}

// content is a small text, so that equal ones come up.
func (c *Case) content(name string) string {
	if strings.HasSuffix(name, ".gitignore") {
		return c.pick("*.o", "d/e", "b/", "n")
	}
	if strings.HasSuffix(name, ".gitattributes") {
		return c.pick("* text eol=crlf", "a text", "*.x ident", "* text=auto", "d/* -text")
	}
	return c.pick("one", "two", "three", `four\nfive\nsix`, "", `$Id$`, `cr\r`)
}

// put is a command that makes a path a file of some kind.
func (c *Case) put(name string) string {
	switch n := c.rand.IntN(12); {
	case n == 0 && !strings.Contains(name, ".git"):
		return "room '" + name + "'; ln -s '" + c.pick("a", "nowhere", "d", "../x") + "' '" + name + "'\n"
	case n == 1:
		return "put '" + name + "' '" + c.content(name) + "'; chmod +x '" + name + "'\n"
	}
	return "put '" + name + "' '" + c.content(name) + "'\n"
}

// functions are the shell functions of the scripts: room makes a path free, whatever
// is in its way.
const functions = `room() {
	rm -rf "$1" 2>/dev/null || true; p=$(dirname "$1")
	while ! mkdir -p "$p" 2>/dev/null; do
		q=$p
		while [ "$q" != . ] && [ ! -f "$q" ] && [ ! -L "$q" ]; do q=$(dirname "$q"); done
		rm -f "$q"
	done
}
put() { room "$1"; printf "$2\\n" >"$1"; }
`

func (c *Case) name() string { return c.names[c.rand.IntN(len(c.names))] }

func (c *Case) commitScript() string {
	s := ""
	for range 1 + c.rand.IntN(6) {
		if name := c.name(); c.chance(25) {
			s += "rm -rf '" + name + "'\n"
		} else {
			s += c.put(name)
		}
	}
	return s
}

// localScript is what a user may do before a switch.
func (c *Case) localScript() string {
	s := ""
	for range 1 + c.rand.IntN(4) {
		name := c.name()
		q := "'" + name + "'"
		switch c.rand.IntN(14) {
		case 0, 1:
			s += c.put(name)
		case 2:
			s += "rm -rf " + q + "\n"
		case 3:
			s += c.put(name) + "git add -f " + q + " || true\n"
		case 4:
			s += "git rm -q --cached " + q + " 2>/dev/null || true\n"
		case 5:
			s += "git rm -q -f " + q + " 2>/dev/null || true\n"
		case 6:
			s += "chmod +x " + q + " 2>/dev/null || true\n"
		case 7:
			s += "[ ! -f " + q + " ] || touch " + q + "\n"
		case 8:
			s += "[ -e " + q + " ] || mkdir -p " + q + " 2>/dev/null || true\n"
		case 9:
			s += c.put(c.pick("new", "u/n", "d/new", "x.o", "d/x.o"))
		case 10:
			s += "git checkout -q " + c.pick("main", "side", "topic", "v1") + " -- " + q + " 2>/dev/null || true\n"
		case 11:
			s += "[ ! -f " + q + " ] || printf 'x\\n' >>" + q + "\n"
		case 12:
			s += "git checkout -q " + c.pick("side", "topic", "v1", "main~0") + " 2>/dev/null || true\n"
		case 13:
			s += "git rm -rq --cached . 2>/dev/null; git add -A 2>/dev/null || true\n"
		}
	}
	return s
}

// A Result is what one command left and printed.
type Result struct {
	Code        int
	Out, Err    string
	Tree, State string
}

// RunGit runs git in its twin.
func (c *Case) RunGit(args ...string) Result {
	cmd := c.Env.Command(c.Git, args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	return Result{Code: exitCode(cmd.Run()), Out: out.String(), Err: errs.String()}
}

func exitCode(err error) int {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return exit.ExitCode()
	}
	return -1
}

// RunGust runs gust in its twin; own is false if it left the command to git.
func (c *Case) RunGust(args ...string) (r Result, own bool) {
	own = true
	var out, errs bytes.Buffer
	p := &cli.Program{
		Args: args, Env: c.Env.Environ(), In: strings.NewReader(""), Out: &out, Err: &errs,
		Dir: func() (string, error) { return c.Gust, nil },
		Exe: func() (string, error) { return "", errors.New("no program") },
		HandOver: func(args []string, _ []byte) int {
			if args[0] != "-C" { // a hook
				own = false
			}
			cmd := c.Env.Command(c.Gust, args...)
			cmd.Stdout, cmd.Stderr = &out, &errs
			return exitCode(cmd.Run())
		},
	}
	r.Code = cli.Run(context.Background(), p)
	r.Out, r.Err = out.String(), errs.String()
	return r, own
}

// Look adds to r what is in a twin.
func (c *Case) Look(t testing.TB, r *Result, dir string) {
	t.Helper()
	var b strings.Builder
	for _, args := range [][]string{
		{"ls-files", "-s", "-v", "-t"}, {"for-each-ref"}, {"rev-parse", "HEAD"}, {"symbolic-ref", "-q", "HEAD"},
		{"status", "--porcelain=v2", "--branch", "--ignored", "-uall"}, {"fsck", "--cache", "--no-progress", "--no-dangling"}, {"write-tree"},
	} {
		out, _ := c.Env.Command(dir, args...).CombinedOutput()
		fmt.Fprintf(&b, "$ git %s\n%s", strings.Join(args, " "), out)
	}
	r.Tree = listTree(t, dir, func(rel string) bool { return rel == ".git" })
	b.WriteString(listTree(t, filepath.Join(dir, ".git"), func(rel string) bool { return rel == "objects" || rel == "index" }))
	r.State = strings.ReplaceAll(b.String(), dir, "$DIR")
}

// listTree lists files with kinds, permissions and contents.
func listTree(t testing.TB, dir string, skip func(rel string) bool) string {
	t.Helper()
	var lines []string
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		if skip(rel) {
			if d.IsDir() {
				return filepath.SkipDir
			}
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		text := ""
		switch {
		case info.Mode().IsRegular():
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text = fmt.Sprintf("%q", data)
		case info.Mode()&os.ModeSymlink != 0:
			if text, err = os.Readlink(path); err != nil {
				return err
			}
		}
		lines = append(lines, fmt.Sprintf("%s %v %s\n", rel, info.Mode(), text))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	sort.Strings(lines)
	return strings.Join(lines, "")
}

// Command returns a random command.
func (c *Case) Command() []string {
	ref := func() string {
		return c.pick("main", "side", "topic", "feat/one", "v1", "HEAD~1", "HEAD", "main~1", "side^0", "nope")
	}
	branch := func() string { return c.pick("main", "side", "topic", "feat/one") }
	args := []string{"switch"}
	switch c.rand.IntN(28) {
	case 0:
		args = []string{"checkout", ref()}
	case 1:
		args = []string{"switch", "--detach", ref()}
	case 2:
		args = []string{"switch", "-c", c.pick("new", "feat/two", "feat", "main", "x/y"), ref()}
	case 3:
		args = []string{"switch", "-c", c.pick("new", "feat/two")}
	case 4:
		args = []string{"switch", "-"}
	case 5:
		args = []string{"checkout", "-b", c.pick("new", "feat/two"), ref()}
	case 6:
		args = []string{"checkout", "-q", ref()}
	case 7:
		args = []string{"switch", "-q", branch()}
	case 8:
		args = []string{"checkout", branch()}
	case 9:
		args = []string{"switch", "-f", branch()}
	case 10:
		args = []string{"checkout", "-f", ref()}
	case 11, 12:
		args = []string{"reset", c.pick("--hard", "--hard", "--soft"), ref()}
		if c.chance(20) {
			args = args[:2]
		}
		if c.chance(20) {
			args = append(args, "-q")
		}
	case 13:
		args = []string{"reset", "-q", ref()}
		if c.chance(50) {
			args = []string{"reset", c.pick("--mixed", "HEAD", "main", "HEAD~1")}
		}
	case 14, 15:
		args = append([]string{"reset", c.pick("HEAD", "main", "side", "HEAD~1"), "--"}, c.paths()...)
		if c.chance(40) {
			args = append([]string{"reset"}, c.paths()...)
		}
	case 16, 17:
		args = append([]string{"checkout", "--"}, c.paths()...)
		if c.chance(40) {
			args = append([]string{"checkout"}, c.paths()...)
		}
	case 18, 19:
		args = append([]string{"checkout", ref(), "--"}, c.paths()...)
		if c.chance(40) {
			args = append([]string{"checkout", ref()}, c.paths()...)
		}
		if c.chance(20) {
			args = append([]string{args[0], c.pick("--no-overlay", "-q")}, args[1:]...)
		}
	case 20, 21, 22, 23:
		args = []string{"restore"}
		if c.chance(50) {
			args = append(args, c.pick("--staged", "--worktree", "-SW", "-S"))
		}
		if c.chance(50) {
			args = append(args, "--source="+ref())
		}
		if c.chance(20) {
			args = append(args, "--overlay")
		}
		args = append(args, c.paths()...)
	default:
		args = append(args, branch())
	}
	return args
}

// paths are random pathspecs.
func (c *Case) paths() []string {
	var list []string
	for range 1 + c.rand.IntN(2) {
		list = append(list, c.pick(".", "d", "n", "d/e", "d/", c.name(), c.name()))
	}
	if c.chance(50) {
		list = []string{"."}
	}
	return list
}
