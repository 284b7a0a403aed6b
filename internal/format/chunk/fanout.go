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
	lo := LowerBound(fanout, ids, stride, skip, id)
	raw := id.Raw()
	at := lo*stride + skip
	if at+len(raw) <= len(ids) && bytes.Equal(ids[at:at+len(raw)], raw) {
		return lo, true
	}
	return 0, false
}

// LowerBound is Search for the position of the first ID that is not below id; it
// may be that behind the last one.
//
// Hot path: once per object looked up. Does not allocate.
func LowerBound(fanout, ids []byte, stride, skip int, id *oid.ID) (pos int) {
	b := int(id.First())
	lo, hi := 0, int(binary.BigEndian.Uint32(fanout[4*b:]))
	if b > 0 {
		lo = int(binary.BigEndian.Uint32(fanout[4*b-4:]))
	}
	if hi > len(ids)/stride || hi < 0 {
		hi = len(ids) / stride
	}
	if lo < 0 || lo > hi {
		return hi
	}
	raw := id.Raw()
	key := binary.BigEndian.Uint64(raw)
	below := func(i int) bool { // reports whether the i-th ID is below id
		at := i*stride + skip
		if v := binary.BigEndian.Uint64(ids[at:]); v != key {
			return v < key
		}
		return bytes.Compare(ids[at:at+len(raw)], raw) < 0
	}
	if hi-lo > guessFrom {
		lo, hi = narrow(lo, hi, key, below)
	}
	for lo < hi {
		if mid := int(uint(lo+hi) >> 1); below(mid) {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// guessFrom is the size of a bucket from which on guessing pays: it saves about
// half of the cache lines that halving touches.
const guessFrom = 64

// narrow returns a part of [lo, hi) that id must be in, if it is in it. IDs are as
// good as random, so it looks around the place where the bytes behind the first
// say that id is, in steps that double.
func narrow(lo, hi int, key uint64, below func(int) bool) (int, int) {
	guess := lo + int(uint64(hi-lo)*(key>>24&0xffffffff)>>32)
	step := 8
	if below(guess) {
		lo = guess + 1
		for lo+step < hi {
			if !below(lo + step) {
				return lo, lo + step
			}
			lo += step + 1
			step *= 2
		}
		return lo, hi
	}
	hi = guess
	for hi-step >= lo {
		if below(hi - step) {
			return hi - step + 1, hi
		}
		hi -= step
		step *= 2
	}
	return lo, hi
}
