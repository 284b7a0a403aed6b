package packfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gust/internal/disk/mmap"
	"gust/internal/gittest"
	"gust/internal/pure/object"
	"gust/internal/pure/oid"
)

// makePack makes a pack of about 60 objects, many of them deltas, with the given
// options of git pack-objects, and returns the paths of its files.
func makePack(t testing.TB, g gittest.Git, algo oid.Algo, config, options string) (pack, idx string) {
	t.Helper()
	env := gittest.New(t, g)
	env.Run(t, ".", "init", "-q", "--object-format="+algo.String(), "r")
	env.Script(t, `cd r; git config core.fsync none
		for i in 1 2 3 4 5 6 7 8; do
			seq 1 $((i * 50)) >a; seq $i 120 >b; echo $i >c; git add .; git commit -qm "commit $i"; git tag -a -m "tag $i" t$i
		done
		git rev-list --objects --all | git `+config+` pack-objects -q `+options+` ../p >/dev/null`)
	packs, _ := filepath.Glob(env.Path("p-*.pack"))
	if len(packs) != 1 {
		t.Fatalf("packs %v", packs)
	}
	return packs[0], strings.TrimSuffix(packs[0], ".pack") + ".idx"
}

func read(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// inMemory returns the pack that the bytes of its two files make, without a check
// of one against the other.
func inMemory(a oid.Algo, pack, idx []byte, o Options) (*Pack, error) {
	x, err := newIndex(mmap.InMemory("p.idx", idx), a)
	if err != nil {
		return nil, err
	}
	p := New("p.pack", a, o)
	p.idx = x
	p.src = &source{mapped: mmap.InMemory("p.pack", pack), size: int64(len(pack))}
	return p, nil
}

// TestIndex compares with git show-index.
func TestIndex(t *testing.T) {
	for _, algo := range []oid.Algo{oid.SHA1, oid.SHA256} {
		for _, options := range []string{"", "--index-version=1", "--index-version=2", "--index-version=2,0x100"} {
			t.Run(algo.String()+options, func(t *testing.T) {
				g := gittest.System(t)
				pack, idx := makePack(t, g, algo, "", options)
				cmd := gittest.New(t, g).Command(".", "show-index", "--object-format="+algo.String())
				cmd.Stdin = bytes.NewReader(read(t, idx))
				out, err := cmd.Output()
				if err != nil {
					t.Fatal(err)
				}
				p := New(pack, algo, Options{})
				defer p.Close()
				x, err := p.Index()
				if err != nil {
					t.Fatal(err)
				}
				lines := strings.Split(strings.TrimSpace(string(out)), "\n")
				if x.Len() != len(lines) {
					t.Fatalf("%d objects, git lists %d", x.Len(), len(lines))
				}
				for i, line := range lines {
					var off int64
					var hex string
					fmt.Sscan(line, &off, &hex)
					id, got, err := x.At(i)
					if err != nil || got != off || id.String() != hex {
						t.Fatalf("At(%d) = %s, %d, %v, git says %q", i, id, got, err, line)
					}
					if got, ok, err := x.Find(&id); got != off || !ok || err != nil {
						t.Fatalf("Find(%s) = %d, %v, %v, want %d", id, got, ok, err, off)
					}
				}
				absent := oid.Hash(algo, "blob", []byte("absent"))
				if _, ok, err := x.Find(&absent); ok || err != nil {
					t.Errorf("Find of an absent ID: %v, %v", ok, err)
				}
			})
		}
	}
}

func TestIndexFindAllocs(t *testing.T) {
	pack, _ := makePack(t, gittest.System(t), oid.SHA1, "", "")
	p := New(pack, oid.SHA1, Options{})
	defer p.Close()
	x, err := p.Index()
	if err != nil {
		t.Fatal(err)
	}
	id, _, err := x.At(7)
	if err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(100, func() { x.Find(&id) }); n != 0 {
		t.Errorf("Find allocates %v times", n)
	}
}

// A pack is refused that its index was not made for, or that is no pack.
func TestOpenErrors(t *testing.T) {
	pack, idx := makePack(t, gittest.System(t), oid.SHA1, "", "")
	good, index := read(t, pack), read(t, idx)
	dir := t.TempDir()
	change := func(at int, b byte) []byte {
		d := bytes.Clone(good)
		d[(at+len(d))%len(d)] = b
		return d
	}
	for name, data := range map[string][]byte{
		"empty": nil, "short": good[:20], "signature": change(0, 'p'), "version": change(7, 4), "count": change(11, 1),
		"trailer": change(-1, good[len(good)-1]+1), "cut": good[:len(good)-1],
	} {
		for _, plain := range []bool{false, true} {
			path := filepath.Join(dir, name+".pack")
			os.WriteFile(path, data, 0o666)
			os.WriteFile(filepath.Join(dir, name+".idx"), index, 0o666)
			p := New(path, oid.SHA1, Options{Plain: plain})
			_, _, _, err := p.Read(&Scratch{}, 12, nil, -1)
			var c *CorruptError
			if !errors.As(err, &c) || c.Path != path {
				t.Errorf("%s, plain %v: %v, want a *CorruptError of %s", name, plain, err, path)
			}
			p.Close()
		}
	}
	p := New(filepath.Join(dir, "absent.pack"), oid.SHA1, Options{})
	if _, _, _, err := p.Read(&Scratch{}, 12, nil, -1); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("absent: %v", err)
	}
	p.Close()
	if _, err := p.Index(); !errors.Is(err, ErrClosed) {
		t.Errorf("closed: %v", err)
	}
}

// Version 3 differs in its number only.
func TestVersion3(t *testing.T) {
	pack, idx := makePack(t, gittest.System(t), oid.SHA1, "", "")
	data := read(t, pack)
	data[7] = 3
	p, err := inMemory(oid.SHA1, data, read(t, idx), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.check(p.src, p.idx); err != nil {
		t.Error(err)
	}
}

// entry appends a pack entry.
func appendEntry(dst []byte, typ byte, size int, ref []byte, body []byte) []byte {
	c := typ<<4 | byte(size&15)
	for size >>= 4; size > 0; size >>= 7 {
		dst = append(dst, c|0x80)
		c = byte(size & 0x7f)
	}
	dst = append(dst, c)
	return append(append(dst, ref...), body...)
}

// A chain of a million deltas takes no recursion, and ends.
func TestDeepChain(t *testing.T) {
	const depth = 200_000
	data := append([]byte("PACK\x00\x00\x00\x02\x00\x00\x00\x01"), nil...)
	base := zlibOf(t, "x")
	at := len(data)
	data = appendEntry(data, 3, 1, nil, base)
	// Each copies its base's only byte.
	delta := zlibOf(t, "\x01\x01\x90\x01")
	for range depth {
		dist := len(data) - at
		at = len(data)
		var ref []byte
		if dist < 0x80 {
			ref = []byte{byte(dist)}
		} else {
			t.Fatal("entries too long for this test")
		}
		data = appendEntry(data, ofsDelta, 4, ref, delta)
	}
	data = append(data, make([]byte, 20)...)
	idx := indexOf(depth + 1)
	for _, o := range []Options{{}, {Cache: NewCache(1 << 20)}} {
		p, err := inMemory(oid.SHA1, data, idx, o)
		if err != nil {
			t.Fatal(err)
		}
		typ, size, out, err := p.Read(&Scratch{}, int64(at), nil, -1)
		if typ != object.Blob || size != 1 || string(out) != "x" || err != nil {
			t.Fatalf("Read = %v, %d, %q, %v", typ, size, out, err)
		}
	}
}

// Ref-deltas that are one another's base are an error.
func TestDeltaRing(t *testing.T) {
	id := oid.Hash(oid.SHA1, "blob", []byte("x"))
	data := append([]byte("PACK\x00\x00\x00\x02\x00\x00\x00\x01"), nil...)
	data = appendEntry(data, refDelta, 4, id.Raw(), zlibOf(t, "\x01\x01\x90\x01"))
	data = append(data, make([]byte, 20)...)
	idx := make([]byte, 1024) // version 1, one object
	for b := int(id.First()); b < 256; b++ {
		idx[4*b+3] = 1
	}
	idx = append(append(idx, 0, 0, 0, packHead), id.Raw()...)
	idx = append(idx, make([]byte, 40)...)
	p, err := inMemory(oid.SHA1, data, idx, Options{Cache: NewCache(1 << 20)})
	if err != nil {
		t.Fatal(err)
	}
	_, _, _, err = p.Read(&Scratch{}, packHead, nil, -1)
	var c *CorruptError
	if !errors.As(err, &c) {
		t.Errorf("Read: %v", err)
	}
	if _, _, err = p.Stat(&Scratch{}, packHead); !errors.As(err, &c) {
		t.Errorf("Stat: %v", err)
	}
}

// Deltas that promise more than there may be are refused before memory is taken.
func TestDeltaBomb(t *testing.T) {
	data := append([]byte("PACK\x00\x00\x00\x02\x00\x00\x00\x01"), nil...)
	at := len(data)
	size := 1 << 16
	data = appendEntry(data, 3, size, nil, zlibOf(t, strings.Repeat("x", size)))
	// Each makes 60 copies of all of its base.
	for range 4 {
		d := appendSize(appendSize(nil, size), 60*size)
		for range 60 {
			d = append(d, 0xf0, byte(size), byte(size>>8), byte(size>>16))
		}
		if size > 0xffffff {
			d = appendSize(appendSize(nil, size), 255*size)
			for range 255 {
				d = append(d, 0xf0, 0xff, 0xff, 0xff)
			}
		}
		dist := len(data) - at
		at = len(data)
		ref := []byte{byte(dist & 0x7f)}
		for dist >>= 7; dist > 0; dist >>= 7 {
			dist--
			ref = append([]byte{0x80 | byte(dist&0x7f)}, ref...)
		}
		data = appendEntry(data, ofsDelta, len(d), ref, zlibOf(t, string(d)))
		size *= 60
	}
	data = append(data, make([]byte, 20)...)
	p, err := inMemory(oid.SHA1, data, indexOf(5), Options{MaxObject: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, _, err := p.Read(&Scratch{}, int64(at), nil, -1); !errors.Is(err, object.ErrTooLarge) {
		t.Errorf("Read: %v, want ErrTooLarge", err)
	}
}

func appendSize(dst []byte, n int) []byte {
	for ; n >= 0x80; n >>= 7 {
		dst = append(dst, byte(n)|0x80)
	}
	return append(dst, byte(n))
}

// indexOf returns an index, version 1, of n objects, all with the null ID.
func indexOf(n int) []byte {
	idx := make([]byte, 1024+24*n+40)
	for i := 0; i < 1024; i += 4 {
		binary.BigEndian.PutUint32(idx[i:], uint32(n))
	}
	return idx
}

func TestCache(t *testing.T) {
	c := NewCache(8000)
	p, q := New("p", oid.SHA1, Options{}), New("q", oid.SHA1, Options{})
	c.put(p, 1, object.Blob, make([]byte, 1001)) // more than an eighth
	if _, _, ok := c.get(p, 1); ok {
		t.Error("content that is too large was kept")
	}
	for i := range int64(20) {
		c.put(p, i, object.Tree, bytes.Repeat([]byte{byte(i)}, 900))
		if c.size > c.max || len(c.items) != c.order.Len() {
			t.Fatalf("size %d of %d, %d items, %d in order", c.size, c.max, len(c.items), c.order.Len())
		}
	}
	if _, _, ok := c.get(p, 0); ok {
		t.Error("the oldest was kept")
	}
	typ, content, ok := c.get(p, 19)
	if typ != object.Tree || len(content) != 900 || content[0] != 19 || !ok {
		t.Errorf("get = %v, %d bytes, %v", typ, len(content), ok)
	}
	c.put(q, 1, object.Blob, []byte("x"))
	c.drop(p)
	if _, _, ok := c.get(q, 1); !ok || len(c.items) != 1 || c.size != 1+itemCost {
		t.Errorf("after drop: %d items of %d bytes", len(c.items), c.size)
	}
	var none *Cache
	none.put(p, 1, object.Blob, nil)
	none.drop(p)
	if _, _, ok := none.get(p, 1); ok {
		t.Error("a nil cache kept something")
	}
}
