package chunk

import (
	"bytes"
	"encoding/binary"

	"gust/internal/pure/oid"
)

// FanoutSize is the size in bytes of a fan-out table: for every value of an
// object ID's first byte, the number of IDs whose first byte is at most that.
const FanoutSize = 256 * 4

// CheckFanout returns the number of IDs that a fan-out table counts. ok is false
// if the counts do not ascend or do not fit an int.
func CheckFanout(fanout []byte) (n int, ok bool) {
	var last uint32
	for i := 0; i < FanoutSize; i += 4 {
		v := binary.BigEndian.Uint32(fanout[i:])
		if v < last || v > 1<<31-1 {
			return 0, false
		}
		last = v
	}
	return int(last), true
}

// Search returns the position of id among the sorted IDs that lie stride bytes
// apart in ids, each at the start of its stride plus skip, using their fan-out
// table. Counts and IDs are read from a file that may have changed since it was
// checked: positions are kept within ids.
//
// Hot path: once per object looked up. Does not allocate.
func Search(fanout, ids []byte, stride, skip int, id *oid.ID) (pos int, ok bool) {
	b := int(id.First())
	lo, hi := 0, int(binary.BigEndian.Uint32(fanout[4*b:]))
	if b > 0 {
		lo = int(binary.BigEndian.Uint32(fanout[4*b-4:]))
	}
	if hi > len(ids)/stride || hi < 0 {
		hi = len(ids) / stride
	}
	raw := id.Raw()
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		at := mid*stride + skip
		switch c := bytes.Compare(ids[at:at+len(raw)], raw); {
		case c == 0:
			return mid, true
		case c < 0:
			lo = mid + 1
		default:
			hi = mid
		}
	}
	return 0, false
}
