package cli

import (
	"context"
	"fmt"
	"strings"

	"gust/internal/engine/past"
	"gust/internal/format/config"
	"gust/internal/pure/object"
	"gust/internal/pure/oid"
	"gust/internal/store/refs"
)

// advised reports whether Git gives the advice called name (git-config(1), advice.*).
func advised(p *past.Past, name string) (bool, error) {
	if v, ok := p.Repo.Env["GIT_ADVICE"]; ok {
		if on, ok := config.ParseBool(v); ok && !on {
			return false, nil
		}
	}
	on, set, err := p.Repo.Config.Bool("advice." + name)
	return on || !set, err
}

// detachedAdvice is what Git says when HEAD leaves the branches.
const detachedAdvice = `Note: switching to '%s'.

You are in 'detached HEAD' state. You can look around, make experimental
changes and commit them, and you can discard any commits you make in this
state without impacting any branches by switching back to a branch.

If you want to create a new branch to retain commits you create, you may
do so (now or later) by using -c with the switch command. Example:

  git switch -c <new-branch-name>

Or undo this operation with:

  git switch -

Turn off this advice by setting config variable advice.detachedHead to false

`

// messages composes what is said about where HEAD goes.
func (s *switching) messages(ctx context.Context) error {
	if s.a.quiet {
		return nil
	}
	if s.head.Branch == "" && s.id != s.head.ID {
		if err := s.leaving(ctx); err != nil {
			return err
		}
	}
	switch {
	case s.branch == "":
		if s.head.Branch != "" && !s.a.detach {
			advice, err := advised(s.Past, "detachedHead")
			if err != nil {
				return err
			}
			if advice {
				fmt.Fprintf(&s.err, detachedAdvice, s.a.target)
			}
		}
		text, err := oneLine(s.Past, s.id, &s.to)
		if err != nil {
			return err
		}
		fmt.Fprintf(&s.err, "HEAD is now at %s\n", text)
	case s.made:
		fmt.Fprintf(&s.err, "Switched to a new branch '%s'\n", s.name)
	case s.branch == s.head.Branch:
		fmt.Fprintf(&s.err, "Already on '%s'\n", s.name)
	default:
		fmt.Fprintf(&s.err, "Switched to branch '%s'\n", s.name)
	}
	return nil
}

// leaving says which commit a detached HEAD leaves. Where no ref leads to it, Git has
// a longer warning.
func (s *switching) leaving(ctx context.Context) error {
	reached := false
	err := s.Repo.Refs.List("refs/", func(_ string, id, peeled oid.ID) bool {
		reached = id == s.head.ID || peeled == s.head.ID
		return !reached
	})
	if err != nil {
		return err
	}
	if !reached {
		ahead, _, err := s.Walker.AheadBehind(ctx, s.head.ID, s.id)
		if err != nil || ahead > 0 {
			return errHandOver
		}
	}
	text, err := oneLine(s.Past, s.head.ID, &s.old)
	if err == nil {
		fmt.Fprintf(&s.err, "Previous HEAD position was %s\n", text)
	}
	return err
}

// oneLine returns the abbreviated ID of a commit and its subject.
func oneLine(p *past.Past, id oid.ID, c *object.CommitData) (string, error) {
	if len(c.Encoding) > 0 {
		return "", errHandOver
	}
	n, err := p.Abbrev()
	if err != nil {
		return "", err
	}
	if n, err = p.DB.UniqueLen(id, n); err != nil {
		return "", err
	}
	return id.String()[:n] + " " + string(object.Subject(nil, c.Message)), nil
}

// tracking prints how the branch and its upstream stand to each other.
func (s *switching) tracking(ctx context.Context) error {
	if s.a.quiet || s.branch == "" {
		return nil
	}
	text, err := s.upstreamLines(ctx)
	if err == nil {
		fmt.Fprint(s.p.Out, text)
	}
	return err
}

// upstreamLines is what git switch and git status say of the branch's upstream.
func (s *switching) upstreamLines(ctx context.Context) (string, error) {
	up := s.Repo.Upstream(refs.Head{Branch: s.branch})
	if up.Ref == "" {
		return "", nil
	}
	hints, err := advised(s.Past, "statusHints")
	if err != nil {
		return "", err
	}
	hint := func(text string) string {
		if !hints {
			return ""
		}
		return "  (" + text + ")\n"
	}
	short := shortRef(up.Ref)
	id, err := s.Repo.Refs.Resolve(up.Ref)
	if err != nil {
		return fmt.Sprintf("Your branch is based on '%s', but the upstream is gone.\n", short) +
			hint(`use "git branch --unset-upstream" to fixup`), nil
	}
	ahead, behind, err := s.Walker.AheadBehind(ctx, s.id, id)
	if err != nil {
		return "", err
	}
	switch {
	case ahead == 0 && behind == 0:
		return fmt.Sprintf("Your branch is up to date with '%s'.\n", short), nil
	case behind == 0:
		return fmt.Sprintf("Your branch is ahead of '%s' by %s.\n", short, commits(ahead)) +
			hint(`use "git push" to publish your local commits`), nil
	case ahead == 0:
		return fmt.Sprintf("Your branch is behind '%s' by %s, and can be fast-forwarded.\n", short, commits(behind)) +
			hint(`use "git pull" to update your local branch`), nil
	}
	return fmt.Sprintf("Your branch and '%s' have diverged,\nand have %d and %d different commits each, respectively.\n", short, ahead, behind) +
		hint(`use "git pull" if you want to integrate the remote branch with yours`), nil
}

func commits(n int) string {
	if n == 1 {
		return "1 commit"
	}
	return fmt.Sprintf("%d commits", n)
}

// shortRef returns the name that Git shows for a ref.
func shortRef(name string) string {
	for _, prefix := range []string{"refs/heads/", "refs/tags/", "refs/remotes/", "refs/"} {
		if short, ok := strings.CutPrefix(name, prefix); ok {
			return short
		}
	}
	return name
}
