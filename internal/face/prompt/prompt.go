// Package prompt renders a prompt segment from a summary.
//
// The marks are those of gitstatus's own prompts, and so are the scripts in
// shell/scripts, which render the same without a process: a test compares them.
//
//	main ⇣1⇡2 ⇠3⇢4 *5 rebase-i 3/7 ~6 +7 !8 ?9
package prompt

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"gust/internal/pure/summary"
)

// A Form says who reads the text.
type Form uint8

const (
	Plain Form = iota // no colours
	ANSI              // a terminal
	Zsh               // PROMPT: %F{…}, and % doubled
	Bash              // a parameter in PS1: colours between bytes 1 and 2, which take no width
)

// ParseForm returns the Form called name.
func ParseForm(name string) (Form, bool) {
	switch name {
	case "plain":
		return Plain, true
	case "ansi":
		return ANSI, true
	case "zsh":
		return Zsh, true
	case "bash":
		return Bash, true
	}
	return Plain, false
}

// Append appends s as st wants it to dst: the parts, with a space between them.
// Names may hold any byte that Git allows; control characters come out as ?.
func Append(dst []byte, s *summary.Summary, st *Style, f Form) []byte {
	start := len(dst)
	add := func(role, text string) {
		if text == "" {
			return
		}
		if len(dst) > start {
			dst = append(dst, ' ')
		}
		dst = paint(dst, f, st.color(role), text)
	}
	for _, word := range st.order {
		add(strings.ToUpper(word), st.part(s, word))
	}
	if st.dirtyMax >= 0 && s.IndexSize > st.dirtyMax {
		// Unknown must not look clean.
		add("PENDING", st.symbol("PENDING"))
	}
	return dst
}

// part returns the text of the part called word, "" if it has nothing to say.
func (st *Style) part(s *summary.Summary, word string) string {
	switch word {
	case "head":
		switch {
		case s.Branch != "":
			return st.symbol("BRANCH") + st.name(s.Branch)
		case s.Tag != "":
			return st.symbol("TAG") + st.name(s.Tag)
		}
		return st.symbol("COMMIT") + s.Commit[:min(8, len(s.Commit))]
	case "sync":
		return st.count("BEHIND", s.Behind) + st.count("AHEAD", s.Ahead)
	case "push":
		return st.count("PUSH_BEHIND", s.PushBehind) + st.count("PUSH_AHEAD", s.PushAhead)
	case "stash":
		return st.count("STASH", s.Stashes)
	case "action":
		if s.Action == "" {
			return ""
		}
		return st.symbol("ACTION") + printable(s.Action)
	case "conflicted":
		return st.count("CONFLICTED", s.Conflicted)
	case "staged":
		return st.count("STAGED", s.Staged)
	case "unstaged":
		return st.count("UNSTAGED", s.Unstaged)
	case "untracked":
		return st.count("UNTRACKED", s.Untracked)
	}
	return ""
}

func (st *Style) count(symbol string, n int) string {
	if n <= 0 {
		return ""
	}
	return st.symbol(symbol) + strconv.Itoa(n)
}

// name returns a name fit for a terminal, shortened in the middle.
func (st *Style) name(name string) string {
	name = printable(name)
	n := utf8.RuneCountInString(name)
	ellipsis := st.symbol("ELLIPSIS")
	room := max(2, st.maxLength-utf8.RuneCountInString(ellipsis))
	if st.maxLength == 0 || n <= room+utf8.RuneCountInString(ellipsis) {
		return name
	}
	right := room / 2
	return name[:offset(name, room-right)] + ellipsis + name[offset(name, n-right):]
}

// offset returns where the n-th character of s begins. A byte that is no UTF-8 is
// a character.
func offset(s string, n int) int {
	at := 0
	for range n {
		_, size := utf8.DecodeRuneInString(s[at:])
		at += size
	}
	return at
}

// printable replaces control characters by ?, those of one byte beyond ASCII too:
// terminals that are not in UTF-8 obey them.
func printable(s string) string {
	if strings.IndexFunc(s, unicode.IsControl) < 0 {
		return s
	}
	var b strings.Builder
	for at := 0; at < len(s); {
		r, size := utf8.DecodeRuneInString(s[at:])
		if unicode.IsControl(r) {
			b.WriteByte('?')
		} else {
			b.WriteString(s[at : at+size])
		}
		at += size
	}
	return b.String()
}

// paint appends text in a colour, which is "" for none.
func paint(dst []byte, f Form, c color, text string) []byte {
	if f == Zsh {
		text = strings.ReplaceAll(text, "%", "%%")
	}
	if c.name == "" || f == Plain {
		return append(dst, text...)
	}
	switch f {
	case Zsh:
		dst = append(dst, "%F{"...)
		dst = append(dst, c.name...)
		dst = append(dst, '}')
		dst = append(dst, text...)
		return append(dst, "%f"...)
	case Bash:
		dst = append(dst, "\x01\x1b["...)
		dst = append(dst, c.code...)
		dst = append(dst, "m\x02"...)
		dst = append(dst, text...)
		return append(dst, "\x01\x1b[39m\x02"...)
	default:
		dst = append(dst, "\x1b["...)
		dst = append(dst, c.code...)
		dst = append(dst, 'm')
		dst = append(dst, text...)
		return append(dst, "\x1b[39m"...)
	}
}
