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

	z    inflate.Reader
	head [headMax]byte
	path []byte
}

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
	typ, size, out, err = r.decode(f, path, dst, n)
	r.z.Release()
	if err != nil {
		return 0, 0, dst, err
	}
	return typ, size, out, nil
}

// decode reads the loose object that src, the file at path, holds.
func (r *Reader) decode(src io.Reader, path string, dst []byte, n int64) (object.Type, int64, []byte, error) {
	corrupt := func(err error) (object.Type, int64, []byte, error) {
		var pe interface{ Timeout() bool } // an error of the file, not of its content
		if errors.As(err, &pe) {
			return 0, 0, dst, err
		}
		if err == io.EOF {
			err = errors.New("zlib stream ends before the declared size")
		}
		return 0, 0, dst, &CorruptError{Path: path, Problem: err.Error()}
	}
	r.z.ResetReader(src)
	// The header ends at a byte not known before: content may come along with it.
	head, err := r.z.Append(r.head[:0], headMax)
	end := bytes.IndexByte(head, 0)
	if end < 0 {
		if err == nil {
			err = errors.New("header of loose object too long")
		}
		return corrupt(err)
	}
	if err != nil && err != io.EOF {
		return corrupt(err)
	}
	typ, size, ok := parseHead(head[:end])
	if !ok {
		return corrupt(fmt.Errorf("bad header %q of loose object", head[:end]))
	}
	head = head[end+1:]
	if int64(len(head)) > size {
		return corrupt(errors.New("zlib stream goes on past the declared size"))
	}
	if n >= 0 && n < size {
		out := append(dst, head[:min(n, int64(len(head)))]...)
		if n -= int64(len(head)); n > 0 {
			if out, err = r.z.Append(out, n); err != nil {
				return corrupt(err)
			}
		}
		return typ, size, out, nil
	}
	if r.MaxObject > 0 && size > r.MaxObject {
		return 0, 0, dst, fmt.Errorf("%w: %d bytes in '%s'", object.ErrTooLarge, size, path)
	}
	out, err := r.z.Append(append(dst, head...), size-int64(len(head)))
	if err == nil {
		err = r.z.Finish()
	}
	if err == nil && !r.z.AtEnd() {
		err = errors.New("garbage at end of loose object")
	}
	if err != nil {
		return corrupt(err)
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
