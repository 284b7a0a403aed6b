package chunk

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"gust/internal/pure/oid"
)

// sorted returns a fan-out table and n sorted IDs, stride bytes apart, each skip
// bytes into its stride. With clump they share their first bytes.
func sorted(r *rand.Rand, a oid.Algo, n, stride, skip int, clump bool) (fanout, table []byte, ids []oid.ID) {
	raw := make([]byte, a.Size())
	for range n {
		for i := range raw {
			raw[i] = byte(r.Uint32())
		}
		if clump {
			copy(raw, "\x42\x00\x00\x00\x00\x00\x00\x00")
			raw[8+r.IntN(3)] = 0
		}
		ids = append(ids, oid.FromBytes(a, raw))
	}
	slices.SortFunc(ids, func(x, y oid.ID) int { return x.Compare(y) })
	ids = slices.Compact(ids)
	counts := make([]uint32, 256)
	for i := range ids {
		row := make([]byte, stride)
		copy(row[skip:], ids[i].Raw())
		table = append(table, row...)
		for b := int(ids[i].First()); b < 256; b++ {
			counts[b]++
		}
	}
	for _, c := range counts {
		fanout = binary.BigEndian.AppendUint32(fanout, c)
	}
	return fanout, table, ids
}

func TestSearch(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, a := range []oid.Algo{oid.SHA1, oid.SHA256} {
		for _, n := range []int{0, 1, 2, 100, 5000, 60000} {
			for _, clump := range []bool{false, true} {
				for _, skip := range []int{0, 4} {
					fanout, table, ids := sorted(r, a, n, a.Size()+skip, skip, clump)
					if got, ok := CheckFanout(fanout); got != len(ids) || !ok {
						t.Fatalf("CheckFanout = %d, %v, want %d", got, ok, len(ids))
					}
					for i := 0; i < len(ids); i += 1 + len(ids)/3000 {
						if pos, ok := Search(fanout, table, a.Size()+skip, skip, &ids[i]); pos != i || !ok {
							t.Fatalf("%v, %d IDs, clump %v: Search(ids[%d]) = %d, %v", a, n, clump, i, pos, ok)
						}
						// One off in the last byte is absent, unless it happens to be there.
						raw := bytes.Clone(ids[i].Raw())
						raw[len(raw)-1] ^= 1
						near := oid.FromBytes(a, raw)
						want, found := slices.BinarySearchFunc(ids, near, func(x, y oid.ID) int { return x.Compare(y) })
						if pos, ok := Search(fanout, table, a.Size()+skip, skip, &near); ok != found || ok && pos != want {
							t.Fatalf("%v, %d IDs: absent: Search = %d, %v", a, n, pos, ok)
						}
					}
				}
			}
		}
	}
}

// A table that changed under the search may give wrong answers, but no panic.
func TestSearchBroken(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	fanout, table, ids := sorted(r, oid.SHA1, 3000, 20, 0, false)
	for range 3000 {
		f, tab := bytes.Clone(fanout), bytes.Clone(table)
		for range 20 {
			f[r.IntN(len(f))] = byte(r.Uint32())
		}
		tab = tab[:r.IntN(len(tab)+1)]
		Search(f, tab, 20, 0, &ids[r.IntN(len(ids))])
		CheckFanout(f)
	}
}

func TestSearchAllocs(t *testing.T) {
	fanout, table, ids := sorted(rand.New(rand.NewPCG(5, 6)), oid.SHA1, 50000, 20, 0, false)
	i := 0
	if n := testing.AllocsPerRun(1000, func() { Search(fanout, table, 20, 0, &ids[i]); i += 7 }); n != 0 {
		t.Errorf("Search allocates %v times", n)
	}
}

func TestLowerBoundAllocs(t *testing.T) {
	fanout, table, ids := sorted(rand.New(rand.NewPCG(5, 6)), oid.SHA1, 100, 20, 0, false)
	if n := testing.AllocsPerRun(1000, func() { LowerBound(fanout, table, 20, 0, &ids[50]) }); n != 0 {
		t.Errorf("LowerBound allocates %v times", n)
	}
	if pos := LowerBound(fanout, table, 20, 0, &ids[50]); pos != 50 {
		t.Errorf("LowerBound(ids[50]) = %d", pos)
	}
}

func BenchmarkSearch(b *testing.B) {
	fanout, table, ids := sorted(rand.New(rand.NewPCG(5, 6)), oid.SHA1, 400_000, 20, 0, false)
	rand.New(rand.NewPCG(7, 8)).Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		if _, ok := Search(fanout, table, 20, 0, &ids[i]); !ok {
			b.Fatal("not found")
		}
		i = (i + 1) % len(ids)
	}
}
