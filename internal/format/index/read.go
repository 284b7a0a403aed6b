package index

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"

	"gust/internal/disk/filestat"
	"gust/internal/disk/mmap"
	"gust/internal/pure/ewah"
	"gust/internal/pure/object"
	"gust/internal/pure/oid"
)

// maxSize bounds the index files that are read: entry counts and offsets are 32
// bits wide in memory.
const maxSize = 1 << 31

// Read parses the index file at path, following a split index to its shared
// base in directory shared (the git directory). A missing file is an empty index,
// as it is to Git. Any other failure to read is returned wrapped; bytes that
// break gitformat-index(5) are reported as an *object.CorruptError carrying the
// offset. As Git does, Read does not verify the trailing hash.
func Read(path, shared string, algo oid.Algo) (*Index, error) {
	b := builder{algo: algo}
	file, err := readFile(path, algo, true)
	if err != nil {
		return nil, err
	}
	sources := []source{file.source}
	if file.link == nil || file.link.base.IsNull() {
		if file.link != nil && len(file.overlay) > 0 {
			file.records = append(file.records, file.overlay...)
		}
	} else {
		base, err := readFile(filepath.Join(shared, "sharedindex."+file.link.base.String()), algo, false)
		if err != nil {
			return nil, err
		}
		if base.source.sig.Absent() {
			return nil, fmt.Errorf("index '%s' names a shared index that is missing: '%s'", path, base.source.path)
		}
		sources = append(sources, base.source)
		if file.records, err = file.merge(base); err != nil {
			return nil, err
		}
	}
	if err := b.build(file); err != nil {
		return nil, err
	}
	st := file.source.sig.Stat()
	b.ix.MtimeSec, b.ix.MtimeNsec = st.MtimeSec, st.MtimeNsec
	b.ix.Split = file.link != nil
	b.ix.sources = sources
	return b.ix, nil
}

// A record is one entry as it stands in a file.
type record struct {
	Entry
	id   uint32 // offset of its object ID in fileData.ids
	path string // aliases fileData.paths
	off  int64  // where in the file, for errors
}

// A link is the content of the "link" extension: which entries of the shared
// index are gone, and which are replaced by the entries without a name.
type link struct {
	base             oid.ID
	deleted, replace []uint32
}

// fileData is what one index file says.
type fileData struct {
	source  source
	version int
	records []record
	overlay []record // of a split index: what it holds itself
	ids     []byte
	trees   []treeNode
	sparse  bool
	link    *link
	sum     []byte // the trailing hash
}

func readFile(path string, algo oid.Algo, withLink bool) (*fileData, error) {
	f := &fileData{source: source{path, filestat.Sign(path)}}
	if f.source.sig.Absent() {
		f.version = 2
		return f, nil
	}
	m, err := mmap.Open(path)
	if err != nil {
		if filestat.IsAbsent(err) {
			// It vanished since the stat: empty now, looked at again next time.
			f.source.sig, f.version = filestat.Signature{}, 2
			return f, nil
		}
		return nil, fmt.Errorf("cannot read index '%s': %w", path, err)
	}
	defer m.Close()
	if int64(m.Size()) >= maxSize {
		return nil, fmt.Errorf("cannot read index '%s': file too large", path)
	}
	err = m.Do(func(data []byte) error { return f.parse(data, algo, withLink) })
	if err != nil {
		var corrupt *object.CorruptError
		if errors.As(err, &corrupt) {
			corrupt.Path = path
		}
		return nil, err
	}
	return f, nil
}

func corrupt(off int64, format string, args ...any) error {
	return &object.CorruptError{Offset: off, Problem: fmt.Sprintf(format, args...)}
}

const headerSize = 12

// parse reads a whole index file. data is not kept.
func (f *fileData) parse(data []byte, algo oid.Algo, withLink bool) error {
	if len(data) < headerSize+algo.Size() {
		return corrupt(int64(len(data)), "index file is too short")
	}
	if string(data[:4]) != "DIRC" {
		return corrupt(0, "no index signature")
	}
	f.version = int(binary.BigEndian.Uint32(data[4:]))
	if f.version < 2 || f.version > 4 {
		return corrupt(4, "unknown index version %d", f.version)
	}
	count := int64(binary.BigEndian.Uint32(data[8:]))
	body := data[:len(data)-algo.Size()]
	f.sum = bytes.Clone(data[len(body):])
	if minEntry := int64(statSize + algo.Size() + 2); count*minEntry > int64(len(body)) {
		return corrupt(8, "%d index entries do not fit the file", count)
	}
	p := entryParser{f: f, data: body, off: headerSize, hash: algo.Size()}
	if err := p.parse(int(count)); err != nil {
		return err
	}
	return f.parseExtensions(body, p.off, algo, withLink)
}

const statSize = 40

type entryParser struct {
	f    *fileData
	data []byte // without the trailing hash
	off  int
	hash int // bytes of an object ID
	path []byte
}

// parse reads count entries. Paths are collected into one string, which the
// records share.
func (p *entryParser) parse(count int) error {
	f := p.f
	f.records = make([]record, count)
	f.ids = make([]byte, 0, count*p.hash)
	// Paths are collected first: a string made of each would be an allocation for
	// each. In version 4 they are longer than the file says; append grows.
	arena := make([]byte, 0, len(p.data)-p.off-min(count*(statSize+p.hash), len(p.data)-p.off))
	ends := make([]uint32, count)
	for i := range f.records {
		if err := p.entry(&f.records[i]); err != nil {
			return err
		}
		arena = append(arena, p.path...)
		if int64(len(arena)) >= maxSize {
			return corrupt(int64(p.off), "paths too long")
		}
		ends[i] = uint32(len(arena))
	}
	paths, start := string(arena), uint32(0)
	for i := range f.records {
		f.records[i].path = paths[start:ends[i]]
		start = ends[i]
	}
	return nil
}

// entry reads one entry; p.path is its path.
func (p *entryParser) entry(r *record) error {
	start := p.off
	fixed := statSize + p.hash + 2
	if len(p.data)-p.off < fixed {
		return corrupt(int64(start), "index ends inside an entry")
	}
	d := p.data[p.off:]
	r.off = int64(start)
	r.CtimeSec, r.CtimeNsec = binary.BigEndian.Uint32(d), binary.BigEndian.Uint32(d[4:])
	r.MtimeSec, r.MtimeNsec = binary.BigEndian.Uint32(d[8:]), binary.BigEndian.Uint32(d[12:])
	r.Dev, r.Ino = binary.BigEndian.Uint32(d[16:]), binary.BigEndian.Uint32(d[20:])
	r.Mode = binary.BigEndian.Uint32(d[24:])
	r.UID, r.GID = binary.BigEndian.Uint32(d[28:]), binary.BigEndian.Uint32(d[32:])
	r.Size = binary.BigEndian.Uint32(d[36:])
	r.id = uint32(len(p.f.ids))
	p.f.ids = append(p.f.ids, d[statSize:statSize+p.hash]...)
	flags := binary.BigEndian.Uint16(d[statSize+p.hash:])
	p.off += fixed
	r.Flags = Flags(flags >> 12 & 3)
	if flags&0x8000 != 0 {
		r.Flags |= AssumeUnchanged
	}
	if flags&0x4000 != 0 {
		if p.f.version < 3 {
			return corrupt(int64(start), "extended flags in a version 2 index")
		}
		if len(p.data)-p.off < 2 {
			return corrupt(int64(start), "index ends inside an entry")
		}
		ext := binary.BigEndian.Uint16(p.data[p.off:])
		p.off += 2
		if ext&^(1<<14|1<<13) != 0 {
			return corrupt(int64(start), "unknown extended flags %#x", ext)
		}
		if ext&(1<<14) != 0 {
			r.Flags |= SkipWorktree
		}
		if ext&(1<<13) != 0 {
			r.Flags |= IntentToAdd
		}
	}
	if p.f.version == 4 {
		return p.compressedPath(start)
	}
	return p.plainPath(start, int(flags&0xfff))
}

// plainPath reads the path of a version 2 or 3 entry and the padding behind it.
// declared is the length in the flags; 0xfff means at least that.
func (p *entryParser) plainPath(start, declared int) error {
	rest := p.data[p.off:]
	n := declared
	if declared == 0xfff {
		if n = bytes.IndexByte(rest, 0); n < 0 {
			return corrupt(int64(p.off), "path without an end")
		}
	}
	size := (p.off - start + n + 8) &^ 7
	if size > len(p.data)-start {
		return corrupt(int64(start), "index ends inside an entry")
	}
	p.path = append(p.path[:0], rest[:n]...)
	if bytes.IndexByte(p.path, 0) >= 0 || p.data[p.off+n] != 0 {
		return corrupt(int64(p.off), "path length does not match the path")
	}
	p.off = start + size
	return nil
}

// compressedPath reads the path of a version 4 entry.
func (p *entryParser) compressedPath(start int) error {
	strip, n := offsetVarint(p.data[p.off:])
	if n == 0 || strip > uint64(len(p.path)) {
		return corrupt(int64(p.off), "bad path prefix length")
	}
	p.off += n
	end := bytes.IndexByte(p.data[p.off:], 0)
	if end < 0 {
		return corrupt(int64(p.off), "path without an end")
	}
	p.path = append(p.path[:len(p.path)-int(strip)], p.data[p.off:p.off+end]...)
	p.off += end + 1
	return nil
}

// offsetVarint decodes the variable width integer of an OFS_DELTA offset
// (gitformat-pack(5)), which version 4 indexes and the UNTR extension share. n is
// the number of bytes read; 0 means none could be.
func offsetVarint(b []byte) (v uint64, n int) {
	for i := 0; i < len(b) && i < 9; i++ {
		if i > 0 {
			v++
		}
		v = v<<7 | uint64(b[i]&0x7f)
		if b[i]&0x80 == 0 {
			return v, i + 1
		}
	}
	return 0, 0
}

// parseExtensions reads what follows the entries, which end at off.
func (f *fileData) parseExtensions(body []byte, off int, algo oid.Algo, withLink bool) error {
	for len(body)-off >= 8 {
		sig, size := string(body[off:off+4]), binary.BigEndian.Uint32(body[off+4:])
		start := off + 8
		if uint64(size) > uint64(len(body)-start) {
			return corrupt(int64(off), "extension %q is longer than the file", sig)
		}
		ext := body[start : start+int(size)]
		var err error
		switch sig {
		case "TREE":
			f.trees = parseTrees(ext, algo) // a damaged cache is no cache
		case "link":
			if withLink {
				err = f.parseLink(ext, int64(start), algo)
			}
		case "sdir":
			f.sparse = true
		default:
			// Extensions whose first letter is upper-case are optional.
			if sig[0] < 'A' || sig[0] > 'Z' {
				err = corrupt(int64(off), "unknown index extension %q is required", sig)
			}
		}
		if err != nil {
			return err
		}
		off = start + int(size)
	}
	if off != len(body) {
		return corrupt(int64(off), "index ends inside an extension")
	}
	return nil
}

func (f *fileData) parseLink(ext []byte, off int64, algo oid.Algo) error {
	if len(ext) < algo.Size() {
		return corrupt(off, "link extension is too short")
	}
	l := &link{base: oid.FromBytes(algo, ext)}
	pos := algo.Size()
	for _, dst := range []*[]uint32{&l.deleted, &l.replace} {
		if pos == len(ext) {
			break // Git leaves both out where nothing is deleted or replaced
		}
		bits, n, err := ewah.Parse(ext[pos:], maxSize/statSize)
		if err != nil {
			return corrupt(off+int64(pos), "link extension: %v", err)
		}
		bits.Each(func(i int) bool {
			*dst = append(*dst, uint32(i))
			return true
		})
		pos += n
	}
	f.link = l
	f.overlay, f.records = f.records, nil
	return nil
}
