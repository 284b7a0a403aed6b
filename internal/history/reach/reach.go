// Package reach counts and lists reachable objects, by bitmap where one exists.
//
// The selection is that of git-rev-list(1). Walking gives what git's own walk gives,
// which is not always exact: an object that also lies behind the boundary is seen
// there only where it is in the tree of a boundary commit.
package reach

import (
	"context"
	"slices"
	"strings"

	"gust/internal/history/revwalk"
	"gust/internal/pure/object"
	"gust/internal/pure/oid"
	"gust/internal/store/odb"
)

// A Tip is where a walk starts, or, with Not, what it leaves out with all that is
// behind it.
type Tip struct {
	ID   oid.ID // of an object of any type; tags stand for what they lead to
	Not  bool
	Left bool   // the left side of a symmetric difference
	Path string // of a tree or blob
}

// Options say what is wanted of the objects that the tips reach.
type Options struct {
	Objects bool // not commits alone
	Filter  Filter
	Limits  *Limits // nil: none
}

// Limits leave commits out that the tips reach (git-rev-list(1), commit limiting).
type Limits struct {
	FirstParent bool // wanted commits lead to their first parents alone
	MinParents  int
	MaxParents  int // -1: any number
	Skip        int // so many of those that are left, the latest
	Max         int // no more than so many of those that then are left; -1: all
}

// NoLimits returns limits that leave nothing out.
func NoLimits() *Limits { return &Limits{MaxParents: -1, Max: -1} }

// keeps reports whether l keeps a commit with so many parents.
func (l *Limits) keeps(parents int) bool {
	return parents >= l.MinParents && (l.MaxParents < 0 || parents <= l.MaxParents)
}

// A Filter leaves objects out, except tips (git-rev-list(1), --filter).
type Filter struct {
	NoBlobs, NoTrees bool        // NoTrees leaves blobs out too
	Only             object.Type // if not 0, others are left out
}

// Parse sets f to what the value of --filter says, if that is one of "blob:none",
// "tree:0" and "object:type=TYPE".
func (f *Filter) Parse(spec string) (ok bool) {
	typ, typed := strings.CutPrefix(spec, "object:type=")
	switch {
	case spec == "blob:none":
		f.NoBlobs = true
	case spec == "tree:0":
		f.NoTrees = true
	case typed:
		f.Only, ok = object.ParseType(typ)
		return ok
	default:
		return false
	}
	return true
}

// Keeps reports whether f keeps objects of a type.
func (f *Filter) Keeps(typ object.Type) bool {
	switch {
	case f.Only != 0 && f.Only != typ:
		return false
	case typ == object.Blob:
		return !f.NoBlobs && !f.NoTrees
	case typ == object.Tree:
		return !f.NoTrees
	}
	return true
}

// A Commit is one that the tips reach.
type Commit struct {
	ID, Tree oid.ID
	Left     bool // reached from the left side
	Tip      bool // is among the tips
}

// A Selection is what the tips reach, before trees are opened.
type Selection struct {
	Commits []Commit // the latest first
	pending []pending
	edges   []oid.ID // trees on the boundary
	without []pending
}

// Others reports whether objects other than commits are among the tips.
func (s *Selection) Others() bool { return len(s.pending)+len(s.without) > 0 }

// pending is an object other than a commit.
type pending struct {
	id   oid.ID
	typ  object.Type
	name string // a tag's own, or the path of a tree or blob
}

// A Walk selects objects in one repository.
type Walk struct {
	DB      *odb.DB
	Walker  *revwalk.Walker
	Tips    []Tip
	Options Options
}

// Select finds the commits that the tips reach. Errors are those of reading
// commits and tags.
func (w *Walk) Select(ctx context.Context) (*Selection, error) {
	var s *Selection
	err := w.Walker.Walk(ctx, func(c *revwalk.Commits) error {
		l := limiter{c: c, s: &Selection{}, objects: w.Options.Objects, limits: *NoLimits()}
		if w.Options.Limits != nil {
			l.limits = *w.Options.Limits
		}
		s = l.s
		if err := w.start(&l); err != nil {
			return err
		}
		if err := l.run(ctx); err != nil {
			return err
		}
		return l.collect()
	})
	return s, err
}

// start gives the commits that tips lead to to l, and notes tags, trees and blobs on
// the way.
func (w *Walk) start(l *limiter) error {
	not := make(map[oid.ID]bool) // a tip that is wanted and not wanted is not
	for i := range w.Tips {
		if w.Tips[i].Not {
			not[w.Tips[i].ID] = true
		}
	}
	for i := range w.Tips {
		if err := w.tip(l, &w.Tips[i], not); err != nil {
			return err
		}
	}
	// What an unwanted tag leads to is unwanted wherever else it comes from.
	l.s.pending = slices.DeleteFunc(l.s.pending, func(p pending) bool { return not[p.id] })
	return l.begin()
}

// unless returns err unless it is about what is unwanted: that need not be there.
func unless(unwanted bool, err error) error {
	if unwanted {
		return nil
	}
	return err
}

func (w *Walk) tip(l *limiter, tip *Tip, not map[oid.ID]bool) error {
	id, unwanted, path := tip.ID, tip.Not || not[tip.ID], tip.Path
	for {
		if l.c.Known(&id) {
			return l.tip(l.c.Number(&id), unwanted, tip.Left)
		}
		typ, _, err := w.DB.Stat(id)
		if err != nil {
			return unless(unwanted, err)
		}
		switch typ {
		case object.Commit:
			return l.tip(l.c.Number(&id), unwanted, tip.Left)
		case object.Tag:
			_, data, err := w.DB.Read(id, nil)
			if err != nil {
				return unless(unwanted, err)
			}
			t, err := object.ParseTag(data, id.Algo())
			if err != nil {
				return unless(unwanted, err)
			}
			if !unwanted {
				l.s.pending = append(l.s.pending, pending{id, typ, string(t.Name)})
			}
			id, path = t.Object, ""
			if unwanted {
				not[id] = true
			}
			unwanted = not[id]
		default:
			p := pending{id, typ, path}
			if unwanted {
				l.s.without = append(l.s.without, p)
			} else {
				l.s.pending = append(l.s.pending, p)
			}
			return nil
		}
	}
}
