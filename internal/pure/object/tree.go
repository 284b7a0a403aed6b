package object

import (
	"bytes"

	"gust/internal/pure/oid"
)

// A TreeEntry is one entry of a tree.
type TreeEntry struct {
	Mode Mode   // canonical
	Name []byte // aliases the tree's content; not empty, holds no NUL
	ID   oid.ID
}

// A TreeReader reads the entries of a tree in the order stored, which is Git's:
// by name, trees compared as if their name ended in '/'. It does not check the
// order, nor names ("..", ".git" or a '/' within them), as Git's reader does not.
type TreeReader struct {
	data []byte // the whole tree
	off  int    // of the next entry
	algo oid.Algo
}

// NewTreeReader returns a reader of the tree whose content is data.
func NewTreeReader(data []byte, a oid.Algo) TreeReader {
	return TreeReader{data: data, algo: a}
}

// Next reads the next entry into e and reports whether there was one. Its error
// is a *CorruptError without a path.
//
// Hot path: once per tree entry. Does not allocate.
func (r *TreeReader) Next(e *TreeEntry) (bool, error) {
	d := r.data[r.off:]
	if len(d) == 0 {
		return false, nil
	}
	var mode Mode
	i := 0
	for ; i < len(d) && '0' <= d[i] && d[i] <= '7'; i++ {
		if mode > 0o7777777 {
			return false, r.corrupt("mode of tree entry too long")
		}
		mode = mode<<3 | Mode(d[i]-'0')
	}
	if i == 0 || i == len(d) || d[i] != ' ' {
		return false, r.corrupt("bad mode of tree entry")
	}
	name := d[i+1:]
	end := bytes.IndexByte(name, 0)
	switch {
	case end < 0:
		return false, r.corrupt("unterminated name of tree entry")
	case end == 0:
		return false, r.corrupt("empty name of tree entry")
	case len(name)-end-1 < r.algo.Size():
		return false, r.corrupt("truncated tree entry")
	}
	e.Mode = mode.Canonical()
	e.Name = name[:end:end]
	e.ID = oid.FromBytes(r.algo, name[end+1:])
	r.off += i + 1 + end + 1 + r.algo.Size()
	return true, nil
}

func (r *TreeReader) corrupt(problem string) error {
	return &CorruptError{Offset: int64(r.off), Problem: problem}
}
