package prompt

import (
	"strconv"
	"strings"
)

// A Style is how prompts look: the GUST_ variables of docs/shell-variables.md.
type Style struct {
	order     []string
	maxLength int // characters of a name; 0: no limit
	dirtyMax  int // index entries beyond which the files are not looked at; negative: never
	symbols   map[string]string
	colors    map[string]color
}

const defaultOrder = "head sync push stash action conflicted staged unstaged untracked"

// defaultMaxLength is about a third of a terminal of the usual width.
const defaultMaxLength = 32

// symbols lists every symbol with its default and its default in ASCII.
func symbols() [][3]string {
	return [][3]string{
		{"BRANCH", "", ""}, {"TAG", "#", "#"}, {"COMMIT", "@", "@"},
		{"BEHIND", "⇣", "<"}, {"AHEAD", "⇡", ">"}, {"PUSH_BEHIND", "⇠", "<<"}, {"PUSH_AHEAD", "⇢", ">>"},
		{"STASH", "*", "*"}, {"ACTION", "", ""}, {"CONFLICTED", "~", "~"},
		{"STAGED", "+", "+"}, {"UNSTAGED", "!", "!"}, {"UNTRACKED", "?", "?"},
		{"ELLIPSIS", "…", ".."}, {"PENDING", "…", "..."},
	}
}

// roles lists what has a colour, with its default.
func roles() [][2]string {
	return [][2]string{
		{"HEAD", "green"}, {"SYNC", "green"}, {"PUSH", "green"}, {"STASH", "green"}, {"ACTION", "red"},
		{"CONFLICTED", "red"}, {"STAGED", "yellow"}, {"UNSTAGED", "yellow"}, {"UNTRACKED", "blue"}, {"PENDING", "8"},
	}
}

// NewStyle returns the Style that the environment asks for; lookup is os.LookupEnv.
// A variable with a value that makes no sense counts as not set.
func NewStyle(lookup func(name string) (string, bool)) *Style {
	st := &Style{maxLength: defaultMaxLength, dirtyMax: -1, symbols: map[string]string{}, colors: map[string]color{}}
	order, ok := lookup("GUST_PROMPT_ORDER")
	if !ok {
		order = defaultOrder
	}
	st.order = strings.Fields(order)
	if n, ok := number(lookup, "GUST_MAX_LENGTH", 4); ok {
		st.maxLength = n
	}
	if n, ok := number(lookup, "GUST_DIRTY_MAX_INDEX_SIZE", 9); ok {
		st.dirtyMax = n
	}
	set, _ := lookup("GUST_SYMBOLS")
	for _, s := range symbols() {
		symbol, ok := lookup("GUST_SYMBOL_" + s[0])
		switch {
		case ok:
		case set == "ascii":
			symbol = s[2]
		default:
			symbol = s[1]
		}
		st.symbols[s[0]] = symbol
	}
	noColor, _ := lookup("NO_COLOR")
	term, _ := lookup("TERM")
	if noColor != "" || term == "dumb" {
		return st
	}
	for _, r := range roles() {
		name, ok := lookup("GUST_COLOR_" + r[0])
		if !ok {
			name = r[1]
		}
		st.colors[r[0]] = parseColor(name)
	}
	return st
}

// DirtyMaxIndexSize is the limit of that name for requests whose answers Append
// gets: negative for none.
func (st *Style) DirtyMaxIndexSize() int { return st.dirtyMax }

func (st *Style) symbol(name string) string { return st.symbols[name] }

func (st *Style) color(role string) color { return st.colors[role] }

// number returns the variable name, if it is a number of at most so many digits.
func number(lookup func(string) (string, bool), name string, digits int) (int, bool) {
	v, _ := lookup(name)
	if v == "" || len(v) > digits || strings.Trim(v, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.Atoi(v)
	return n, err == nil
}

// A color has a name, as zsh's prompts know it, and the SGR parameters for it.
type color struct{ name, code string }

// parseColor understands the eight names, the numbers from 0 to 255 and #rrggbb;
// anything else is no colour.
func parseColor(s string) color {
	for i, name := range [...]string{"black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"} {
		if s == name {
			return color{s, "3" + strconv.Itoa(i)}
		}
	}
	if len(s) == 7 && s[0] == '#' {
		rgb, err := strconv.ParseUint(s[1:], 16, 32)
		if err != nil {
			return color{}
		}
		part := func(shift uint) string { return ";" + strconv.FormatUint(rgb>>shift&255, 10) }
		return color{s, "38;2" + part(16) + part(8) + part(0)}
	}
	n, err := strconv.ParseUint(s, 10, 8)
	if err != nil || strconv.FormatUint(n, 10) != s {
		return color{}
	}
	switch {
	case n < 8:
		return color{s, "3" + s}
	case n < 16:
		return color{s, "9" + strconv.FormatUint(n-8, 10)}
	}
	return color{s, "38;5;" + s}
}
