// Package wildmatch is Git's glob matcher, verdict for verdict.
//
// A pattern is compiled once and matched many times. The grammar is that of
// gitignore(5) and of the glob magic in gitglossary(7):
//
//	?         any one byte
//	*         any run of bytes
//	[set]     one byte of a set: ranges, [!set] or [^set], POSIX classes, escapes
//	\x        the byte x
//	**/       with PathName, as a whole component: any number of directories, none too
//	/**       with PathName, at the end: everything inside
//	/**\/     with PathName: as /**/ but never no directory at all
//
// With PathName neither ?, * nor a set matches a slash. Two or more asterisks
// that are not a whole component mean what one asterisk means. Bytes, not
// characters, are matched: Git does not decode UTF-8 here either.
//
// A pattern that ends in a lone backslash or in an unfinished or unknown set
// matches nothing.
package wildmatch

// Flags select how a pattern is read. The zero value is Git's matching of a
// bare pathspec: slashes are ordinary bytes, case matters.
type Flags uint8

const (
	// PathName keeps wildcards from matching slashes and gives ** its meaning.
	PathName Flags = 1 << iota
	// CaseFold ignores the case of ASCII letters. Like Git it folds the text
	// and the plain letters of the pattern, but not an escaped letter nor a
	// single upper-case letter of a set: those match nothing.
	CaseFold
)

// A Pattern is a compiled pattern. It is immutable and safe for concurrent
// use. The zero Pattern matches the empty text only.
type Pattern struct {
	ops   []op
	min   int // no shorter text matches
	fold  bool
	never bool
}

type opKind uint8

const (
	opLiteral opKind = iota // the bytes of lit
	opSet                   // one byte of set
	opStar                  // any run without a slash
	opDeep                  // any run
	opDirs                  // nothing, or any run that ends in a slash
)

type op struct {
	kind opKind
	lit  string
	set  *byteSet
}

// A byteSet says for each byte whether it belongs to a set.
type byteSet [8]uint32

func (s *byteSet) add(c byte)      { s[c>>5] |= 1 << (c & 31) }
func (s *byteSet) remove(c byte)   { s[c>>5] &^= 1 << (c & 31) }
func (s *byteSet) has(c byte) bool { return s[c>>5]&(1<<(c&31)) != 0 }

// Match reports whether the pattern matches the whole of text. Its time is
// bounded by a polynomial in the two lengths, whatever the pattern.
//
// A mismatch sends the matcher back to the most recent wildcard only. That is
// enough, because what stands between two wildcards was matched as early as it
// can be: for *, a later place reaches no text that the next wildcard does not
// reach; and what * cannot cross, a slash, no earlier * could cross either. So
// one memory for the last * and one for the last ** or **/ suffice.
//
// Hot path: once per untracked name and wildcard rule. Does not allocate.
func (p *Pattern) Match(text []byte) bool {
	if p.never || len(text) < p.min {
		return false
	}
	i, t := 0, 0
	star, starAt := -1, 0
	deep, deepAt := -1, 0
	for {
		if i == len(p.ops) {
			if t == len(text) {
				return true
			}
		} else {
			switch o := &p.ops[i]; o.kind {
			case opLiteral:
				if hasPrefix(text[t:], o.lit, p.fold) {
					t += len(o.lit)
					i++
					continue
				}
			case opSet:
				if t < len(text) && o.set.has(text[t]) {
					t++
					i++
					continue
				}
			case opStar:
				star, starAt = i, t
				i++
				continue
			default:
				if o.kind == opDeep && i+1 == len(p.ops) {
					return true
				}
				deep, deepAt = i, t
				star = -1
				i++
				continue
			}
		}
		switch {
		case star >= 0 && starAt < len(text) && text[starAt] != '/':
			starAt = p.widen(star, text, starAt+1)
			i, t = star+1, starAt
		case deep >= 0:
			if deepAt = p.deepen(deep, text, deepAt); deepAt < 0 {
				return false
			}
			i, t = deep+1, deepAt
			star = -1
		default:
			return false
		}
	}
}

// widen returns the first place from at on, in this component, where the part
// behind the star op i may begin: it skips the bytes that its literal rules out.
func (p *Pattern) widen(i int, text []byte, at int) int {
	if i+1 == len(p.ops) || p.ops[i+1].kind != opLiteral || p.fold {
		return at
	}
	first := p.ops[i+1].lit[0]
	for at < len(text) && text[at] != first && text[at] != '/' {
		at++
	}
	return at
}

// deepen returns the next place where the part behind the wildcard op i may
// begin, or -1 if there is none.
func (p *Pattern) deepen(i int, text []byte, at int) int {
	if p.ops[i].kind == opDirs {
		for ; at < len(text); at++ {
			if text[at] == '/' {
				return at + 1
			}
		}
		return -1
	}
	if at < len(text) {
		return at + 1
	}
	return -1
}

// hasPrefix reports whether text begins with lit, which is in lower case if
// fold is set.
func hasPrefix(text []byte, lit string, fold bool) bool {
	if len(text) < len(lit) {
		return false
	}
	if !fold {
		return string(text[:len(lit)]) == lit
	}
	for i := range len(lit) {
		if lower(text[i]) != lit[i] {
			return false
		}
	}
	return true
}

func isUpper(c byte) bool { return 'A' <= c && c <= 'Z' }
func isLower(c byte) bool { return 'a' <= c && c <= 'z' }

func lower(c byte) byte {
	if isUpper(c) {
		return c + 'a' - 'A'
	}
	return c
}
