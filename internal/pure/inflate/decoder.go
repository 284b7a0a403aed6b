package inflate

import (
	"encoding/binary"
	"errors"
	"io"
	"math"
	"math/bits"
)

// A Decoder decompresses zlib streams that lie in memory, straight into the
// result. Most objects are small and of many only the start is wanted, so what
// counts is to set up quickly and to stop at once: it takes a third of the time
// that a stream decoder does for a whole commit, and a sixth for its headers.
//
// It is reusable and not safe for concurrent use. The zero Decoder is ready.
type Decoder struct {
	lit   table
	dist  table
	fixed bool // they hold the codes that need no description

	syms [maxLit + maxDist]uint16 // memory for the codes of the block being read
	lens [maxLit + maxDist]uint8

	// The input. Bits are taken from the low end of buf, which holds n of them; of
	// these the last 8*phantom are not from src.
	src     []byte
	pos     int
	buf     uint64
	n       uint
	phantom uint
}

var errPastEnd = errors.New("zlib stream goes on past the declared size")

// Prefix appends the first n bytes of what the stream at the start of src holds to
// dst. The stream may be cut off behind them. The error is io.EOF if the stream
// ends before, io.ErrUnexpectedEOF if src does, or ErrFormat. With io.EOF the
// result is all there is. Memory grows with the data, not with n.
func (d *Decoder) Prefix(dst, src []byte, n int64) ([]byte, error) {
	if err := d.start(src); err != nil {
		return dst, err
	}
	out, ended, err := d.inflate(dst, n)
	if err == nil && ended && int64(len(out)-len(dst)) < n {
		err = io.EOF
	}
	if int64(len(out)-len(dst)) > n {
		out = out[:len(dst)+int(n)]
	}
	return out, err
}

// Whole appends what the stream at the start of src holds to dst and returns how
// many bytes of src it takes up. That must be n bytes, and have the right
// checksum. Errors are those of Prefix and ErrChecksum.
func (d *Decoder) Whole(dst, src []byte, n int64) (out []byte, used int, err error) {
	if err := d.start(src); err != nil {
		return dst, 0, err
	}
	out, ended, err := d.inflate(dst, n+1)
	switch got := int64(len(out) - len(dst)); {
	case err != nil:
		return out, 0, err
	case got > n || !ended:
		return out, 0, errPastEnd
	case got < n:
		return out, 0, io.EOF
	}
	end := d.pos - int(d.n-8*d.phantom)/8 // whole bytes not used go back
	if len(src)-end < 4 {
		return out, 0, io.ErrUnexpectedEOF
	}
	if binary.BigEndian.Uint32(src[end:]) != update(1, out[len(dst):]) {
		return out, 0, ErrChecksum
	}
	return out, end + 4, nil
}

// start reads the header of the stream: deflate, a window of at most 32 KiB, no
// preset dictionary.
func (d *Decoder) start(src []byte) error {
	if len(src) < 2 {
		return io.ErrUnexpectedEOF
	}
	if src[0]&15 != 8 || src[0]>>4 > 7 || binary.BigEndian.Uint16(src)%31 != 0 || src[1]&0x20 != 0 {
		return ErrFormat
	}
	d.src, d.pos, d.buf, d.n, d.phantom = src, 2, 0, 0, 0
	return nil
}

// inflate appends at least `least` bytes to dst, or all there are, in which case ended
// is true.
func (d *Decoder) inflate(dst []byte, least int64) (out []byte, ended bool, err error) {
	defer func() { d.src = nil }()
	base := len(dst)
	for final := false; !final; {
		if int64(len(dst)-base) >= least {
			return dst, false, nil
		}
		d.refill()
		final = d.bits(1) == 1
		switch d.bits(2) {
		case 0:
			dst, err = d.stored(dst, base, least)
		case 1:
			d.setFixed()
			dst, err = d.block(dst, base, least)
		case 2:
			if err = d.dynamic(); err == nil {
				dst, err = d.block(dst, base, least)
			}
		default:
			err = ErrFormat
		}
		if err == errEnough {
			return dst, false, nil
		}
		if d.overrun() {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return dst, false, err
		}
	}
	return dst, true, nil
}

// errEnough says that a block was left before its end.
var errEnough = errors.New("enough")

// refill makes buf hold at least 56 bits. Past the end of src they are zero.
func (d *Decoder) refill() {
	if len(d.src)-d.pos >= 8 {
		d.buf |= binary.LittleEndian.Uint64(d.src[d.pos:]) << d.n
		d.pos += int(63-d.n) >> 3
		d.n |= 56
		return
	}
	for d.n <= 56 {
		if d.pos < len(d.src) {
			d.buf |= uint64(d.src[d.pos]) << d.n
			d.pos++
		} else {
			d.phantom++
		}
		d.n += 8
	}
}

// overrun reports whether bits were used that src does not have.
func (d *Decoder) overrun() bool { return d.n < 8*d.phantom }

// bits takes n bits, of which refill must have provided enough.
func (d *Decoder) bits(n uint) uint {
	v := uint(d.buf) & (1<<n - 1)
	d.buf >>= n
	d.n -= n
	return v
}

// stored copies a block that is not compressed.
func (d *Decoder) stored(dst []byte, base int, least int64) ([]byte, error) {
	d.bits(d.n & 7)
	d.refill()
	size := d.bits(16)
	if size != d.bits(16)^0xffff {
		return dst, ErrFormat
	}
	if d.overrun() {
		return dst, io.ErrUnexpectedEOF
	}
	d.pos -= int(d.n-8*d.phantom) / 8
	d.buf, d.n, d.phantom = 0, 0, 0
	if want := least - int64(len(dst)-base); int64(size) > want {
		size = uint(want)
	} else if uint(len(d.src)-d.pos) < size {
		return dst, io.ErrUnexpectedEOF
	}
	if uint(len(d.src)-d.pos) < size {
		return dst, io.ErrUnexpectedEOF
	}
	dst = append(dst, d.src[d.pos:d.pos+int(size)]...)
	d.pos += int(size)
	return dst, nil
}

// room is what a result has at least before the next symbol is decoded: the
// longest match.
const room = 258

// block decodes a block with the codes in d.lit and d.dist. It returns errEnough
// once it has made `least` bytes since base.
func (d *Decoder) block(dst []byte, base int, least int64) ([]byte, error) {
	w := len(dst)
	enough := base + int(min(least, math.MaxInt-int64(base)-2*room))
	buf := dst[:cap(dst)]
	for {
		if len(buf)-w < room {
			buf = d.room(buf, w, enough)
		}
		// Bits for a literal or length and a distance with their extra bits: 48.
		d.refill()
		if d.phantom > 0 && d.overrun() {
			return buf[:w], io.ErrUnexpectedEOF
		}
		e := d.lit.first[d.buf&(1<<litBits-1)]
		if e&isLiteral != 0 {
			// Two more literals fit the bits, and often follow.
			d.skip(e)
			buf[w] = byte(e >> 16)
			w++
			e = d.lit.first[d.buf&(1<<litBits-1)]
			if e&isLiteral != 0 {
				d.skip(e)
				buf[w] = byte(e >> 16)
				w++
				if w >= enough {
					return buf[:w], d.enough()
				}
				continue
			}
			if w >= enough {
				return buf[:w], d.enough()
			}
			d.refill()
		}
		if e&isLink != 0 {
			e = d.lit.follow(e, d.buf, litBits)
		}
		if e&isLiteral != 0 {
			d.skip(e)
			buf[w] = byte(e >> 16)
			w++
			if w >= enough {
				return buf[:w], d.enough()
			}
			continue
		}
		if e&isSpecial != 0 {
			d.skip(e)
			if e&isEnd == 0 {
				return buf[:w], ErrFormat
			}
			return buf[:w], nil
		}
		length := d.value(e)
		e = d.dist.first[d.buf&(1<<distBits-1)]
		if e&isLink != 0 {
			e = d.dist.follow(e, d.buf, distBits)
		}
		if e&isSpecial != 0 {
			return buf[:w], ErrFormat
		}
		dist := d.value(e)
		if dist > w-base {
			return buf[:w], ErrFormat
		}
		from := w - dist
		for end := w + length; w < end; {
			w += copy(buf[w:end], buf[from:w]) // more each time, as it may overlap
		}
		if w >= enough {
			return buf[:w], d.enough()
		}
	}
}

// enough tells whether what was made is made of src alone.
func (d *Decoder) enough() error {
	if d.overrun() {
		return io.ErrUnexpectedEOF
	}
	return errEnough
}

// room returns buf, of which w bytes are used, with room for a symbol, and for as
// much more, up to enough, as is in proportion to what has come.
func (d *Decoder) room(buf []byte, w, enough int) []byte {
	more := min(max(enough-w, 0), max(w, step))
	return append(make([]byte, 0, w+more+room), buf[:w]...)[:w+more+room]
}

// skip takes the bits of an entry.
func (d *Decoder) skip(e uint32) {
	d.buf >>= e & 63
	d.n -= uint(e & 63)
}

// value takes the bits of an entry for a length or distance and returns it.
func (d *Decoder) value(e uint32) int {
	v := uint(e>>16) + uint(d.buf)&(1<<(e&63)-1)>>(e>>8&15)
	d.buf >>= e & 63
	d.n -= uint(e & 63)
	return int(v)
}

// setFixed sets up the codes that need no description.
func (d *Decoder) setFixed() {
	if d.fixed {
		return
	}
	d.fixed = true
	for i := range d.syms {
		d.syms[i] = uint16(i)
		switch {
		case i < 144:
			d.lens[i] = 8
		case i < 256:
			d.lens[i] = 9
		case i < 280:
			d.lens[i] = 7
		case i < maxLit:
			d.lens[i] = 8
		default:
			d.syms[i], d.lens[i] = uint16(i-maxLit), 5
		}
	}
	// Complete codes: they cannot fail.
	d.lit.build(literals, code{d.syms[:maxLit], d.lens[:maxLit]}, litBits)
	d.dist.build(distances, code{d.syms[maxLit:], d.lens[maxLit:]}, distBits)
}

// dynamic reads the description of a block's codes and sets them up.
func (d *Decoder) dynamic() error {
	d.fixed = false
	lits, dists, codes := int(d.bits(5))+257, int(d.bits(5))+1, int(d.bits(4))+4
	if lits > 286 || dists > 30 {
		return ErrFormat
	}
	order := [19]uint8{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}
	var lens [19]uint8
	for i := range codes {
		if i&15 == 0 {
			d.refill()
		}
		lens[order[i]] = uint8(d.bits(3))
	}
	c := code{d.syms[:0], d.lens[:0]}
	for sym, n := range lens {
		c.add(sym, 1, n)
	}
	// The table of literals is free until their code is known.
	if !d.lit.build(codeLengths, c, codeBits) {
		return ErrFormat
	}
	c, n, err := d.lengths(lits, lits+dists)
	if err != nil {
		return err
	}
	lit, dist := code{c.syms[:n], c.lens[:n]}, code{c.syms[n:], c.lens[n:]}
	if !d.dist.build(distances, dist, distBits) || !d.lit.build(literals, lit, litBits) {
		return ErrFormat
	}
	return nil
}

// add gives n symbols from sym on a code of the given length, if it is not zero.
func (c *code) add(sym, n int, length uint8) {
	if length == 0 {
		return
	}
	for i := range n {
		c.syms = append(c.syms, uint16(sym+i))
		c.lens = append(c.lens, length)
	}
}

// lengths reads the lengths of the codes of all symbols. The first n that it
// returns are literals.
func (d *Decoder) lengths(lits, all int) (c code, n int, err error) {
	c = code{d.syms[:0], d.lens[:0]}
	last := uint8(0)
	for i := 0; i < all; {
		d.refill()
		e := d.lit.first[d.buf&(1<<codeBits-1)]
		d.skip(e)
		repeat := 1
		switch sym := e >> 16; {
		case sym < 16:
			last = uint8(sym)
		case sym == 16:
			if i == 0 {
				return c, 0, ErrFormat
			}
			repeat = 3 + int(d.bits(2))
		case sym == 17:
			last, repeat = 0, 3+int(d.bits(3))
		default:
			last, repeat = 0, 11+int(d.bits(7))
		}
		if d.overrun() {
			return c, 0, io.ErrUnexpectedEOF
		}
		if repeat > all-i {
			return c, 0, ErrFormat
		}
		c.add(i, repeat, last)
		i += repeat
	}
	end := false // a block without it could not end
	for n < len(c.syms) && int(c.syms[n]) < lits {
		end = end || c.syms[n] == 256
		n++
	}
	if !end {
		return c, 0, ErrFormat
	}
	for i := n; i < len(c.syms); i++ {
		c.syms[i] -= uint16(lits)
	}
	return c, n, nil
}

// maxLit and maxDist are the number of symbols of the fixed codes, more than any
// other has.
const (
	maxLit  = 288
	maxDist = 32
)

// reverse advances a code whose bits are reversed, most significant last, to the
// next of the same length; all ones has none.
func reverse(code, length uint) uint {
	top := uint(1) << (bits.Len(^code&(1<<length-1)) - 1)
	return code&(top-1) | top
}
