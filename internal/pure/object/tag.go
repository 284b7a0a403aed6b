package object

import (
	"bytes"

	"gust/internal/pure/oid"
)

// A TagData is a parsed annotated tag.
type TagData struct {
	Object  oid.ID // what it tags
	Type    Type   // of Object
	Name    []byte // aliases the tag's content
	Message []byte // aliases the tag's content; nil if the data end before it
}

// ParseTag parses the tag whose content is data. Data cut off after the "tag"
// line are fine. The error is a *CorruptError without a path.
func ParseTag(data []byte, a oid.Algo) (TagData, error) {
	var t TagData
	id, rest, err := headerID(data, "object ", a)
	if err != nil {
		return t, err
	}
	t.Object = id
	name, rest, ok := cutHeader(rest, "type ")
	if ok {
		t.Type, ok = ParseType(name)
	}
	if !ok {
		return t, &CorruptError{Offset: int64(len(data) - len(rest)), Problem: "bad 'type' header"}
	}
	t.Name, rest, ok = cutHeader(rest, "tag ")
	if !ok {
		return t, &CorruptError{Offset: int64(len(data) - len(rest)), Problem: "bad 'tag' header"}
	}
	_, t.Message = headersEnd(rest)
	return t, nil
}

// cutHeader returns the value of the header line at the start of data and what
// follows it.
func cutHeader(data []byte, prefix string) (value, rest []byte, ok bool) {
	if !bytes.HasPrefix(data, []byte(prefix)) {
		return nil, data, false
	}
	value, rest, ok = bytes.Cut(data[len(prefix):], []byte("\n"))
	if !ok {
		return nil, data, false
	}
	return value, rest, true
}
