package ewah

import "math/bits"

// Bits is an uncompressed bitmap: bit i is bit i%64, from the lowest, of word
// i/64. Bits beyond its words are zero, and are not set by the methods.
type Bits []uint64

// NewBits returns a bitmap of n zero bits.
func NewBits(n int) Bits { return make(Bits, (n+63)/64) }

// Get reports whether bit i is set.
func (s Bits) Get(i int) bool { return i>>6 < len(s) && s[i>>6]>>(i&63)&1 != 0 }

// Set sets bit i, which must be within s.
func (s Bits) Set(i int) { s[i>>6] |= 1 << (i & 63) }

// Count returns the number of bits set.
func (s Bits) Count() int {
	n := 0
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}

// Each calls visit with the position of every bit set, in ascending order, until
// visit returns false.
func (s Bits) Each(visit func(pos int) bool) {
	for i, w := range s {
		for ; w != 0; w &= w - 1 {
			if !visit(i<<6 + bits.TrailingZeros64(w)) {
				return
			}
		}
	}
}

// Or sets every bit of s that is set in b.
func (s Bits) Or(b *Bitmap) {
	b.apply(len(s), func(i int, w uint64) { s[i] |= w })
}

// AndNot clears every bit of s that is set in b.
func (s Bits) AndNot(b *Bitmap) {
	b.apply(len(s), func(i int, w uint64) { s[i] &^= w })
}

// Xor flips every bit of s that is set in b. Bitmap files store some bitmaps as
// their difference from an earlier one.
func (s Bits) Xor(b *Bitmap) {
	b.apply(len(s), func(i int, w uint64) { s[i] ^= w })
}

// CountAnd returns the number of bits that are set in both.
func (s Bits) CountAnd(b *Bitmap) int {
	n := 0
	b.apply(len(s), func(i int, w uint64) { n += bits.OnesCount64(s[i] & w) })
	return n
}

// OrBits sets every bit of s that is set in t, which must not be longer.
func (s Bits) OrBits(t Bits) {
	for i, w := range t {
		s[i] |= w
	}
}

// AndNotBits clears every bit of s that is set in t, which must not be longer.
func (s Bits) AndNotBits(t Bits) {
	for i, w := range t {
		s[i] &^= w
	}
}

// apply calls f with every uncompressed word that is not zero, below index n.
func (b *Bitmap) apply(n int, f func(i int, w uint64)) {
	pos := 0 // in words
	for off := 0; off < len(b.words) && pos < n; {
		bit, run, literals := split(b.word(off))
		off += 8
		if bit {
			for i := range min(int(run), n-pos) {
				f(pos+i, ^uint64(0))
			}
		}
		pos += int(run)
		for range literals {
			if pos < n {
				f(pos, b.word(off))
			}
			pos++
			off += 8
		}
	}
}
