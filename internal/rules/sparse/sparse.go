// Package sparse knows the patterns of a sparse checkout in cone mode
// (git-sparse-checkout(1), "INTERNALS - CONE PATTERN SET").
package sparse

import (
	"strings"
)

// IsCone reports whether all patterns in data, the content of info/sparse-checkout, are
// of the forms of cone mode. Git takes the cone as a whole or not at all.
func IsCone(data []byte) bool {
	var c cone
	text := strings.TrimPrefix(string(data), "\xef\xbb\xbf")
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimRight(strings.TrimSuffix(line, "\r"), " ")
		if line != "" && line[0] != '#' && !c.add(line) {
			return false
		}
	}
	return true
}

// A cone holds directories, and how many lines have each.
type cone struct {
	whole   map[string]int  // with all that is below them
	parents map[string]bool // only with the files that are directly in them
}

// add reports whether line has a form of cone mode, behind those before it.
func (c *cone) add(line string) bool {
	line, negated := strings.CutPrefix(line, "!")
	path, isDir := strings.CutSuffix(line, "/")
	switch {
	case path == "/*" && isDir == negated:
		return true // all files of the root, or none of its directories
	case len(path) < 2 || path[0] != '/' || !isDir || strings.Contains(path, "**"):
		return false
	case negated:
		base, ok := strings.CutSuffix(path, "/*")
		base, plain := unescape(base)
		if !ok || !plain || c.whole[base] == 0 {
			return false
		}
		c.whole[base]--
		if c.parents == nil {
			c.parents = map[string]bool{}
		}
		c.parents[base] = true
		return true
	}
	path, plain := unescape(path)
	if !plain && path != "/*" || c.parents[path] {
		return false
	}
	if c.whole == nil {
		c.whole = map[string]int{}
	}
	c.whole[path]++
	return true
}

// unescape returns path without its backslashes, and whether all of its wildcards had
// one; if not, it returns path as it is.
func unescape(path string) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(path); i++ {
		switch path[i] {
		case '*', '?', '[':
			return path, false
		case '\\':
			if i++; i == len(path) || !strings.ContainsRune(`*?[\`, rune(path[i])) {
				return path, false
			}
		}
		b.WriteByte(path[i])
	}
	return b.String(), true
}
