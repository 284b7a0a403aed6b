// Package cli holds gust's commands: flags in, engine calls, output and exit codes.
//
// What runs before a prompt (`gust prompt`, `gust query`, and `gust` alone) is
// taken care of before anything of the command framework exists; see Run.
package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"gust/internal/daemon/live"
	"gust/internal/face/porcelain"
	"gust/internal/face/prompt"
	"gust/internal/pure/summary"
)

// Exit codes.
const (
	exitOK    = 0
	exitFail  = 1
	exitUsage = 2
)

// An Asker knows the state of repositories, as live.State does. The summary is nil
// where there is no repository; one with an error is incomplete.
type Asker interface {
	Query(ctx context.Context, q live.Request) (*summary.Summary, error)
}

// A Program is one run of gust. All fields but Name are required.
type Program struct {
	Args     []string // without the name of the program
	Env      []string // NAME=value
	In       io.Reader
	Out, Err io.Writer
	Terminal bool // Out is one
	// ErrTerminal says that Err is a terminal.
	ErrTerminal bool
	Dir         func() (string, error) // the working directory, absolute
	Exe         func() (string, error) // gust's own path, absolute, without symbolic links
	Exists      func(path string) bool // path is a file that can be run
	Asker       func() Asker           // called at most once
	// HandOver runs git with Args in this program's place and returns its exit code:
	// what gust does not know is git's to do, as if it had been asked itself.
	// The standard input is in, if that is not nil.
	HandOver func(args []string, in []byte) int
	// GitVersion returns the version of the git that HandOver runs.
	GitVersion func() (porcelain.Version, error)
	Name       string // what the program was called as, without directories; "git" makes it git
	// cold is runCommands; a test puts something else here to see that it is not
	// called.
	cold func(context.Context, *Program) int

	isGit   bool   // everything is git's: gust has no commands of its own
	noPager bool   // --no-pager was given
	input   []byte // what a command read of In, all of it; nil if it did not
}

// Run does what the arguments say and returns the exit code.
func Run(ctx context.Context, p *Program) int {
	if p.cold == nil {
		p.cold = runCommands
	}
	if len(p.Args) > 0 && p.Args[0] == sweepCommand {
		return p.sweepUp(ctx, p.Args[1:])
	}
	p.isGit = strings.TrimSuffix(p.Name, ".exe") == "git"
	if len(p.Args) == 0 && !p.isGit {
		return p.welcome(ctx)
	}
	if len(p.Args) == 0 || !p.ownCommand(p.Args) {
		return p.asGit(ctx)
	}
	if slices.Contains(p.Args, "--help") || slices.Contains(p.Args, "-h") {
		return p.cold(ctx, p)
	}
	switch p.Args[0] {
	case "prompt":
		return p.prompt(ctx, p.Args[1:])
	case "query":
		return p.query(ctx, p.Args[1:])
	case "bitmap":
		return p.bitmap(ctx, p.Args[1:])
	case "check-connected":
		return p.checkConnected(ctx, p.Args[1:])
	}
	return p.cold(ctx, p)
}

// fail writes a message to Err and returns code.
func (p *Program) fail(code int, format string, args ...any) int {
	fmt.Fprintf(p.Err, "gust: "+format+"\n", args...)
	return code
}

// lookup returns the environment variable name, as os.LookupEnv does. The last
// one of a name counts.
func (p *Program) lookup(name string) (string, bool) {
	for _, v := range slices.Backward(p.Env) {
		if n, value, ok := strings.Cut(v, "="); ok && n == name {
			return value, true
		}
	}
	return "", false
}

// ask asks about dir, or the working directory if it is empty.
func (p *Program) ask(ctx context.Context, dir string, st *prompt.Style) (*summary.Summary, error) {
	dir, err := p.absolute(dir)
	if err != nil {
		return nil, err
	}
	return p.Asker().Query(ctx, p.question(dir, st))
}

// question returns the request for what st shows of dir.
func (p *Program) question(dir string, st *prompt.Style) live.Request {
	return live.Request{Dir: dir, Env: p.Env, Limits: live.Limits{
		Staged: -1, Unstaged: -1, Conflicted: -1, Untracked: -1,
		DirtyMaxIndexSize: st.DirtyMaxIndexSize(), SummaryLen: summaryLen,
	}}
}

// summaryLen is gitstatusd's default for the bytes of a commit summary.
const summaryLen = 256

// parse reads the few flags of a command that cannot wait for the framework:
// `--name`, `--name=value` and `--name value`, then at most one directory. values
// maps the names that are known to where their value goes; flags, those without one.
func parse(args []string, flags map[string]*bool, values map[string]*string) (dir string, err error) {
	rest := false
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if rest || !strings.HasPrefix(arg, "-") || arg == "-" {
			if dir != "" {
				return "", fmt.Errorf("unexpected argument '%s'", arg)
			}
			if arg == "" {
				return "", fmt.Errorf("empty directory name")
			}
			dir = arg
			continue
		}
		if arg == "--" {
			rest = true
			continue
		}
		name, value, given := strings.Cut(arg, "=")
		if f := flags[name]; f != nil && !given {
			*f = true
			continue
		}
		v := values[name]
		switch {
		case v == nil:
			return "", fmt.Errorf("unknown option '%s'", arg)
		case !given && i+1 == len(args):
			return "", fmt.Errorf("option '%s' needs a value", name)
		case !given:
			i++
			value = args[i]
		}
		*v = value
	}
	return dir, nil
}
