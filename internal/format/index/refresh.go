package index

import (
	"bytes"
	"errors"
	"fmt"
	"os"

	"gust/internal/disk/filestat"
	"gust/internal/disk/lockfile"
	"gust/internal/pure/object"
)

// ErrChanged means that the index file is not what was read.
var ErrChanged = errors.New("index has changed")

// ErrSplit means that a split index cannot be written in place.
var ErrSplit = errors.New("index is split")

// A Refresh is what became known of an entry's file.
type Refresh struct {
	Entry int           // its number
	Stat  filestat.Stat // of the file, whose content was found to be the entry's
}

// WriteRefresh writes the index file at path, which ix was read from, with the
// stats of clean, in the order of their numbers, in the place of those of their
// entries. Everything else stays as it is, extensions too.
//
// An entry that is racily clean (Racy), and is not in clean, gets a recorded size
// of zero, so that it is compared by content from now on too: a younger index file
// would vouch for it. Name those that were compared, with the stat they have.
//
// The error is lockfile.ErrLocked, ErrChanged if the file is another one by now,
// ErrSplit, or that of writing. The file then is as it was.
func (ix *Index) WriteRefresh(path string, clean []Refresh, o WriteOptions) error {
	if ix.Split {
		return ErrSplit
	}
	lock, err := lockfile.Acquire(path)
	if err != nil {
		return err
	}
	defer lock.Rollback()
	data, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("cannot read index '%s': %w", path, err)
	}
	if err := ix.patch(data, clean); err != nil {
		return err
	}
	end := len(data) - ix.Algo.Size()
	if _, err := lock.Write(appendTrailer(data[:end], 0, ix, o)); err != nil {
		return err
	}
	return lock.Commit(o.Sync)
}

// patch changes the stats in data, a whole index file that must hold what ix does.
func (ix *Index) patch(data []byte, clean []Refresh) error {
	hash := ix.Algo.Size()
	f := fileData{algo: ix.Algo}
	if count, err := f.parseHeader(data); err != nil || count != len(ix.Entries) || f.version != ix.Version {
		return ErrChanged
	}
	body, off := data[:len(data)-hash], headerSize
	var old, path, want []byte
	for i := range ix.Entries {
		e := ix.Entries[i]
		size := 0
		size, path = ix.rawEntry(body, off, f.version, path)
		want = ix.appendRawPath(want[:0], i)
		if size == 0 || !bytes.Equal(path, want) {
			return ErrChanged
		}
		d := body[off : off+size]
		old = appendStat(old[:0], &e)
		if !bytes.Equal(d[:statSize], old) || !bytes.Equal(d[statSize:statSize+hash], ix.RawID(i)) {
			return ErrChanged
		}
		switch {
		case len(clean) > 0 && clean[0].Entry == i:
			e.SetStat(&clean[0].Stat)
			clean = clean[1:]
		case e.Stage() == 0 && e.Flags&(AssumeUnchanged|SkipWorktree) == 0 && object.Mode(e.Mode) != object.ModeGitlink && ix.Racy(&e):
			e.Size = 0
		}
		appendStat(d[:0], &e)
		off += size
	}
	if len(clean) > 0 {
		return fmt.Errorf("index has no entry %d to refresh, or not in this order", clean[0].Entry)
	}
	return nil
}

// rawEntry returns the number of bytes of entry i, which begins at off, and its
// path, in the memory of last, the path of the entry before; 0 bytes if there is no
// such entry.
func (ix *Index) rawEntry(body []byte, off, version int, last []byte) (int, []byte) {
	size := statSize + ix.Algo.Size() + 2
	rest := body[off:]
	if len(rest) < size+2 {
		return 0, last
	}
	if rest[size-2]&0x40 != 0 { // extended flags
		size += 2
	}
	keep := 0
	if version == 4 {
		strip, n := offsetVarint(rest[size:])
		if n == 0 || strip > uint64(len(last)) {
			return 0, last
		}
		size, keep = size+n, len(last)-int(strip)
	}
	n := bytes.IndexByte(rest[size:], 0)
	if n < 0 {
		return 0, last
	}
	path := append(last[:keep], rest[size:size+n]...)
	if size += n; version == 4 {
		return size + 1, path
	}
	if size = (size + 8) &^ 7; size > len(rest) {
		return 0, path
	}
	return size, path
}
