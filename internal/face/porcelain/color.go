package porcelain

// Colors are the escape sequences of the parts of an output, "" where a part has no
// colour. The zero value has none at all.
type Colors struct {
	On                                                                                       bool
	Header, Added, Changed, Untracked, Unmerged, NoBranch, Branch, LocalBranch, RemoteBranch string
}

// reset ends a colour.
const reset = "\x1b[m"

// paint returns text in a colour.
func (c *Colors) paint(color, text string) string {
	if !c.On || color == "" {
		return text
	}
	return color + text + reset
}
