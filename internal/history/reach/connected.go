package reach

import (
	"context"
	"errors"
	"fmt"

	"gust/internal/history/revwalk"
	"gust/internal/pure/object"
	"gust/internal/pure/oid"
	"gust/internal/store/odb"
)

// CheckConnected finds out whether every object that the wanted tips reach is there.
// What unwanted tips reach is taken to be. So is, with b, which may be nil, all that
// has a bit in it: no object of a bitmap reaches one outside. progress, which may be
// nil, is told now and then how many objects were looked at. The error is a
// *MissingError that names the first object that is missing or broken, or that of
// the walk.
func (w *Walk) CheckConnected(ctx context.Context, b *odb.Bitmap, progress func(n int)) error {
	if progress == nil {
		progress = func(int) {}
	}
	if b != nil {
		c := connection{w: w, ctx: ctx, b: b, met: newSet(w.DB.Algo()), progress: progress}
		return c.check()
	}
	s, err := w.Select(ctx)
	if id, why, ok := revwalk.Unreadable(err); ok {
		return &MissingError{id, object.Commit, why}
	}
	if err != nil {
		return err
	}
	n := len(s.Commits)
	return w.List(ctx, s, func(*Object) error {
		if n++; n%progressEvery == 0 {
			progress(n)
		}
		return nil
	})
}

// progressEvery is how many objects are looked at between two reports.
const progressEvery = 4096

// A connection checks objects outside of a bitmap.
type connection struct {
	w        *Walk
	ctx      context.Context
	b        *odb.Bitmap
	met      *set
	progress func(n int)
	todo     []wantedObject
	n        int
	buf      []byte
}

// A wantedObject is one that another one names.
type wantedObject struct {
	id  oid.ID
	typ object.Type // 0 if it is not known
}

func (c *connection) check() error {
	for i := range c.w.Tips {
		if !c.w.Tips[i].Not {
			if err := c.want(c.w.Tips[i].ID, 0); err != nil {
				return err
			}
		}
	}
	for len(c.todo) > 0 {
		o := c.todo[len(c.todo)-1]
		c.todo = c.todo[:len(c.todo)-1]
		if c.n++; c.n%progressEvery == 0 {
			c.progress(c.n)
			if c.ctx.Err() != nil {
				return c.ctx.Err()
			}
		}
		if err := c.object(&o); err != nil {
			return err
		}
	}
	return nil
}

// want adds an object to what is to be checked unless it was, or has a bit.
func (c *connection) want(id oid.ID, typ object.Type) error {
	if c.met.add(id.Raw(), met) != 0 {
		return nil
	}
	_, ok, err := c.b.Position(&id)
	if err != nil || ok {
		return err
	}
	if typ != object.Blob {
		c.todo = append(c.todo, wantedObject{id, typ})
		return nil
	}
	c.n++
	if err := c.w.DB.Has(id); err != nil {
		return &MissingError{id, typ, err}
	}
	return nil
}

// object reads an object and wants what it names.
func (c *connection) object(o *wantedObject) error {
	typ, data, err := c.w.DB.Read(o.id, c.buf[:0])
	if err == nil && o.typ != 0 && typ != o.typ {
		err = fmt.Errorf("object is a %v", typ)
	}
	if err != nil {
		return &MissingError{o.id, o.typ, err}
	}
	c.buf = data
	switch typ {
	case object.Commit:
		commit, err := object.ParseCommit(data, o.id.Algo())
		if err != nil {
			return &MissingError{o.id, typ, err}
		}
		parents := commit.Parents
		for _, p := range parents {
			if err := c.want(p, object.Commit); err != nil {
				return err
			}
		}
		return c.want(commit.Tree, object.Tree)
	case object.Tag:
		tag, err := object.ParseTag(data, o.id.Algo())
		if err != nil {
			return &MissingError{o.id, typ, err}
		}
		return c.want(tag.Object, tag.Type)
	case object.Tree:
		return c.entries(o)
	}
	return nil
}

// entries wants what is in the tree that c.buf holds.
func (c *connection) entries(o *wantedObject) error {
	r := object.NewTreeReader(c.buf, o.id.Algo())
	var e object.TreeEntry
	for {
		ok, err := r.Next(&e)
		if err != nil {
			return &MissingError{o.id, object.Tree, err}
		}
		if !ok {
			return nil
		}
		switch {
		case e.Mode == object.ModeGitlink:
		case e.Mode.IsTree():
			err = c.want(e.ID, object.Tree)
		default:
			err = c.want(e.ID, object.Blob)
		}
		if err != nil {
			return err
		}
	}
}

// IsMissing reports whether err says that an object is missing, and which.
func IsMissing(err error) (*MissingError, bool) {
	var m *MissingError
	ok := errors.As(err, &m)
	return m, ok
}
