package reftable

import (
	"bytes"
	"encoding/binary"

	"gust/internal/pure/oid"
)

// A Kind says what a ref record tells.
type Kind uint8

const (
	Deletion Kind = iota // the ref does not exist
	Value                // it names an object
	Tag                  // it names a tag object, which leads to Peeled
	Symbolic             // it names Target
)

// A Ref is a record about one ref. Name and Target are valid until the cursor
// or call that gave it goes on.
type Ref struct {
	Name   []byte
	Kind   Kind
	ID     oid.ID
	Peeled oid.ID
	Target []byte
}

// refs walks the refs of a table in order of their names.
type refs struct {
	t    *Table
	data []byte
	c    cursor
	ref  Ref
	done bool
}

// seekRefs returns a walk that begins at the first ref whose name is at least
// name. advance has been called on it.
func (t *Table) seekRefs(data []byte, name []byte) (*refs, error) {
	w := &refs{t: t, data: data, done: !t.hasRefs}
	if w.done {
		return w, nil
	}
	b, err := t.find(data, typeRef, 0, t.refIndex, name)
	if err != nil {
		return nil, err
	}
	if b == nil || b.typ != typeRef {
		w.done = true
		return w, nil
	}
	if w.c, err = b.seek(name); err != nil {
		return nil, err
	}
	for {
		if err := w.advance(); err != nil {
			return nil, err
		}
		if w.done || bytes.Compare(w.ref.Name, name) >= 0 {
			return w, nil
		}
	}
}

// advance reads the next record into w.ref, or sets w.done.
func (w *refs) advance() error {
	for {
		ok, err := w.c.next()
		if err != nil {
			return err
		}
		if ok {
			return w.value()
		}
		at := w.c.b.next
		if at <= w.c.b.at || at >= w.t.end {
			w.done = true
			return nil
		}
		b, err := w.t.block(w.data, at, nil)
		if err != nil {
			return err
		}
		if b.typ != typeRef {
			w.done = true
			return nil
		}
		w.c = cursor{b: b, off: b.start, key: w.c.key[:0]}
	}
}

// value reads the value of the current record.
func (w *refs) value() error {
	c := &w.c
	if _, err := c.varint(); err != nil { // the update index
		return err
	}
	w.ref = Ref{Name: c.key, Kind: Kind(c.extra)}
	size := uint64(w.t.algo.Size())
	switch w.ref.Kind {
	case Deletion:
	case Value, Tag:
		raw, err := c.take(size)
		if err != nil {
			return err
		}
		w.ref.ID = oid.FromBytes(w.t.algo, raw)
		if w.ref.Kind == Tag {
			if raw, err = c.take(size); err != nil {
				return err
			}
			w.ref.Peeled = oid.FromBytes(w.t.algo, raw)
		}
	case Symbolic:
		n, err := c.varint()
		if err != nil {
			return err
		}
		if w.ref.Target, err = c.take(n); err != nil {
			return err
		}
	default:
		return c.corrupt("unknown kind of ref")
	}
	return nil
}

// A logRecord is one record of a log. Its parts are the table's memory.
type logRecord struct {
	update  uint64 // what it replaces in older tables has the same update index
	entry   bool   // it is an entry, and not the deletion of one
	ids     []byte // old and new
	message []byte // with its newline
}

// logRecords visits the records in the log of ref, newest first.
func (t *Table) logRecords(data []byte, ref string, visit func(*logRecord)) error {
	if t.logs < 0 {
		return nil
	}
	prefix := append([]byte(ref), 0)
	b, err := t.find(data, typeLog, t.logs, t.logIndex, prefix)
	if err != nil || b == nil {
		return err
	}
	var c cursor
	if c, err = b.seek(prefix); err != nil {
		return err
	}
	for {
		ok, err := c.next()
		if err != nil {
			return err
		}
		if !ok {
			at := c.b.next
			if at <= c.b.at || at >= t.end {
				return nil
			}
			b, err := t.block(data, at, c.b.data)
			if err != nil {
				return err
			}
			if b.typ != typeLog {
				return nil
			}
			c = cursor{b: b, off: b.start, key: c.key[:0]}
			continue
		}
		var r logRecord
		if err := c.logValue(&r); err != nil {
			return err
		}
		if number, ok := bytes.CutPrefix(c.key, prefix); ok && len(number) == 8 {
			r.update = ^binary.BigEndian.Uint64(number)
			visit(&r)
		} else if bytes.Compare(c.key, prefix) > 0 {
			return nil
		}
	}
}

// logValue reads the value of a log record. A record without old and new ID only says
// that there is a log.
func (c *cursor) logValue(r *logRecord) (err error) {
	switch c.extra {
	case 0:
		return nil
	case 1:
	default:
		return c.corrupt("unknown kind of log record")
	}
	if r.ids, err = c.take(2 * uint64(c.b.t.algo.Size())); err != nil {
		return err
	}
	for range 2 { // name, address
		if _, err := c.str(); err != nil {
			return err
		}
	}
	if _, err := c.varint(); err != nil { // time
		return err
	}
	if _, err := c.take(2); err != nil { // zone
		return err
	}
	r.message, err = c.str()
	r.entry = len(bytes.Trim(r.ids, "\x00")) > 0
	return err
}

// str reads a string behind its length.
func (c *cursor) str() ([]byte, error) {
	n, err := c.varint()
	if err != nil {
		return nil, err
	}
	return c.take(n)
}
