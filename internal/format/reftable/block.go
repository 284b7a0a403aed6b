package reftable

import (
	"bytes"
	"io"
	"sort"

	"github.com/klauspost/compress/zlib"
)

const (
	typeRef   = 'r'
	typeIndex = 'i'
	typeLog   = 'g'
)

// A block is one block of a table.
type block struct {
	t        *Table
	typ      byte
	at       int    // position in the file, to name it in errors
	data     []byte // offsets count from its start
	start    int    // of the first record
	end      int    // of the records: the restarts begin there
	restarts int
	next     int // position of the block behind
}

// block reads the block at position at of the file, whose content is data.
// inflated is memory to inflate a block of logs into; it may be nil.
func (t *Table) block(data []byte, at int, inflated []byte) (*block, error) {
	head := at
	if at == 0 {
		head = t.header
	}
	if head < 0 || head+4 > t.end {
		return nil, t.corrupt(at, "block outside of the file")
	}
	b := &block{t: t, typ: data[head], at: at, start: head - at + 4}
	size := uint24(data[head+1:])
	if size < b.start+2 {
		return nil, t.corrupt(at, "block too short")
	}
	if b.typ == typeLog {
		n, err := t.inflate(b, data[at:t.end], size, inflated)
		if err != nil {
			return nil, err
		}
		b.next = at + n
	} else {
		if at+size > t.end {
			return nil, t.corrupt(at, "block outside of the file")
		}
		b.data = data[at : at+size]
		b.next = t.behind(data, at, size)
	}
	b.restarts = int(b.data[size-2])<<8 | int(b.data[size-1])
	b.end = size - 2 - 3*b.restarts
	if b.restarts == 0 || b.end < b.start {
		return nil, t.corrupt(at, "bad number of restarts")
	}
	return b, nil
}

// behind returns where the block after one of the given size begins: aligned if
// this one is padded, else at once.
func (t *Table) behind(data []byte, at, size int) int {
	end := at + size
	if t.blockSize == 0 || end >= t.end || data[end] != 0 {
		return end
	}
	return (end + t.blockSize - 1) / t.blockSize * t.blockSize
}

// inflate fills in the data of a block of logs and returns how many bytes of the
// file the block takes.
func (t *Table) inflate(b *block, data []byte, size int, memory []byte) (int, error) {
	if cap(memory) < size {
		memory = make([]byte, size)
	}
	b.data = memory[:size]
	copy(b.data, data[:b.start])
	in := bytes.NewReader(data[b.start:])
	r, err := zlib.NewReader(in)
	if err != nil {
		return 0, t.corrupt(b.at, "bad log block: "+err.Error())
	}
	if _, err := io.ReadFull(r, b.data[b.start:]); err != nil {
		return 0, t.corrupt(b.at, "bad log block: "+err.Error())
	}
	// The end of the stream, with its checksum, has to be read too: that is how
	// far the block goes.
	if n, err := r.Read(make([]byte, 1)); n != 0 || err != io.EOF {
		return 0, t.corrupt(b.at, "log block longer than it says")
	}
	return len(data) - in.Len(), nil
}

// A cursor walks the records of a block. key is the current record's.
type cursor struct {
	b     *block
	off   int    // of the value of the current record, then of the next record
	key   []byte // changes with each record
	extra uint64 // the low three bits beside the key's length
}

func (c *cursor) corrupt(problem string) error { return c.b.t.corrupt(c.b.at+c.off, problem) }

// varint reads a number.
func (c *cursor) varint() (uint64, error) {
	v, n := varint(c.b.data[c.off:c.b.end])
	if n == 0 {
		return 0, c.corrupt("bad number")
	}
	c.off += n
	return v, nil
}

// take returns the next n bytes.
func (c *cursor) take(n uint64) ([]byte, error) {
	if n > uint64(c.b.end-c.off) {
		return nil, c.corrupt("record outside of its block")
	}
	s := c.b.data[c.off : c.off+int(n)]
	c.off += int(n)
	return s, nil
}

// next reads the key of the record at off; the caller then reads its value. It
// returns false at the end of the block.
func (c *cursor) next() (bool, error) {
	if c.off >= c.b.end {
		return false, nil
	}
	prefix, err := c.varint()
	if err != nil {
		return false, err
	}
	length, err := c.varint()
	if err != nil {
		return false, err
	}
	if prefix > uint64(len(c.key)) {
		return false, c.corrupt("key shares more than there is")
	}
	suffix, err := c.take(length >> 3)
	if err != nil {
		return false, err
	}
	c.key = append(c.key[:prefix], suffix...)
	c.extra = length & 7
	return true, nil
}

// seek returns a cursor before the first record whose key is at least key, or
// before one closely in front of it.
func (b *block) seek(key []byte) (cursor, error) {
	var failed error
	restart := func(i int) int { return uint24(b.data[b.end+3*i:]) }
	i := sort.Search(b.restarts, func(i int) bool {
		c := cursor{b: b, off: restart(i)}
		if c.off < b.start || c.off >= b.end {
			failed = c.corrupt("bad restart")
			return true
		}
		if ok, err := c.next(); err != nil || !ok {
			failed = err
			return true
		}
		return bytes.Compare(c.key, key) > 0
	})
	if failed != nil {
		return cursor{}, failed
	}
	c := cursor{b: b, off: b.start}
	if i > 0 {
		c.off = restart(i - 1)
	}
	return c, nil
}

// find returns the block of the given type in which key is, or would be: the
// first whose last key is at least key. It is nil if there is none. first is the
// position of the first block of the section, index that of its index, 0 if it
// has none.
func (t *Table) find(data []byte, typ byte, first, index int, key []byte) (*block, error) {
	if index == 0 {
		return t.block(data, first, nil)
	}
	at := index
	for range maxDepth {
		b, err := t.block(data, at, nil)
		if err != nil || b.typ == typ {
			return b, err
		}
		if b.typ != typeIndex {
			return nil, t.corrupt(at, "not an index block")
		}
		c, err := b.seek(key)
		if err != nil {
			return nil, err
		}
		for {
			ok, err := c.next()
			if err != nil {
				return nil, err
			}
			if !ok {
				// The index may go on in the next block.
				if b.next >= t.end || b.next <= at {
					return nil, nil
				}
				if b, err = t.block(data, b.next, nil); err != nil || b.typ != typeIndex {
					return nil, err
				}
				c = cursor{b: b, off: b.start}
				continue
			}
			position, err := c.varint()
			if err != nil {
				return nil, err
			}
			if bytes.Compare(c.key, key) >= 0 {
				if position >= uint64(at) {
					return nil, t.corrupt(at, "index leads forward")
				}
				at = int(position)
				break
			}
		}
	}
	return nil, t.corrupt(index, "index is too deep")
}
