package packfile

import (
	"errors"
	"fmt"
	"io"

	"gust/internal/pure/inflate"
	"gust/internal/pure/object"
	"gust/internal/pure/oid"
)

// A Scratch is the memory that reading takes, kept from one read to the next. It
// is not safe for concurrent use. The zero Scratch is ready.
type Scratch struct {
	z     inflate.Decoder
	plain inflate.Reader // where the pack is not mapped
	head  [64]byte       // start of an entry, where the pack is not mapped
	chain []link
	delta []byte
	bufs  [2][]byte // results too large for the cache
}

// A link is a delta on the way from an object to its base.
type link struct {
	off  int64 // of the entry
	body int64 // of its zlib stream
	size int64 // of the delta, inflated
}

// scratchKeep is the most memory a Scratch keeps in a buffer between reads.
const scratchKeep = 1 << 20

// Read appends the first n bytes of the object whose entry is at off to dst, or
// all of it if n is negative, and returns its type and whole size. With n it
// inflates no more than it must, and the end of the data is not checked. The
// error is a *CorruptError, object.ErrTooLarge wrapped, or tells why the files cannot
// be read; dst then is as it was.
func (p *Pack) Read(s *Scratch, off int64, dst []byte, n int64) (typ object.Type, size int64, out []byte, err error) {
	src, err := p.open()
	if err != nil {
		return 0, 0, dst, err
	}
	out = dst
	err = src.do(func(data []byte) error {
		r := reading{p: p, s: s, src: src, data: data}
		var err error
		typ, size, out, err = r.object(off, dst, n)
		return err
	})
	s.trim()
	if err != nil {
		return 0, 0, dst, err
	}
	return typ, size, out, nil
}

// Stat returns the type and size in bytes of the object whose entry is at off.
func (p *Pack) Stat(s *Scratch, off int64) (typ object.Type, size int64, err error) {
	src, err := p.open()
	if err != nil {
		return 0, 0, err
	}
	err = src.do(func(data []byte) error {
		r := reading{p: p, s: s, src: src, data: data}
		var err error
		typ, size, err = r.stat(off)
		return err
	})
	return typ, size, err
}

func (s *Scratch) trim() {
	s.plain.Release()
	if cap(s.delta) > scratchKeep {
		s.delta = nil
	}
	for i := range s.bufs {
		if cap(s.bufs[i]) > scratchKeep {
			s.bufs[i] = nil
		}
	}
	if cap(s.chain) > scratchKeep/64 {
		s.chain = nil
	}
}

// A reading is one access to a pack's content.
type reading struct {
	p    *Pack
	s    *Scratch
	src  *source
	data []byte // nil if the pack is not mapped
}

// An entry is the parsed start of a pack entry.
type entry struct {
	typ  object.Type // or ofsDelta, refDelta
	size int64       // of what the zlib stream holds
	body int64       // offset of the zlib stream
	base int64       // of a delta: offset of its base's entry
}

const (
	ofsDelta = 6
	refDelta = 7
)

// bytes returns what is at off, up to the end of the entries, or a few bytes at
// least where the pack is not mapped.
func (r *reading) bytes(off int64) ([]byte, error) {
	end := r.src.size - int64(r.p.algo.Size())
	if off < packHead || off >= end {
		return nil, r.p.corrupt(off, "offset outside the pack")
	}
	if r.data != nil {
		return r.data[off:end], nil
	}
	buf := r.s.head[:min(end-off, int64(len(r.s.head)))]
	return buf, r.src.readAt(buf, off)
}

func (r *reading) entry(off int64) (e entry, err error) {
	b, err := r.bytes(off)
	if err != nil {
		return e, err
	}
	cut := func() (entry, error) { return entry{}, r.p.corrupt(off, "pack entry is cut off") }
	c := b[0]
	e.typ, e.size = object.Type(c>>4&7), int64(c&15)
	i := 1
	for shift := 4; c >= 0x80; shift += 7 {
		if i == len(b) {
			return cut()
		}
		if shift > 53 { // the next would be past 60 bits
			return e, r.p.corrupt(off, "size of pack entry too large")
		}
		c = b[i]
		i++
		e.size |= int64(c&0x7f) << shift
	}
	switch e.typ {
	case object.Commit, object.Tree, object.Blob, object.Tag:
	case ofsDelta:
		dist, n := offsetEncoding(b[i:])
		if n == 0 {
			return cut()
		}
		i += n
		if dist <= 0 || dist > off-packHead {
			return e, r.p.corrupt(off, "base of delta lies outside the pack")
		}
		e.base = off - dist
	case refDelta:
		if len(b)-i < r.p.algo.Size() {
			return cut()
		}
		if e.base, err = r.find(off, oid.FromBytes(r.p.algo, b[i:])); err != nil {
			return e, err
		}
		i += r.p.algo.Size()
	default:
		return e, r.p.corrupt(off, fmt.Sprintf("pack entry of unknown type %d", e.typ))
	}
	e.body = off + int64(i)
	return e, nil
}

// offsetEncoding reads the distance of an ofs-delta and the number of bytes it
// takes up; 0 bytes if it is cut off, a negative distance if it is too large.
func offsetEncoding(b []byte) (dist int64, n int) {
	for i, c := range b {
		if i > 0 {
			dist++
		}
		if dist >= 1<<55 {
			return -1, i + 1
		}
		dist = dist<<7 | int64(c&0x7f)
		if c < 0x80 {
			return dist, i + 1
		}
	}
	return 0, 0
}

// find returns the offset of a ref-delta's base.
func (r *reading) find(off int64, id oid.ID) (int64, error) {
	base, ok, err := r.p.Find(&id)
	if err != nil {
		return 0, err
	}
	if !ok {
		return 0, r.p.corrupt(off, "base "+id.String()+" of delta is not in the pack")
	}
	return base, nil
}

// follow goes down the deltas from the entry at off, leaving them in s.chain, to
// an entry that is none, or that is in the cache. It is in the cache if the type
// returned is not zero.
func (r *reading) follow(off int64) (base entry, at int64, typ object.Type, content []byte, err error) {
	r.s.chain = r.s.chain[:0]
	for at = off; ; {
		if typ, content, ok := r.p.o.Cache.get(r.p, at); ok {
			return base, at, typ, content, nil
		}
		if base, err = r.entry(at); err != nil {
			return base, at, 0, nil, err
		}
		if base.typ != ofsDelta && base.typ != refDelta {
			return base, at, 0, nil, nil
		}
		// Only ref-deltas can form a ring; no chain has more objects than the pack.
		if len(r.s.chain) >= r.p.idx.Len() {
			return base, at, 0, nil, r.p.corrupt(off, "deltas form a ring")
		}
		r.s.chain = append(r.s.chain, link{at, base.body, base.size})
		at = base.base
	}
}

// object is Read.
func (r *reading) object(off int64, dst []byte, n int64) (object.Type, int64, []byte, error) {
	base, at, typ, content, err := r.follow(off)
	if err != nil {
		return 0, 0, dst, err
	}
	chain := r.s.chain
	if typ == 0 && len(chain) == 0 {
		out, err := r.stream(dst, off, base.body, base.size, n)
		return base.typ, base.size, out, err
	}
	if typ == 0 {
		typ = base.typ
		if content, err = r.stream(r.buffer(0, base.size), at, base.body, base.size, -1); err != nil {
			return 0, 0, dst, err
		}
		r.keep(0, at, typ, content)
	}
	for i := len(chain) - 1; i >= 0; i-- {
		d, err := r.delta(chain[i], len(content))
		if err != nil {
			return 0, 0, dst, err
		}
		if i == 0 {
			if n < 0 || n > d.size {
				n = d.size
			}
			return typ, d.size, d.apply(inflate.Grow(dst, int(n)), content, n), nil
		}
		turn := len(chain) - i
		content = d.apply(inflate.Grow(r.buffer(turn, d.size), int(d.size)), content, d.size)
		r.keep(turn, chain[i].off, typ, content)
	}
	// The object itself is in the cache.
	if n < 0 || n > int64(len(content)) {
		n = int64(len(content))
	}
	return typ, int64(len(content)), append(dst, content[:n]...), nil
}

// buffer returns an empty buffer for size bytes: memory that the cache may keep,
// or one of the two that large results alternate between. What a delta makes is
// known to be as large as size; of a stream it is only a hint.
func (r *reading) buffer(turn int, size int64) []byte {
	if size <= scratchKeep && r.p.o.Cache.fits(int(size)) {
		return make([]byte, 0, size)
	}
	return r.s.bufs[turn&1][:0]
}

// keep gives content, made in buffer's memory, to the cache, or back.
func (r *reading) keep(turn int, off int64, typ object.Type, content []byte) {
	if size := len(content); size <= scratchKeep && r.p.o.Cache.fits(size) {
		r.p.o.Cache.put(r.p, off, typ, content)
		return
	}
	r.s.bufs[turn&1] = content
}

// delta inflates and checks a delta to a base of baseLen bytes.
func (r *reading) delta(l link, baseLen int) (delta, error) {
	var err error
	if r.s.delta, err = r.stream(r.s.delta[:0], l.off, l.body, l.size, -1); err != nil {
		return delta{}, err
	}
	d, err := parseDelta(r.s.delta)
	if err == nil {
		err = d.check(baseLen)
	}
	if err != nil {
		return d, r.p.corrupt(l.off, err.Error())
	}
	return d, r.limit(l.off, d.size)
}

func (r *reading) limit(off, size int64) error {
	if size > r.p.o.MaxObject {
		return fmt.Errorf("%w: %d bytes at offset %d of '%s'", object.ErrTooLarge, size, off, r.p.path)
	}
	return nil
}

// stream appends the first n bytes of the zlib stream at body to dst, or all its
// size bytes if n is negative or not less, and then checks its end.
func (r *reading) stream(dst []byte, off, body, size, n int64) ([]byte, error) {
	whole := n < 0 || n >= size
	if whole {
		n = size
		if err := r.limit(off, size); err != nil {
			return dst, err
		}
	}
	end := r.src.size - int64(r.p.algo.Size())
	body = min(body, end)
	var out []byte
	var err error
	switch {
	case r.data == nil:
		z := &r.s.plain
		z.ResetReader(io.NewSectionReader(r.src.file, body, end-body))
		if out, err = z.Append(dst, n); err == nil && whole {
			err = z.Finish()
		}
	case whole:
		out, _, err = r.s.z.Whole(dst, r.data[body:end], n)
	default:
		out, err = r.s.z.Prefix(dst, r.data[body:end], n)
	}
	if err == nil {
		return out, nil
	}
	if err == io.EOF {
		err = errors.New("zlib stream ends before the declared size")
	}
	var pe interface{ Timeout() bool } // an error of the file, not of its content
	if errors.As(err, &pe) {
		return dst, err
	}
	return dst, r.p.corrupt(off, err.Error())
}

// stat is Stat.
func (r *reading) stat(off int64) (object.Type, int64, error) {
	e, err := r.entry(off)
	if err != nil {
		return 0, 0, err
	}
	if e.typ != ofsDelta && e.typ != refDelta {
		return e.typ, e.size, nil
	}
	r.s.delta, err = r.stream(r.s.delta[:0], off, e.body, e.size, min(e.size, deltaHead))
	if err != nil {
		return 0, 0, err
	}
	d, err := parseDelta(r.s.delta)
	if err != nil {
		return 0, 0, r.p.corrupt(off, err.Error())
	}
	base, _, typ, _, err := r.follow(off)
	if err != nil {
		return 0, 0, err
	}
	if typ == 0 {
		typ = base.typ
	}
	return typ, d.size, nil
}
