package cli

import (
	"strings"

	"gust/internal/worktree/scan"
)

// A format is one of git status's.
type format uint8

const (
	formatNone format = iota // none was asked for
	formatLong
	formatShort
	formatV1
	formatV2
)

// A flag is an option that may be given, or taken back.
type flag uint8

const (
	unset flag = iota
	yes
	no
)

// statusArgs is the command line of git-status(1).
type statusArgs struct {
	format          format
	null            bool
	branch, stash   flag
	aheadBehindFlag flag
	aheadBehind     bool
	untracked       scan.UntrackedMode
	untrackedGiven  bool
	renames         bool
	renamesGiven    bool
	paths           []string
}

// parseStatus parses the options that gust knows, spelled out; the error says that
// there are others.
func parseStatus(args []string) (*statusArgs, error) {
	a := &statusArgs{}
	for i := 0; i < len(args); i++ {
		arg := args[i]
		switch {
		case arg == "--":
			a.paths = append(a.paths, args[i+1:]...)
			i = len(args)
		case strings.HasPrefix(arg, "--"):
			if err := a.long(arg[2:]); err != nil {
				return nil, err
			}
		case strings.HasPrefix(arg, "-") && arg != "-":
			if err := a.short(arg[1:]); err != nil {
				return nil, err
			}
		default:
			a.paths = append(a.paths, arg)
		}
	}
	if len(a.paths) > 0 {
		return nil, errHandOver
	}
	return a, nil
}

// short takes a run of options of one letter.
func (a *statusArgs) short(letters string) error {
	for i := range len(letters) {
		switch letters[i] {
		case 's':
			a.format = formatShort
		case 'b':
			a.branch = yes
		case 'z':
			a.null = true
		case 'u':
			return a.untrackedMode(letters[i+1:])
		default:
			return errHandOver
		}
	}
	return nil
}

// long takes an option without its dashes.
func (a *statusArgs) long(option string) error {
	name, value, given := strings.Cut(option, "=")
	if given {
		switch name {
		case "porcelain":
			switch value {
			case "v1", "1":
				a.format = formatV1
			case "v2", "2":
				a.format = formatV2
			default:
				return errHandOver
			}
		case "untracked-files":
			return a.untrackedMode(value)
		case "ignored":
			if value != "no" {
				return errHandOver
			}
		default:
			return errHandOver
		}
		return nil
	}
	switch name {
	case "short":
		a.format = formatShort
	case "long":
		a.format = formatLong
	case "porcelain":
		a.format = formatV1
	case "branch":
		a.branch = yes
	case "no-branch":
		a.branch = no
	case "show-stash":
		a.stash = yes
	case "no-show-stash":
		a.stash = no
	case "null":
		a.null = true
	case "no-null":
		a.null = false
	case "ahead-behind":
		a.aheadBehindFlag = yes
	case "no-ahead-behind":
		a.aheadBehindFlag = no
	case "untracked-files":
		return a.untrackedMode("")
	case "renames":
		a.renames, a.renamesGiven = true, true
	case "no-renames":
		a.renames, a.renamesGiven = false, true
	default:
		return errHandOver
	}
	return nil
}

// untrackedMode takes the value of -u, "" if it has none.
func (a *statusArgs) untrackedMode(value string) error {
	a.untrackedGiven = true
	switch value {
	case "", "all":
		a.untracked = scan.UntrackedAll
	case "normal":
		a.untracked = scan.UntrackedNormal
	case "no":
		a.untracked = scan.UntrackedNo
	default:
		return errHandOver
	}
	return nil
}
