// Package inflate reads zlib streams, whole or just their beginning, into memory
// the caller reuses.
//
// It wraps the deflate decoder and does what package zlib does not: it grows the
// result with the data that really come, whatever size was promised, it goes on
// where it stopped, and it checks the end of the stream only when asked.
package inflate

import (
	"bufio"
	"bytes"
	"errors"
	"hash/adler32"
	"io"

	"github.com/klauspost/compress/flate"
)

// ErrFormat says that the data are no zlib stream, or a broken one.
var ErrFormat = errors.New("bad zlib stream")

// ErrChecksum says that a zlib stream's checksum does not match its content.
var ErrChecksum = errors.New("zlib checksum does not match")

// A Reader decompresses one zlib stream after another (RFC 1950). It is reusable
// and not safe for concurrent use. The zero Reader is ready for Reset.
type Reader struct {
	src   byteReader
	mem   bytes.Reader
	buf   *bufio.Reader
	flate io.ReadCloser
	sum   uint32 // Adler-32 of what was read
	err   error  // once set, every read fails with it
}

type byteReader interface {
	io.Reader
	io.ByteReader
}

// Reset starts the stream at the beginning of src, which may be followed by
// other data. src must not change while the stream is read.
func (r *Reader) Reset(src []byte) {
	r.mem.Reset(src)
	r.start(&r.mem)
}

// ResetReader starts the stream that src yields. It may read more of src than
// the stream's end.
func (r *Reader) ResetReader(src io.Reader) {
	if r.buf == nil {
		r.buf = bufio.NewReaderSize(src, 4096)
	} else {
		r.buf.Reset(src)
	}
	r.start(r.buf)
}

func (r *Reader) start(src byteReader) {
	r.src, r.sum, r.err = src, 1, nil
	cmf, err1 := src.ReadByte()
	flg, err2 := src.ReadByte()
	// Deflate, a window of at most 32 KiB, no preset dictionary.
	if err := errors.Join(err1, err2); err != nil {
		r.err = noEOF(err1, err2)
		return
	}
	if cmf&15 != 8 || cmf>>4 > 7 || (uint(cmf)<<8|uint(flg))%31 != 0 || flg&0x20 != 0 {
		r.err = ErrFormat
		return
	}
	if r.flate == nil {
		r.flate = flate.NewReader(src)
		return
	}
	r.err = r.flate.(flate.Resetter).Reset(src, nil)
}

func noEOF(errs ...error) error {
	for _, err := range errs {
		if err != nil && err != io.EOF {
			return err
		}
	}
	return io.ErrUnexpectedEOF
}

// step bounds how much memory is set aside before the data for it have come.
const step = 1 << 16

// Append inflates the next n bytes and appends them to dst. Fewer are an error:
// io.ErrUnexpectedEOF or io.EOF if the stream ends, another if it is broken; the
// result then holds what came. Memory grows with the data, not with n.
func (r *Reader) Append(dst []byte, n int64) ([]byte, error) {
	for n > 0 {
		if r.err != nil {
			return dst, r.err
		}
		free := cap(dst) - len(dst)
		if free == 0 || (int64(free) < n && free < step) {
			// At least double, up to what is wanted.
			dst = Grow(dst, int(min(n, int64(max(len(dst), step)))))
			free = cap(dst) - len(dst)
		}
		got, err := r.flate.Read(dst[len(dst) : len(dst)+int(min(n, int64(free)))])
		r.sum = update(r.sum, dst[len(dst):len(dst)+got])
		dst = dst[:len(dst)+got]
		n -= int64(got)
		if err != nil {
			r.fail(err)
		}
	}
	return dst, nil
}

// Release drops the source of the current stream, so that its memory may go.
func (r *Reader) Release() {
	r.mem.Reset(nil)
	if r.buf != nil {
		r.buf.Reset(nil)
	}
	r.err = io.ErrUnexpectedEOF
}

// Grow returns dst with room for n more bytes and not much more.
func Grow(dst []byte, n int) []byte {
	if cap(dst)-len(dst) >= n {
		return dst
	}
	return append(make([]byte, 0, len(dst)+n), dst...)
}

func (r *Reader) fail(err error) {
	var broken flate.CorruptInputError
	if errors.As(err, &broken) {
		err = ErrFormat
	}
	r.err = err
}

// Finish demands that the stream ends here and that its checksum is right.
func (r *Reader) Finish() error {
	var one [1]byte
	for r.err == nil {
		n, err := r.flate.Read(one[:])
		if n > 0 {
			return errors.New("zlib stream goes on past the declared size")
		}
		if err != nil {
			r.fail(err)
		}
	}
	if r.err != io.EOF {
		return r.err
	}
	var sum uint32
	for range 4 {
		b, err := r.src.ReadByte()
		if err != nil {
			return noEOF(err)
		}
		sum = sum<<8 | uint32(b)
	}
	if sum != r.sum {
		return ErrChecksum
	}
	return nil
}

// AtEnd reports, after Finish succeeded, whether nothing follows the stream.
func (r *Reader) AtEnd() bool {
	_, err := r.src.ReadByte()
	return err == io.EOF
}

// update continues an Adler-32 checksum.
func update(sum uint32, p []byte) uint32 {
	if sum == 1 {
		return adler32.Checksum(p)
	}
	const mod, most = 65521, 5552 // most bytes before the sums must be reduced
	s1, s2 := sum&0xffff, sum>>16
	for len(p) > 0 {
		q := p[:min(len(p), most)]
		p = p[len(q):]
		for _, b := range q {
			s1 += uint32(b)
			s2 += s1
		}
		s1, s2 = s1%mod, s2%mod
	}
	return s1 | s2<<16
}
