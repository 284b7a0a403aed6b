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
	tag     oid.ID // tag object, if annotated
	read    bool   // tag object was read: what follows is known
	object  oid.ID // what the tag object names itself
	date    int64  // of the tagger
	called  string // what the tag object calls itself
	checked bool   // and was compared with path
}

// readNames reads the refs that may describe a commit, the best of each.
func (d *Describer) readNames() error {
	d.names = make(map[oid.ID]*name)
	prefix := "refs/tags/"
	if d.o.All {
		prefix = "refs/"
	}
	match, exclude := compile(d.o.Match), compile(d.o.Exclude)
	var failed error
	err := d.Refs.List(prefix, func(ref string, id, peeled oid.ID) bool {
		if !selected(ref, match, exclude) {
			return true
		}
		if peeled.IsNull() {
			peeled = d.peel(id)
		}
		r := other
		switch {
		case peeled != id:
			r = annotated
		case strings.HasPrefix(ref, "refs/tags/"):
			r = light
		}
		failed = d.add(peeled, id, r, ref)
		return failed == nil
	})
	if err == nil {
		err = failed
	}
	return err
}

// peel returns what id leads to through tags, id itself if that cannot be told.
func (d *Describer) peel(id oid.ID) oid.ID {
	to, err := d.DB.Peel(id)
	if err != nil {
		return id
	}
	return to
}

// add makes ref the name of the object id unless it has a better one. Of two tag
// objects the one that was made later is better.
func (d *Describer) add(id, tag oid.ID, r rank, ref string) error {
	n := d.names[id]
	switch {
	case n == nil || n.rank < r:
	case n.rank == annotated && r == annotated:
		if err := d.readTag(n); err != nil {
			return err
		}
		next := &name{rank: r, tag: tag, path: ref[len("refs/"):]}
		if err := d.readTag(next); err != nil || n.date >= next.date {
			return err
		}
		d.names[id] = next
		return nil
	default:
		return nil
	}
	d.names[id] = &name{rank: r, tag: tag, path: ref[len("refs/"):]}
	return nil
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
