package packfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"gust/internal/pure/oid"
)

// Options say how packs are read. The zero value is the default.
type Options struct {
	// MaxObject is the size in bytes of the largest object that is read whole;
	// zero means DefaultMaxObject. It keeps a few hostile kilobytes of deltas from
	// asking for all memory there is.
	MaxObject int64
	// Cache keeps bases of deltas; nil means none.
	Cache *Cache
	// Plain reads the pack piece by piece even where it could be mapped.
	Plain bool
}

// DefaultMaxObject is 4 GiB, or 512 MiB where addresses have 32 bits: Git there
// fails a little later.
const DefaultMaxObject = int64(512<<20) << (3 * (strconv.IntSize / 64))

// A Pack is a pack and its index, both opened on first use. It is safe for
// concurrent use.
type Pack struct {
	path string // of the .pack file
	algo oid.Algo
	o    Options

	mu     sync.Mutex // guards what follows
	idx    *Index
	src    *source
	closed bool
}

// New returns the pack at path, which ends in ".pack". It opens nothing.
func New(path string, a oid.Algo, o Options) *Pack {
	if o.MaxObject == 0 {
		o.MaxObject = DefaultMaxObject
	}
	return &Pack{path: path, algo: a, o: o}
}

// Path returns the path of the .pack file.
func (p *Pack) Path() string { return p.path }

// IndexPath returns the path of the .idx file.
func (p *Pack) IndexPath() string { return strings.TrimSuffix(p.path, ".pack") + ".idx" }

// ErrClosed is returned for a pack that was closed.
var ErrClosed = errors.New("pack is closed")

// Index returns the pack's index. It belongs to the pack, which closes it.
func (p *Pack) Index() (*Index, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.index()
}

func (p *Pack) index() (*Index, error) {
	if p.closed {
		return nil, ErrClosed
	}
	if p.idx == nil {
		idx, err := OpenIndex(p.IndexPath(), p.algo)
		if err != nil {
			return nil, err
		}
		p.idx = idx
	}
	return p.idx, nil
}

// Find returns the offset of the entry of id; ok is false if the pack has none.
func (p *Pack) Find(id *oid.ID) (off int64, ok bool, err error) {
	idx, err := p.Index()
	if err != nil {
		return 0, false, err
	}
	return idx.Find(id)
}

// Close releases the files once reads in progress have returned. Later calls
// fail with ErrClosed, mmap.ErrClosed or fs.ErrClosed.
func (p *Pack) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	if p.idx != nil {
		p.idx.Close()
	}
	if p.src != nil {
		p.src.close()
	}
	p.o.Cache.drop(p)
}

// open returns the pack's data, checked as far as Git checks them: the header,
// and that the index was made for this very pack.
func (p *Pack) open() (*source, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, ErrClosed
	}
	if p.src != nil {
		return p.src, nil
	}
	idx, err := p.index()
	if err != nil {
		return nil, err
	}
	src, err := openSource(p.path, p.o.Plain)
	if err != nil {
		return nil, err
	}
	if err := p.check(src, idx); err != nil {
		src.close()
		return nil, err
	}
	p.src = src
	return src, nil
}

const packHead = 12

func (p *Pack) check(src *source, idx *Index) error {
	hash := p.algo.Size()
	if src.size < int64(packHead+hash) {
		return p.corrupt(src.size, "pack is cut off")
	}
	buf := make([]byte, packHead+hash)
	head, trailer := buf[:packHead], buf[packHead:]
	if err := errors.Join(src.readAt(head, 0), src.readAt(trailer, src.size-int64(hash))); err != nil {
		return err
	}
	if string(head[:4]) != "PACK" {
		return p.corrupt(0, "no pack signature")
	}
	if v := binary.BigEndian.Uint32(head[4:]); v != 2 && v != 3 {
		return p.corrupt(4, fmt.Sprintf("unknown pack version %d", v))
	}
	if n := binary.BigEndian.Uint32(head[8:]); uint64(n) != uint64(idx.Len()) {
		return p.corrupt(8, fmt.Sprintf("pack of %d objects, its index has %d", n, idx.Len()))
	}
	want, err := idx.PackHash()
	if err != nil {
		return err
	}
	if !want.EqualRaw(trailer) {
		return p.corrupt(src.size-int64(hash), "pack does not match its index")
	}
	return nil
}

func (p *Pack) corrupt(off int64, problem string) error {
	return &CorruptError{Path: p.path, Offset: off, Problem: problem}
}
