package history

import (
	"fmt"
	"strings"
	"testing"

	"gust/internal/gittest"
)

func TestRevList(t *testing.T) {
	play(t, func(t *testing.T, r *Repo, gits []gittest.Git) (own, left int) {
		for range 25 {
			in, args := r.revListArgs()
			a, b := compare(t, r, gits, in, args...)
			own, left = own+a, left+b
		}
		return own, left
	})
}

// revListArgs returns a random command and its standard input.
func (r *Repo) revListArgs() (in string, args []string) {
	args = []string{"rev-list"}
	some := func(percent int, option string) bool {
		yes := r.chance(percent)
		if yes {
			args = append(args, option)
		}
		return yes
	}
	objects := some(70, "--objects")
	count := some(50, "--count")
	if !objects || !count {
		some(25, "--left-right")
	}
	if !count {
		some(5, "--quiet")
		some(5, "--no-object-names")
	}
	if objects && r.chance(20) {
		args = append(args, "--filter="+r.pick([]string{"blob:none", "tree:0", "object:type=blob", "object:type=tree", "object:type=commit", "object:type=tag"}))
	}
	if r.chance(15) {
		args = append(args, "--stdin")
		for range r.rand.IntN(5) {
			in += r.revision() + "\n"
		}
	}
	for range 1 + r.rand.IntN(4) {
		switch {
		case r.chance(8):
			args = append(args, r.pick([]string{"--all", "--branches", "--tags", "--remotes"}))
		case r.chance(5):
			args = append(args, "--not")
		default:
			args = append(args, r.revision())
		}
	}
	return in, args
}

// revision returns a commit, a tag, a tree, a blob or a range.
func (r *Repo) revision() string {
	commit := func() string {
		if r.chance(50) {
			return r.pick(r.Commits)
		}
		return strings.TrimPrefix(r.pick(r.Refs), "refs/")
	}
	switch n := r.rand.IntN(100); {
	case n < 20:
		return "^" + commit()
	case n < 40:
		return commit() + ".." + commit()
	case n < 55:
		return commit() + "..." + commit()
	case n < 60:
		return r.pick([]string{"", "^"}) + r.pick(r.Commits) + "^{tree}"
	case n < 65:
		return r.pick([]string{"", "^"}) + r.pick(r.Commits) + ":" + r.path()
	case n < 70:
		return commit() + fmt.Sprintf("~%d", r.rand.IntN(3))
	}
	return commit()
}
