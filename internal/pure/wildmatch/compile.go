package wildmatch

import "strings"

// HasWildcard reports whether s contains a byte that Compile does not take
// literally: an asterisk, a question mark, a bracket or a backslash.
func HasWildcard(s string) bool { return strings.ContainsAny(s, `*?[\`) }

// Compile returns the compiled form of pattern. It cannot fail: a malformed
// pattern is one that matches nothing, as it is to Git.
func Compile(pattern string, flags Flags) Pattern {
	c := compiler{
		src:  pattern,
		path: flags&PathName != 0,
		p:    Pattern{fold: flags&CaseFold != 0},
	}
	for c.at < len(c.src) && !c.p.never {
		c.next()
	}
	c.flush()
	if c.p.never {
		return Pattern{never: true}
	}
	return c.p
}

// A compiler is the state of one Compile.
type compiler struct {
	src  string
	at   int
	path bool
	lit  []byte // literal bytes not yet an op
	p    Pattern
}

// next compiles the token at c.at.
func (c *compiler) next() {
	switch b := c.src[c.at]; b {
	case '?':
		set := new(byteSet)
		for i := range set {
			set[i] = ^uint32(0)
		}
		c.addSet(set)
		c.at++
	case '[':
		set, n := parseSet(c.src[c.at:], c.p.fold)
		if n == 0 {
			c.p.never = true
			return
		}
		c.addSet(set)
		c.at += n
	case '*':
		c.stars()
	case '\\':
		if c.at+1 == len(c.src) {
			c.p.never = true
			return
		}
		// With case folding the text is folded and this byte is not.
		if b = c.src[c.at+1]; c.p.fold && isUpper(b) {
			c.p.never = true
			return
		}
		c.lit = append(c.lit, b)
		c.at += 2
	default:
		if c.p.fold {
			b = lower(b)
		}
		c.lit = append(c.lit, b)
		c.at++
	}
}

// stars compiles a run of asterisks.
func (c *compiler) stars() {
	start := c.at
	for c.at < len(c.src) && c.src[c.at] == '*' {
		c.at++
	}
	kind := opStar
	rest := c.src[c.at:]
	switch {
	case !c.path:
		kind = opDeep
	case c.at-start < 2 || start > 0 && c.src[start-1] != '/':
	case rest == "" || strings.HasPrefix(rest, `\/`):
		kind = opDeep
	case rest[0] == '/':
		kind = opDirs
		c.at++
	}
	c.flush()
	c.p.ops = append(c.p.ops, op{kind: kind})
}

func (c *compiler) addSet(set *byteSet) {
	if c.path {
		set.remove('/')
	}
	c.flush()
	c.p.ops = append(c.p.ops, op{kind: opSet, set: set})
	c.p.min++
}

// flush turns the pending literal bytes into an op.
func (c *compiler) flush() {
	if len(c.lit) > 0 {
		c.p.ops = append(c.p.ops, op{kind: opLiteral, lit: string(c.lit)})
		c.p.min += len(c.lit)
		c.lit = c.lit[:0]
	}
}

// parseSet compiles the bracket expression that s begins with and returns the
// number of bytes it takes, 0 if it is malformed.
//
// A closing bracket is literal when it comes first. A minus is literal unless
// a single byte, not a range or a class, stands before it and something other
// than the closing bracket behind it. "[:" that is not closed by ":]" before
// the next bracket is two literal bytes.
func parseSet(s string, fold bool) (*byteSet, int) {
	i := 1
	negated := i < len(s) && (s[i] == '!' || s[i] == '^')
	if negated {
		i++
	}
	set := new(byteSet)
	prev, hasPrev := byte(0), false
	for first := true; ; first = false {
		if i == len(s) {
			return nil, 0
		}
		b := s[i]
		switch {
		case b == ']' && !first:
			set.close(negated, fold)
			return set, i + 1
		case b == '-' && hasPrev && i+1 < len(s) && s[i+1] != ']':
			i++
			if s[i] == '\\' {
				if i++; i == len(s) {
					return nil, 0
				}
			}
			set.addRange(prev, s[i], fold)
			hasPrev = false
			i++
		case b == '[' && i+1 < len(s) && s[i+1] == ':':
			end := strings.IndexByte(s[i+2:], ']')
			if end < 0 {
				return nil, 0
			}
			if end == 0 || s[i+1+end] != ':' {
				set.add('[')
				prev, hasPrev = '[', true
				i++
				continue
			}
			if !set.addClass(s[i+2:i+1+end], fold) {
				return nil, 0
			}
			hasPrev = false
			i += end + 3
		default:
			if b == '\\' {
				if i++; i == len(s) {
					return nil, 0
				}
				b = s[i]
			}
			set.add(b)
			prev, hasPrev = b, true
			i++
		}
	}
}

// addRange adds the bytes lo to hi. With fold a lower-case letter belongs to
// it also when its upper-case form does.
func (s *byteSet) addRange(lo, hi byte, fold bool) {
	for i := int(lo); i <= int(hi); i++ {
		c := byte(i)
		s.add(c)
		if fold && isUpper(c) {
			s.add(lower(c))
		}
	}
}

// close turns what was collected into the set of text bytes that match.
func (s *byteSet) close(negated, fold bool) {
	if fold {
		// The text is folded before it is looked up, so an upper-case letter
		// has the verdict of its lower-case form.
		for c := byte('A'); c <= 'Z'; c++ {
			s.remove(c)
			if s.has(lower(c)) {
				s.add(c)
			}
		}
	}
	if negated {
		for i := range s {
			s[i] = ^s[i]
		}
	}
}

// addClass adds the bytes of the POSIX class called name, in the C locale but
// for space, which Git takes to be tab, line feed, carriage return and space.
// It reports whether there is such a class.
func (s *byteSet) addClass(name string, fold bool) bool {
	in, ok := classOf(name)
	if !ok {
		return false
	}
	for c := range byte(0x80) {
		if in(c) || fold && name == "upper" && isLower(c) {
			s.add(c)
		}
	}
	return true
}

// classOf returns the test for the ASCII bytes of the POSIX class called name.
func classOf(name string) (func(byte) bool, bool) {
	isDigit := func(c byte) bool { return '0' <= c && c <= '9' }
	isAlpha := func(c byte) bool { return isUpper(c) || isLower(c) }
	isSpace := func(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }
	isGraph := func(c byte) bool { return ' ' < c && c < 0x7f }
	switch name {
	case "alnum":
		return func(c byte) bool { return isAlpha(c) || isDigit(c) }, true
	case "alpha":
		return isAlpha, true
	case "blank":
		return func(c byte) bool { return c == ' ' || c == '\t' }, true
	case "cntrl":
		return func(c byte) bool { return c < ' ' || c == 0x7f }, true
	case "digit":
		return isDigit, true
	case "graph":
		return isGraph, true
	case "lower":
		return isLower, true
	case "print":
		return func(c byte) bool { return isGraph(c) || c == ' ' }, true
	case "punct":
		return func(c byte) bool { return isGraph(c) && !isAlpha(c) && !isDigit(c) }, true
	case "space":
		return isSpace, true
	case "upper":
		return isUpper, true
	case "xdigit":
		return func(c byte) bool { return isDigit(c) || 'a' <= lower(c) && lower(c) <= 'f' }, true
	}
	return nil, false
}
