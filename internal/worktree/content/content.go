// Package content is whether a file, once cleaned, still hashes to its index
// entry.
//
// It answers for the entries whose stat does not settle the matter: racily
// clean ones, and those whose file has another time but the recorded size.
// Nothing is remembered here.
package content

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"gust/internal/pure/oid"
	"gust/internal/rules/filter"
)

const (
	// chunk is how much of a file is read at once: 64 KiB keep the cost of a
	// read small beside that of hashing, and fit in the cache.
	chunk = 64 << 10
	// maxWhole is the size of the largest file that is read whole, for a filter
	// that cannot work in pieces.
	maxWhole = 1 << 30
	// keepWhole is the size of the buffer for whole files that is kept for the
	// next one.
	keepWhole = 1 << 20
)

// ErrTooLarge means that a file with a filter exceeds 1 GiB.
var ErrTooLarge = errors.New("file is too large to be filtered")

// errChanged means that a file was written while it was read.
var errChanged = errors.New("file changed while it was read")

// An Entry is what the index has for a path.
type Entry struct {
	ID oid.ID
	// Size is the file's size as the index recorded it, in bytes modulo 2^32; 0
	// if nothing is recorded (gitformat-index(5)), as for smudged entries.
	Size uint32
}

// A File is what is found at the path.
type File struct {
	Name    string // what Files gets
	Path    string // relative to the root of the working tree, what a filter gets
	Size    int64  // from its stat
	Symlink bool   // compare the text of the link; core.symlinks=false makes it a file
	Plan    filter.Plan
	// Indexed returns the content of the path's index entry, for Plan.Clean.
	// Nil means that there is none.
	Indexed func() ([]byte, error)
}

// Files is access to the working tree.
type Files struct {
	// Open opens a file for reading, without following a symbolic link in its
	// last component.
	Open func(name string) (*os.File, error)
	// Readlink returns the text of a symbolic link.
	Readlink func(name string) (string, error)
}

// A Comparer compares files with index entries. It holds buffers, so it must
// not be used concurrently: each worker has its own.
type Comparer struct {
	files Files
	algo  oid.Algo
	hash  *oid.Hasher
	buf   []byte // of size chunk
	clean []byte // what remains of buf
	whole []byte
}

// New returns a Comparer for entries of algorithm a.
func New(a oid.Algo, files Files) *Comparer {
	return &Comparer{files: files, algo: a, hash: oid.NewHasher(a, "blob", 0)}
}

// Same reports whether Git would store f under the object ID of e.
//
// A file whose size is not the recorded one has changed, whatever its filters:
// so says git-status(1), even where git-add(1) would store the same blob. Else
// its content decides. A file that is no regular one any more, or that changes
// while it is read, is not the same.
//
// Errors are those of opening and reading (fs.ErrNotExist if the file
// vanished), of the filter, of f.Indexed, ErrTooLarge, and ctx's.
func (c *Comparer) Same(ctx context.Context, e Entry, f *File) (bool, error) {
	if e.Size != 0 && uint32(f.Size) != e.Size {
		return false, nil
	}
	var id oid.ID
	var err error
	if f.Symlink {
		id, err = c.hashLink(f)
	} else {
		id, err = c.hashFile(ctx, f)
	}
	if errors.Is(err, errChanged) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("cannot compare '%s' with the index: %w", f.Path, err)
	}
	return id == e.ID, nil
}

// hashLink returns the ID of a symbolic link's text.
func (c *Comparer) hashLink(f *File) (oid.ID, error) {
	text, err := c.files.Readlink(f.Name)
	if err != nil {
		return oid.ID{}, err
	}
	return oid.Hash(c.algo, "blob", []byte(text)), nil
}

// hashFile returns the ID of a regular file's cleaned content.
func (c *Comparer) hashFile(ctx context.Context, f *File) (oid.ID, error) {
	file, err := c.files.Open(f.Name)
	if err != nil {
		return oid.ID{}, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return oid.ID{}, err
	}
	if !info.Mode().IsRegular() {
		return oid.ID{}, errChanged
	}
	if c.buf == nil {
		c.buf = make([]byte, chunk)
	}
	size := info.Size()
	switch {
	case f.Plan.Identity():
		c.hash.Reset("blob", size)
		if err := c.each(ctx, file, size, func(p []byte) { c.hash.Write(p) }); err != nil {
			return oid.ID{}, err
		}
		return c.hash.Sum(), nil
	case f.Plan.OnlyEOL():
		return c.hashText(ctx, f, file, size)
	case f.Plan.OnlyLFS() && size >= filter.LFSHead:
		h := filter.NewLFSHash()
		if err := c.each(ctx, file, size, func(p []byte) { h.Write(p) }); err != nil {
			return oid.ID{}, err
		}
		return oid.Hash(c.algo, "blob", h.Pointer()), nil
	}
	return c.hashWhole(ctx, f, file, size)
}

// each calls visit with the content of file, which must have size bytes, in
// pieces.
func (c *Comparer) each(ctx context.Context, file io.Reader, size int64, visit func([]byte)) error {
	for left := size; ; {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := file.Read(c.buf)
		if left -= int64(n); left < 0 {
			return errChanged
		}
		visit(c.buf[:n])
		switch {
		case err == io.EOF && left == 0:
			return nil
		case err == io.EOF:
			return errChanged
		case err != nil:
			return err
		}
	}
}

// hashText is hashFile for a file whose line endings may have to be converted.
// The first pass hashes it as it is and gathers what decides, which is all for
// most files.
func (c *Comparer) hashText(ctx context.Context, f *File, file io.ReadSeeker, size int64) (oid.ID, error) {
	var stats filter.Stats
	c.hash.Reset("blob", size)
	err := c.each(ctx, file, size, func(p []byte) {
		stats.Add(p)
		c.hash.Write(p)
	})
	if err != nil {
		return oid.ID{}, err
	}
	convert, err := f.Plan.CleansEOL(&stats, f.Indexed)
	if err != nil {
		return oid.ID{}, err
	}
	if !convert {
		return c.hash.Sum(), nil
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return oid.ID{}, err
	}
	c.hash.Reset("blob", size-stats.CRLF())
	if c.clean == nil {
		c.clean = make([]byte, 0, chunk+1)
	}
	held := false // the last byte was a carriage return, which is not hashed yet
	err = c.each(ctx, file, size, func(p []byte) {
		if len(p) == 0 {
			return
		}
		out := c.clean[:0]
		if held && p[0] != '\n' {
			out = append(out, '\r')
		}
		if held = p[len(p)-1] == '\r'; held {
			p = p[:len(p)-1]
		}
		c.hash.Write(f.Plan.AppendWithoutCR(out, p, 0))
	})
	if err != nil {
		return oid.ID{}, err
	}
	if held {
		c.hash.Write([]byte{'\r'})
	}
	return c.hash.Sum(), nil
}

// hashWhole is hashFile for a file whose filter needs all of it.
func (c *Comparer) hashWhole(ctx context.Context, f *File, file io.Reader, size int64) (oid.ID, error) {
	if size > maxWhole {
		return oid.ID{}, ErrTooLarge
	}
	content := c.whole[:0]
	if int64(cap(content)) < size {
		content = make([]byte, 0, size)
	}
	if cap(content) <= keepWhole {
		c.whole = content
	}
	err := c.each(ctx, file, size, func(p []byte) { content = append(content, p...) })
	if err != nil {
		return oid.ID{}, err
	}
	cleaned, err := f.Plan.Clean(ctx, f.Path, content, f.Indexed)
	if err != nil {
		return oid.ID{}, err
	}
	return oid.Hash(c.algo, "blob", cleaned), nil
}
