package index

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gust/internal/gittest"
	"gust/internal/pure/oid"
)

// BenchmarkRead reads an index of 40,000 entries in 4,000 directories.
func BenchmarkRead(b *testing.B) {
	e := gittest.New(b, gittest.System(b))
	e.Run(b, e.Dir, "init", "-q", "r")
	var in strings.Builder
	for i := range 40000 {
		fmt.Fprintf(&in, "100644 %040x\tmodule-%03d/component-%02d/internal/file-number-%05d.go\n", i+1, i/1000, i/10%100, i)
	}
	cmd := e.Command(e.Path("r"), "update-index", "--index-info")
	cmd.Stdin = strings.NewReader(in.String())
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatal(err, string(out))
	}
	path := filepath.Join(e.Path("r"), ".git/index")
	if info, err := os.Stat(path); err == nil {
		b.SetBytes(info.Size())
	}
	b.ReportAllocs()
	for b.Loop() {
		if ix, err := Read(path, filepath.Dir(path), oid.SHA1); err != nil || len(ix.Entries) != 40000 {
			b.Fatal(err)
		}
	}
}
