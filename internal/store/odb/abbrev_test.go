package odb_test

import (
	"strings"
	"testing"

	"gust/internal/gittest"
	"gust/internal/pure/oid"
	"gust/internal/store/odb"
)

// TestUniqueLen compares abbreviations of every object with git's, in packs, in a
// multi-pack-index, loose, and among all three.
func TestUniqueLen(t *testing.T) {
	for _, g := range gittest.All(t) {
		env := gittest.New(t, g)
		env.Script(t, `git init -q r; cd r
b() { for i in $(seq $1 $2); do echo "blob
data <<E
$i
E"; done | git fast-import --quiet; }
b 1 500; b 501 900; git multi-pack-index write; b 901 1200; for i in 1 2 3 4 5 6 7 8 9 10 11 12; do echo loose $i | git hash-object -w --stdin >/dev/null; done`)
		db, err := odb.Open(odb.Options{ObjectDir: env.Path("r/.git/objects")})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		ids := strings.Fields(env.Run(t, "r", "cat-file", "--batch-all-objects", "--batch-check=%(objectname)"))
		if len(ids) != 1212 {
			t.Fatalf("%d objects", len(ids))
		}
		for i := 0; i < len(ids); i += 23 {
			id, err := oid.Parse(oid.SHA1, ids[i])
			if err != nil {
				t.Fatal(err)
			}
			n, err := db.UniqueLen(id, 4)
			if want := strings.TrimSpace(env.Run(t, "r", "rev-parse", "--short=4", ids[i])); err != nil || ids[i][:n] != want {
				t.Errorf("%s: %s, %v, want %s", g, ids[i][:n], err, want)
			}
		}
	}
}

// TestAutoAbbrev crosses the two least numbers of objects at which git's default
// abbreviations grow.
func TestAutoAbbrev(t *testing.T) {
	env := gittest.New(t, gittest.Newest(t))
	env.Script(t, `git init -q r`)
	blobs, at := 0, []int{16383, 16384, 65535, 65536}
	for _, n := range at {
		var in strings.Builder
		for ; blobs < n; blobs++ {
			in.WriteString("blob\ndata 8\n")
			in.WriteString(string(rune('a'+blobs%26)) + string(rune('a'+blobs/26%26)) + string(rune('a'+blobs/676%26)) + string(rune('a'+blobs/17576)) + "1234\n")
		}
		cmd := env.Command("r", "fast-import", "--quiet")
		cmd.Stdin = strings.NewReader(in.String())
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		db, err := odb.Open(odb.Options{ObjectDir: env.Path("r/.git/objects")})
		if err != nil {
			t.Fatal(err)
		}
		blob := oid.Hash(oid.SHA1, "blob", []byte("aaaa1234"))
		want := strings.TrimSpace(env.Run(t, "r", "rev-parse", "--short", blob.String()))
		if got := db.AutoAbbrev(); got != len(want) {
			t.Errorf("%d objects: %d digits, git has %s", n, got, want)
		}
		db.Close()
	}
}
