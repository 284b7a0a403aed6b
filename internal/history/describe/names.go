package describe

import (
	"bytes"
	"fmt"
	"strings"

	"gust/internal/pure/object"
	"gust/internal/pure/oid"
	"gust/internal/pure/wildmatch"
)

// rank says how good a name is: a better one of the same commit takes its place.
type rank uint8

const (
	other     rank = iota // a branch or another ref
	light                 // a tag that names the commit itself
	annotated             // a tag object
)

// A name is a ref that may describe the commit it leads to.
type name struct {
	path    string // of the ref, without "refs/"
	rank    rank
	tag     oid.ID  // tag object, if annotated
	read    bool    // tag object was read: what follows is known
	object  oid.ID  // what the tag object names itself
	date    int64   // of the tagger
	called  string  // what the tag object calls itself
	checked bool    // and was compared with path
	rivals  []*name // other annotated tags of the same commit, in order, until one is chosen
}

// readNames reads the refs that may describe a commit, the best of each; if only is
// not nil, just those of that commit.
func (d *Describer) readNames(only *oid.ID) error {
	d.names = make(map[oid.ID]*name)
	prefix := "refs/tags/"
	if d.o.All {
		prefix = "refs/"
	}
	match, exclude := compile(d.o.Match), compile(d.o.Exclude)
	return d.Refs.List(prefix, func(ref string, id, peeled oid.ID) bool {
		if !selected(ref, match, exclude) {
			return true
		}
		if peeled.IsNull() {
			peeled = d.peel(id)
		}
		d.any = true
		if only != nil && peeled != *only {
			return true
		}
		r := other
		switch {
		case peeled != id:
			r = annotated
		case strings.HasPrefix(ref, "refs/tags/"):
			r = light
		}
		d.add(peeled, id, r, ref)
		return true
	})
}

// peel returns what id leads to through tags, id itself if that cannot be told.
func (d *Describer) peel(id oid.ID) oid.ID {
	to, err := d.DB.Peel(id)
	if err != nil {
		return id
	}
	return to
}

// add makes ref the name of the object id unless it has a better one.
func (d *Describer) add(id, tag oid.ID, r rank, ref string) {
	n := d.names[id]
	next := &name{rank: r, tag: tag, path: ref[len("refs/"):]}
	switch {
	case n == nil || n.rank < r:
		d.names[id] = next
	case n.rank == annotated && r == annotated:
		n.rivals = append(n.rivals, next)
	}
}

// name returns the name of the object id, nil if it has none. Of several tag objects
// the one that was made last is it: they are read when it is asked for.
func (d *Describer) name(id oid.ID) (*name, error) {
	n := d.names[id]
	if n == nil || len(n.rivals) == 0 {
		return n, nil
	}
	rivals := n.rivals
	n.rivals = nil
	for _, next := range rivals {
		if err := d.readTag(n); err != nil {
			return nil, err
		}
		if err := d.readTag(next); err != nil {
			return nil, err
		}
		if n.date < next.date {
			n = next
		}
	}
	d.names[id] = n
	return n, nil
}

func compile(patterns []string) []wildmatch.Pattern {
	var all []wildmatch.Pattern
	for _, p := range patterns {
		all = append(all, wildmatch.Compile(p, 0))
	}
	return all
}

// selected reports whether patterns let ref describe a commit. They are asked about
// its short name; where there are any, only tags and branches are considered.
func selected(ref string, match, exclude []wildmatch.Pattern) bool {
	if len(match)+len(exclude) == 0 {
		return true
	}
	short, ok := "", false
	for _, prefix := range []string{"refs/tags/", "refs/heads/", "refs/remotes/"} {
		if short, ok = strings.CutPrefix(ref, prefix); ok {
			break
		}
	}
	any := func(patterns []wildmatch.Pattern) bool {
		for i := range patterns {
			if patterns[i].Match([]byte(short)) {
				return true
			}
		}
		return false
	}
	return ok && !any(exclude) && (len(match) == 0 || any(match))
}

// readTag reads the tag object of n.
func (d *Describer) readTag(n *name) error {
	if n.read {
		return nil
	}
	typ, data, err := d.DB.Read(n.tag, d.buf[:0])
	if err != nil {
		return err
	}
	d.buf = data
	if typ != object.Tag {
		return fmt.Errorf("object %s is no tag", n.tag)
	}
	t, err := object.ParseTag(data, n.tag.Algo())
	if err != nil {
		return fmt.Errorf("object %s: %w", n.tag, err)
	}
	n.object, n.called, n.date, n.read = t.Object, string(t.Name), taggerTime(data), true
	return nil
}

// taggerTime returns the time in the fourth line of a tag object, 0 where it is
// not a tagger's or has none.
func taggerTime(tag []byte) int64 {
	for range 3 {
		_, tag, _ = bytes.Cut(tag, []byte("\n"))
	}
	line, _, ok := bytes.Cut(tag, []byte("\n"))
	if !ok || !bytes.HasPrefix(line, []byte("tagger ")) {
		return 0
	}
	_, line, ok = bytes.Cut(line, []byte("> "))
	if !ok {
		return 0
	}
	return object.ParseTime(line)
}
