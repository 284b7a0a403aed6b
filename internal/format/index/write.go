package index

import (
	"encoding/binary"
	"slices"
	"strconv"
	"strings"

	"gust/internal/disk/filestat"
)

// WriteOptions are the settings that decide how an index is written. The zero
// value is Git's default.
type WriteOptions struct {
	SkipHash bool // index.skipHash: zeros in the place of the trailing hash
	Sync     bool // core.fsync names the index
}

// SetStat records st as the stat of e's file (gitformat-index(5)).
func (e *Entry) SetStat(st *filestat.Stat) {
	e.CtimeSec, e.CtimeNsec = uint32(st.CtimeSec), st.CtimeNsec
	e.MtimeSec, e.MtimeNsec = uint32(st.MtimeSec), st.MtimeNsec
	e.Dev, e.Ino, e.UID, e.GID = uint32(st.Dev), uint32(st.Ino), st.UID, st.GID
	e.Size = RecordedSize(st.Size)
}

// RecordedSize returns what Git records of a size in bytes: its low 32 bits, but
// not 0 for a file that is not empty.
func RecordedSize(size int64) uint32 {
	if size != 0 && uint32(size) == 0 {
		return 1 << 31
	}
	return uint32(size)
}

// Dated reports whether the time of the index file is known: without one no entry
// is racily clean.
func (ix *Index) Dated() bool { return ix.MtimeSec != 0 || ix.MtimeNsec != 0 }

// Racy reports whether the file of e may have been changed after e was recorded
// without its stat showing it, by whole seconds, as to most builds of Git: the
// index is not younger than the file. The fractions of seconds count where they
// make no difference to that, see filestat.Tick.
func (ix *Index) Racy(e *Entry) bool {
	if !ix.Dated() {
		return false
	}
	if e.MtimeSec >= uint32(ix.MtimeSec) {
		return true
	}
	mtime := int64(e.MtimeSec)*1e9 + int64(e.MtimeNsec)
	return mtime >= int64(uint32(ix.MtimeSec))*1e9+int64(ix.MtimeNsec)-filestat.Tick
}

// AppendFile appends the content of an index file that holds ix: of version 4 if ix
// is, else 2, or 3 where flags need it. Of the extensions it has the cache tree
// (whose nodes are valid where ix says so) and what a sparse index needs. A split
// index is written whole.
func (ix *Index) AppendFile(dst []byte, o WriteOptions) []byte {
	start := len(dst)
	w := writer{ix: ix, version: 2, out: slices.Grow(dst, len(ix.Entries)*(statSize+ix.Algo.Size()+2+32)+len(ix.paths)+4096)}
	if ix.Version == 4 {
		w.version = 4
	} else if ix.SkipWorktree+ix.IntentToAdd > 0 {
		w.version = 3
	}
	w.out = append(w.out, "DIRC"...)
	w.out = binary.BigEndian.AppendUint32(w.out, uint32(w.version))
	w.out = binary.BigEndian.AppendUint32(w.out, uint32(len(ix.Entries)))
	for i := range ix.Entries {
		w.entry(i)
	}
	if !ix.Sparse {
		w.trees()
	} else {
		w.extension("sdir", nil)
	}
	return appendTrailer(w.out, start, ix, o)
}

// appendTrailer appends the hash of what follows start.
func appendTrailer(out []byte, start int, ix *Index, o WriteOptions) []byte {
	if o.SkipHash {
		return append(out, make([]byte, ix.Algo.Size())...)
	}
	h := ix.Algo.New()
	h.Write(out[start:])
	return h.Sum(out)
}

// A writer appends an index file to out.
type writer struct {
	ix         *Index
	version    int
	out        []byte
	path, last []byte
}

func (w *writer) entry(i int) {
	start := len(w.out)
	e := &w.ix.Entries[i]
	w.path, w.last = w.ix.appendRawPath(w.last[:0], i), w.path
	w.out = appendStat(w.out, e)
	w.out = append(w.out, w.ix.RawID(i)...)
	flags := uint16(min(len(w.path), 0xfff)) | uint16(e.Stage())<<12
	if e.Flags&AssumeUnchanged != 0 {
		flags |= 0x8000
	}
	extended := uint16(0)
	if e.Flags&SkipWorktree != 0 {
		extended |= 1 << 14
	}
	if e.Flags&IntentToAdd != 0 {
		extended |= 1 << 13
	}
	if extended != 0 {
		flags |= 0x4000
	}
	w.out = binary.BigEndian.AppendUint16(w.out, flags)
	if extended != 0 {
		w.out = binary.BigEndian.AppendUint16(w.out, extended)
	}
	if w.version == 4 {
		n := 0
		for n < min(len(w.path), len(w.last)) && w.path[n] == w.last[n] {
			n++
		}
		w.out = appendOffsetVarint(w.out, uint64(len(w.last)-n))
		w.out = append(append(w.out, w.path[n:]...), 0)
		return
	}
	w.out = append(w.out, w.path...)
	size := len(w.out) - start
	w.out = append(w.out, "\x00\x00\x00\x00\x00\x00\x00\x00"[:(size+8)&^7-size]...)
}

// appendRawPath is AppendPath with a slash behind a sparse directory, as index files
// have it.
func (ix *Index) appendRawPath(dst []byte, i int) []byte {
	dst = ix.AppendPath(dst, i)
	if ix.IsSparseDir(i) {
		dst = append(dst, '/')
	}
	return dst
}

// appendStat appends the statSize bytes that begin an entry.
func appendStat(out []byte, e *Entry) []byte {
	for _, v := range [...]uint32{e.CtimeSec, e.CtimeNsec, e.MtimeSec, e.MtimeNsec, e.Dev, e.Ino, e.Mode, e.UID, e.GID, e.Size} {
		out = binary.BigEndian.AppendUint32(out, v)
	}
	return out
}

// appendOffsetVarint is the inverse of offsetVarint.
func appendOffsetVarint(out []byte, v uint64) []byte {
	var b [10]byte
	i := len(b) - 1
	for b[i] = byte(v & 0x7f); v > 0x7f; {
		v = v>>7 - 1
		i--
		b[i] = 0x80 | byte(v&0x7f)
	}
	return append(out, b[i:]...)
}

func (w *writer) extension(sig string, content []byte) {
	w.out = append(w.out, sig...)
	w.out = binary.BigEndian.AppendUint32(w.out, uint32(len(content)))
	w.out = append(w.out, content...)
}

// trees writes the TREE extension, unless no directory has a valid node.
func (w *writer) trees() {
	ix := w.ix
	valid := make([]bool, len(ix.Dirs))
	any := false
	// From the last directory to the first: those below one follow it.
	for d := len(ix.Dirs) - 1; d >= 0; d-- {
		dir := &ix.Dirs[d]
		ok := dir.Tree >= 0 && ix.Trees[dir.Tree].Entries == dir.Last-dir.First
		for _, k := range ix.Kids(d) {
			ok = ok && valid[k]
		}
		valid[d] = ok
		any = any || ok
	}
	if !any {
		return
	}
	w.extension("TREE", w.treeNodes(nil, 0, "", valid))
}

// treeNodes appends the node of directory d, called name, and those below it. Git
// writes subtrees of shorter names first.
func (w *writer) treeNodes(out []byte, d int, name string, valid []bool) []byte {
	ix := w.ix
	dir := &ix.Dirs[d]
	count := -1
	if valid[d] {
		count = dir.Last - dir.First
	}
	out = append(append(out, name...), 0)
	out = strconv.AppendInt(out, int64(count), 10)
	out = append(out, ' ')
	kids := slices.Clone(ix.Kids(d))
	out = strconv.AppendInt(out, int64(len(kids)), 10)
	out = append(out, '\n')
	if valid[d] {
		out = append(out, ix.Trees[dir.Tree].ID.Raw()...)
	}
	base := func(k uint32) string {
		z := ix.DirNameZ(int(k))
		return z[:len(z)-1]
	}
	slices.SortFunc(kids, func(a, b uint32) int {
		if c := len(base(a)) - len(base(b)); c != 0 {
			return c
		}
		return strings.Compare(base(a), base(b))
	})
	for _, k := range kids {
		out = w.treeNodes(out, int(k), base(k), valid)
	}
	return out
}
