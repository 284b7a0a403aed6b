package refs

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"gust/internal/pure/oid"
)

// manyTags makes a store with n packed tags, the last of which leads to the ID
// that it returns.
func manyTags(t testing.TB, n int) (*Store, oid.ID) {
	t.Helper()
	dir := t.TempDir()
	var b bytes.Buffer
	b.WriteString("# pack-refs with: peeled fully-peeled sorted \n")
	var id oid.ID
	for i := range n {
		id = oid.Hash(oid.SHA1, "blob", fmt.Append(nil, i))
		fmt.Fprintf(&b, "%s refs/tags/v%08d\n^%s\n", oid.Hash(oid.SHA1, "tag", fmt.Append(nil, i)), i, id)
	}
	path := filepath.Join(dir, "packed-refs")
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(dir+"/refs/tags", 0o755); err != nil {
		t.Fatal(err)
	}
	s, err := Open(Options{GitDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	return s, id
}

func noPeel(id oid.ID) (oid.ID, error) { return id, nil }

func BenchmarkTagAt(b *testing.B) {
	s, id := manyTags(b, 50_000)
	// Until the files are older than a clock tick they are read each time.
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); {
		if name, err := s.TagAt(id, noPeel); name != "v00049999" || err != nil {
			b.Fatal(name, err)
		}
		f := s.b.(*files)
		if f.packed.sig.Matches(f.packed.path) {
			break
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.TagAt(id, noPeel); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkParsePacked(b *testing.B) {
	s, _ := manyTags(b, 50_000)
	data, err := os.ReadFile(s.b.(*files).commonDir + "/packed-refs")
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		p, err := parsePacked(data, "packed-refs", oid.SHA1)
		if err != nil {
			b.Fatal(err)
		}
		var t fileTags
		t.build(p, noPeel)
	}
}
