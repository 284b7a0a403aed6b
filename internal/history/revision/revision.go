// Package revision turns revision syntax into object IDs (gitrevisions(7)).
//
// It knows the forms that name one object without a search: refs by Git's rules of
// precedence, object IDs whole and abbreviated, the output of git describe,
// "@{upstream}", "@{push}", "@{-N}", "REF@{N}", "^", "~" and "^{TYPE}", "REV:PATH"
// and ":N:PATH". Whatever else there is, and whatever Git warns of or refuses, is
// ErrUnknown: callers hand the command over to git, which says what is wrong.
package revision

import (
	"errors"
	"fmt"
	"strings"

	"gust/internal/pure/object"
	"gust/internal/pure/oid"
	"gust/internal/store/odb"
	"gust/internal/store/refs"
)

// ErrUnknown says that an expression names nothing, is ambiguous, or is in a form
// that this package leaves to git. It is returned wrapped.
var ErrUnknown = errors.New("revision is not understood")

func unknown(rev string) error { return fmt.Errorf("'%s': %w", rev, ErrUnknown) }

// A Resolver resolves expressions in one repository. DB and Refs are required;
// where a function is nil, the forms that need it are unknown. It is safe for
// concurrent use if its parts are.
type Resolver struct {
	DB   *odb.DB
	Refs *refs.Store
	// Overrides are the commits whose parents are not those that their objects
	// name, as in revwalk.Options.
	Overrides map[oid.ID][]oid.ID
	// Upstream and Push return the full name of the ref that tracks the upstream,
	// or the push destination, of the branch with the given full name; "" if there
	// is none.
	Upstream, Push func(branch string) string
	// Index returns the object ID of an entry of the index.
	Index func(path string, stage int) (oid.ID, bool, error)
	// QuietAmbiguity is core.warnAmbiguousRefs=false: of several refs the first by
	// Git's precedence is taken, and no one is told.
	QuietAmbiguity bool
}

// Resolve returns the ID of the object that rev names; a tag is not followed
// unless rev says so. The object need not exist if rev is a whole object ID or a
// ref. The error is ErrUnknown, or tells why the repository cannot be read.
func (r *Resolver) Resolve(rev string) (oid.ID, error) {
	return r.resolve(rev, any0)
}

// Commit returns the commit that rev names or leads to through tags. Errors are
// Resolve's; ErrUnknown too if rev names something else.
func (r *Resolver) Commit(rev string) (oid.ID, error) {
	id, err := r.resolve(rev, commitish)
	if err != nil {
		return id, err
	}
	return r.peel(rev, id, object.Commit)
}

// wanted is what kind of object an abbreviation is to be: others of the same
// digits are passed over.
type wanted uint8

const (
	any0      wanted = iota
	commitish        // a commit, or a tag of one
	treeish          // a tree, a commit, or a tag of either
)

// resolve is Resolve for what is to be of a kind. Suffixes are taken off from the
// end: each applies to what is before it.
func (r *Resolver) resolve(rev string, want wanted) (oid.ID, error) {
	if colon := pathColon(rev); colon >= 0 {
		return r.path(rev, colon)
	}
	if n := len(rev); n > 0 && rev[n-1] == '}' && !strings.HasSuffix(rev, "@{}") {
		if i := strings.LastIndex(rev, "^{"); i >= 0 && !strings.ContainsAny(rev[i+2:n-1], "{}") {
			return r.typed(rev, rev[:i], rev[i+2:n-1])
		}
	}
	if base, op, n, ok := cutStep(rev); ok {
		return r.step(rev, base, op, n)
	}
	id, err := r.ref(rev)
	if err == nil || !errors.Is(err, errNoRef) {
		return id, err
	}
	if i := strings.LastIndex(rev, "-g"); i > 0 && isAbbrev(rev[i+2:], r.DB.Algo()) {
		return r.abbrev(rev[i+2:], commitish)
	}
	if isAbbrev(rev, r.DB.Algo()) {
		return r.abbrev(rev, want)
	}
	return oid.ID{}, unknown(rev)
}

// pathColon returns the offset of the colon that starts a path, -1 if there is
// none. Braces may hold colons.
func pathColon(rev string) int {
	depth := 0
	for i := range len(rev) {
		switch rev[i] {
		case '{':
			depth++
		case '}':
			if depth > 0 {
				depth--
			}
		case ':':
			if depth == 0 {
				return i
			}
		}
	}
	return -1
}

// cutStep takes "^", "^N", "~" or "~N" off the end of rev.
func cutStep(rev string) (base string, op byte, n int, ok bool) {
	i := len(rev)
	for i > 0 && '0' <= rev[i-1] && rev[i-1] <= '9' {
		i--
	}
	if i == 0 || rev[i-1] != '^' && rev[i-1] != '~' {
		return "", 0, 0, false
	}
	n = 1
	if i < len(rev) {
		n = 0
		for _, c := range rev[i:] {
			if n = n*10 + int(c-'0'); n > 1<<30 {
				n = 1 << 30 // no history is so deep: Git, which counts on, finds nothing either
			}
		}
	}
	return rev[:i-1], rev[i-1], n, true
}

// step follows parents from the commit that base names.
func (r *Resolver) step(rev, base string, op byte, n int) (oid.ID, error) {
	if base == "" {
		return oid.ID{}, unknown(rev)
	}
	id, err := r.resolve(base, commitish)
	if err != nil {
		return id, err
	}
	if id, err = r.peel(base, id, object.Commit); err != nil {
		return id, err
	}
	if op == '^' && n == 0 {
		return id, nil
	}
	which, times := n, 1
	if op == '~' {
		which, times = 1, n
	}
	for range times {
		parents, err := r.parents(id)
		if err != nil {
			return id, err
		}
		if which > len(parents) {
			return id, unknown(rev)
		}
		id = parents[which-1]
	}
	return id, nil
}

func (r *Resolver) parents(id oid.ID) ([]oid.ID, error) {
	typ, data, err := r.DB.Read(id, nil)
	if err != nil {
		return nil, r.missing(id.String(), err)
	}
	if typ != object.Commit {
		return nil, unknown(id.String())
	}
	if p, ok := r.Overrides[id]; ok {
		return p, nil
	}
	c, err := object.ParseCommit(data, id.Algo())
	if err != nil {
		return nil, fmt.Errorf("object %s: %w", id, err)
	}
	return c.Parents, nil
}

// missing makes ErrUnknown of an error that says that an object is not there: git
// has its own words for that.
func (r *Resolver) missing(rev string, err error) error {
	if errors.Is(err, odb.ErrNotFound) {
		return unknown(rev)
	}
	return err
}

// typed is "base^{what}".
func (r *Resolver) typed(rev, base, what string) (oid.ID, error) {
	if base == "" {
		return oid.ID{}, unknown(rev)
	}
	want, typ, any := any0, object.Type(0), false
	switch what {
	case "commit":
		want, typ = commitish, object.Commit
	case "tree":
		want, typ = treeish, object.Tree
	case "blob":
		typ = object.Blob
	case "tag":
		typ = object.Tag
	case "", "object":
		any = true
	default: // a search, or something new
		return oid.ID{}, unknown(rev)
	}
	id, err := r.resolve(base, want)
	if err != nil {
		return id, err
	}
	if !any {
		return r.peel(rev, id, typ)
	}
	if what == "object" {
		_, _, err := r.DB.Stat(id)
		return id, r.missing(rev, err)
	}
	id, err = r.DB.Peel(id)
	return id, r.missing(rev, err)
}

// peel follows id through tags, and to the tree of a commit, to an object of the
// type.
func (r *Resolver) peel(rev string, id oid.ID, typ object.Type) (oid.ID, error) {
	const maxTags = 10_000 // replacements can make a ring
	for range maxTags {
		got, data, err := r.DB.Read(id, nil)
		switch {
		case err != nil:
			return id, r.missing(rev, err)
		case got == typ:
			return id, nil
		case got == object.Commit && typ == object.Tree:
			c, err := object.ParseCommit(data, id.Algo())
			if err != nil {
				return id, fmt.Errorf("object %s: %w", id, err)
			}
			id = c.Tree
		case got == object.Tag:
			t, err := object.ParseTag(data, id.Algo())
			if err != nil {
				return id, fmt.Errorf("object %s: %w", id, err)
			}
			id = t.Object
		default:
			return id, unknown(rev)
		}
	}
	return id, unknown(rev)
}

// isAbbrev reports whether s may abbreviate an object ID.
func isAbbrev(s string, a oid.Algo) bool {
	if len(s) < odb.MinAbbrev || len(s) > a.HexSize() {
		return false
	}
	for _, c := range []byte(s) {
		if (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'f') {
			return false
		}
	}
	return true
}

// abbrev returns the one object of the wanted kind whose ID starts with digits.
func (r *Resolver) abbrev(digits string, want wanted) (oid.ID, error) {
	if id, err := oid.Parse(r.DB.Algo(), digits); err == nil {
		return id, nil
	}
	for try := 0; ; try++ {
		found := make(map[oid.ID]bool)
		err := r.DB.WithPrefix(digits, func(id oid.ID) bool {
			found[id] = true
			return true
		})
		if err != nil {
			return oid.ID{}, err
		}
		if len(found) == 0 && try == 0 {
			// It may have been written, or repacked, since the packs were listed.
			if err := r.DB.Refresh(); err != nil {
				return oid.ID{}, err
			}
			continue
		}
		var kept []oid.ID
		for id := range found {
			if len(found) == 1 || r.is(id, want) {
				kept = append(kept, id)
			}
		}
		if len(kept) != 1 {
			return oid.ID{}, unknown(digits)
		}
		return kept[0], nil
	}
}

func (r *Resolver) is(id oid.ID, want wanted) bool {
	if want == any0 {
		return true
	}
	to, err := r.DB.Peel(id)
	if err != nil {
		return false
	}
	typ, _, err := r.DB.Stat(to)
	return err == nil && (typ == object.Commit || want == treeish && typ == object.Tree)
}
