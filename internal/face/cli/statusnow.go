package cli

import (
	"os"
	"path/filepath"
	"strings"

	"gust/internal/engine/past"
	"gust/internal/face/porcelain"
	"gust/internal/pure/oid"
)

// progress fills in what the long format says of an operation in progress and of a
// HEAD without a branch.
func (s *statusRun) progress() error {
	if err := s.detached(); err != nil {
		return err
	}
	action, err := s.r.Action()
	if err != nil {
		return err
	}
	bisecting := s.has("BISECT_LOG")
	if bisecting && action != "bisect" || s.has("sequencer") || s.has("MERGE_AUTOSTASH") {
		return errHandOver // several at once
	}
	unmerged := false
	for i := range s.show.Files {
		unmerged = unmerged || s.show.Files[i].Unmerged
	}
	switch action {
	case "":
	case "merge":
		s.show.Progress.Merge = true
		if unmerged {
			s.say("You have unmerged paths.", `fix conflicts and run "git commit"`, `use "git merge --abort" to abort the merge`)
		} else {
			s.say("All conflicts fixed but you are still merging.", `use "git commit" to conclude merge`)
		}
	case "cherry":
		s.show.Progress.Merge = true
		return s.picking("CHERRY_PICK_HEAD", "You are currently cherry-picking commit ", "cherry-pick", unmerged)
	case "revert":
		return s.picking("REVERT_HEAD", "You are currently reverting commit ", "revert", unmerged)
	case "bisect":
		return s.bisecting()
	default:
		return errHandOver
	}
	return nil
}

// has reports whether the git dir has a file called name.
func (s *statusRun) has(name string) bool {
	_, err := os.Lstat(filepath.Join(s.r.GitDir, name))
	return err == nil
}

// say adds a paragraph, and advice where that is wanted.
func (s *statusRun) say(text string, hints ...string) {
	p := &s.show.Progress
	p.Lines = append(p.Lines, text)
	for _, hint := range hints {
		if s.o.Hints {
			p.Lines = append(p.Lines, "  ("+hint+")")
		}
	}
}

// picking tells of a pick or a revert of a single commit.
func (s *statusRun) picking(ref, text, command string, unmerged bool) error {
	id, err := s.r.Refs.Resolve(ref)
	if err != nil {
		return err
	}
	short, err := s.short(id)
	if err != nil {
		return err
	}
	first := `all conflicts fixed: run "git ` + command + ` --continue"`
	if unmerged {
		first = `fix conflicts and run "git ` + command + ` --continue"`
	}
	s.say(text+short+".", first, `use "git `+command+` --skip" to skip this patch`, `use "git `+command+` --abort" to cancel the `+command+` operation`)
	return nil
}

// bisecting tells of a bisection.
func (s *statusRun) bisecting() error {
	data, err := os.ReadFile(filepath.Join(s.r.GitDir, "BISECT_START"))
	if err != nil {
		return err
	}
	start := strings.TrimSpace(string(data))
	if id, err := oid.Parse(s.r.Algo, start); err == nil {
		if start, err = s.short(id); err != nil {
			return err
		}
	}
	s.say("You are currently bisecting, started from branch '"+strings.TrimPrefix(start, "refs/heads/")+"'.", `use "git bisect reset" to get back to the original branch`)
	return nil
}

// short abbreviates an object ID.
func (s *statusRun) short(id oid.ID) (string, error) {
	o, err := s.p.openPast()
	if err != nil {
		return "", err
	}
	defer o.Close()
	return abbreviated(o, id)
}

func abbreviated(o *past.Past, id oid.ID) (string, error) {
	n, err := o.Abbrev()
	if err != nil {
		return "", err
	}
	if n, err = o.DB.UniqueLen(id, n); err != nil {
		return "", err
	}
	return id.String()[:n], nil
}

// detached fills in what is said of a HEAD without a branch: what it was last moved
// to, which the reflog tells.
func (s *statusRun) detached() error {
	if s.show.Branch != "" {
		return nil
	}
	o, err := s.p.openPast()
	if err != nil {
		return err
	}
	defer o.Close()
	log, err := s.r.Refs.Log("HEAD")
	if err != nil {
		return err
	}
	for i := len(log) - 1; i >= 0; i-- {
		move, ok := strings.CutPrefix(log[i].Message, "checkout: moving from ")
		if !ok {
			continue
		}
		_, to, ok := strings.Cut(move, " to ")
		if !ok {
			continue
		}
		name, err := movedTo(o, to, log[i].New)
		if err != nil {
			return err
		}
		how := "HEAD detached from "
		if log[i].New == s.show.Head.ID {
			how = "HEAD detached at "
		}
		s.show.Progress.Detached = how + "\n" + name
		return nil
	}
	s.show.Progress.Detached = "Not currently on any branch."
	return nil
}

// movedTo returns how to call what HEAD was moved to, given the name it had then: by
// that name if it still is one of a ref that leads there.
func movedTo(o *past.Past, to string, id oid.ID) (string, error) {
	if to != "HEAD" {
		full, now, err := o.Revision.Ref(to)
		if err == nil && now != id {
			now, err = o.Revision.Commit(full)
		}
		if err == nil && now == id {
			if name, ok := strings.CutPrefix(full, "refs/tags/"); ok {
				return name, nil
			}
			return strings.TrimPrefix(full, "refs/remotes/"), nil
		}
	}
	return abbreviated(o, id)
}

// colors reads whether there are colours, and takes the standard ones.
func (s *statusRun) colors() error {
	c := s.r.Config
	if len(c.Subsections("color")) > 0 {
		for _, slot := range []string{"header", "added", "updated", "changed", "untracked", "unmerged", "branch", "localbranch", "remotebranch", "nobranch"} {
			for _, section := range []string{"color.status.", "status.color."} {
				if _, set := c.Get(section + slot); set {
					return errHandOver
				}
			}
		}
	}
	if _, set := c.Get("status.color"); set {
		return errHandOver // another word for color.status: the last one counts
	}
	v, set := c.Get("color.status")
	if !set {
		v, set = c.Get("color.ui")
	}
	on := false
	switch {
	case v == "always":
		on = true
	case !set || v == "auto" || v == "true":
		term, _ := s.p.lookup("TERM")
		on = s.p.Terminal && term != "" && term != "dumb"
	case v == "never" || v == "false":
	default:
		return errHandOver
	}
	if _, set := c.Get("pager.status"); set && s.p.Terminal && !s.p.noPager {
		return errHandOver
	}
	if on && s.a.null {
		return errHandOver // versions of git do not agree on what is coloured
	}
	if on {
		s.o.Colors = porcelain.Standard()
	}
	return nil
}
