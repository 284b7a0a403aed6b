package attr

import (
	"bytes"
	"strings"

	"gust/internal/pure/quote"
	"gust/internal/rules/ignore"
)

const (
	// blank separates the words of a line, as Git has it.
	blank = " \t\r\n"
	// macroPrefix begins a line that defines a macro.
	macroPrefix = "[attr]"
	// reserved begins the names that Git keeps for pathspec attributes such as
	// builtin_objectmode; a file that assigns one has a bad line.
	reserved = "builtin_"
	// maxLine is the length in bytes from which on Git ignores a line.
	maxLine = 2048
)

// Parse returns the rules that data, the content of a .gitattributes file,
// holds. Nothing in it is an error: a line that Git would warn about and
// ignore (a bad attribute name, a negative pattern, 2048 bytes or more) says
// nothing. The List keeps no reference to data.
func Parse(data []byte, o Options) *List {
	l := new(List)
	text := string(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")))
	for text != "" {
		var line string
		line, text, _ = strings.Cut(text, "\n")
		line, _, _ = strings.Cut(line, "\x00")
		if len(line) < maxLine {
			l.parseLine(line, o)
		}
	}
	return l
}

// parseLine adds what line says.
func (l *List) parseLine(line string, o Options) {
	line = strings.TrimLeft(line, blank)
	if line == "" || line[0] == '#' {
		return
	}
	word, states, ok := unquote(line)
	if !ok {
		word, states = cutWord(line)
	}
	isMacro := len(word) > len(macroPrefix) && strings.HasPrefix(word, macroPrefix)
	if isMacro {
		word, _ = cutWord(strings.TrimLeft(word[len(macroPrefix):], blank))
		if !validName(word) {
			return
		}
	}
	assigns, ok := parseStates(states)
	if !ok {
		return
	}
	if isMacro {
		l.macros = append(l.macros, macro{word, assigns})
		return
	}
	p, ok := ignore.Compile(word, ignore.Options{IgnoreCase: o.IgnoreCase})
	if !ok || p.Negated || p.DirOnly {
		return
	}
	l.rules = append(l.rules, rule{p, assigns})
}

// cutWord splits s behind its first word.
func cutWord(s string) (word, rest string) {
	if i := strings.IndexAny(s, blank); i >= 0 {
		return s[:i], s[i:]
	}
	return s, ""
}

// parseStates reads the assignments behind a pattern. One bad name makes the
// whole line bad.
func parseStates(s string) ([]assignment, bool) {
	var list []assignment
	for {
		s = strings.TrimLeft(s, blank)
		if s == "" {
			return list, true
		}
		var word string
		word, s = cutWord(s)
		name, text, hasText := strings.Cut(word, "=")
		a := assignment{value: Value{State: Set}}
		switch {
		case word[0] == '-':
			a.value.State = Unset
			name = strings.TrimPrefix(name, "-")
		case word[0] == '!':
			a.value.State = Unspecified
			name = strings.TrimPrefix(name, "!")
		case hasText:
			a.value = Value{State: String, Text: text}
		}
		if !validName(name) || strings.HasPrefix(name, reserved) {
			return nil, false
		}
		a.name = name
		list = append(list, a)
	}
}

// validName reports whether s may be the name of an attribute.
func validName(s string) bool {
	if s == "" || s[0] == '-' {
		return false
	}
	for _, c := range []byte(s) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '.', c == '_':
		default:
			return false
		}
	}
	return true
}

// unquote reads the C-style quoted pattern that s begins with and returns it
// and what is behind it. It reports false if s does not begin with a
// well-formed one.
func unquote(s string) (word, rest string, ok bool) {
	word, rest, ok = quote.Cut(s)
	// A NUL ends the pattern, as in Git.
	word, _, _ = strings.Cut(word, "\x00")
	return word, rest, ok
}
