// Package differential compares gitstatusd with git on random repositories. It
// is for tests only.
//
// A [Scenario] is made from a seed: shell steps that build a repository and
// change it, and what is asked after each. Run plays it with one long-lived
// gitstatusd, asks git the same after every answer, and returns the first
// disagreement; Shrink takes steps away while the disagreement stands; Script
// prints what is left as a shell script that needs nothing of this package.
package differential

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"gust/conformance/daemon"
	"gust/internal/gittest"
)

// A Scenario is one seed's play.
type Scenario struct {
	Seed     uint64
	Features []string
	Steps    []Step
	Options  []gittest.Options // one daemon for each
	Env      []string          // NAME=value for all, with $B for the scenario's directory
}

// A Step is shell text, run with B set to the scenario's directory, and what is
// asked right after it.
type Step struct {
	Commands []string
	Queries  []Query
	// OwnIndex: git is to believe the stat data in its index (see gittest.Oracle).
	OwnIndex bool
	// Rules: conversion rules may have changed (see gittest.Oracle).
	Rules bool
}

func (s *Step) text() string { return strings.Join(s.Commands, "\n") }

// A Query names a directory relative to the scenario's own.
type Query struct {
	Dir     string
	GitDir  bool
	NoIndex bool
}

func (q Query) place(base string) gittest.Place {
	return gittest.Place{Dir: filepath.Join(base, q.Dir), GitDir: q.GitDir}
}

// A Failure is a disagreement with git.
type Failure struct {
	Step     int // index into Steps
	Query    Query
	Options  gittest.Options
	Again    bool // the answer was right at first, and wrong when asked again
	Bad      []gittest.Mismatch
	Broken   error // the daemon died, hung, or spoke nonsense
	Log      string
	ShellLog string
}

// fields returns the numbers of the fields that disagree; 0 alone for a daemon
// that broke.
func (f *Failure) fields() map[int]bool {
	set := map[int]bool{}
	for _, m := range f.Bad {
		set[m.Field] = true
	}
	if f.Broken != nil {
		set[-1] = true
	}
	return set
}

func (f *Failure) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "step %d, asked %+v with %v", f.Step, f.Query, f.Options.Args())
	if f.Again {
		b.WriteString(" (the second answer; the first was right)")
	}
	if f.Broken != nil {
		fmt.Fprintf(&b, "\n  %v", f.Broken)
	}
	for _, m := range f.Bad {
		fmt.Fprintf(&b, "\n  %s", m)
	}
	return b.String()
}

// An answerer is what is under test: gitstatusd, or, in the tests of this package,
// a second way of asking git.
type answerer interface {
	Ask(p gittest.Place, noIndex bool) ([]string, error)
	Log() string
	Kill()
}

// A Runner plays scenarios. Its methods are for one goroutine.
type Runner struct {
	Git    gittest.Git // runs the steps
	Oracle gittest.Git // says what is true
	Temp   string      // an existing directory for the scenarios' own

	// Start starts what is under test.
	Start func(e *gittest.Env, top string, o gittest.Options) (answerer, error)

	// Look, if not nil, is asked about each place instead of a gitstatusd: it returns
	// what is wrong there.
	Look func(e *gittest.Env, p gittest.Place, s *Step) error

	// What was done, for the report.
	Asked, Unknown, Failing, Played, Processes int
	Statuses                                   map[string]int // how often a step's last command failed
	Seen                                       map[string]int // how many answers said what, by git's word
}

// StartDaemon returns a Start for the gitstatusd at path.
func StartDaemon(path string) func(*gittest.Env, string, gittest.Options) (answerer, error) {
	return func(e *gittest.Env, _ string, o gittest.Options) (answerer, error) {
		return daemon.Start(path, e.Environ(), o.Args()...)
	}
}

// A play is one run of a scenario.
type play struct {
	r       *Runner
	s       *Scenario
	env     *gittest.Env
	shell   *shell
	oracle  *gittest.Oracle
	daemons []answerer
	top     string
}

// Run plays s from scratch and returns the first disagreement, or nil. An error
// means that the play itself could not go on.
func (r *Runner) Run(s *Scenario) (failure *Failure, err error) {
	top, err := os.MkdirTemp(r.Temp, "s")
	if err != nil {
		return nil, err
	}
	defer removeAll(top)
	env, err := gittest.NewAt(top, r.Git)
	if err != nil {
		return nil, err
	}
	for _, v := range s.Env {
		name, value, _ := strings.Cut(v, "=")
		env.Setenv(name, strings.ReplaceAll(value, "$B", env.Dir))
	}
	p := &play{r: r, s: s, env: env, top: top}
	scratch := filepath.Join(top, "oracle")
	if err := os.Mkdir(scratch, 0o700); err != nil {
		return nil, err
	}
	p.oracle = gittest.NewOracle(r.Oracle, env.Environ(), scratch)
	if p.shell, err = startShell(env, filepath.Join(top, "log")); err != nil {
		return nil, err
	}
	defer p.shell.close()
	defer func() {
		for _, d := range p.daemons {
			d.Kill()
		}
		r.Processes += p.oracle.Processes
	}()
	for _, o := range s.Options {
		if r.Look != nil {
			break
		}
		d, err := r.Start(env, top, o)
		if err != nil {
			return nil, err
		}
		p.daemons = append(p.daemons, d)
	}
	for i := range s.Steps {
		if failure, err = p.step(i); failure != nil || err != nil {
			break
		}
	}
	r.Played++
	if failure == nil && err == nil {
		failure = p.logged()
	}
	return failure, err
}

// logged looks for what a daemon should never have to log: the race detector's
// reports, where it is on, and panics that were caught.
func (p *play) logged() *Failure {
	for i, d := range p.daemons {
		if log := d.Log(); strings.Contains(log, "DATA RACE") || strings.Contains(log, "panic") {
			last := len(p.s.Steps) - 1
			return &Failure{Step: last, Query: p.s.Steps[last].Queries[0], Options: p.s.Options[i], Broken: errors.New("see the log"), Log: log}
		}
	}
	return nil
}

func (p *play) step(i int) (*Failure, error) {
	step := &p.s.Steps[i]
	status, err := p.shell.run(step.text())
	if err != nil {
		return nil, fmt.Errorf("step %d: %w\n%s", i, err, step.text())
	}
	if status != 0 {
		p.r.Failing++
		if p.r.Statuses != nil {
			last, _, _ := strings.Cut(step.Commands[len(step.Commands)-1], " './")
			p.r.Statuses[last]++
		}
	}
	p.oracle.OwnIndex, p.oracle.Rules = step.OwnIndex, step.Rules
	for _, q := range step.Queries {
		f, err := p.query(q, step)
		if err != nil {
			return nil, fmt.Errorf("step %d, %+v: %w", i, q, err)
		}
		if f != nil {
			f.Step = i
			f.ShellLog = p.shell.tail()
			return f, nil
		}
	}
	return nil, nil
}

// query asks every daemon before git, so that nothing stands between the change
// and the question; then once more, now that git has looked.
func (p *play) query(q Query, step *Step) (*Failure, error) {
	place := q.place(p.env.Dir)
	if p.r.Look != nil {
		if err := p.r.Look(p.env, place, step); err != nil {
			return &Failure{Query: q, Broken: err}, nil
		}
		return nil, nil
	}
	answers := make([][]string, len(p.daemons))
	for i, d := range p.daemons {
		fields, err := d.Ask(place, q.NoIndex)
		if err != nil {
			return &Failure{Query: q, Options: p.s.Options[i], Broken: err, Log: d.Log()}, nil
		}
		answers[i] = fields
	}
	p.r.Asked += len(answers)
	truths, err := p.oracle.Ask(place, p.s.Options...)
	if err != nil {
		p.r.Unknown += len(answers) // git itself cannot tell
		if p.r.Seen != nil {
			p.r.Seen["git cannot tell: "+cause(err)]++
		}
		return nil, nil
	}
	p.r.see(truths[0])
	for i, d := range p.daemons {
		opts, truth, id := p.s.Options[i], truths[i], answers[i][0]
		if bad := truth.Check(id, opts, q.NoIndex, answers[i]); bad != nil {
			return &Failure{Query: q, Options: opts, Bad: bad, Log: d.Log()}, nil
		}
		fields, err := d.Ask(place, q.NoIndex)
		if err != nil {
			return &Failure{Query: q, Options: opts, Broken: err, Again: true, Log: d.Log()}, nil
		}
		if bad := truth.Check(fields[0], opts, q.NoIndex, fields); bad != nil {
			return &Failure{Query: q, Options: opts, Bad: bad, Again: true, Log: d.Log()}, nil
		}
	}
	return nil, nil
}

// see counts what is remarkable about a truth.
func (r *Runner) see(t *gittest.Truth) {
	if r.Seen == nil {
		return
	}
	action, _, _ := strings.Cut(t.Action, " ")
	r.Seen["action "+action]++
	for name, on := range map[string]bool{"found": t.Found, "index-error": t.IndexError, "detached": t.Found && t.Branch == "", "unborn": t.Found && t.Commit == "",
		"upstream": t.UpstreamBranch != "", "gone": t.RemoteName != "" && t.UpstreamBranch == "", "push": t.PushRemoteName != "", "ahead": t.Ahead > 0,
		"behind": t.Behind > 0, "push-ahead": t.PushAhead > 0, "push-behind": t.PushBehind > 0, "staged": t.Staged > 0, "new": t.StagedNew > 0, "deleted": t.StagedDeleted > 0,
		"unstaged": t.Unstaged > 0, "unstaged-deleted": t.UnstagedDeleted > 0, "conflicted": t.Conflicted > 0, "untracked": t.Untracked > 0, "stashes": t.Stashes > 0,
		"tag": t.Tag != "", "encoding": t.Encoding != "", "skip-worktree": t.SkipWorktree > 0, "assumed": t.Assumed > 0, "no-subject": t.Commit != "" && t.Subject == "",
		"settled differs": t.Unstaged != t.UnstagedSettled} {
		if on {
			r.Seen[name]++
		}
	}
}

// removeAll removes top, whatever modes the steps left behind.
func removeAll(top string) {
	if os.RemoveAll(top) == nil {
		return
	}
	_ = exec.Command("chmod", "-R", "u+rwx", top).Run()
	_ = os.RemoveAll(top)
}

// newRand returns the generator of a seed's random numbers.
func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0x67757374)) }

// A shell is one long-lived sh: a process per step would cost more than the step.
type shell struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	done *os.File
	log  string
}

func startShell(env *gittest.Env, log string) (*shell, error) {
	logFile, err := os.Create(log)
	if err != nil {
		return nil, err
	}
	defer logFile.Close()
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer w.Close()
	sh := &shell{cmd: exec.Command("sh"), done: r, log: log}
	sh.cmd.Dir = env.Dir
	sh.cmd.Env = append(env.Environ(), "B="+env.Dir)
	sh.cmd.Stdout, sh.cmd.Stderr = logFile, logFile
	sh.cmd.ExtraFiles = []*os.File{w}
	if sh.in, err = sh.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := sh.cmd.Start(); err != nil {
		r.Close()
		return nil, err
	}
	_, err = io.WriteString(sh.in, Prologue)
	return sh, err
}

// run runs text in the scenario's directory and returns the last exit status.
func (sh *shell) run(text string) (int, error) {
	_, err := fmt.Fprintf(sh.in, "{ cd \"$B\" && {\n%s\n} } </dev/null 3>&-; echo $? >&3\n", text)
	if err != nil {
		return 0, err
	}
	// A step that waits for ever is a mistake of its generator.
	if err := sh.done.SetReadDeadline(time.Now().Add(2 * time.Minute)); err != nil {
		return 0, err
	}
	var buf [16]byte
	n := 0
	for n == 0 || buf[n-1] != '\n' {
		m, err := sh.done.Read(buf[n:])
		if err != nil {
			return 0, fmt.Errorf("the shell gives no status: %w; log:\n%s", err, sh.tail())
		}
		n += m
	}
	status := 0
	_, err = fmt.Sscan(string(buf[:n]), &status)
	return status, err
}

// tail returns the end of what the steps printed.
func (sh *shell) tail() string {
	b, _ := os.ReadFile(sh.log)
	return string(b[max(0, len(b)-2000):])
}

func (sh *shell) close() {
	sh.in.Close()
	watchdog := time.AfterFunc(time.Minute, func() { _ = sh.cmd.Process.Kill() })
	defer watchdog.Stop()
	_ = sh.cmd.Wait()
	sh.done.Close()
}

// cause is the end of an error's text: what git said.
func cause(err error) string {
	s := err.Error()
	return s[max(0, len(s)-120):]
}
