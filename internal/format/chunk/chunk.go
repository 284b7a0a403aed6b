// Package chunk holds the chunk container that multi-pack-index and commit-graph
// files share.
//
// As gitformat-chunk(5) has it, behind a file's own header lies a table of
// contents of 12-byte rows, one for each chunk and one more: a 4-byte chunk ID
// and the 8-byte offset in the file where the chunk starts, in network byte
// order and ascending. The last row has ID zero and tells where the last chunk
// ends.
package chunk

import (
	"encoding/binary"
	"fmt"

	"gust/internal/pure/object"
)

const rowSize = 12

// A Table says where the chunks of a file are. It holds no part of the file.
type Table struct {
	chunks []span
}

type span struct {
	id         uint32
	start, end int // in the file
}

// ID returns the chunk ID that the four characters of name stand for.
func ID(name string) uint32 {
	return uint32(name[0])<<24 | uint32(name[1])<<16 | uint32(name[2])<<8 | uint32(name[3])
}

// Parse reads the table of contents of count chunks at offset toc of a file with
// the given content, whose last trailer bytes belong to no chunk. The error is a
// *object.CorruptError without a path.
func Parse(data []byte, toc, count, trailer int) (Table, error) {
	var t Table
	end := toc + (count+1)*rowSize
	limit := len(data) - trailer
	if limit < end {
		return t, corrupt(int64(len(data)), "table of contents is cut off")
	}
	t.chunks = make([]span, 0, count)
	for i := range count {
		at := toc + i*rowSize
		id := binary.BigEndian.Uint32(data[at:])
		start, stop := binary.BigEndian.Uint64(data[at+4:]), binary.BigEndian.Uint64(data[at+4+rowSize:])
		if id == 0 {
			return Table{}, corrupt(int64(at), "table of contents ends early")
		}
		if start < uint64(end) || stop < start || stop > uint64(limit) {
			return Table{}, corrupt(int64(at+4), fmt.Sprintf("chunk %08x lies outside the file", id))
		}
		for _, c := range t.chunks {
			if c.id == id {
				return Table{}, corrupt(int64(at), fmt.Sprintf("second chunk %08x", id))
			}
		}
		t.chunks = append(t.chunks, span{id, int(start), int(stop)})
	}
	if id := binary.BigEndian.Uint32(data[end-rowSize:]); id != 0 {
		return Table{}, corrupt(int64(end-rowSize), "table of contents does not end")
	}
	return t, nil
}

func corrupt(off int64, problem string) error {
	return &object.CorruptError{Offset: off, Problem: problem}
}

// Find returns where in the file the chunk with the given ID starts and ends.
func (t *Table) Find(id uint32) (start, end int, ok bool) {
	for _, c := range t.chunks {
		if c.id == id {
			return c.start, c.end, true
		}
	}
	return 0, 0, false
}

// A Span is the part of a file that a chunk takes up.
type Span struct{ Start, End int }

// Of returns the span's bytes.
func (s Span) Of(data []byte) []byte { return data[s.Start:s.End:s.End] }

// Require returns the span of a chunk that must be there and have the given size
// in bytes, or any size if that is negative. The error is a *object.CorruptError
// without a path.
func (t *Table) Require(name string, size int64) (Span, error) {
	start, end, ok := t.Find(ID(name))
	if !ok {
		return Span{}, corrupt(0, "no "+name+" chunk")
	}
	if size >= 0 && int64(end-start) != size {
		return Span{}, corrupt(int64(start), fmt.Sprintf("%s chunk has %d bytes, want %d", name, end-start, size))
	}
	return Span{start, end}, nil
}
