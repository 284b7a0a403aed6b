// Package loose holds loose objects: one zlib stream per file.
//
// The stream of the object with ID "abcdef…" is the file ab/cdef… in the object
// directory. It holds the name of the type, a space, the size of the content in
// decimal digits, a NUL, and the content; nothing follows it
// (gitrepository-layout(5), git-hash-object(1)).
package loose

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"

	"gust/internal/pure/inflate"
	"gust/internal/pure/object"
	"gust/internal/pure/oid"
)

// A CorruptError names the file and the offset of bytes that break the format.
type CorruptError = object.CorruptError

// A Reader reads loose objects, reusing its memory. It is not safe for
// concurrent use.
type Reader struct {
	// MaxObject is the size in bytes of the largest object that is read whole;
	// zero means no limit.
	MaxObject int64

	mem    inflate.Decoder
	stream inflate.Reader // of files too large for buf
	head   [headMax]byte
	path   []byte
	buf    []byte
}

// memMax is the size of the largest file that is read whole before it is decoded,
// which is faster: that of most objects that are no images.
const memMax = 64 << 10

// headMax is the most bytes that Git lets type and size take up, NUL included.
const headMax = 32

// AppendPath appends the path of the object's file to dst, which holds the path
// of the object directory.
func AppendPath(dst []byte, id oid.ID) []byte {
	dst = append(dst, '/')
	n := len(dst)
	dst = id.AppendHex(append(dst, 0))
	dst[n], dst[n+1], dst[n+2] = dst[n+1], dst[n+2], '/'
	return dst
}

// Read appends the first n bytes of the object in the object directory dir to
// dst, or all of it if n is negative, and returns its type and whole size. With n
// it inflates no more than it must, and the end of the file is not checked. The
// error is a *CorruptError, object.ErrTooLarge wrapped, or that of opening or reading the
// file: fs.ErrNotExist if there is no such object. dst then is as it was.
func (r *Reader) Read(dir string, id oid.ID, dst []byte, n int64) (typ object.Type, size int64, out []byte, err error) {
	r.path = AppendPath(append(r.path[:0], dir...), id)
	path := string(r.path)
	st, err := os.Lstat(path)
	if err == nil && !st.Mode().IsRegular() {
		// Opening a FIFO would block. Git follows symbolic links, so look again.
		if st, err = os.Stat(path); err == nil && !st.Mode().IsRegular() {
			err = &fs.PathError{Op: "open", Path: path, Err: errors.New("not a regular file")}
		}
	}
	if err != nil {
		return 0, 0, dst, err
	}
	f, err := os.Open(path)
	if err != nil {
		return 0, 0, dst, err
	}
	defer f.Close()
	typ, size, out, err = r.open(f, st.Size(), path, dst, n)
	if err != nil {
		return 0, 0, dst, err
	}
	return typ, size, out, nil
}

// open reads f, the file at path, which is said to have fileSize bytes.
func (r *Reader) open(f io.Reader, fileSize int64, path string, dst []byte, n int64) (object.Type, int64, []byte, error) {
	if fileSize > memMax {
		defer r.stream.Release()
		return r.decodeStream(f, path, dst, n)
	}
	r.buf = r.buf[:0]
	for {
		if len(r.buf) == cap(r.buf) {
			r.buf = inflate.Grow(r.buf, int(max(fileSize+1, 512)))
		}
		got, err := f.Read(r.buf[len(r.buf):cap(r.buf)])
		r.buf = r.buf[:len(r.buf)+got]
		if err == io.EOF {
			return r.decode(r.buf, path, dst, n)
		}
		if err != nil {
			return 0, 0, dst, err
		}
		if len(r.buf) > 2*memMax {
			return 0, 0, dst, &CorruptError{Path: path, Offset: fileSize, Problem: "file grows"}
		}
	}
}

func corrupt(path string, err error) error {
	var pe interface{ Timeout() bool } // an error of the file, not of its content
	if errors.As(err, &pe) {
		return err
	}
	if err == io.EOF {
		err = errors.New("zlib stream ends before the declared size")
	}
	return &CorruptError{Path: path, Problem: err.Error()}
}

// header reads the header from the first bytes of the content, up to headMax of
// them; err tells why there are no more, if it is not nil. It returns the
// header's length.
func (r *Reader) header(head []byte, err error) (typ object.Type, size int64, n int, _ error) {
	end := bytes.IndexByte(head, 0)
	if end < 0 {
		if err == nil {
			err = errors.New("header of loose object too long")
		}
		return 0, 0, 0, err
	}
	if err != nil && err != io.EOF {
		return 0, 0, 0, err
	}
	typ, size, ok := parseHead(head[:end])
	if !ok {
		return 0, 0, 0, fmt.Errorf("bad header %q of loose object", head[:end])
	}
	if int64(len(head)-end-1) > size {
		return 0, 0, 0, errors.New("zlib stream goes on past the declared size")
	}
	return typ, size, end + 1, nil
}

// limit checks the size of an object that is to be read whole.
func (r *Reader) limit(path string, size int64) error {
	if r.MaxObject > 0 && size > r.MaxObject {
		return fmt.Errorf("%w: %d bytes in '%s'", object.ErrTooLarge, size, path)
	}
	return nil
}

// decode reads the loose object that data, the file at path, is.
func (r *Reader) decode(data []byte, path string, dst []byte, n int64) (object.Type, int64, []byte, error) {
	head, err := r.mem.Prefix(r.head[:0], data, headMax)
	typ, size, h, err := r.header(head, err)
	if err != nil {
		return 0, 0, dst, corrupt(path, err)
	}
	var out []byte
	if n >= 0 && n < size {
		out, err = r.mem.Prefix(dst, data, n+int64(h))
	} else {
		if err := r.limit(path, size); err != nil {
			return 0, 0, dst, err
		}
		var used int
		out, used, err = r.mem.Whole(dst, data, size+int64(h))
		if err == nil && used < len(data) {
			err = errGarbage
		}
	}
	if err != nil {
		return 0, 0, dst, corrupt(path, err)
	}
	// The header came along: close the gap.
	return typ, size, append(out[:len(dst)], out[len(dst)+h:]...), nil
}

var errGarbage = errors.New("garbage at end of loose object")

// decodeStream is decode for a file that is read piece by piece.
func (r *Reader) decodeStream(src io.Reader, path string, dst []byte, n int64) (object.Type, int64, []byte, error) {
	z := &r.stream
	z.ResetReader(src)
	// The header ends at a byte not known before: content may come along with it.
	head, err := z.Append(r.head[:0], headMax)
	typ, size, h, err := r.header(head, err)
	if err != nil {
		return 0, 0, dst, corrupt(path, err)
	}
	head = head[h:]
	if n >= 0 && n < size {
		out := append(dst, head[:min(n, int64(len(head)))]...)
		if n -= int64(len(head)); n > 0 {
			if out, err = z.Append(out, n); err != nil {
				return 0, 0, dst, corrupt(path, err)
			}
		}
		return typ, size, out, nil
	}
	if err := r.limit(path, size); err != nil {
		return 0, 0, dst, err
	}
	out, err := z.Append(append(dst, head...), size-int64(len(head)))
	if err == nil {
		err = z.Finish()
	}
	if err == nil && !z.AtEnd() {
		err = errGarbage
	}
	if err != nil {
		return 0, 0, dst, corrupt(path, err)
	}
	return typ, size, out, nil
}

func parseHead(head []byte) (object.Type, int64, bool) {
	name, digits, ok := bytes.Cut(head, []byte(" "))
	typ, known := object.ParseType(name)
	if !ok || !known || len(digits) == 0 || digits[0] == '0' && len(digits) > 1 || digits[0] == '+' || digits[0] == '-' {
		return 0, 0, false
	}
	size, err := strconv.ParseInt(string(digits), 10, 64)
	return typ, size, err == nil
}
