package cli

import (
	"math/rand/v2"
	"slices"
)

// A command is one command line.
type command struct {
	group string
	args  []string
}

// question returns a random command line.
func question(r *rand.Rand) command {
	all := map[string]func(*rand.Rand) []string{"status": statusLine}
	name := *group
	if name == "" {
		names := make([]string, 0, len(all))
		for n := range all {
			names = append(names, n)
		}
		slices.Sort(names)
		name = names[r.IntN(len(names))]
	}
	return command{name, all[name](r)}
}

func oneOf(r *rand.Rand, of ...string) string { return of[r.IntN(len(of))] }

// some returns a few of the given words.
func some(r *rand.Rand, percent int, of ...string) (list []string) {
	for _, s := range of {
		if r.IntN(100) < percent {
			list = append(list, s)
		}
	}
	return list
}

// settings returns -c options for a few of the given settings.
func settings(r *rand.Rand, percent int, of ...string) (list []string) {
	for _, s := range some(r, percent, of...) {
		list = append(list, "-c", s)
	}
	return list
}

func statusLine(r *rand.Rand) []string {
	args := settings(r, 5, "status.short=true", "status.branch=true", "status.showStash=true", "status.showUntrackedFiles=all", "status.showUntrackedFiles=no",
		"status.relativePaths=false", "status.aheadBehind=false", "status.renames=false", "diff.renames=false", "advice.statusHints=false", "core.quotePath=false",
		"color.status=always", "status.renames=copies", "color.ui=always")
	args = append(args, "status")
	args = append(args, some(r, 60, oneOf(r, "-s", "--short", "--porcelain", "--porcelain=v2", "--porcelain=v1", "--long", "-sb", "-z", "-v"))...)
	args = append(args, some(r, 12, "-b", "--branch", "--show-stash", "-z", "-uall", "-uno", "-unormal", "-u", "--untracked-files=no", "--no-ahead-behind", "--ahead-behind",
		"--no-renames", "--renames", "--no-branch")...)
	return append(args, some(r, 4, "--ignored", "--ignored=matching", "--find-renames=30", "-M90", "--ignore-submodules", "--", ".", "d", ":/", "*.c")...)
}
