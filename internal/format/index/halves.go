package index

import (
	"encoding/binary"
	"errors"
)

// parallelFrom is the number of entries from which on two goroutines decode an
// index: 300,000 take 35 ms in one, and starting another takes microseconds.
const parallelFrom = 20000

// parseHalves is the end of parse for a large file: it decodes the entries in two
// halves at a time, the first of which has first of them.
func (f *fileData) parseHalves(do func(func([]byte) error) error, count, first int) error {
	mid, path, stage := 0, []byte(nil), 0
	err := do(func(data []byte) error {
		mid, path, stage = f.skip(data, first)
		return nil
	})
	if err != nil {
		return err
	}
	if mid == 0 {
		first, mid = count, headerSize // one goroutine finds out what is wrong
	}
	a, b := f.builder, newBuilder(f.algo)
	a.expect(count)
	b.names.Grow(24 * (count - first))
	b.ix.Entries = a.ix.Entries[first:first:count]
	size := f.algo.Size()
	b.ix.ids = a.ix.ids[first*size : first*size : count*size]
	b.last, b.stage, b.follows = path, stage, mid != headerSize
	second := make(chan error, 1)
	end := 0
	go func() {
		second <- do(func(data []byte) error {
			p := f.parser(data, mid, b)
			if first == count {
				return nil
			}
			if err := p.entries(count - first); err != nil {
				return err
			}
			end = p.off
			return nil
		})
	}()
	err = do(func(data []byte) error {
		p := f.parser(data, headerSize, a)
		err := p.entries(first)
		if first == count {
			end = p.off
		}
		return err
	})
	if err = errors.Join(err, <-second); err != nil {
		return firstOf(err)
	}
	if first < count {
		a.join(b)
	}
	sorted := make(chan struct{})
	go func() {
		a.sort()
		close(sorted)
	}()
	err = do(func(data []byte) error {
		return f.parseExtensions(data[:len(data)-size], end)
	})
	<-sorted
	return err
}

// firstOf returns the first error that was joined: the one that comes first in the
// file.
func firstOf(err error) error {
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		return many.Unwrap()[0]
	}
	return err
}

// skip returns where entry n begins, and the path, in memory of its own, and stage
// of the one before; the offset is 0 if that takes more than a glance at the
// lengths.
func (f *fileData) skip(data []byte, n int) (off int, path []byte, stage int) {
	hash := f.algo.Size()
	body := data[:len(data)-hash]
	off = headerSize
	for i := range n {
		fixed := statSize + hash + 2
		if len(body)-off < fixed+2 {
			return 0, nil, 0
		}
		flags := binary.BigEndian.Uint16(body[off+fixed-2:])
		length := int(flags & 0xfff)
		if flags&0x4000 != 0 {
			fixed += 2
		}
		size := (fixed + length + 8) &^ 7
		if length == 0xfff || length == 0 || size > len(body)-off {
			return 0, nil, 0
		}
		if i == n-1 {
			path = append(path, body[off+fixed:off+fixed+length]...)
			stage = int(flags >> 12 & 3)
		}
		off += size
	}
	return off, path, stage
}

// join puts what b built of the entries after a's behind those. Both wrote their
// entries into one array.
func (a *builder) join(b *builder) {
	mid := len(a.ix.Entries)
	for len(b.open) > 0 {
		b.leave(len(b.ix.Entries))
	}
	// The directories that hold both a's last entry and b's first come first in b.
	shared := 0
	for shared < len(a.open) && shared < len(b.ix.Dirs) && a.dirPath(a.open[shared]) == b.dirPath(shared) &&
		(shared == 0 || b.ix.Dirs[shared].Parent == shared-1) {
		shared++
	}
	for len(a.open) > shared {
		a.leave(mid)
	}
	base := len(a.ix.Dirs)
	number := func(d int) int {
		switch {
		case d < 0:
			return d
		case d < shared:
			return a.open[d]
		}
		return base + d - shared
	}
	for d := range b.ix.Dirs {
		x := b.ix.Dirs[d]
		if d < shared {
			to := &a.ix.Dirs[a.open[d]]
			to.Names += x.Names
			to.Last, to.End = x.Last+mid, base+x.End-shared
			if d+1 < shared { // its name was counted in both
				to.Names -= HashDir([]byte(b.dirPath(d + 1))[b.ix.Dirs[d+1].base:])
			}
			continue
		}
		x.path += uint32(len(a.paths))
		x.Parent, x.First, x.Last, x.End = number(x.Parent), x.First+mid, x.Last+mid, base+x.End-shared
		a.ix.Dirs = append(a.ix.Dirs, x)
	}
	names := uint32(a.names.Len())
	a.names.WriteString(b.names.String())
	a.paths = append(a.paths, b.paths...)
	a.ix.Entries = a.ix.Entries[:mid+len(b.ix.Entries)]
	a.ix.ids = a.ix.ids[:len(a.ix.Entries)*a.algo.Size()]
	for i := range a.ix.Entries[mid:] {
		e := &a.ix.Entries[mid+i]
		e.Dir, e.name = uint32(number(int(e.Dir))), e.name+names
	}
	for _, i := range b.ix.Gitlinks {
		a.ix.Gitlinks = append(a.ix.Gitlinks, uint32(mid)+i)
	}
	a.ix.Unmerged += b.ix.Unmerged
	a.ix.SkipWorktree += b.ix.SkipWorktree
	a.ix.AssumeUnchanged += b.ix.AssumeUnchanged
	a.ix.IntentToAdd += b.ix.IntentToAdd
	a.open = nil // all were left
}

// dirPath returns the path of directory d while it is being built.
func (b *builder) dirPath(d int) string {
	x := &b.ix.Dirs[d]
	return string(b.paths[x.path : x.path+x.pathLen])
}
