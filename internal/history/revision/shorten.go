package revision

import (
	"strings"

	"gust/internal/pure/oid"
)

// Shorten returns the shortest name that stands for the ref full and for no other:
// for "refs/heads/main" that is "main", or "heads/main" where there is a tag "main",
// too. strict looks at all refs that the name may stand for, not only at those that go
// before full (git-rev-parse(1), --abbrev-ref). The error is ErrUnknown for the HEAD of
// a remote, which versions of Git shorten differently.
func (r *Resolver) Shorten(full string, strict bool) (string, error) {
	if strings.HasPrefix(full, "refs/remotes/") && strings.HasSuffix(full, "/HEAD") {
		return "", unknown(full)
	}
	patterns := rules("*")
	for own := len(patterns) - 2; own > 0; own-- {
		short, ok := strings.CutPrefix(full, strings.TrimSuffix(patterns[own], "*"))
		if ok && short != "" && !r.standsForOther(short, own, strict) {
			return short, nil
		}
	}
	return full, nil
}

// standsForOther reports whether there is a ref that short stands for by another rule
// than the one given; only rules before it count unless strict.
func (r *Resolver) standsForOther(short string, own int, strict bool) bool {
	for i, name := range rules(short) {
		if i == own || i > own && !strict {
			continue
		}
		if r.exists(name) {
			return true
		}
	}
	return false
}

// Names reports whether there is any ref that name stands for.
func (r *Resolver) Names(name string) bool {
	for _, full := range rules(name) {
		if r.exists(full) {
			return true
		}
	}
	return false
}

// exists reports whether there is a ref of that full name, with a value.
func (r *Resolver) exists(full string) bool {
	_, id, err := r.Refs.Follow(full)
	return err == nil && id != oid.ID{}
}
