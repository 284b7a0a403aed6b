// Package object holds object types, file modes, and copy-free parsing of
// commit, tree and tag bytes.
//
// The formats are those that git-cat-file(1) prints and git-hash-object(1)
// checks:
//
//	tree    { mode in octal digits, ' ', name, NUL, raw object ID } ...
//	commit  "tree" hex, { "parent" hex }, "author" ident, "committer" ident,
//	        other headers, an empty line, the message
//	tag     "object" hex, "type" name, "tag" name, "tagger" ident, an empty
//	        line, the message
//
// Git reads old and odd objects leniently; so do these parsers: they demand
// what they return and skip the rest.
package object

import (
	"errors"
	"fmt"
	"strconv"
)

// A Type is the type of an object. Its values are those of gitformat-pack(5).
// The zero value is no type.
type Type uint8

// The types of objects.
const (
	Commit Type = 1
	Tree   Type = 2
	Blob   Type = 3
	Tag    Type = 4
)

// String returns the name that object headers use: "commit", "tree", "blob" or
// "tag".
func (t Type) String() string {
	switch t {
	case Commit:
		return "commit"
	case Tree:
		return "tree"
	case Blob:
		return "blob"
	case Tag:
		return "tag"
	}
	return "invalid object type " + strconv.Itoa(int(t))
}

// ParseType returns the type with the given name.
func ParseType[S string | []byte](name S) (Type, bool) {
	switch string(name) {
	case "commit":
		return Commit, true
	case "tree":
		return Tree, true
	case "blob":
		return Blob, true
	case "tag":
		return Tag, true
	}
	return 0, false
}

// A Mode is the mode of a tree or index entry.
type Mode uint32

// The modes that Git gives to entries.
const (
	ModeTree    Mode = 0o040000
	ModeFile    Mode = 0o100644
	ModeExec    Mode = 0o100755
	ModeSymlink Mode = 0o120000
	ModeGitlink Mode = 0o160000
)

const modeType = 0o170000

// Canonical returns the one of the five modes that Git takes m for: regular
// files are executable or not by their owner's bit, and whatever is neither
// file, symbolic link nor tree is a gitlink. Old trees hold modes like 100664.
func (m Mode) Canonical() Mode {
	switch m & modeType {
	case ModeFile & modeType:
		if m&0o100 != 0 {
			return ModeExec
		}
		return ModeFile
	case ModeSymlink:
		return ModeSymlink
	case ModeTree:
		return ModeTree
	}
	return ModeGitlink
}

// IsTree reports whether m is the mode of a tree.
func (m Mode) IsTree() bool { return m&modeType == ModeTree }

// IsRegular reports whether m is the mode of a regular file, executable or not.
func (m Mode) IsRegular() bool { return m&modeType == ModeFile&modeType }

// String returns m in six octal digits, as git-ls-tree(1) prints it.
func (m Mode) String() string { return fmt.Sprintf("%06o", uint32(m)) }

// ErrTooLarge says that an object exceeds the size that its reader was allowed to
// take into memory.
var ErrTooLarge = errors.New("object is too large")

// A CorruptError reports bytes that break their format. Every reader of
// objects, and of the files that hold them, returns it.
type CorruptError struct {
	Path    string // file that holds the bytes; "" while only the bytes are known
	Offset  int64  // in the file, or in the object's content if Path names none
	Problem string
}

func (e *CorruptError) Error() string {
	if e.Path == "" {
		return fmt.Sprintf("corrupt object: %s at offset %d", e.Problem, e.Offset)
	}
	return fmt.Sprintf("corrupt file '%s': %s at offset %d", e.Path, e.Problem, e.Offset)
}
