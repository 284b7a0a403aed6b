// Package porcelain is git status output: long, short, porcelain v1 and v2, byte for
// byte (git-status(1)).
package porcelain

import (
	"cmp"
	"fmt"
	"strings"

	"gust/internal/engine/status"
	"gust/internal/engine/treediff"
	"gust/internal/pure/oid"
	"gust/internal/pure/quote"
)

// A Status is all that an output may show.
type Status struct {
	*status.Report
	Ignored []string // as Untracked
	Algo    oid.Algo

	Branch   string // without refs/heads/; "" if HEAD is detached
	Upstream Upstream
	Stashes  int
	Progress Progress
}

// An Upstream is the branch that the current one follows.
type Upstream struct {
	Name          string // short; "" if there is none
	Gone          bool
	Uncounted     bool // Ahead and Behind are not known: Equal is
	Equal         bool
	Ahead, Behind int
}

// Options are the settings that change an output.
type Options struct {
	Null      bool   // -z
	Branch    bool   // say where HEAD is
	Stash     bool   // say how many stashes there are
	Prefix    string // the directory that paths are relative to, with a slash at its end; "" is the root
	QuoteHigh bool   // core.quotePath
	Hints     bool   // advice.statusHints
	Untracked bool   // untracked files were looked for
	Sparse    bool   // core.sparseCheckout
	Plain     bool   // porcelain: no word that changes with versions of Git
	Colors    Colors
	Version   Version
}

// A Version is one of Git, whose words these are.
type Version struct{ Major, Minor int }

// AtLeast reports whether v is major.minor or newer.
func (v Version) AtLeast(major, minor int) bool {
	return v.Major > major || v.Major == major && v.Minor >= minor
}

// Progress is what is going on in the working tree.
type Progress struct {
	Lines []string // the paragraph about it, a line each without its end; those from Hint on in parentheses are advice
	Merge bool     // a merge is going on: its conflicts have hints of their own
	// Detached is what HEAD's line says in the place of a branch; "" for a branch.
	Detached string
}

// path returns path as the format shows it. spaces says that a space is a reason to
// quote it.
func (o *Options) path(path string, spaces bool) string {
	if o.Null {
		return path
	}
	path = relative(path, o.Prefix)
	q := quote.Path(path, o.QuoteHigh)
	if spaces && len(q) == len(path) && strings.Contains(path, " ") {
		return `"` + path + `"`
	}
	return q
}

// relative returns path, relative to the root, as seen from the directory prefix.
func relative(path, prefix string) string {
	if prefix == "" {
		return path
	}
	if below, ok := strings.CutPrefix(prefix, path+"/"); ok { // a file that was where a parent is
		return cmp.Or(strings.Repeat("../", strings.Count(below, "/")), "./")
	}
	common := 0 // the length of the directories that both have
	for i := 0; i < len(path) && i < len(prefix) && path[i] == prefix[i]; i++ {
		if path[i] == '/' {
			common = i + 1
		}
	}
	up := strings.Count(prefix[common:], "/")
	rest := path[common:]
	if up == 0 && rest == "" {
		return "./"
	}
	return strings.Repeat("../", up) + rest
}

// AppendShort appends the short format, and porcelain v1.
func AppendShort(dst []byte, s *Status, o *Options) []byte {
	end := byte('\n')
	if o.Null {
		end = 0
	}
	if o.Branch {
		dst = append(appendShortBranch(dst, s, o), end)
	}
	c := &o.Colors
	for i := range s.Files {
		f := &s.Files[i]
		x, y := short(f, o.Plain)
		if f.Unmerged {
			dst = append(append(dst, c.paint(c.Unmerged, string([]byte{x, y}))...), ' ')
		} else {
			if x == ' ' {
				dst = append(dst, x)
			} else {
				dst = append(dst, c.paint(c.Added, string(x))...)
			}
			if y == ' ' {
				dst = append(dst, y)
			} else {
				dst = append(dst, c.paint(c.Changed, string(y))...)
			}
			dst = append(dst, ' ')
		}
		from := from(f)
		switch {
		case from == "":
			dst = append(dst, o.path(f.Path, true)...)
		case o.Null:
			dst = append(append(append(dst, f.Path...), 0), from...)
		default:
			dst = append(append(append(dst, o.path(from, true)...), " -> "...), o.path(f.Path, true)...)
		}
		dst = append(dst, end)
	}
	for _, list := range []struct {
		mark  string
		paths []string
	}{{"??", s.Untracked}, {"!!", s.Ignored}} {
		for _, path := range list.paths {
			dst = append(append(dst, c.paint(c.Untracked, list.mark)...), ' ')
			dst = append(append(dst, o.path(path, true)...), end)
		}
	}
	return dst
}

// from returns where a file was before it was renamed or copied; "" if it was not.
func from(f *status.File) string {
	if f.Staged.From != "" {
		return f.Staged.From
	}
	return f.Unstaged.From
}

// unmergedMarks are the two letters of an unmerged path, by its stages.
var unmergedMarks = [8]string{1: "DD", 2: "AU", 3: "UD", 4: "UA", 5: "DU", 6: "AA", 7: "UU"}

// stages returns which stages an unmerged file has: 1 for the base, 2 for ours, 4 for
// theirs.
func stages(f *status.File) int {
	n := 0
	for i := range f.Stages {
		if f.Stages[i].Mode != 0 {
			n |= 1 << i
		}
	}
	return n
}

// short returns the two letters of the short format.
func short(f *status.File, plain bool) (x, y byte) {
	if f.Unmerged {
		m := unmergedMarks[stages(f)]
		return m[0], m[1]
	}
	x, y = f.Staged.Kind, f.Unstaged.Kind
	if y == 'M' && f.Sub.Is && !plain && !f.Sub.Commit {
		switch {
		case f.Sub.Modified:
			y = 'm'
		case f.Sub.Untracked:
			y = '?'
		}
	}
	if x == 0 {
		x = ' '
	}
	if y == 0 {
		y = ' '
	}
	return x, y
}

func appendShortBranch(dst []byte, s *Status, o *Options) []byte {
	c := &o.Colors
	dst = append(append(dst, c.paint(c.Header, "##")...), ' ')
	if s.Head.ID.IsNull() {
		dst = append(dst, c.paint(c.Header, "No commits yet on ")...)
	}
	if s.Branch == "" {
		return append(dst, c.paint(c.NoBranch, "HEAD (no branch)")...)
	}
	dst = append(dst, c.paint(c.LocalBranch, s.Branch)...)
	u := &s.Upstream
	if u.Name == "" {
		return dst
	}
	dst = append(append(dst, c.paint(c.Header, "...")...), c.paint(c.RemoteBranch, u.Name)...)
	switch {
	case u.Gone:
		return append(dst, c.paint(c.Header, " [")+c.paint(c.Header, "gone")+c.paint(c.Header, "]")...)
	case u.Uncounted && !u.Equal:
		return append(dst, c.paint(c.Header, " [")+c.paint(c.Header, "different")+c.paint(c.Header, "]")...)
	case u.Ahead+u.Behind == 0:
		return dst
	}
	dst = append(dst, c.paint(c.Header, " [")...)
	if u.Ahead > 0 {
		dst = append(append(dst, c.paint(c.Header, "ahead ")...), c.paint(c.LocalBranch, fmt.Sprint(u.Ahead))...)
	}
	if u.Behind > 0 {
		if u.Ahead > 0 {
			dst = append(dst, c.paint(c.Header, ", ")...)
		}
		dst = append(append(dst, c.paint(c.Header, "behind ")...), c.paint(c.RemoteBranch, fmt.Sprint(u.Behind))...)
	}
	return append(dst, c.paint(c.Header, "]")...)
}

// AppendV2 appends porcelain v2.
func AppendV2(dst []byte, s *Status, o *Options) []byte {
	end, tab := byte('\n'), byte('\t')
	if o.Null {
		end, tab = 0, 0
	}
	if o.Branch {
		dst = appendBranchV2(dst, s, end)
	}
	if o.Stash && s.Stashes > 0 {
		dst = append(fmt.Appendf(dst, "# stash %d", s.Stashes), end)
	}
	for i := range s.Files {
		f := &s.Files[i]
		if f.Unmerged {
			continue
		}
		kind, from := byte('1'), from(f)
		if from != "" {
			kind = '2'
		}
		dst = fmt.Appendf(dst, "%c %c%c %s %06o %06o %06o %s %s ", kind, dot(f.Staged.Kind), dot(f.Unstaged.Kind), sub(f),
			f.Head.Mode, f.Index.Mode, f.WorkTree, s.id(&f.Head), s.id(&f.Index))
		if from == "" {
			dst = append(append(dst, o.path(f.Path, false)...), end)
			continue
		}
		change := &f.Staged
		if change.From == "" {
			change = &f.Unstaged
		}
		dst = fmt.Appendf(dst, "%c%d ", change.Kind, change.Score)
		dst = append(append(dst, o.path(f.Path, false)...), tab)
		dst = append(append(dst, o.path(from, false)...), end)
	}
	for i := range s.Files {
		f := &s.Files[i]
		if !f.Unmerged {
			continue
		}
		dst = fmt.Appendf(dst, "u %s %s", unmergedMarks[stages(f)], sub(f))
		for i := range f.Stages {
			dst = fmt.Appendf(dst, " %06o", f.Stages[i].Mode)
		}
		dst = fmt.Appendf(dst, " %06o", f.WorkTree)
		for i := range f.Stages {
			dst = append(append(dst, ' '), s.id(&f.Stages[i])...)
		}
		dst = append(append(append(dst, ' '), o.path(f.Path, false)...), end)
	}
	for _, path := range s.Untracked {
		dst = append(append(append(dst, "? "...), o.path(path, false)...), end)
	}
	for _, path := range s.Ignored {
		dst = append(append(append(dst, "! "...), o.path(path, false)...), end)
	}
	return dst
}

func appendBranchV2(dst []byte, s *Status, end byte) []byte {
	id, head := "(initial)", s.Branch
	if !s.Head.ID.IsNull() {
		id = s.Head.ID.String()
	}
	if head == "" {
		head = "(detached)"
	}
	dst = append(fmt.Appendf(dst, "# branch.oid %s", id), end)
	dst = append(fmt.Appendf(dst, "# branch.head %s", head), end)
	u := &s.Upstream
	if u.Name == "" || s.Branch == "" {
		return dst
	}
	dst = append(fmt.Appendf(dst, "# branch.upstream %s", u.Name), end)
	switch {
	case u.Gone || s.Head.ID.IsNull():
	case u.Uncounted && !u.Equal:
		dst = append(append(dst, "# branch.ab +? -?"...), end)
	default:
		dst = append(fmt.Appendf(dst, "# branch.ab +%d -%d", u.Ahead, u.Behind), end)
	}
	return dst
}

func (s *Status) id(side *treediff.Side) string {
	if side.Mode == 0 {
		return oid.Null(s.Algo).String()
	}
	return side.ID.String()
}

func dot(c byte) byte {
	if c == 0 {
		return '.'
	}
	return c
}

func sub(f *status.File) string {
	if !f.Sub.Is {
		return "N..."
	}
	b := []byte("S...")
	if f.Sub.Commit {
		b[1] = 'C'
	}
	if f.Sub.Modified {
		b[2] = 'M'
	}
	if f.Sub.Untracked {
		b[3] = 'U'
	}
	return string(b)
}
