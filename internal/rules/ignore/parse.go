package ignore

import (
	"bytes"
	"strings"
)

// Parse returns the patterns that data, the content of a .gitignore file,
// holds. Nothing in it is an error: a line that is no valid pattern matches
// nothing. The List keeps no reference to data.
//
// Lines end in a line feed, before which one carriage return is dropped; a
// byte order mark at the start is dropped; a NUL ends the pattern, as in Git.
func Parse(data []byte, o Options) *List {
	l := &List{fold: o.IgnoreCase}
	text := string(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")))
	for line := int32(1); text != ""; line++ {
		var s string
		s, text, _ = strings.Cut(text, "\n")
		if strings.HasPrefix(s, "#") {
			continue
		}
		s = strings.TrimSuffix(s, "\r")
		s, _, _ = strings.Cut(s, "\x00")
		l.add(trimSpaces(s), line)
	}
	l.index()
	return l
}

// trimSpaces removes the spaces at the end of s, up to one that a backslash
// protects. Tabs and other white space stay.
func trimSpaces(s string) string {
	end := len(s)
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case ' ':
			if end == len(s) {
				end = i
			}
			continue
		case '\\':
			i++
		}
		end = len(s)
	}
	return s[:end]
}

// add appends the rule that the line s stands for, unless it can never match.
func (l *List) add(s string, line int32) {
	if p, ok := Compile(s, Options{IgnoreCase: l.fold}); ok {
		l.rules = append(l.rules, rule{Pattern: p, written: s, line: line, next: -1})
	}
}

// index builds the chains. Rules are entered in file order, so that a chain
// runs from the last rule to the first.
func (l *List) index() {
	var count [pathGlob + 1]int
	for i := range l.rules {
		count[l.rules[i].kind]++
	}
	l.names = newChains(count[nameLiteral])
	l.paths = newChains(count[pathLiteral])
	if count[nameSuffix] > 0 {
		l.suffixes = newChains(suffixChains / 2)
	}
	for i := range l.rules {
		r := &l.rules[i]
		var head *int32
		switch r.kind {
		case nameLiteral:
			head = &l.names[l.hashText([]byte(r.text))&uint32(len(l.names)-1)]
		case pathLiteral:
			head = &l.paths[l.hashText([]byte(r.text))&uint32(len(l.paths)-1)]
		case nameSuffix:
			head = &l.suffixes[r.text[len(r.text)-1]&(suffixChains-1)]
		default:
			l.globs = append(l.globs, int32(i))
			continue
		}
		r.next, *head = *head, int32(i)
	}
}

// newChains returns the heads of empty chains, at least twice as many as the
// rules to come so that most chains stay empty, or nil for no rules.
func newChains(rules int) []int32 {
	if rules == 0 {
		return nil
	}
	n := 1
	for n < 2*rules {
		n *= 2
	}
	heads := make([]int32, n)
	for i := range heads {
		heads[i] = -1
	}
	return heads
}
