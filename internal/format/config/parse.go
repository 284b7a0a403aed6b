package config

import "strings"

// Parse returns the entries of a git-config file's content, without following
// includes. The entries' scope is scope and their file is file, which also names
// the file in a *SyntaxError. When the error is not nil, the entries are those
// that stand before it.
func Parse(data []byte, file string, scope Scope) ([]Entry, error) {
	p := parser{data: data, line: 1}
	if len(data) >= 3 && data[0] == 0xef && data[1] == 0xbb && data[2] == 0xbf {
		p.pos = 3 // a byte order mark
	}
	var entries []Entry
	problem := p.parse(func(key, value string, noValue bool, line int) {
		entries = append(entries, Entry{Key: untilNUL(key), Value: untilNUL(value), NoValue: noValue, Scope: scope, File: file, Line: line})
	})
	if problem != "" {
		return entries, &SyntaxError{File: file, Line: p.line, Problem: problem}
	}
	return entries, nil
}

// untilNUL cuts s before its first NUL byte: to Git these are C strings.
func untilNUL(s string) string {
	s, _, _ = strings.Cut(s, "\x00")
	return s
}

// eof is what next returns after the last byte. It is no byte.
const eof = -1

type parser struct {
	data   []byte
	pos    int
	line   int    // of the byte last returned
	newlns bool   // the last byte was a newline, so the next one is on another line
	prefix string // section and subsection with a dot behind, of the settings that follow
	value  []byte // scratch
}

// next returns the next byte, or eof. A carriage return before a newline is
// skipped.
func (p *parser) next() int {
	if p.newlns {
		p.line++
		p.newlns = false
	}
	if p.pos >= len(p.data) {
		return eof
	}
	c := p.data[p.pos]
	p.pos++
	if c == '\r' && p.pos < len(p.data) && p.data[p.pos] == '\n' {
		c = '\n'
		p.pos++
	}
	if c == '\n' {
		p.newlns = true
	}
	return int(c)
}

// parse calls emit for each setting and returns what is wrong, or "".
func (p *parser) parse(emit func(key, value string, noValue bool, line int)) string {
	for {
		c := p.next()
		switch {
		case c == eof:
			return ""
		case isSpace(c):
		case c == '#' || c == ';':
			for c != '\n' && c != eof {
				c = p.next()
			}
		case c == '[':
			if problem := p.header(); problem != "" {
				return problem
			}
		case isAlpha(c):
			if problem := p.setting(c, emit); problem != "" {
				return problem
			}
		default:
			return "expected a section, a key or a comment"
		}
	}
}

// header reads a section header after its "[".
func (p *parser) header() string {
	var name strings.Builder
	for {
		c := p.next()
		switch {
		case c == ']' && name.Len() > 0:
			name.WriteByte('.')
			p.prefix = name.String()
			return ""
		case c == ' ' || c == '\t':
			return p.subsection(&name)
		case isKeyChar(c) || c == '.':
			name.WriteByte(lower(c))
		default:
			p.countEnd(c)
			return "bad section header"
		}
	}
}

// countEnd counts the end of the file as a line, as Git does when it complains
// about a header there.
func (p *parser) countEnd(c int) {
	if c == eof {
		p.line++
	}
}

// subsection reads the quoted subsection of a header, after the first space.
func (p *parser) subsection(name *strings.Builder) string {
	c := p.next()
	for isSpace(c) && c != '\n' {
		c = p.next()
	}
	if c != '"' {
		return "expected a quoted subsection"
	}
	name.WriteByte('.')
	for {
		c = p.next()
		switch c {
		case '\n', eof:
			return "subsection without a closing quote"
		case '"':
			if c = p.next(); c != ']' {
				p.countEnd(c)
				return "expected ] after the subsection"
			}
			name.WriteByte('.')
			p.prefix = name.String()
			return ""
		case '\\':
			if c = p.next(); c == '\n' || c == eof {
				return "subsection without a closing quote"
			}
		}
		name.WriteByte(byte(c))
	}
}

// setting reads a key that starts with c, and its value.
func (p *parser) setting(c int, emit func(key, value string, noValue bool, line int)) string {
	var key strings.Builder
	key.WriteString(p.prefix)
	line := p.line
	for isKeyChar(c) {
		key.WriteByte(lower(c))
		c = p.next()
	}
	for c == ' ' || c == '\t' {
		c = p.next()
	}
	switch c {
	case '\n', eof:
		emit(key.String(), "", true, line)
		return ""
	case '=':
		value, problem := p.readValue()
		if problem != "" {
			return problem
		}
		emit(key.String(), value, false, line)
		return ""
	}
	return "bad character in a key"
}

// readValue reads the value after "=" to the end of its line, or of the last of
// its lines. White space at both ends is trimmed unless it is quoted, that
// within is kept as it is.
func (p *parser) readValue() (value, problem string) {
	v := p.value[:0]
	kept := 0 // length of v without trailing white space; quotes and escapes keep what is before them
	quoted, comment := false, false
	for {
		c := p.next()
		if c == '\n' || c == eof {
			if quoted {
				return "", "value without a closing quote"
			}
			p.value = v
			return string(v[:kept]), ""
		}
		if comment {
			continue
		}
		if !quoted {
			if isSpace(c) {
				if len(v) > 0 {
					v = append(v, byte(c))
				}
				continue
			}
			if c == '#' || c == ';' {
				comment = true
				continue
			}
		}
		switch c {
		case '\\':
			c = p.next()
			switch c {
			case '\n', eof:
				p.countEnd(c)
				kept = len(v)
				continue
			case 't':
				c = '\t'
			case 'b':
				c = '\b'
			case 'n':
				c = '\n'
			case '\\', '"':
			default:
				return "", "bad escape in a value"
			}
		case '"':
			quoted = !quoted
			kept = len(v)
			continue
		}
		v = append(v, byte(c))
		kept = len(v)
	}
}

func isSpace(c int) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }
func isAlpha(c int) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' && c < 0x80 && c >= 0 }
func isKeyChar(c int) bool {
	return isAlpha(c) || '0' <= c && c <= '9' || c == '-'
}

func lower(c int) byte {
	if 'A' <= c && c <= 'Z' {
		c |= 0x20
	}
	return byte(c)
}
