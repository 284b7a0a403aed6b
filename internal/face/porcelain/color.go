package porcelain

// Colors are the escape sequences of the parts of an output, "" where a part has no
// colour. The zero value has none at all.
type Colors struct {
	On                                                                                       bool
	Header, Added, Changed, Untracked, Unmerged, NoBranch, Branch, LocalBranch, RemoteBranch string
}

// Standard returns the colours of git-config(1), color.status.<slot>.
func Standard() Colors {
	const red, green = "\x1b[31m", "\x1b[32m"
	return Colors{On: true, Added: green, Changed: red, Untracked: red, Unmerged: red, NoBranch: red, LocalBranch: green, RemoteBranch: red}
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
