// Package index reads and writes the index file, versions 2 to 4, with its
// extensions, in its split and sparse forms.
//
// The layout is that of gitformat-index(5). All numbers are in network byte
// order:
//
//	"DIRC", version (2, 3 or 4), number of entries             4 bytes each
//	entries, sorted by path bytes, then by stage:
//	  ctime, mtime (seconds, nanoseconds), dev, ino, mode,
//	  uid, gid, size                                           10 x 4 bytes
//	  object ID                                                20 or 32 bytes
//	  flags: assume-valid 1 bit, extended 1, stage 2, name length 12
//	  with the extended bit: 1 reserved, skip-worktree 1, intent-to-add 1, unused 13
//	  version 2 and 3: the path, then 1 to 8 NUL bytes up to a multiple of 8
//	  version 4: how many bytes to drop from the previous path
//	  (a variable width integer), what to append, NUL
//	extensions: signature (4 bytes), size (4 bytes), content
//	the hash of all before it, or zeros (index.skipHash)
//
// In memory the index is columns without pointers. A directory table, in the
// order in which the directories first appear, holds every directory with an
// entry below it; an entry holds its directory and base name. Paths are built
// when somebody asks.
package index
