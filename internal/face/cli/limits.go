package cli

import (
	"strconv"
	"strings"

	"gust/internal/history/reach"
)

// limit takes an option of git-rev-list(1)'s that leaves commits out from the start of
// args, and returns how many arguments it is.
func (r *revList) limit(args []string) (n int, err error) {
	set := func(to func(l *reach.Limits)) (int, error) {
		if r.limits == nil {
			r.limits = reach.NoLimits()
		}
		to(r.limits)
		return 1, nil
	}
	switch args[0] {
	case "--first-parent":
		return set(func(l *reach.Limits) { l.FirstParent = true })
	case "--merges":
		return set(func(l *reach.Limits) { l.MinParents = 2 })
	case "--no-merges":
		return set(func(l *reach.Limits) { l.MaxParents = 1 })
	case "--no-min-parents":
		return set(func(l *reach.Limits) { l.MinParents = 0 })
	case "--no-max-parents":
		return set(func(l *reach.Limits) { l.MaxParents = -1 })
	}
	name, value, n := limitValue(args)
	if n == 0 {
		return 0, nil
	}
	v, err := strconv.ParseInt(value, 10, 32)
	if err != nil || value[0] == '+' {
		return 0, errHandOver // git reads some other spellings, and complains of the rest
	}
	_, err = set(func(l *reach.Limits) {
		switch name {
		case "--max-count":
			l.Max = max(-1, int(v))
		case "--skip":
			l.Skip = max(0, int(v))
		case "--min-parents":
			l.MinParents = int(v)
		case "--max-parents":
			l.MaxParents = max(-1, int(v))
		}
	})
	return n, err
}

// limitValue returns the name and value of an option with a number and how many
// arguments it is, 0 if the first of args is none.
func limitValue(args []string) (name, value string, n int) {
	name, value, joined := strings.Cut(args[0], "=")
	switch name {
	case "--max-count", "--skip":
		switch {
		case joined:
			return name, value, 1
		case len(args) > 1:
			return name, args[1], 2
		}
	case "--min-parents", "--max-parents":
		if joined {
			return name, value, 1
		}
	case "-n":
		if !joined && len(args) > 1 {
			return "--max-count", args[1], 2
		}
	}
	for _, prefix := range []string{"-n", "-"} {
		if digits, ok := strings.CutPrefix(args[0], prefix); ok && digits != "" && strings.Trim(digits, "0123456789") == "" {
			return "--max-count", digits, 1
		}
	}
	return "", "", 0
}
