package cases

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gust/conformance/daemon"
	"gust/internal/gittest"
)

// The programs under test, set by TestMain.
var gitstatusd, gust string

func TestMain(m *testing.M) {
	os.Exit(gittest.BuildAndRun(m, map[string]*string{"gitstatusd": &gitstatusd, "gust": &gust}))
}

// prologue is what every script starts with. `ask DIR [OPTION]...` asks three
// daemons about DIR: two that live as long as the script, one of which has the kernel
// tell it what changes, and a fresh one; `must` runs a command that has to succeed.
const prologue = `
D=$B; T=$(printf '\t')
ask() { { for a in "$@"; do printf '%s\037' "$a"; done; printf '%s\037%s\036' "GIT_DIR=$GIT_DIR" "GIT_WORK_TREE=$GIT_WORK_TREE"; } >&3; read -r _ <&4; }
must() { "$@" || { printf 'must\037%s\036' "$*" >&3; read -r _ <&4; }; }
`

// A reported is one case of the public reports: what to do, and for each `ask` in
// it what the answer has to say, as field=value words: see expect.
type reported struct {
	id     string
	title  string
	script string
	want   []string

	newOnly  bool                    // needs a git of 2.51 or newer
	noOracle bool                    // asking git would do what the case says gust must not
	wrap     []string                // a command that runs the daemon
	before   func(t *testing.T) bool // reports whether the case can run here, having said why not
}

// all returns every case that is a test.
func all() []reported {
	return slices.Concat(formatCases(), ruleCases(), contentCases(), placeCases(), trackingCases(), lifeCases())
}

// elsewhere returns the cases about shells: the test that plays each, by its file
// below the repository's root.
func elsewhere() map[string]struct{ file, test string } {
	return map[string]struct{ file, test string }{
		"C47": {"shell/life_test.go", "TestExec"},
		"C48": {"shell/life_test.go", "TestRevive"},
	}
}

// TestEveryCaseIsHere counts the cases: none is forgotten.
func TestEveryCaseIsHere(t *testing.T) {
	for n := 1; n <= 55; n++ {
		id := fmt.Sprintf("C%02d", n)
		here := slices.ContainsFunc(all(), func(c reported) bool { return c.id == id }) ||
			slices.ContainsFunc(commandCases(), func(c commandCase) bool { return c.id == id })
		other, is := elsewhere()[id]
		if here == is { // one or the other, be it in both forms here
			t.Errorf("%s: is a test here: %v; elsewhere: %v", id, here, is)
		}
		if !is {
			continue
		}
		text, err := os.ReadFile(filepath.Join("..", "..", other.file))
		if err != nil || !strings.Contains(string(text), "func "+other.test+"(t *testing.T)") {
			t.Errorf("%s: %s has no %s: %v", id, other.file, other.test, err)
		}
	}
}

func TestCases(t *testing.T) {
	gits := gittest.All(t)
	newest := gits[len(gits)-1]
	for _, c := range all() {
		t.Run(c.id, func(t *testing.T) {
			t.Parallel()
			if c.before != nil && !c.before(t) {
				return
			}
			for _, git := range gits {
				if c.newOnly && !git.AtLeast(2, 51) {
					if git == newest {
						t.Logf("NOT TESTED: %s (%s) needs a git of 2.51 or newer", c.id, c.title)
					}
					continue
				}
				t.Run(git.String(), func(t *testing.T) { c.run(t, git, newest) })
			}
		})
	}
}

// A caseRun is one play of a case.
type caseRun struct {
	t      *testing.T
	c      reported
	env    *gittest.Env
	oracle func(env []string) *gittest.Oracle
	kept   map[string]*daemon.Daemon
	asked  int
}

func (c reported) run(t *testing.T, git, newest gittest.Git) {
	r := &caseRun{t: t, c: c, env: gittest.New(t, git), kept: map[string]*daemon.Daemon{}}
	// What a repository is to an old git must not depend on the new one being here.
	oracleGit := newest
	if !c.newOnly {
		oracleGit = git
	}
	scratch := t.TempDir()
	r.oracle = func(env []string) *gittest.Oracle {
		o := gittest.NewOracle(oracleGit, env, scratch)
		o.OwnIndex = c.id == "C20" // is about what git's own index says
		return o
	}

	requests, requestsIn, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	acksOut, acks, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer requests.Close()
	defer acks.Close()
	sh := exec.Command("sh", "-c", prologue+c.script)
	sh.Dir = r.env.Dir
	sh.Env = append(r.env.Environ(), "B="+r.env.Dir, "GIT_NEW="+newest.Path)
	sh.ExtraFiles = []*os.File{requestsIn, acksOut}
	var printed strings.Builder
	sh.Stdout, sh.Stderr = &printed, &printed
	if err := sh.Start(); err != nil {
		t.Fatal(err)
	}
	requestsIn.Close()
	acksOut.Close()
	for in := bufio.NewReader(requests); ; {
		words, err := in.ReadString(30)
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		r.request(strings.Split(strings.TrimSuffix(words, "\x1e"), "\x1f"))
		if _, err := acks.WriteString("\n"); err != nil {
			t.Fatal(err)
		}
	}
	_ = sh.Wait() // the last command's status says nothing: `must` does
	if r.asked != len(c.want) {
		t.Errorf("the script asks %d times, there are %d answers to compare", r.asked, len(c.want))
	}
	if t.Failed() {
		t.Logf("%s: %s\n%s\nprinted:\n%s", c.id, c.title, c.script, printed.String())
	}
}

// request handles what the script asks.
func (r *caseRun) request(words []string) {
	if words[0] == "must" {
		r.t.Errorf("this must succeed: %s", words[1])
		return
	}
	n := len(words) - 2
	env := r.env.Environ()
	for _, v := range words[n:] {
		if !strings.HasSuffix(v, "=") {
			env = append(env, v)
		}
	}
	p := gittest.Place{Dir: words[0]}
	if dir, ok := strings.CutPrefix(words[0], ":"); ok {
		p = gittest.Place{Dir: dir, GitDir: true}
	}
	opts := gittest.Unlimited()
	opts.RecurseUntracked = slices.Contains(words[1:n], "-e")
	opts.IgnoreStatusUntracked = slices.Contains(words[1:n], "-U")
	want := "(none)"
	if r.asked < len(r.c.want) {
		want = r.c.want[r.asked]
	}
	r.asked++

	fresh := r.start(env, opts)
	defer func() {
		if err := fresh.Close(); err != nil {
			r.t.Errorf("gitstatusd: %v", err)
		}
	}()
	key := strings.Join(append(opts.Args(), words[n:]...), " ")
	for name, d := range map[string]*daemon.Daemon{
		"fresh": fresh, "kept": r.keep("kept "+key, env, opts), "watching": r.keep("watching "+key, env, opts, "--watch")} {
		got, err := d.Ask(p, false)
		if err != nil {
			r.t.Errorf("question %d about '%s', %s daemon: %v", r.asked, words[0], name, err)
			continue
		}
		bad := expect(want, got)
		if !r.c.noOracle {
			truth, err := r.oracle(env).Ask(p, opts)
			if err != nil {
				r.t.Errorf("git cannot tell about '%s': %v", words[0], err)
				continue
			}
			for _, m := range truth[0].Check(got[0], opts, false, got) {
				bad = append(bad, m.String())
			}
		}
		if bad != nil {
			r.t.Errorf("question %d about '%s', %s daemon, want %s:\n  %s\nanswer %q\nlog: %s", r.asked, words[0], name, want,
				strings.Join(bad, "\n  "), got, d.Log())
		}
	}
}

// keep returns the daemon of that name, which lives until the case ends.
func (r *caseRun) keep(name string, env []string, o gittest.Options, extra ...string) *daemon.Daemon {
	r.t.Helper()
	if r.kept[name] == nil {
		d := r.start(env, o, extra...)
		r.kept[name] = d
		r.t.Cleanup(func() {
			if err := d.Close(); err != nil {
				r.t.Errorf("gitstatusd: %v", err)
			}
		})
	}
	return r.kept[name]
}

func (r *caseRun) start(env []string, o gittest.Options, extra ...string) *daemon.Daemon {
	r.t.Helper()
	command := slices.Concat(r.c.wrap, []string{gitstatusd, "--no-server"}, extra, o.Args())
	d, err := daemon.Start(command[0], env, command[1:]...)
	if err != nil {
		r.t.Fatal(err)
	}
	return d
}

// expect compares an answer with words like "branch=main untracked=1". "clean"
// stands for no changes of any kind, "none" for the answer 0. The untracked files
// of "clean" may be given after it.
func expect(want string, got []string) []string {
	if want == "none" {
		if len(got) != 2 || got[1] != "0" {
			return []string{"want the answer 0"}
		}
		return nil
	}
	if len(got) != gittest.NumFields {
		return []string{fmt.Sprintf("got %d fields, want %d", len(got), gittest.NumFields)}
	}
	var bad []string
	values := map[string]string{}
	for _, word := range strings.Fields(want) {
		if word == "clean" {
			for _, f := range []string{"staged", "unstaged", "conflicted", "untracked"} {
				values[f] = "0"
			}
			continue
		}
		name, value, _ := strings.Cut(word, "=")
		values[name] = strings.ReplaceAll(value, "_", " ")
	}
	for n := 1; n <= gittest.NumFields; n++ {
		name := gittest.FieldName(n)
		if value, ok := values[name]; ok && got[n-1] != value {
			bad = append(bad, gittest.Mismatch{Field: n, Got: got[n-1], Want: value}.String())
		}
		delete(values, name)
	}
	for name := range values {
		bad = append(bad, "no field is called "+name)
	}
	return bad
}
