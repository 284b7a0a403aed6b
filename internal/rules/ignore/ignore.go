// Package ignore is gitignore(5): pattern lists, precedence, per-directory
// stacks.
//
// A List is one file of patterns. A Stack is the lists that apply in one
// directory, from core.excludesFile through info/exclude and the .gitignore of
// the root to the one of the directory itself. Reading the files, and refusing
// those that are symbolic links as Git does, is the caller's business.
package ignore

// A Verdict says what the rules decide about one path.
type Verdict uint8

const (
	None     Verdict = iota // no pattern matches: the parent directory's verdict holds
	Ignored                 // the last matching pattern ignores the path
	Included                // the last matching pattern begins with an exclamation mark
)

// Options are the settings that a List depends on. The zero value is Git's
// default.
type Options struct {
	IgnoreCase bool // core.ignoreCase
}

// A Rule names the line of a file that decided about a path.
type Rule struct {
	Source  string // as given to Push
	Line    int    // from 1
	Pattern string // as written, without trailing spaces
}

// A rule is one pattern of a list.
type rule struct {
	Pattern
	written string // as Rule.Pattern
	line    int32
	next    int32 // the rule before this one in its chain, or -1
}

// A List is the patterns of one file. It is immutable and safe for concurrent
// use.
//
// The rules lie in file order, and the last one that matches decides. Most
// files hold mostly names and suffixes, so those are found through chains of
// rules that share a cheap hash; a chain leads from later rules to earlier
// ones, and is left as soon as it falls behind a match found elsewhere.
type List struct {
	rules    []rule
	names    []int32 // heads of the chains of nameLiteral rules, by hashText
	paths    []int32 // heads of the chains of pathLiteral rules, by hashText
	suffixes []int32 // heads of the chains of nameSuffix rules, by the last byte
	globs    []int32 // nameGlob and pathGlob rules, in file order
	fold     bool
}

// Empty reports whether l has no patterns.
func (l *List) Empty() bool { return l == nil || len(l.rules) == 0 }

// A Stack is the lists that apply in one directory. It is immutable and safe
// for concurrent use; stacks share their lower parts. The nil Stack is empty.
type Stack struct {
	parent *Stack
	list   *List
	offset int // where the part of a path that the list sees begins
	source string
}

// Push returns the stack with l on top of s: where both say something, l
// decides. The patterns of l apply below dir, which is "" for the root of the
// working tree and otherwise a path without a slash at either end; source is
// what Explain will report. If l is empty, Push returns s.
func (s *Stack) Push(l *List, dir, source string) *Stack {
	if l.Empty() {
		return s
	}
	offset := 0
	if dir != "" {
		offset = len(dir) + 1
	}
	return &Stack{parent: s, list: l, offset: offset, source: source}
}

// Match returns what the patterns say about path, relative to the root of the
// working tree and without a slash at either end. Its last component begins at
// base. The directories of all lists of s must be parents of path. A symbolic
// link to a directory is not a directory.
//
// Match does not look at the parents of path: what is below an ignored
// directory is ignored whatever Match says about it (gitignore(5): "It is not
// possible to re-include a file if a parent directory of that file is
// excluded").
//
// Hot path: once per name that is not in the index. Does not allocate.
func (s *Stack) Match(path []byte, base int, isDir bool) Verdict {
	for ; s != nil; s = s.parent {
		if i := s.list.find(path[s.offset:], path[base:], isDir); i >= 0 {
			if s.list.rules[i].Negated {
				return Included
			}
			return Ignored
		}
	}
	return None
}

// Explain returns the rule behind Match's verdict, and whether there is one.
func (s *Stack) Explain(path []byte, base int, isDir bool) (Rule, bool) {
	for ; s != nil; s = s.parent {
		if i := s.list.find(path[s.offset:], path[base:], isDir); i >= 0 {
			r := &s.list.rules[i]
			return Rule{Source: s.source, Line: int(r.line), Pattern: r.written}, true
		}
	}
	return Rule{}, false
}

// find returns the last rule that matches, or -1. path is relative to the
// list's directory and name is its last component.
//
// Hot path: once per name that is not in the index and list. Does not allocate.
func (l *List) find(path, name []byte, isDir bool) int {
	best := int32(-1)
	if l.names != nil {
		best = l.walk(l.names[l.hashText(name)&uint32(len(l.names)-1)], name, isDir, best)
	}
	if l.paths != nil {
		best = l.walk(l.paths[l.hashText(path)&uint32(len(l.paths)-1)], path, isDir, best)
	}
	if l.suffixes != nil && len(name) > 0 {
		best = l.walk(l.suffixes[l.fix(name[len(name)-1])&(suffixChains-1)], name, isDir, best)
	}
	for k := len(l.globs) - 1; k >= 0 && l.globs[k] > best; k-- {
		r := &l.rules[l.globs[k]]
		if (!r.DirOnly || isDir) && r.Match(path, name) {
			return int(l.globs[k])
		}
	}
	return int(best)
}

// walk follows the chain from rule i down to best, exclusive, and returns the
// first rule whose text fits, or best.
func (l *List) walk(i int32, text []byte, isDir bool, best int32) int32 {
	for ; i > best; i = l.rules[i].next {
		r := &l.rules[i]
		if (!r.DirOnly || isDir) && r.fits(text) {
			return i
		}
	}
	return best
}

// suffixChains is the number of chains that suffixes are spread over by their
// last byte: a power of two that keeps the lower-case letters apart.
const suffixChains = 32

// hashText mixes what tells names apart at no cost: the length and the first
// and last bytes.
func (l *List) hashText(text []byte) uint32 {
	n := len(text)
	if n == 0 {
		return 0
	}
	h := uint32(n)*0x9e37 + uint32(l.fix(text[0]))*0x85eb + uint32(l.fix(text[n-1]))*0xc2b3 + uint32(l.fix(text[n/2]))*0x27d5
	return h ^ h>>7
}

// fix returns c as the list compares it.
func (l *List) fix(c byte) byte {
	if l.fold {
		return lower(c)
	}
	return c
}
