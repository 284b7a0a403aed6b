// Package packfile holds packs, their .idx files, and delta chains.
//
// A pack (gitformat-pack(5)), numbers in network byte order:
//
//	"PACK", 4-byte version (2 or 3), 4-byte number of objects
//	entries
//	hash of all of the above
//
// An entry starts with its type (bits 4 to 6 of the first byte) and the size of
// its content (the low 4 bits, then 7 bits a byte as long as the highest bit is
// set, least significant first). Types 1 to 4 are those of object.Type; an
// ofs-delta (6) then has the distance back to its base's entry (7 bits a byte,
// most significant first, one added before each shift), a ref-delta (7) the raw
// ID of its base. A zlib stream of the content, or of the delta, follows.
//
// A delta is the size of its base, the size of its result (both 7 bits a byte,
// least significant first) and instructions: a byte with the highest bit set
// copies from the base, its low bits telling which bytes of the offset (4) and
// the size (3; zero means 0x10000) follow; any other byte but zero is a number of
// bytes to insert.
//
// An index, version 1, all 4-byte numbers:
//
//	fan-out table: 256 counts of objects whose first byte is at most that
//	{ offset in the pack, raw object ID } ..., by ID
//	the pack's hash, hash of all of the above
//
// and version 2:
//
//	0xff "tOc", version
//	fan-out table
//	raw object IDs, in order
//	CRC-32 of each entry
//	offset of each entry; with the highest bit set the rest is a row of the next
//	8-byte offsets
//	the pack's hash, hash of all of the above
package packfile

import "gust/internal/pure/object"

// A CorruptError names the file and the offset of bytes that break the format.
type CorruptError = object.CorruptError
