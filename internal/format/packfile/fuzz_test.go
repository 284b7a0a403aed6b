package packfile

import (
	"bytes"
	"compress/zlib"
	"testing"

	"gust/internal/disk/mmap"
	"gust/internal/pure/oid"
)

func zlibOf(t testing.TB, s string) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := zlib.NewWriterLevel(&b, zlib.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	w.Write([]byte(s))
	w.Close()
	return b.Bytes()
}

// A pack and an index with anything in them: reads end in an error or with what
// was declared, whichever way the pack is read. The seeds in testdata are packs
// that git made: with both kinds of deltas, and indexes of both versions, with
// large offsets too.
func FuzzPack(f *testing.F) {
	f.Fuzz(func(t *testing.T, data, index []byte) {
		if len(data) < packHead+20 || len(data)+len(index) > 1<<16 {
			return
		}
		var s Scratch
		p, err := inMemory(oid.SHA1, data, index, Options{MaxObject: 1 << 20})
		if err != nil {
			return
		}
		cached, err := inMemory(oid.SHA1, data, index, Options{MaxObject: 1 << 20, Cache: NewCache(1 << 16)})
		if err != nil {
			t.Fatal(err)
		}
		offsets := []int64{0, 12, 1 << 40}
		for i := range min(p.idx.Len(), 40) {
			if id, off, err := p.idx.At(i); err == nil {
				offsets = append(offsets, off)
				p.Find(&id)
			}
		}
		for _, off := range offsets {
			typ, size, out, err := p.Read(&s, off, nil, -1)
			if err == nil && int64(len(out)) != size {
				t.Fatalf("at %d: %d bytes, size %d", off, len(out), size)
			}
			typ2, size2, out2, err2 := cached.Read(&s, off, nil, -1)
			if typ != typ2 || size != size2 || !bytes.Equal(out, out2) || (err == nil) != (err2 == nil) {
				t.Fatalf("at %d: %v, %d, %v; with a cache: %v, %d, %v", off, typ, size, err, typ2, size2, err2)
			}
			if err != nil {
				p.Stat(&s, off)
				continue
			}
			if typ3, size3, err := p.Stat(&s, off); err != nil || typ3 != typ || size3 != size {
				t.Fatalf("at %d: Stat = %v, %d, %v; Read = %v, %d", off, typ3, size3, err, typ, size)
			}
			if _, _, part, err := p.Read(&s, off, nil, size/2); err != nil || !bytes.Equal(part, out[:size/2]) {
				t.Fatalf("at %d: first %d bytes: %d, %v", off, size/2, len(part), err)
			}
		}
	})
}

func FuzzIndex(f *testing.F) {
	for _, n := range []int{0, 1, 300} {
		f.Add(indexOf(n))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, a := range []oid.Algo{oid.SHA1, oid.SHA256} {
			x, err := newIndex(mmap.InMemory("p.idx", data), a)
			if err != nil {
				continue
			}
			if _, err := x.PackHash(); err != nil {
				t.Fatal(err)
			}
			for i := range x.Len() {
				id, off, err := x.At(i)
				if err == nil && off < 0 {
					t.Fatalf("offset %d", off)
				}
				if _, _, err := x.Find(&id); err != nil && err.Error() == "" {
					t.Fatal("empty error")
				}
			}
		}
	})
}

// Any delta of any base: applied only if it was found right, and then it makes
// what it declares.
func FuzzDelta(f *testing.F) {
	f.Add([]byte("\x05\x03\x90\x03"), []byte("hello"))
	f.Add([]byte("\x05\x08\x90\x05\x03abc"), []byte("hello"))
	f.Add([]byte("\x05\x80\x80\x04\x80"), []byte("hello"))
	f.Fuzz(func(t *testing.T, data, base []byte) {
		d, err := parseDelta(data)
		if err != nil || d.check(len(base)) != nil {
			return
		}
		if d.size > int64(len(base))*int64(len(data))+int64(len(data)) {
			t.Fatalf("%d bytes from a base of %d and a delta of %d", d.size, len(base), len(data))
		}
		if d.size > 1<<20 {
			return
		}
		out := d.apply(nil, base, d.size)
		if int64(len(out)) != d.size {
			t.Fatalf("made %d bytes, declared %d", len(out), d.size)
		}
		if part := d.apply([]byte("x"), base, d.size/2); string(part) != "x"+string(out[:d.size/2]) {
			t.Fatalf("first half differs")
		}
	})
}
