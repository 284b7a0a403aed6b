package refs

import "strings"

// ValidName reports whether name may name a ref (git-check-ref-format(1), with
// one-level names allowed).
func ValidName(name string) bool {
	if name == "" || name == "@" || strings.HasSuffix(name, ".") {
		return false
	}
	start := 0
	for i := 0; i <= len(name); i++ {
		if i < len(name) && name[i] != '/' {
			if badNameByte(name, i) {
				return false
			}
			continue
		}
		part := name[start:i]
		if part == "" || part[0] == '.' || strings.HasSuffix(part, ".lock") {
			return false
		}
		start = i + 1
	}
	return true
}

// badNameByte reports whether byte i of name makes it invalid wherever it stands.
func badNameByte(name string, i int) bool {
	c := name[i]
	next := byte(0)
	if i+1 < len(name) {
		next = name[i+1]
	}
	switch c {
	case ' ', '~', '^', ':', '?', '*', '[', '\\', 0x7f:
		return true
	case '.':
		return next == '.'
	case '@':
		return next == '{'
	}
	return c < 0x20
}

// safeName reports whether a name, valid or not, stays below the git dir. Git
// can delete refs of bad names, and follows HEAD to them, if they are safe.
func safeName(name string) bool {
	if name == "" || name[0] == '/' || strings.IndexByte(name, 0) >= 0 {
		return false
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == ".." || part == "." || part == "" {
			return false
		}
	}
	return true
}

// perWorktree reports whether a ref belongs to one working tree rather than to
// all (git-worktree(1), REFS).
func perWorktree(name string) bool {
	if !strings.HasPrefix(name, "refs/") {
		return true // HEAD and other pseudorefs
	}
	return strings.HasPrefix(name, "refs/bisect/") || strings.HasPrefix(name, "refs/worktree/") ||
		strings.HasPrefix(name, "refs/rewritten/")
}
