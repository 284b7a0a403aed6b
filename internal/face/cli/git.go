package cli

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"gust/internal/format/config"
	"gust/shell"
)

// errHandOver says that a command is git's to run: it has an option, an argument or
// a trouble that gust has no words for. Nothing was written then.
var errHandOver = errors.New("left to git")

// exitDie is git's exit code when it gives up.
const exitDie = 128

// A gitCommand does what git's command of its name does, with the arguments behind
// the name, and returns git's exit code. An error says that git is to be asked
// instead: then nothing was written, neither to Out and Err nor to the repository,
// and what was read of In is in Program.input.
type gitCommand func(ctx context.Context, args []string) (code int, err error)

// gitCommand returns gust's form of a command of git's; nil if it has none. This is
// where a new one is entered.
func (p *Program) gitCommand(name string) gitCommand {
	switch name {
	case "describe":
		return p.describe
	case "rev-list":
		return p.revList
	case "status":
		return p.status
	case "switch", "checkout":
		return p.switchTo(name)
	case "restore":
		return p.restore
	case "reset":
		return p.reset
	case "check-ignore":
		return p.checkIgnore
	case "rev-parse":
		return p.revParse
	case "branch":
		return p.branchCommand
	case "symbolic-ref":
		return p.symbolicRef
	}
	return nil
}

// ownCommand reports whether args are for a command that gust alone has. Where git
// has one of the same name, git's arguments make it git's.
func (p *Program) ownCommand(args []string) bool {
	if p.isGit {
		return false
	}
	switch args[0] {
	case "prompt", "query", "watch", "server", "trust", "completion", "bitmap", "check-connected", "__complete", "__completeNoDesc":
		return true
	case "-h", "--help", "help", "version":
		return len(args) == 1 || args[0] != "version" && args[0] != "help" || p.helps(args[1])
	case "init":
		return ownInit(args[1:])
	}
	return false
}

// helps reports whether `gust help name` and the like are about gust's own command.
func (p *Program) helps(name string) bool {
	return name == "-h" || name == "--help" || name == "init" || p.ownCommand([]string{name})
}

// ownInit reports whether the arguments of init are those of gust's, which names a
// shell, and not those of git-init(1).
func ownInit(args []string) bool {
	for _, arg := range args {
		switch arg {
		case "-h", "--help", "--prompt", "fish", "tcsh", "ksh", "nu", "elvish", "xonsh", "pwsh", "posix":
			return true // shells that gust says it does not know, rather than have git make a directory of the name
		}
		if strings.HasPrefix(arg, "--prompt=") || slices.Contains(shell.Shells(), arg) {
			return true
		}
	}
	return false
}

// asGit answers as git does, or hands over.
func (p *Program) asGit(ctx context.Context) int {
	g, ok := parseGlobals(p.Args)
	if !ok {
		return p.handOver()
	}
	run := p.gitCommand(g.command)
	if run == nil || traced(p.Env) || p.apply(g) != nil {
		return p.handOver()
	}
	code, err := run(ctx, g.args)
	if err != nil {
		return p.handOver()
	}
	return code
}

// traced reports whether env asks git to trace what it does (git(1), GIT_TRACE and
// those like it): whoever does wants to see git at work.
func traced(env []string) bool {
	return slices.ContainsFunc(env, func(v string) bool {
		name, value, _ := strings.Cut(v, "=")
		return strings.HasPrefix(name, "GIT_TRACE") && asksToTrace(value)
	})
}

// tracedBy reports whether c asks the same; a repository cannot, and neither can -c
// (git-config(1), trace2.*).
func tracedBy(c *config.Config) bool {
	for _, target := range []string{"trace2.normaltarget", "trace2.perftarget", "trace2.eventtarget"} {
		on := false
		for _, e := range c.Entries(target) {
			if e.Scope == config.System || e.Scope == config.Global {
				on = asksToTrace(e.Value)
			}
		}
		if on {
			return true
		}
	}
	return false
}

// asksToTrace reports whether value, of a variable or a setting, names where to trace to.
func asksToTrace(value string) bool {
	return value != "" && value != "0" && !strings.EqualFold(value, "false")
}

// handOver hands the whole command over to git.
func (p *Program) handOver() int { return p.HandOver(p.Args, p.input) }

// apply makes the options in front of the command the program's directory and
// environment, as git does.
func (p *Program) apply(g globals) error {
	if g.dir != "" {
		dir, err := p.Dir()
		if err != nil {
			return err
		}
		if filepath.IsAbs(g.dir) {
			dir = g.dir
		} else {
			dir += "/" + g.dir // "link/.." is where the link leads, and up
		}
		p.Dir = func() (string, error) { return dir, nil }
	}
	for _, v := range g.env {
		name, value, _ := strings.Cut(v, "=")
		if name == parametersEnv {
			if before, ok := p.lookup(name); ok && before != "" {
				value = before + " " + value
			}
		}
		p.Env = append(p.Env[:len(p.Env):len(p.Env)], name+"="+value)
	}
	p.noPager = g.noPager
	return nil
}
