package object

import (
	"bytes"

	"gust/internal/pure/oid"
)

// A CommitData is a parsed commit.
type CommitData struct {
	Tree       oid.ID
	Parents    []oid.ID
	CommitTime int64  // seconds since 1970; 0 if the committer line is broken, as in Git
	Encoding   []byte // of Message, as the commit names it; nil means UTF-8
	Message    []byte // nil if the data end before it
}

// ParseCommit parses the commit whose content is data. Encoding and Message
// alias data. The error is a *CorruptError without a path.
func ParseCommit(data []byte, a oid.Algo) (CommitData, error) {
	var c CommitData
	id, rest, err := headerID(data, "tree ", a)
	if err != nil {
		return c, err
	}
	c.Tree = id
	for isParent(rest, a) {
		if id, rest, err = headerID(rest, "parent ", a); err != nil {
			err.Offset += int64(len(data) - len(rest))
			return c, err
		}
		c.Parents = append(c.Parents, id)
	}
	c.CommitTime = commitTime(rest)
	c.Encoding, c.Message = headersEnd(rest)
	return c, nil
}

// isParent reports whether headers start with a parent line. As to Git, one that
// is cut off at the end of the content is none.
func isParent(headers []byte, a oid.Algo) bool {
	const prefix = "parent "
	return len(headers) > len(prefix)+a.HexSize() && string(headers[:len(prefix)]) == prefix
}

// A CommitHead is what a walk over history needs of a commit.
type CommitHead struct {
	Tree       oid.ID
	Parents    []oid.ID
	CommitTime int64 // as in CommitData
}

// ParseHead parses the start of a commit's content into h, reusing h.Parents.
// Unless whole says that data is all there is, it may be cut off anywhere; ok is
// false if that left something out, and the caller must read more. The error is
// a *CorruptError without a path.
//
// Hot path: once per commit walked. Does not allocate if h.Parents has room.
func (h *CommitHead) ParseHead(data []byte, whole bool, a oid.Algo) (ok bool, err error) {
	h.Parents, h.CommitTime = h.Parents[:0], 0
	if !whole && len(data) <= len("tree ")+a.HexSize()+1 {
		return false, nil
	}
	tree, rest, corrupt := headerID(data, "tree ", a)
	if corrupt != nil {
		return false, corrupt
	}
	h.Tree = tree
	for isParent(rest, a) {
		if !whole && len(rest) <= len("parent ")+a.HexSize()+1 {
			return false, nil
		}
		var id oid.ID
		if id, rest, corrupt = headerID(rest, "parent ", a); corrupt != nil {
			corrupt.Offset += int64(len(data) - len(rest))
			return false, corrupt
		}
		h.Parents = append(h.Parents, id)
	}
	if !whole { // the rest, perhaps part of a parent line, is to be two whole lines
		i := bytes.IndexByte(rest, '\n')
		if i < 0 || bytes.IndexByte(rest[i+1:], '\n') < 0 {
			return false, nil
		}
	}
	h.CommitTime = commitTime(rest)
	return true, nil
}

// headerID parses the header line at the start of data that consists of prefix
// and an object ID, and returns what follows the line; as to Git, something must.
func headerID(data []byte, prefix string, a oid.Algo) (oid.ID, []byte, *CorruptError) {
	n := len(prefix) + a.HexSize()
	if len(data) <= n+1 || string(data[:len(prefix)]) != prefix || data[n] != '\n' {
		return oid.ID{}, data, &CorruptError{Problem: "bad '" + prefix[:len(prefix)-1] + "' header"}
	}
	id, err := oid.Parse(a, data[len(prefix):n])
	if err != nil {
		return oid.ID{}, data, &CorruptError{Offset: int64(len(prefix)), Problem: err.Error()}
	}
	return id, data[n+1:], nil
}

// commitTime returns the time in the committer line, given the headers from the
// author line on, or 0 if it is broken. Git demands just these two lines in just
// this order.
func commitTime(headers []byte) int64 {
	if !bytes.HasPrefix(headers, []byte("author ")) {
		return 0
	}
	_, rest, ok := bytes.Cut(headers, []byte("\n"))
	if !ok || !bytes.HasPrefix(rest, []byte("committer ")) {
		return 0
	}
	line, _, ok := bytes.Cut(rest, []byte("\n"))
	if !ok {
		return 0
	}
	// The name may hold '>' too: the time follows the last one.
	line = bytes.TrimLeft(line[bytes.LastIndexByte(line, '>')+1:], " \t\v\f\r")
	return ParseTime(line)
}

// ParseTime returns the number of seconds that the decimal digits at the start of
// text stand for, 0 where there are none or too many.
func ParseTime(text []byte) int64 {
	var t int64
	for i, c := range text {
		if c < '0' || c > '9' {
			break
		}
		if i >= 18 { // no more fits an int64; Git's limit is about the same
			return 0
		}
		t = t*10 + int64(c-'0')
	}
	return t
}

// headersEnd returns the value of the encoding header and what follows the empty
// line that ends the headers.
func headersEnd(headers []byte) (encoding, message []byte) {
	for len(headers) > 0 {
		line, rest, ok := bytes.Cut(headers, []byte("\n"))
		if !ok {
			return encoding, nil
		}
		if len(line) == 0 {
			return encoding, rest
		}
		if v, ok := bytes.CutPrefix(line, []byte("encoding ")); ok && encoding == nil {
			encoding = v
		}
		headers = rest
	}
	return encoding, nil
}

// Subject appends the subject of a commit or tag message to dst: the first
// paragraph folded to one line, as git-log(1) prints for %s.
func Subject(dst, message []byte) []byte {
	start := len(dst)
	for len(message) > 0 {
		line, rest, _ := bytes.Cut(message, []byte("\n"))
		message = rest
		line = bytes.TrimRight(line, " \t\r") // what Git takes for white space
		if len(line) == 0 {
			if len(dst) > start {
				break
			}
			continue // leading empty lines
		}
		if len(dst) > start {
			dst = append(dst, ' ')
		}
		dst = append(dst, line...)
	}
	return dst
}
