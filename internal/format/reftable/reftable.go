// Package reftable reads reftable files and stacks.
//
// The format is described in Git's technical notes, reftable(7). A table is
//
//	header     "REFT", version 1 or 2, uint24 block size, uint64 smallest and
//	           largest update index; in version 2 the hash function's name
//	blocks     of refs ('r'), perhaps their index ('i'), perhaps object IDs ('o')
//	           and their index, perhaps logs ('g'), deflated, and their index
//	footer     the header again, the positions of the sections, and a CRC-32
//
// A block is a type, a uint24 length, records sorted by key, the uint24 offsets
// of records whose keys stand in full (restarts), and the uint16 number of these.
// Other records' keys lack what they share with the key before them. The first
// block begins with the header; its length and its offsets count from there.
//
// A stack is a directory with tables and a file tables.list that names them, the
// oldest first. What a newer table says of a key hides what older ones say.
package reftable

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"gust/internal/disk/filestat"
	"gust/internal/disk/mmap"
	"gust/internal/pure/oid"
)

// A CorruptError reports bytes that break the format.
type CorruptError struct {
	Path    string
	Offset  int64 // of the block or record, in bytes
	Problem string
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("corrupt reftable '%s' at offset %d: %s", e.Path, e.Offset, e.Problem)
}

const (
	magic = "REFT"

	headerV1 = 24
	headerV2 = 28
	// positions is the size of the footer's five section positions.
	positions = 5 * 8

	// maxDepth bounds the levels of an index: a level names at least two blocks
	// of the level below, and there are less than 2^24 blocks of refs.
	maxDepth = 24
)

// A Table is an open reftable file. It is immutable and safe for concurrent use.
type Table struct {
	file *mmap.File
	algo oid.Algo

	blockSize int // alignment of ref blocks, 0 if they are not aligned
	header    int // size of the header
	end       int // position of the footer
	min       uint64
	refIndex  int // positions of sections, 0 where there is none
	logs      int
	logIndex  int
	hasRefs   bool
}

// Open opens the table at path, whose object IDs are of algo. The error is a
// *CorruptError or that of opening the file. The caller must Close the Table.
func Open(path string, algo oid.Algo) (*Table, error) {
	file, err := openFile(path)
	if err != nil {
		return nil, err
	}
	t := &Table{file: file, algo: algo}
	if err := file.Do(t.parse); err != nil {
		file.Close()
		return nil, err
	}
	return t, nil
}

// small is the size in bytes up to which a table is read rather than mapped: most
// tables hold one transaction.
const small = 64 << 10

func openFile(path string) (*mmap.File, error) {
	var st filestat.Stat
	if filestat.Of(&st, path) == nil && st.IsRegular() && st.Size <= small {
		data, _, err := filestat.ReadFile(path, small)
		if err == nil {
			return mmap.InMemory(path, data), nil
		}
	}
	return mmap.Open(path)
}

// Close releases the file.
func (t *Table) Close() error { return t.file.Close() }

func (t *Table) corrupt(at int, problem string) error {
	return &CorruptError{Path: t.file.Path(), Offset: int64(at), Problem: problem}
}

// parse reads header and footer.
func (t *Table) parse(data []byte) error {
	if len(data) < headerV1 || string(data[:4]) != magic {
		return t.corrupt(0, "not a reftable")
	}
	algo := oid.SHA1
	switch version := data[4]; {
	case version == 1:
		t.header = headerV1
	case version == 2 && len(data) >= headerV2:
		t.header = headerV2
		switch string(data[headerV1:headerV2]) {
		case "sha1":
		case "s256":
			algo = oid.SHA256
		default:
			return t.corrupt(headerV1, "unknown hash function")
		}
	default:
		return t.corrupt(4, "unknown version")
	}
	if algo != t.algo {
		return t.corrupt(headerV1, fmt.Sprintf("object IDs are of %s, not of %s", algo, t.algo))
	}
	t.end = len(data) - t.header - positions - 4
	if t.end < t.header {
		return t.corrupt(len(data), "too short")
	}
	footer := data[t.end:]
	if !bytes.Equal(footer[:t.header], data[:t.header]) {
		return t.corrupt(t.end, "footer differs from header")
	}
	sum := len(footer) - 4
	if crc32.ChecksumIEEE(footer[:sum]) != binary.BigEndian.Uint32(footer[sum:]) {
		return t.corrupt(t.end, "bad footer checksum")
	}
	t.blockSize = uint24(data[5:])
	t.min = binary.BigEndian.Uint64(data[8:])
	return t.sections(footer[t.header:], data)
}

// sections reads the positions of the sections.
func (t *Table) sections(p, data []byte) error {
	var at [5]int
	for i := range at {
		v := binary.BigEndian.Uint64(p[8*i:])
		if i == 1 {
			v >>= 5 // the length of abbreviated object IDs
		}
		if v > uint64(t.end) {
			return t.corrupt(t.end+t.header+8*i, "section outside of the file")
		}
		at[i] = int(v)
	}
	t.refIndex, t.logs, t.logIndex = at[0], at[3], at[4]
	if t.header < t.end {
		first := data[t.header]
		t.hasRefs = first == typeRef
		if first == typeLog {
			t.logs = 0 // the first block, which begins with the header
		} else if t.logs == 0 {
			t.logs = -1
		}
	} else {
		t.logs = -1
	}
	return nil
}

func uint24(b []byte) int { return int(b[0])<<16 | int(b[1])<<8 | int(b[2]) }

// varint reads a variable-length number from the front of b and returns its
// length in bytes, 0 if b is too short or the number too large.
func varint(b []byte) (v uint64, n int) {
	for n < len(b) && n < 10 {
		c := b[n]
		if n > 0 {
			if v > 1<<56 {
				return 0, 0
			}
			v = (v + 1) << 7
		}
		v |= uint64(c & 0x7f)
		n++
		if c&0x80 == 0 {
			return v, n
		}
	}
	return 0, 0
}
