package packfile

import "errors"

var (
	errDeltaCut   = errors.New("delta is cut off")
	errDeltaBase  = errors.New("delta was made for a base of another size")
	errDeltaCopy  = errors.New("delta copies from outside its base")
	errDeltaOp    = errors.New("delta has a reserved instruction")
	errDeltaSize  = errors.New("delta makes an object of another size than it declares")
	errDeltaLarge = errors.New("delta declares a size that is too large")
)

// A delta is the instructions of a delta and the sizes it declares.
type delta struct {
	baseSize, size int64
	ops            []byte
}

// parseDelta reads the sizes at the start of data. Only they need be there.
func parseDelta(data []byte) (d delta, err error) {
	if d.baseSize, data, err = deltaSize(data); err != nil {
		return d, err
	}
	d.size, d.ops, err = deltaSize(data)
	return d, err
}

// deltaHead is the most bytes the two sizes can take up.
const deltaHead = 2 * 9

func deltaSize(data []byte) (size int64, rest []byte, err error) {
	for i, b := range data {
		if i == 9 { // 63 bits read
			return 0, nil, errDeltaLarge
		}
		size |= int64(b&0x7f) << (7 * i)
		if b < 0x80 {
			return size, data[i+1:], nil
		}
	}
	return 0, nil, errDeltaCut
}

// check walks the instructions and finds out, before memory is set aside for it,
// whether they make what d declares.
func (d *delta) check(baseLen int) error {
	if d.baseSize != int64(baseLen) {
		return errDeltaBase
	}
	var made int64
	for ops := d.ops; len(ops) > 0; {
		off, n, insert, rest, err := nextOp(ops)
		if err != nil {
			return err
		}
		if !insert && (off > int64(baseLen) || n > int64(baseLen)-off) {
			return errDeltaCopy
		}
		made += n
		if made > d.size {
			return errDeltaSize
		}
		ops = rest
		if insert {
			ops = rest[n:]
		}
	}
	if made != d.size {
		return errDeltaSize
	}
	return nil
}

// apply appends the first n bytes of what d makes from base to dst. d must have
// been checked with base's length.
func (d *delta) apply(dst, base []byte, n int64) []byte {
	end := int64(len(dst)) + n
	for ops := d.ops; int64(len(dst)) < end; {
		off, size, insert, rest, err := nextOp(ops)
		if err != nil {
			panic("packfile: delta changed since it was checked")
		}
		take := min(size, end-int64(len(dst)))
		if insert {
			dst = append(dst, rest[:take]...)
			rest = rest[size:]
		} else {
			dst = append(dst, base[off:off+take]...)
		}
		ops = rest
	}
	return dst
}

// nextOp reads the instruction at the start of ops, which are not empty: copy n
// bytes of the base at off, or insert the n bytes that rest starts with.
func nextOp(ops []byte) (off, n int64, insert bool, rest []byte, err error) {
	op := ops[0]
	ops = ops[1:]
	if op == 0 {
		return 0, 0, false, nil, errDeltaOp
	}
	if op < 0x80 {
		if int(op) > len(ops) {
			return 0, 0, false, nil, errDeltaCut
		}
		return 0, int64(op), true, ops, nil
	}
	for i := range 7 {
		if op>>i&1 == 0 {
			continue
		}
		if len(ops) == 0 {
			return 0, 0, false, nil, errDeltaCut
		}
		if i < 4 {
			off |= int64(ops[0]) << (8 * i)
		} else {
			n |= int64(ops[0]) << (8 * (i - 4))
		}
		ops = ops[1:]
	}
	if n == 0 {
		n = 0x10000
	}
	return off, n, false, ops, nil
}
