package porcelain

import (
	"fmt"
	"strings"

	"gust/internal/engine/status"
)

// long is the making of the long format.
type long struct {
	dst []byte
	s   *Status
	o   *Options
}

// AppendLong appends the long format.
func AppendLong(dst []byte, s *Status, o *Options) []byte {
	l := &long{dst, s, o}
	l.head()
	if s.Head.ID.IsNull() {
		l.line("")
		l.line("No commits yet")
		l.line("")
	}
	staged, unstaged := l.sections()
	l.untracked("Untracked files", "include in what will be committed", "git add", s.Untracked)
	l.untracked("Ignored files", "include in what will be committed", "git add -f", s.Ignored)
	if !o.Untracked && staged {
		l.line("Untracked files not listed" + l.advice(" (use -u option to show untracked files)"))
	}
	l.summary(staged, unstaged)
	if o.Stash && s.Stashes > 0 {
		noun := "entries"
		if s.Stashes == 1 {
			noun = "entry"
		}
		l.line(fmt.Sprintf("Your stash currently has %d %s", s.Stashes, noun))
	}
	return l.dst
}

// line appends a line in the colour of headings.
func (l *long) line(text string) {
	if text != "" {
		text = l.o.Colors.paint(l.o.Colors.Header, text)
	}
	l.dst = append(append(l.dst, text...), '\n')
}

// hint appends a line of advice.
func (l *long) hint(text string) {
	if l.o.Hints {
		l.line("  (" + text + ")")
	}
}

// advice returns text where advice is wanted.
func (l *long) advice(text string) string {
	if l.o.Hints {
		return text
	}
	return ""
}

// head says where HEAD is and what is going on.
func (l *long) head() {
	c, s := &l.o.Colors, l.s
	switch detached, name, _ := strings.Cut(s.Progress.Detached, "\n"); {
	case s.Branch != "":
		l.dst = append(append(l.dst, c.paint(c.Header, "On branch ")...), c.paint(c.Branch, s.Branch)...)
	case name != "":
		l.dst = append(append(l.dst, c.paint(c.NoBranch, detached)...), c.paint(c.Branch, name)...)
	default:
		l.dst = append(l.dst, c.paint(c.NoBranch, detached)...)
	}
	l.dst = append(l.dst, '\n')
	l.upstream()
	if len(s.Progress.Lines) > 0 {
		for _, text := range s.Progress.Lines {
			l.line(text)
		}
		l.line("")
	}
	l.sparse()
}

// upstream says how the branch stands to its upstream.
func (l *long) upstream() {
	u := &l.s.Upstream
	if u.Name == "" || l.s.Head.ID.IsNull() {
		return
	}
	switch {
	case u.Gone:
		l.line(fmt.Sprintf("Your branch is based on '%s', but the upstream is gone.", u.Name))
		l.hint(`use "git branch --unset-upstream" to fixup`)
	case u.Uncounted && !u.Equal:
		l.line(fmt.Sprintf("Your branch and '%s' refer to different commits.", u.Name))
		l.hint(`use "git status --ahead-behind" for details`)
	case u.Ahead+u.Behind == 0:
		l.line(fmt.Sprintf("Your branch is up to date with '%s'.", u.Name))
	case u.Behind == 0:
		l.line(fmt.Sprintf("Your branch is ahead of '%s' by %s.", u.Name, commits(u.Ahead)))
		l.hint(`use "git push" to publish your local commits`)
	case u.Ahead == 0:
		l.line(fmt.Sprintf("Your branch is behind '%s' by %s, and can be fast-forwarded.", u.Name, commits(u.Behind)))
		l.hint(`use "git pull" to update your local branch`)
	default:
		l.line(fmt.Sprintf("Your branch and '%s' have diverged,", u.Name))
		l.line(fmt.Sprintf("and have %d and %d different commits each, respectively.", u.Ahead, u.Behind))
		if l.o.Version.AtLeast(2, 40) {
			l.hint(`use "git pull" if you want to integrate the remote branch with yours`)
		} else {
			l.hint(`use "git pull" to merge the remote branch into yours`)
		}
	}
	l.line("")
}

func commits(n int) string {
	if n == 1 {
		return "1 commit"
	}
	return fmt.Sprintf("%d commits", n)
}

// sparse says how much of the index a sparse checkout leaves out.
func (l *long) sparse() {
	switch s := l.s; {
	case !l.o.Sparse || s.Tracked == 0:
		return
	case s.Sparse:
		l.line("You are in a sparse checkout.")
	default:
		l.line(fmt.Sprintf("You are in a sparse checkout with %d%% of tracked files present.", 100-100*s.Skipped/s.Tracked))
	}
	l.line("")
}

// sections appends the three sections about tracked files. staged and unstaged
// report whether there are any of the kind; unmerged files are unstaged.
func (l *long) sections() (staged, unstaged bool) {
	var changed, conflicts, work []*status.File
	deleted, dirty := false, false // files without a file in the working tree; submodules with changes inside
	for i := range l.s.Files {
		f := &l.s.Files[i]
		if f.Unmerged {
			conflicts = append(conflicts, f)
			continue
		}
		if f.Staged.Kind != 0 {
			changed = append(changed, f)
		}
		if f.Unstaged.Kind != 0 {
			work = append(work, f)
			deleted = deleted || f.Unstaged.Kind == 'D'
			dirty = dirty || f.Sub.Modified || f.Sub.Untracked
		}
	}
	if len(changed) > 0 {
		l.line("Changes to be committed:")
		l.unstageHint()
		for _, f := range changed {
			l.changed(f, &f.Staged, l.o.Colors.Added, "")
		}
		l.line("")
	}
	if len(conflicts) > 0 {
		l.conflicts(conflicts)
	}
	if len(work) > 0 {
		l.line("Changes not staged for commit:")
		if deleted {
			l.hint(`use "git add/rm <file>..." to update what will be committed`)
		} else {
			l.hint(`use "git add <file>..." to update what will be committed`)
		}
		l.hint(`use "git restore <file>..." to discard changes in working directory`)
		if dirty {
			l.hint("commit or discard the untracked or modified content in submodules")
		}
		for _, f := range work {
			l.changed(f, &f.Unstaged, l.o.Colors.Changed, inside(f))
		}
		l.line("")
	}
	// Before the first commit Git takes an unmerged file for one to commit.
	return len(changed) > 0 || len(conflicts) > 0 && l.s.Head.ID.IsNull(), len(work)+len(conflicts) > 0
}

// unstageHint says how to take something out of the index.
func (l *long) unstageHint() {
	if l.s.Progress.Merge {
		return
	}
	if l.s.Head.ID.IsNull() {
		l.hint(`use "git rm --cached <file>..." to unstage`)
	} else {
		l.hint(`use "git restore --staged <file>..." to unstage`)
	}
}

// changed appends the line of a changed file.
func (l *long) changed(f *status.File, c *status.Change, color, note string) {
	label := map[byte]string{'M': "modified:", 'A': "new file:", 'D': "deleted:", 'R': "renamed:", 'C': "copied:", 'T': "typechange:"}[c.Kind]
	name := l.o.path(f.Path, false)
	if c.From != "" {
		name = l.o.path(c.From, false) + " -> " + name
	}
	text := l.o.Colors.paint(color, fmt.Sprintf("%-12s%s", label, name))
	if note != "" {
		text += l.o.Colors.paint(l.o.Colors.Header, note)
	}
	l.dst = append(append(append(l.dst, '\t'), text...), '\n')
}

// inside says what differs in a submodule.
func inside(f *status.File) string {
	var what []string
	if f.Sub.Commit {
		what = append(what, "new commits")
	}
	if f.Sub.Modified {
		what = append(what, "modified content")
	}
	if f.Sub.Untracked {
		what = append(what, "untracked content")
	}
	if len(what) == 0 {
		return ""
	}
	return " (" + strings.Join(what, ", ") + ")"
}

// conflictLabels are what is said of an unmerged file, by its stages.
var conflictLabels = [8]string{
	1: "both deleted:", 2: "added by us:", 3: "deleted by them:", 4: "added by them:", 5: "deleted by us:", 6: "both added:", 7: "both modified:",
}

func (l *long) conflicts(files []*status.File) {
	l.line("Unmerged paths:")
	l.unstageHint()
	seen := 0
	for _, f := range files {
		seen |= 1 << stages(f)
	}
	const bothDeleted, oneDeleted = 1 << 1, 1<<3 | 1<<5
	switch {
	case seen&^bothDeleted == 0:
		l.hint(`use "git rm <file>..." to mark resolution`)
	case seen&(bothDeleted|oneDeleted) == 0:
		l.hint(`use "git add <file>..." to mark resolution`)
	default:
		l.hint(`use "git add/rm <file>..." as appropriate to mark resolution`)
	}
	for _, f := range files {
		text := fmt.Sprintf("%-17s%s", conflictLabels[stages(f)], l.o.path(f.Path, false))
		l.dst = append(append(append(l.dst, '\t'), l.o.Colors.paint(l.o.Colors.Unmerged, text)...), '\n')
	}
	l.line("")
}

// untracked appends the section of files that are not in the index.
func (l *long) untracked(title, purpose, command string, paths []string) {
	if len(paths) == 0 {
		return
	}
	l.line(title + ":")
	l.hint(fmt.Sprintf(`use "%s <file>..." to %s`, command, purpose))
	for _, path := range paths {
		l.dst = append(append(append(l.dst, '\t'), l.o.Colors.paint(l.o.Colors.Untracked, l.o.path(path, false))...), '\n')
	}
	l.line("")
}

// summary says what there would be to commit.
func (l *long) summary(staged, unstaged bool) {
	text := ""
	switch {
	case staged:
		return
	case unstaged:
		text = "no changes added to commit" + l.advice(` (use "git add" and/or "git commit -a")`)
	case len(l.s.Untracked) > 0:
		text = "nothing added to commit but untracked files present" + l.advice(` (use "git add" to track)`)
	case l.s.Head.ID.IsNull():
		text = "nothing to commit" + l.advice(` (create/copy files and use "git add" to track)`)
	case !l.o.Untracked:
		text = "nothing to commit" + l.advice(" (use -u to show untracked files)")
	default:
		text = "nothing to commit, working tree clean"
	}
	l.dst = append(append(l.dst, text...), '\n')
}
