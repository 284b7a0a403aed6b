package cases

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"gust/conformance/daemon"
	"gust/internal/gittest"
)

// gitstatusd is the path of the program under test, set by TestMain.
var gitstatusd string

func TestMain(m *testing.M) { os.Exit(daemon.BuildMain(m, &gitstatusd)) }

// prologue is what every script starts with. `ask DIR [OPTION]...` asks two
// daemons about DIR, one that lives as long as the script and a fresh one; `must`
// runs a command that has to succeed.
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

// pending returns the cases that wait for something gust does not have yet: the
// issue that brings it, and what it is.
func pending() map[string]string {
	return map[string]string{
		"C07": "6: gust switch in a sparse checkout",
		"C39": "5: gust describe",
		"C40": "5: gust describe",
		"C41": "5: gust rev-list with bitmaps",
		"C42": "5: gust rev-list with bitmaps",
		"C43": "6: gust switch on a big index",
		"C47": "2: the zsh binding over a pty, in shell's tests",
		"C48": "2: the zsh binding over a pty, in shell's tests",
	}
}

// partly returns what parts of cases that are tests wait for.
func partly() map[string]string {
	return map[string]string{
		"C21": "5: gust describe --dirty",
		"C23": "7: the output of gust status",
		"C34": "7: the output of gust status",
		"C37": "7: the output of gust status",
		"C44": "2: prompts of real shells, in shell's tests",
		"C45": "7: what gust status may run",
		"C46": "7: quoting in the output of gust status",
		"C49": "7: gust status and index.lock",
		"C50": "3: a watched repository",
		"C51": "3: a watched repository",
		"C53": "3: a watched repository",
		"C54": "3: a watched repository",
	}
}

func TestEveryCaseIsHereOrPending(t *testing.T) {
	for n := 1; n <= 55; n++ {
		id := fmt.Sprintf("C%02d", n)
		here := slices.ContainsFunc(all(), func(c reported) bool { return c.id == id })
		_, waits := pending()[id]
		if here == waits {
			t.Errorf("%s: is a test: %v; is pending: %v", id, here, waits)
		}
	}
}

func TestCases(t *testing.T) {
	gits := gittest.All(t)
	newest := gits[len(gits)-1]
	for _, c := range all() {
		t.Run(c.id, func(t *testing.T) {
			t.Parallel()
			if waits := partly()[c.id]; waits != "" {
				t.Logf("pending in part: %s", waits)
			}
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
	if r.kept[key] == nil {
		d := r.start(env, opts)
		r.kept[key] = d
		r.t.Cleanup(func() {
			if err := d.Close(); err != nil {
				r.t.Errorf("gitstatusd: %v", err)
			}
		})
	}
	for name, d := range map[string]*daemon.Daemon{"fresh": fresh, "kept": r.kept[key]} {
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

func (r *caseRun) start(env []string, o gittest.Options) *daemon.Daemon {
	r.t.Helper()
	command := append(append(append([]string(nil), r.c.wrap...), gitstatusd), o.Args()...)
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
