package cli

import (
	"path/filepath"
	"strings"
)

// parametersEnv is the variable in which git hands the settings of -c to the
// programs that it starts.
const parametersEnv = "GIT_CONFIG_PARAMETERS"

// globals are the options of git(1) that stand before the command.
type globals struct {
	dir     string   // of all -C
	env     []string // NAME=value, in order: what the other options stand for
	noPager bool
	command string
	args    []string // behind the command
}

// envOptions are options that are nothing but a variable.
var envOptions = map[string]string{
	"--no-optional-locks":  "GIT_OPTIONAL_LOCKS=0",
	"--literal-pathspecs":  "GIT_LITERAL_PATHSPECS=1",
	"--glob-pathspecs":     "GIT_GLOB_PATHSPECS=1",
	"--noglob-pathspecs":   "GIT_NOGLOB_PATHSPECS=1",
	"--icase-pathspecs":    "GIT_ICASE_PATHSPECS=1",
	"--no-replace-objects": "GIT_NO_REPLACE_OBJECTS=1",
}

// valueOptions are options whose value is that of a variable.
var valueOptions = map[string]string{
	"--git-dir": "GIT_DIR", "--work-tree": "GIT_WORK_TREE", "--namespace": "GIT_NAMESPACE",
}

// parseGlobals takes a command line apart. ok is false if it has an option that is
// left to git, or no command.
func parseGlobals(args []string) (g globals, ok bool) {
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if !strings.HasPrefix(arg, "-") {
			g.command, g.args = arg, args[i+1:]
			return g, true
		}
		if v := envOptions[arg]; v != "" {
			g.env = append(g.env, v)
			continue
		}
		name, value, given := strings.Cut(arg, "=")
		variable := valueOptions[name]
		switch {
		case arg == "--no-pager" || arg == "-P":
			g.noPager = true
		case arg == "-C" && i+1 < len(args):
			i++
			g.chdir(args[i])
		case arg == "-c" && i+1 < len(args):
			i++
			setting, ok := parameter(args[i])
			if !ok {
				return g, false
			}
			g.env = append(g.env, parametersEnv+"="+setting)
		case variable != "" && given:
			g.env = append(g.env, variable+"="+value)
		case variable != "" && i+1 < len(args):
			i++
			g.env = append(g.env, variable+"="+args[i])
		default:
			return g, false
		}
	}
	return g, false
}

// chdir is -C: each is relative to the ones before; an empty one changes nothing.
func (g *globals) chdir(dir string) {
	switch {
	case dir == "":
	case filepath.IsAbs(dir) || g.dir == "":
		g.dir = dir
	default:
		g.dir += "/" + dir
	}
}

// parameter returns the setting of a -c in the form of parametersEnv, which every
// version of Git writes and reads: 'name'='value', or 'name'= without a value.
func parameter(setting string) (string, bool) {
	name, value, given := strings.Cut(setting, "=")
	if name == "" || !strings.Contains(name, ".") {
		return "", false
	}
	if !given {
		return shellQuote(name) + "=", true
	}
	return shellQuote(name) + "=" + shellQuote(value), true
}

// shellQuote quotes s for a shell as Git does.
func shellQuote(s string) string {
	return "'" + strings.NewReplacer("'", `'\''`, "!", `'\!'`).Replace(s) + "'"
}
