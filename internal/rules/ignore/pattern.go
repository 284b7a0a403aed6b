package ignore

import (
	"strings"

	"gust/internal/pure/wildmatch"
)

// A Pattern is one pattern of gitignore(5), the form that gitattributes(5) and
// git-sparse-checkout(1) use as well. It is immutable and safe for concurrent
// use.
type Pattern struct {
	Negated bool // it began with an exclamation mark
	DirOnly bool // it ended in a slash; Match does not look at this
	kind    patternKind
	fold    bool
	text    string // in lower case if fold is set
	glob    wildmatch.Pattern
}

// A patternKind says what a pattern is compared with and how.
type patternKind uint8

const (
	nameLiteral patternKind = iota // the last component is text
	nameSuffix                     // the last component ends in text
	nameGlob                       // the last component matches glob
	pathLiteral                    // the whole path is text
	pathGlob                       // the whole path matches glob
)

// Compile returns the pattern that s, a line without its end and its trailing
// spaces, stands for. It reports false if there is nothing left to match once
// the leading "!" and the slashes at both ends are gone.
func Compile(s string, o Options) (Pattern, bool) {
	p := Pattern{fold: o.IgnoreCase}
	s, p.Negated = strings.CutPrefix(s, "!")
	s, p.DirOnly = strings.CutSuffix(s, "/")
	anchored := strings.Contains(s, "/")
	s = strings.TrimPrefix(s, "/")
	if s == "" {
		return p, false
	}
	if rest, ok := strings.CutPrefix(s, "**/"); anchored && ok && rest != "" && !strings.Contains(rest, "/") {
		// The same name in any directory: what a pattern without a slash means.
		s, anchored = rest, false
	}
	literal := !wildmatch.HasWildcard(s)
	switch {
	case anchored && literal:
		p.kind, p.text = pathLiteral, s
	case anchored:
		p.kind = pathGlob
	case literal:
		p.kind, p.text = nameLiteral, s
	case len(s) > 1 && s[0] == '*' && !wildmatch.HasWildcard(s[1:]):
		p.kind, p.text = nameSuffix, s[1:]
	default:
		p.kind = nameGlob
	}
	flags := wildmatch.PathName
	if p.fold {
		flags |= wildmatch.CaseFold
		p.text = lowered(p.text)
	}
	if p.kind == nameGlob || p.kind == pathGlob {
		p.glob = wildmatch.Compile(s, flags)
	}
	return p, true
}

// Match reports whether p matches path, relative to the directory that the
// pattern belongs to; name is its last component.
//
// Hot path: once per path and wildcard rule. Does not allocate.
func (p *Pattern) Match(path, name []byte) bool {
	switch p.kind {
	case nameGlob:
		return p.glob.Match(name)
	case pathGlob:
		return p.glob.Match(path)
	case pathLiteral:
		return p.fits(path)
	}
	return p.fits(name)
}

// fits compares text with the text of a literal or suffix pattern.
func (p *Pattern) fits(text []byte) bool {
	if len(text) < len(p.text) {
		return false
	}
	if p.kind == nameSuffix {
		text = text[len(text)-len(p.text):]
	}
	if !p.fold || len(text) != len(p.text) {
		return string(text) == p.text
	}
	for i, c := range text {
		if lower(c) != p.text[i] {
			return false
		}
	}
	return true
}

// lower folds the case of ASCII letters, the only ones that Git folds.
func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

func lowered(s string) string {
	b := []byte(s)
	for i, c := range b {
		b[i] = lower(c)
	}
	return string(b)
}
