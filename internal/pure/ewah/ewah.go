// Package ewah holds EWAH-compressed bitmaps: decode, iterate, OR, AND-NOT, count.
//
// The serialized form is that of gitformat-bitmap(5), appendix A, which the
// "link", "UNTR" and "FSMN" extensions of gitformat-index(5) share. All numbers
// are in network byte order:
//
//	4 bytes  number of bits of the uncompressed bitmap
//	4 bytes  number of compressed words
//	8 bytes  each compressed word
//	4 bytes  position of the last run-length word (only of use to append)
//
// A run-length word comes first. Its lowest bit is the value of a run of equal
// words, the next 32 bits the run's length in words, and the highest 31 bits the
// number of literal words that follow it; then comes the next run-length word.
// Bit i of the bitmap is bit i%64, from the lowest, of word i/64.
package ewah

import (
	"encoding/binary"
	"math"
	"math/bits"

	"gust/internal/pure/object"
)

// A Bitmap is a compressed bitmap, read where it lies. The zero Bitmap is empty.
// It is immutable and safe for concurrent use.
type Bitmap struct {
	words []byte // compressed words, 8 bytes each; checked by Parse
	bits  int    // length declared
}

const (
	headSize = 8
	tailSize = 4
)

// maxPos bounds positions so that they fit an int on every system. Runs of zeros
// are the only words that can lie beyond the caller's max.
const maxPos = min(math.MaxInt>>1, 1<<32)

// Parse reads the bitmap at the start of data and returns the number of bytes it
// takes up. The Bitmap aliases data. A bitmap with a bit set at or above max is
// refused: all that Each visits is below max, and no method needs memory or time
// beyond that of max bits and len(data) bytes. The error is a
// *object.CorruptError with an offset from the start of data and no path.
func Parse(data []byte, max int) (b Bitmap, n int, err error) {
	if n, err = Size(data); err != nil {
		return b, 0, err
	}
	b.words = data[headSize : n-tailSize]
	if declared := binary.BigEndian.Uint32(data); uint64(declared) < uint64(max) {
		b.bits = int(declared)
	} else {
		b.bits = max
	}
	if off, problem := b.check(max); problem != "" {
		return Bitmap{}, 0, corrupt(headSize+int64(off), problem)
	}
	return b, n, nil
}

// Size returns the number of bytes that the bitmap at the start of data takes up,
// without looking at its words. The error is Parse's.
func Size(data []byte) (int, error) {
	if len(data) < headSize+tailSize {
		return 0, corrupt(0, "truncated EWAH bitmap")
	}
	count := uint64(binary.BigEndian.Uint32(data[4:]))
	if count > uint64(len(data)-headSize-tailSize)/8 {
		return 0, corrupt(4, "EWAH bitmap has more words than there are data")
	}
	return headSize + int(count)*8 + tailSize, nil
}

func corrupt(off int64, problem string) error {
	return &object.CorruptError{Offset: off, Problem: problem}
}

// check walks the run-length words and finds a word that is missing, or a bit set
// at or above max.
func (b *Bitmap) check(max int) (off int, problem string) {
	var pos uint64 // in words
	limit := uint64(max)
	for off < len(b.words) {
		bit, run, literals := split(b.word(off))
		if bit && run > 0 && (pos+run)*64 > limit {
			return off, "EWAH bit out of range"
		}
		pos += run
		off += 8
		if literals > uint64(len(b.words)-off)/8 {
			return off - 8, "EWAH literal words missing"
		}
		for range literals {
			if w := b.word(off); w != 0 && pos*64+uint64(bits.Len64(w)) > limit {
				return off, "EWAH bit out of range"
			}
			pos++
			off += 8
		}
		if pos*64 > maxPos {
			return off - 8, "EWAH bitmap too long"
		}
	}
	return 0, ""
}

func (b *Bitmap) word(off int) uint64 { return binary.BigEndian.Uint64(b.words[off:]) }

func split(w uint64) (bit bool, run, literals uint64) {
	return w&1 != 0, w >> 1 & 0xffffffff, w >> 33
}

// Len returns the number of bits the bitmap declares, at most Parse's max. Bits
// set may lie beyond it: Git rounds up to whole words, or forgets to count.
func (b *Bitmap) Len() int { return b.bits }

// Each calls visit with the position of every bit set, in ascending order, until
// visit returns false.
func (b *Bitmap) Each(visit func(pos int) bool) {
	pos := 0 // in bits
	for off := 0; off < len(b.words); {
		bit, run, literals := split(b.word(off))
		off += 8
		if bit {
			for end := pos + int(run)*64; pos < end; pos++ {
				if !visit(pos) {
					return
				}
			}
		} else {
			pos += int(run) * 64
		}
		for range literals {
			for w := b.word(off); w != 0; w &= w - 1 {
				if !visit(pos + bits.TrailingZeros64(w)) {
					return
				}
			}
			pos += 64
			off += 8
		}
	}
}

// Count returns the number of bits set.
func (b *Bitmap) Count() int {
	n := 0
	for off := 0; off < len(b.words); {
		bit, run, literals := split(b.word(off))
		off += 8
		if bit {
			n += int(run) * 64
		}
		for range literals {
			n += bits.OnesCount64(b.word(off))
			off += 8
		}
	}
	return n
}
