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
	b := newBuilder(algo)
	f := fileData{algo: algo, builder: b}
	err := f.read(path)
	sources := []source{f.source}
	if err == errSplit {
		f = fileData{algo: algo}
		if err = f.read(path); err == nil && f.link == nil {
			err = corruptAt(path, headerSize, "an entry without a path")
		}
		sources[0] = f.source
		if err == nil && !f.link.base.IsNull() {
			var base source
			base, err = f.merge(filepath.Join(shared, "sharedindex."+f.link.base.String()))
			sources = append(sources, base)
		}
		b = newBuilder(algo)
		for i := 0; i < len(f.records) && err == nil; i++ {
			r := &f.records[i]
			if err = b.add(&r.Entry, r.id, r.path, r.off); err != nil {
				err.(*object.CorruptError).Path = path
			}
		}
	}
	if err != nil {
		return nil, err
	}
	ix := b.finish(&f)
	ix.sources = sources
	return ix, nil
}

// errSplit says that a file holds a split index: its entries are not all there
// are, and must be collected first.
var errSplit = errors.New("index is split")

// A record is one collected entry.
type record struct {
	Entry
	id, path []byte
	off      int64 // where in the file, for errors
}

// A link is the content of the "link" extension: which entries of the shared
// index are gone, and which are replaced by the entries without a name.
type link struct {
	base             oid.ID
	deleted, replace []uint32
}

// fileData is what one index file says beside its entries.
type fileData struct {
	algo    oid.Algo
	builder *builder // takes the entries; nil where they are collected
	source  source
	version int
	trees   []treeNode
	sparse  bool
	unread  []string
	link    *link
	records []record // the entries, where there is no builder
}

// read reads the file at path. A missing one has no entries.
func (f *fileData) read(path string) error {
	f.source = source{path, filestat.Sign(path)}
	f.version = 2
	if f.source.sig.Absent() {
		return nil
	}
	m, err := mmap.Open(path)
	if err != nil {
		if filestat.IsAbsent(err) {
			// It vanished since the stat: empty now, looked at again next time.
			f.source.sig = filestat.Signature{}
			return nil
		}
		return fmt.Errorf("cannot read index '%s': %w", path, err)
	}
	defer m.Close()
	if int64(m.Size()) >= maxSize {
		return fmt.Errorf("cannot read index '%s': file too large", path)
	}
	m.Populate()
	err = f.parse(m.Do)
	var bad *object.CorruptError
	if errors.As(err, &bad) {
		bad.Path = path
	}
	return err
}

func corruptAt(path string, off int64, problem string) error {
	return &object.CorruptError{Path: path, Offset: off, Problem: problem}
}

func corrupt(off int64, format string, args ...any) error {
	return &object.CorruptError{Offset: off, Problem: fmt.Sprintf(format, args...)}
}

const headerSize = 12

// parse reads a whole index file, which do gives access to; its content is not
// kept.
func (f *fileData) parse(do func(func(data []byte) error) error) error {
	var count int
	if err := do(func(data []byte) (err error) {
		count, err = f.parseHeader(data)
		return err
	}); err != nil {
		return err
	}
	if f.builder != nil && f.version < 4 && count >= parallelFrom {
		return f.parseHalves(do, count, count/2)
	}
	return do(func(data []byte) error {
		if f.builder != nil {
			f.builder.expect(count)
		}
		p := f.parser(data, headerSize, f.builder)
		if err := p.entries(count); err != nil {
			return err
		}
		return f.parseExtensions(p.data, p.off)
	})
}

// parseHeader returns the number of entries.
func (f *fileData) parseHeader(data []byte) (int, error) {
	hash := f.algo.Size()
	if len(data) < headerSize+hash {
		return 0, corrupt(int64(len(data)), "index file is too short")
	}
	if string(data[:4]) != "DIRC" {
		return 0, corrupt(0, "no index signature")
	}
	f.version = int(binary.BigEndian.Uint32(data[4:]))
	if f.version < 2 || f.version > 4 {
		return 0, corrupt(4, "unknown index version %d", f.version)
	}
	count := int64(binary.BigEndian.Uint32(data[8:]))
	if minEntry := int64(statSize + hash + 2); count*minEntry > int64(len(data)) {
		return 0, corrupt(8, "%d index entries do not fit the file", count)
	}
	return int(count), nil
}

// parser returns a parser of the entries from offset off on.
func (f *fileData) parser(data []byte, off int, b *builder) *entryParser {
	hash := f.algo.Size()
	return &entryParser{f: f, builder: b, data: data[:len(data)-hash], off: off, hash: hash}
}

const statSize = 40

type entryParser struct {
	f       *fileData
	builder *builder // takes the entries; nil: f.records does
	data    []byte   // without the trailing hash
	off     int
	hash    int // bytes of an object ID
	path    []byte
	prev    []byte // the memory of the path before, in version 4
	e       Entry
}

func (p *entryParser) entries(count int) error {
	for range count {
		if err := p.entry(); err != nil {
			return err
		}
	}
	return nil
}

// entry reads one entry and hands it on.
func (p *entryParser) entry() error {
	start := p.off
	fixed := statSize + p.hash + 2
	if len(p.data)-p.off < fixed {
		return corrupt(int64(start), "index ends inside an entry")
	}
	d := p.data[p.off : p.off+fixed]
	r := &p.e
	r.CtimeSec, r.CtimeNsec = binary.BigEndian.Uint32(d), binary.BigEndian.Uint32(d[4:])
	r.MtimeSec, r.MtimeNsec = binary.BigEndian.Uint32(d[8:]), binary.BigEndian.Uint32(d[12:])
	r.Dev, r.Ino = binary.BigEndian.Uint32(d[16:]), binary.BigEndian.Uint32(d[20:])
	r.Mode = binary.BigEndian.Uint32(d[24:])
	r.UID, r.GID = binary.BigEndian.Uint32(d[28:]), binary.BigEndian.Uint32(d[32:])
	r.Size = binary.BigEndian.Uint32(d[36:])
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
	var err error
	if p.f.version == 4 {
		err = p.compressedPath()
	} else {
		err = p.plainPath(start, int(flags&0xfff))
	}
	if err != nil {
		return err
	}
	id := d[statSize : statSize+p.hash]
	if p.builder == nil {
		p.f.records = append(p.f.records, record{*r, bytes.Clone(id), bytes.Clone(p.path), int64(start)})
		return nil
	}
	if len(p.path) == 0 {
		return errSplit // nothing but a replacement in a split index has no path
	}
	return p.builder.add(r, id, p.path, int64(start))
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
	p.path = rest[:n:n]
	if bytes.IndexByte(p.path, 0) >= 0 || p.data[p.off+n] != 0 {
		return corrupt(int64(p.off), "path length does not match the path")
	}
	p.off = start + size
	return nil
}

// compressedPath reads the path of a version 4 entry.
func (p *entryParser) compressedPath() error {
	strip, n := offsetVarint(p.data[p.off:])
	if n == 0 || strip > uint64(len(p.path)) {
		return corrupt(int64(p.off), "bad path prefix length")
	}
	p.off += n
	end := bytes.IndexByte(p.data[p.off:], 0)
	if end < 0 {
		return corrupt(int64(p.off), "path without an end")
	}
	next := append(p.prev[:0], p.path[:len(p.path)-int(strip)]...)
	p.path, p.prev = append(next, p.data[p.off:p.off+end]...), p.path
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
func (f *fileData) parseExtensions(body []byte, off int) error {
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
			f.trees = parseTrees(ext, f.algo) // a damaged cache is no cache
		case "link":
			err = f.parseLink(ext, int64(start))
		case "sdir":
			f.sparse = true
		default:
			// Extensions whose first letter is upper-case are optional.
			if sig[0] < 'A' || sig[0] > 'Z' {
				err = corrupt(int64(off), "unknown index extension %q is required", sig)
			}
			f.unread = append(f.unread, sig)
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

// parseLink reads the link extension, which makes sense only over collected
// entries.
func (f *fileData) parseLink(ext []byte, off int64) error {
	if f.builder != nil {
		return errSplit
	}
	if len(ext) < f.algo.Size() {
		return corrupt(off, "link extension is too short")
	}
	l := &link{base: oid.FromBytes(f.algo, ext)}
	pos := f.algo.Size()
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
	return nil
}
