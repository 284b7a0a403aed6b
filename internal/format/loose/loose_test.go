package loose

import (
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gust/internal/gittest"
	"gust/internal/pure/object"
	"gust/internal/pure/oid"
)

func deflate(t testing.TB, data string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	w.Write([]byte(data))
	w.Close()
	return b.Bytes()
}

// Whatever git reads is read alike, and what git refuses is refused.
func TestReadAsGit(t *testing.T) {
	z := func(s string) []byte { return deflate(t, s) }
	tests := []struct {
		name string
		file []byte
	}{
		{"commit", z("commit 5\x00hello")},
		{"empty", z("commit 0\x00")},
		{"large", z("commit 300000\x00" + strings.Repeat("0123456789", 30000))},
		{"stored", storedBlob(t)},
		{"size-too-small", z("commit 4\x00hello")},
		{"size-too-large", z("commit 6\x00hello")},
		{"leading-zero", z("commit 05\x00hello")},
		{"no-digits", z("commit \x00hello")},
		{"no-space", z("commit5\x00hello")},
		{"negative", z("commit -5\x00hello")},
		{"plus", z("commit +5\x00hello")},
		{"hex", z("commit 0x5\x00hello")},
		{"trailing-space", z("commit 5 \x00hello")},
		{"unknown-type", z("blub 5\x00hello")},
		{"no-nul", z("commit 5")},
		{"long-header", z("commit " + strings.Repeat("1", 40) + "\x00")},
		{"empty-file", nil},
		{"no-zlib", []byte("commit 5\x00hello")},
		{"garbage", append(z("commit 5\x00hello"), "garbage"...)},
		{"cut", z("commit 5\x00hello")[:10]},
		{"no-checksum", func() []byte { b := z("commit 5\x00hello"); return b[:len(b)-4] }()},
		{"bad-checksum", func() []byte { b := z("commit 5\x00hello"); b[len(b)-1] ^= 1; return b }()},
	}
	for _, g := range gittest.All(t) {
		env := gittest.New(t, g)
		env.Run(t, ".", "init", "-q", "r")
		dir := env.Path("r/.git/objects")
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				// Git checks the IDs of some objects: name the file for what is in it.
				content := "hello"
				switch tt.name {
				case "empty":
					content = ""
				case "large", "stored":
					content = strings.Repeat("0123456789", 30000)
				}
				id := oid.Hash(oid.SHA1, "commit", []byte(content))
				path := string(AppendPath([]byte(dir), id))
				os.MkdirAll(filepath.Dir(path), 0o777)
				os.Remove(path)
				if err := os.WriteFile(path, tt.file, 0o666); err != nil {
					t.Fatal(err)
				}
				want, gitErr := env.Command("r", "cat-file", "commit", id.String()).Output()
				var r Reader
				typ, size, got, err := r.Read(dir, id, []byte("before"), -1)
				// Git takes a size that is off by a few bytes. Such content cannot have the
				// object's ID, so nothing is lost in refusing it.
				stricter := strings.HasPrefix(tt.name, "size-too-") && gitErr == nil
				if (err == nil) != (gitErr == nil) && !stricter {
					t.Fatalf("error %v, git's %v", err, gitErr)
				}
				if err == nil && (typ != object.Commit || size != int64(len(want)) || string(got) != "before"+string(want)) {
					t.Errorf("read %v, %d bytes, want %d", typ, size, len(want))
				}
				var c *CorruptError
				if err != nil && (!errors.As(err, &c) || c.Path != path || string(got) != "before") {
					t.Errorf("error %v, %q; want a *CorruptError of %s", err, got, path)
				}
				// The stream is the decoder's twin.
				typ2, size2, got2, err2 := r.decodeStream(bytes.NewReader(tt.file), path, []byte("before"), -1)
				if typ2 != typ || size2 != size || !bytes.Equal(got2, got) || (err2 == nil) != (err == nil) {
					t.Errorf("stream: %v, %d, %v; decoder: %v, %d, %v", typ2, size2, err2, typ, size, err)
				}
				for _, n := range []int64{0, 1, 4, 5, 40, 100_000} {
					if err != nil {
						break
					}
					_, size, part, err := r.Read(dir, id, nil, n)
					_, _, part2, err2 := r.decodeStream(bytes.NewReader(tt.file), path, nil, n)
					if err != nil || err2 != nil || size != int64(len(want)) || string(part) != string(want[:min(n, size)]) || !bytes.Equal(part, part2) {
						t.Errorf("first %d bytes: %d, %v; stream: %d, %v", n, len(part), err, len(part2), err2)
					}
				}
			})
		}
	}
}

func storedBlob(t *testing.T) []byte {
	var b bytes.Buffer
	w, err := zlib.NewWriterLevel(&b, zlib.NoCompression)
	if err != nil {
		t.Fatal(err)
	}
	w.Write([]byte("commit 300000\x00" + strings.Repeat("0123456789", 30000)))
	w.Close()
	return b.Bytes()
}

func TestReadErrors(t *testing.T) {
	dir := t.TempDir()
	id := oid.Hash(oid.SHA256, "blob", []byte("x"))
	var r Reader
	if _, _, _, err := r.Read(dir, id, nil, -1); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("absent: %v", err)
	}
	path := string(AppendPath([]byte(dir), id))
	if err := os.MkdirAll(path, 0o777); err != nil {
		t.Fatal(err)
	}
	if _, _, _, err := r.Read(dir, id, nil, -1); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("directory: %v", err)
	}
	if want := filepath.Join(dir, id.String()[:2], id.String()[2:]); path != want {
		t.Errorf("path %s, want %s", path, want)
	}
	os.Remove(path)
	if err := os.WriteFile(path, deflate(t, "blob 2000\x00"+strings.Repeat("x", 2000)), 0o666); err != nil {
		t.Fatal(err)
	}
	r.MaxObject = 1999
	if _, _, _, err := r.Read(dir, id, nil, -1); !errors.Is(err, object.ErrTooLarge) {
		t.Errorf("too large: %v", err)
	}
	if _, _, out, err := r.Read(dir, id, nil, 1999); len(out) != 1999 || err != nil {
		t.Errorf("head of a large object: %d bytes, %v", len(out), err)
	}
}

func FuzzDecode(f *testing.F) {
	for _, s := range []string{"blob 5\x00hello", "commit 0\x00", "tree 400\x00" + strings.Repeat("x", 400), "tag 9999999999\x00x"} {
		f.Add(deflate(f, s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r := Reader{MaxObject: 1 << 20}
		typ, size, out, err := r.decode(data, "f", nil, -1)
		typ2, size2, out2, err2 := r.decodeStream(bytes.NewReader(data), "f", nil, -1)
		if (err == nil) != (err2 == nil) || typ != typ2 || size != size2 || !bytes.Equal(out, out2) {
			t.Fatalf("decoder: %v, %d, %d bytes, %v; stream: %v, %d, %d bytes, %v", typ, size, len(out), err, typ2, size2, len(out2), err2)
		}
		if err != nil {
			return
		}
		if int64(len(out)) != size {
			t.Fatalf("%d bytes, size %d", len(out), size)
		}
		for _, n := range []int64{0, min(1, size), size / 2, size} {
			_, _, part, err := r.decode(data, "f", nil, n)
			if err != nil || !bytes.Equal(part, out[:n]) {
				t.Fatalf("first %d bytes: %d, %v", n, len(part), err)
			}
		}
	})
}

func ExampleAppendPath() {
	id, _ := oid.Parse(oid.SHA1, "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391")
	fmt.Println(string(AppendPath([]byte("objects"), id)))
	// Output: objects/e6/9de29bb2d1d6434b8b29ae775ad8c2e48c5391
}
