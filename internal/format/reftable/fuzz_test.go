package reftable

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"testing"

	"gust/internal/pure/oid"
)

// fix gives a table's footer the header's bytes and its checksum, so that damage
// elsewhere is read.
func fix(data []byte) {
	header := headerV1
	if len(data) > 4 && data[4] == 2 {
		header = headerV2
	}
	end := len(data) - header - positions - 4
	if end < header {
		return
	}
	copy(data[end:], data[:header])
	binary.BigEndian.PutUint32(data[len(data)-4:], crc32.ChecksumIEEE(data[end:len(data)-4]))
}

func FuzzTable(f *testing.F) {
	for _, data := range seeds() {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<16 {
			return
		}
		fix(data)
		for _, algo := range []oid.Algo{oid.SHA1, oid.SHA256} {
			_, _, err := walk(data, algo)
			var corrupt *CorruptError
			if err != nil && !errors.As(err, &corrupt) {
				t.Fatalf("%v, want a *CorruptError", err)
			}
		}
	})
}

// seeds returns small tables put together by hand: an empty one, and one with two
// refs, both versions.
func seeds() [][]byte {
	var all [][]byte
	for version, header := range map[byte]int{1: headerV1, 2: headerV2} {
		head := make([]byte, header)
		copy(head, magic)
		head[4], head[6] = version, 0x10
		size := 20
		if version == 2 {
			copy(head[headerV1:], "s256")
			size = 32
		}
		foot := make([]byte, header+positions+4)
		empty := append(append([]byte(nil), head...), foot...)
		fix(empty)
		all = append(all, empty)
		refs := append([]byte(nil), head...)
		refs = append(refs, typeRef, 0, 0, 0)
		refs = append(refs, 0, 4<<3|3, 'H', 'E', 'A', 'D', 0, 6, 'r', 'e', 'f', 's', '/', 'x')
		refs = append(refs, 0, 6<<3|1, 'r', 'e', 'f', 's', '/', 'x', 0)
		refs = append(refs, make([]byte, size)...)
		refs = append(refs, 0, 0, byte(header+4), 0, 1)
		refs[header+3] = byte(len(refs))
		refs = append(refs, foot...)
		fix(refs)
		all = append(all, refs)
	}
	return all
}

func TestSeeds(t *testing.T) {
	refs := 0
	for _, data := range seeds() {
		algo := oid.SHA1
		if data[4] == 2 {
			algo = oid.SHA256
		}
		n, _, err := walk(data, algo)
		if err != nil {
			t.Errorf("version %d: %v", data[4], err)
		}
		refs += n
	}
	if refs == 0 {
		t.Error("no refs in any table")
	}
}
