package cli

import "strings"

// switchArgs is the command line of git-switch(1), or of git-checkout(1) where it
// does not name paths.
type switchArgs struct {
	checkout bool // the command is checkout
	quiet    bool
	detach   bool
	force    bool
	progress progressMode
	create   string // the branch to make; "" for none
	reset    bool   // … which may exist
	target   string // as given; "" for none
}

// A progressMode says whether progress is shown.
type progressMode uint8

const (
	progressAuto progressMode = iota // on a terminal
	progressOn
	progressOff
)

// parseSwitch parses the options that gust knows, spelled out; the error says that
// there are others.
func parseSwitch(command string, args []string) (*switchArgs, error) {
	a := &switchArgs{checkout: command == "checkout"}
	short := map[byte]string{'q': "quiet", 'd': "detach", 'f': "force", 'c': "create", 'C': "force-create"}
	if a.checkout {
		short = map[byte]string{'q': "quiet", 'd': "detach", 'f': "force", 'b': "create", 'B': "force-create"}
	}
	given := 0
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if arg == "-" || !strings.HasPrefix(arg, "-") {
			a.target = arg
			given++
			continue
		}
		name, long := strings.CutPrefix(arg, "--")
		if !long {
			if len(arg) != 2 {
				return nil, errHandOver
			}
			name = short[arg[1]]
		} else if a.checkout && (name == "create" || name == "force-create") {
			return nil, errHandOver
		}
		switch name {
		case "quiet":
			a.quiet = true
		case "detach":
			a.detach = true
		case "force":
			a.force = true
		case "progress":
			a.progress = progressOn
		case "no-progress":
			a.progress = progressOff
		case "create", "force-create":
			if i++; i == len(args) {
				return nil, errHandOver
			}
			a.create, a.reset = args[i], name == "force-create"
		case "discard-changes":
			if a.checkout {
				return nil, errHandOver
			}
			a.force = true
		case "no-track", "no-guess":
		default:
			return nil, errHandOver
		}
	}
	switch {
	case given > 1, a.create != "" && a.detach, a.create == "" && a.target == "" && !a.detach:
		return nil, errHandOver
	}
	return a, nil
}
