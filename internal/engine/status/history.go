package status

import (
	"context"
	"fmt"
	"maps"

	"gust/internal/history/revwalk"
	"gust/internal/pure/object"
	"gust/internal/pure/oid"
	"gust/internal/repo"
	"gust/internal/store/odb"
)

// history is what is remembered of commits.
type history struct {
	overrides *repo.Overrides
	replaced  map[oid.ID]oid.ID
	walker    *revwalk.Walker

	gen      int  // changes with the way in which objects are read
	known    bool // the fields of HEAD's commit hold
	head     oid.ID
	treeID   oid.ID
	encoding string
	subject  string

	pairs []pair // the last few ahead/behind answers
}

// A pair is one ahead/behind answer. Commits never change, so it holds as long as
// parents are read in the same way.
type pair struct {
	a, b          oid.ID
	ahead, behind int
}

// maxPairs is how many pairs are kept: an upstream and a push remote before and
// after a switch.
const maxPairs = 8

// unknown reports whether HEAD's commit could not be read.
func (h *history) unknown() bool { return !h.known }

// tree returns the tree of HEAD's commit; null on an unborn branch.
func (h *history) tree(a oid.Algo) oid.ID {
	if h.head.IsNull() {
		return oid.Null(a)
	}
	return h.treeID
}

// update reads again what changes how commits are read: replacements, grafts and
// the ends of a shallow history.
func (h *history) update(r *repo.Repository, db *odb.DB) error {
	changed := h.walker == nil
	if h.overrides == nil || !h.overrides.Unchanged() {
		o, err := r.ParentOverrides()
		if err != nil {
			h.known = false
			return err
		}
		h.overrides, changed = o, true
	}
	replaced, err := r.Replacements()
	if err != nil {
		h.known = false
		return err
	}
	if !maps.Equal(replaced, h.replaced) {
		h.replaced, changed = replaced, true
		db.SetReplacements(replaced)
	}
	if changed {
		useGraph, set, err := r.Config.Bool("core.commitGraph")
		if err != nil {
			return err
		}
		h.walker = revwalk.New(db, revwalk.Options{Overrides: h.overrides.Parents, NoGraph: set && !useGraph})
		h.known, h.pairs = false, nil
		h.gen++
	}
	return nil
}

// readHead reads the commit that HEAD names.
func (h *history) readHead(db *odb.DB, id oid.ID) error {
	if h.known && h.head == id {
		return nil
	}
	h.known, h.head, h.encoding, h.subject = false, id, "", ""
	if id.IsNull() {
		h.known = true
		return nil
	}
	typ, data, err := db.Read(id, nil)
	if err != nil {
		return fmt.Errorf("cannot read HEAD's commit: %w", err)
	}
	if typ != object.Commit {
		return fmt.Errorf("HEAD names %s, which is a %s and no commit", id, typ)
	}
	c, err := object.ParseCommit(data, id.Algo())
	if err != nil {
		return fmt.Errorf("cannot read HEAD's commit %s: %w", id, err)
	}
	h.treeID, h.encoding = c.Tree, string(c.Encoding)
	h.subject = string(object.Subject(nil, c.Message))
	h.known = true
	return nil
}

// aheadBehind counts the commits that only a, and only b, leads to. Nothing is
// ahead of or behind an unborn branch.
func (h *history) aheadBehind(ctx context.Context, a, b oid.ID) (ahead, behind int, err error) {
	if a.IsNull() || a == b {
		return 0, 0, nil
	}
	for _, p := range h.pairs {
		if p.a == a && p.b == b {
			return p.ahead, p.behind, nil
		}
	}
	ahead, behind, err = h.walker.AheadBehind(ctx, a, b)
	if err != nil {
		return 0, 0, err
	}
	if len(h.pairs) == maxPairs {
		h.pairs = h.pairs[1:]
	}
	h.pairs = append(h.pairs, pair{a, b, ahead, behind})
	return ahead, behind, nil
}
