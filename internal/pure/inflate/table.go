package inflate

// A table decodes one Huffman code. The next bits of the input select an entry of
// first; for a code longer than those, that entry links to a part of rest, which
// further bits select from.
//
// An entry is made of
//
//	bits 0-5    bits to take: of the code, and extra ones of the value
//	bits 8-11   bits of the code alone
//	bits 12-15  what it is
//	bits 16-31  literal, or base of the length or distance, or start of the part
//	            of rest
//
// For a link the low bits give the number of bits that select from the part.
type table struct {
	first [1 << litBits]uint32
	rest  []uint32
	kind  kind
}

// follow returns the entry that e, a link, leads to with the bits in buf.
func (t *table) follow(e uint32, buf uint64, width uint) uint32 {
	return t.rest[uint(e>>16)+uint(buf>>width)&(1<<(e&63)-1)]
}

// A kind says what the symbols of a code are.
type kind uint8

const (
	codeLengths kind = iota
	literals         // and lengths
	distances
)

// entry returns the entry for a symbol without the bits of its code.
func (k kind) entry(sym uint16) uint32 {
	switch {
	case k == literals && sym < 256:
		return isLiteral | uint32(sym)<<16
	case k == codeLengths:
		return uint32(sym) << 16
	case k == distances && sym >= 30:
		return isSpecial
	case k == distances && sym < 4:
		return uint32(sym+1) << 16
	case k == distances:
		extra := uint32(sym>>1 - 1)
		return (uint32(2+sym&1)<<extra+1)<<16 | extra
	case sym == 256:
		return isSpecial | isEnd
	case sym < 265:
		return uint32(sym-257+3) << 16
	case sym < 285:
		extra := uint32((sym - 261) >> 2)
		return (uint32(4+(sym-261)&3)<<extra+3)<<16 | extra
	case sym == 285:
		return 258 << 16
	}
	return isSpecial
}

// Bits that select from table.first. More would take longer to set up than they
// save for the small objects that most are.
const (
	litBits  = 9
	distBits = 7
	codeBits = 7 // the longest code of code lengths
)

const maxBits = 15 // of a code

const (
	isLiteral = 1 << 12
	isLink    = 1 << 13
	isSpecial = 1 << 14 // the end, or no code at all
	isEnd     = 1 << 15
)

// A code is the symbols that have a code and the lengths of these, by symbol.
type code struct {
	syms []uint16
	lens []uint8
}

// build makes t decode c. It reports false if there is no such code. As zlib does,
// it takes one that leaves bits without a meaning only if its one symbol has one
// bit, or if there is no symbol, and never for code lengths.
func (t *table) build(k kind, c code, width uint) bool {
	var count, at [maxBits + 2]uint16
	for _, n := range c.lens {
		count[n]++
	}
	left, longest := 1, uint(0)
	for n := 1; n <= maxBits; n++ {
		left = left<<1 - int(count[n])
		if left < 0 {
			return false
		}
		if count[n] > 0 {
			longest = uint(n)
		}
		at[n+1] = at[n] + count[n]
	}
	t.kind = k
	if left > 0 {
		if k == codeLengths || longest > 1 {
			return false
		}
		for i := range uint(1) << width {
			t.first[i] = isSpecial | 1
			if len(c.syms) == 1 && i&1 == 0 {
				t.first[i] = k.entry(c.syms[0]) + 1<<8 + 1
			}
		}
		return true
	}
	var sorted [maxLit]uint16 // symbols by length
	for i, n := range c.lens {
		sorted[at[n]] = c.syms[i]
		at[n]++
	}
	t.complete(sorted[:len(c.syms)], count[:], width)
	return true
}

// complete is build for a code that gives every bit a meaning. Codes are numbered
// in the order of lengths and symbols. Short ones are written once into a table
// for their length, which is doubled as lengths grow.
func (t *table) complete(sorted []uint16, count []uint16, width uint) {
	code, end, k := uint(0), uint(1), 0
	for n := uint(1); n <= width && k < len(sorted); n++ {
		copy(t.first[end:2*end], t.first[:end])
		end *= 2
		for range count[n] {
			t.first[code] = t.kind.entry(sorted[k]) + uint32(n)<<8 + uint32(n)
			k++
			if k < len(sorted) {
				code = reverse(code, n)
			}
		}
	}
	for ; end < 1<<width; end *= 2 {
		copy(t.first[end:2*end], t.first[:end])
	}
	t.long(sorted[k:], count, code, width)
}

// long adds the codes that are longer than width, of which code is the first.
func (t *table) long(sorted []uint16, count []uint16, code, width uint) {
	t.rest = t.rest[:0]
	var prefix, start, deep uint
	open := false
	n := width + 1
	for k, sym := range sorted {
		for count[n] == 0 {
			n++
		}
		count[n]--
		if p := code & (1<<width - 1); !open || p != prefix {
			prefix, open = p, true
			start, deep = uint(len(t.rest)), n-width
			// The part must be as wide as its longest code: as many as are left of each
			// length until they fill it.
			room := int(1)<<deep - int(count[n]) - 1
			for l := n + 1; room > 0; l++ {
				deep++
				room = room<<1 - int(count[l])
			}
			t.rest = append(t.rest, make([]uint32, 1<<deep)...)
			t.first[p] = isLink | uint32(start)<<16 | uint32(deep)
		}
		e := t.kind.entry(sym) + uint32(n)<<8 + uint32(n)
		for i := code >> width; i < 1<<deep; i += 1 << (n - width) {
			t.rest[start+i] = e
		}
		if k+1 < len(sorted) {
			code = reverse(code, n)
		}
	}
}
