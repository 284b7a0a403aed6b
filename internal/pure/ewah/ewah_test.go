package ewah

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gust/internal/pure/object"
)

// encode compresses s the plain way: one run-length word for every run of equal
// full words and the literal words behind it.
func encode(s Bits, n int) []byte {
	var words []uint64
	last := 0
	for i := 0; i < len(s) || len(words) == 0; {
		var bit uint64
		run := 0
		if i < len(s) && s[i] == ^uint64(0) {
			bit = 1
		}
		for i < len(s) && s[i] == -bit {
			run, i = run+1, i+1
		}
		var lit []uint64
		for i < len(s) && s[i] != 0 && s[i] != ^uint64(0) {
			lit, i = append(lit, s[i]), i+1
		}
		last = len(words)
		words = append(words, bit|uint64(run)<<1|uint64(len(lit))<<33)
		words = append(words, lit...)
	}
	out := binary.BigEndian.AppendUint32(nil, uint32(n))
	out = binary.BigEndian.AppendUint32(out, uint32(len(words)))
	for _, w := range words {
		out = binary.BigEndian.AppendUint64(out, w)
	}
	return binary.BigEndian.AppendUint32(out, uint32(last))
}

func random(r *rand.Rand, n int) Bits {
	s := NewBits(n)
	for i := 0; i < n; {
		run := 1 + r.IntN(1+r.IntN(300))
		set := r.IntN(2) == 0
		for ; run > 0 && i < n; i, run = i+1, run-1 {
			if set {
				s.Set(i)
			}
		}
	}
	return s
}

func positions(each func(func(int) bool)) []int {
	var p []int
	each(func(i int) bool { p = append(p, i); return true })
	return p
}

func TestRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 400 {
		n *= 1 + r.IntN(20)
		s := random(r, n)
		data := encode(s, n)
		b, used, err := Parse(append(data, 1, 2, 3), n)
		if err != nil || used != len(data) {
			t.Fatalf("%d bits: used %d of %d bytes, error %v", n, used, len(data), err)
		}
		var want []int
		for i := range n {
			if s.Get(i) {
				want = append(want, i)
			}
		}
		if got := positions(b.Each); !slices.Equal(got, want) {
			t.Fatalf("%d bits: Each gave %v, want %v", n, got, want)
		}
		if got := positions(s.Each); !slices.Equal(got, want) {
			t.Fatalf("%d bits: Bits.Each gave %v, want %v", n, got, want)
		}
		if b.Count() != len(want) || s.Count() != len(want) || b.Len() != n {
			t.Fatalf("%d bits: Count %d and %d, want %d; Len %d", n, b.Count(), s.Count(), len(want), b.Len())
		}
		o := random(r, n)
		or, andNot, xor := slices.Clone(o), slices.Clone(o), slices.Clone(o)
		or.Or(&b)
		andNot.AndNot(&b)
		xor.Xor(&b)
		for i := range n {
			if or.Get(i) != (o.Get(i) || s.Get(i)) || andNot.Get(i) != (o.Get(i) && !s.Get(i)) || xor.Get(i) != (o.Get(i) != s.Get(i)) {
				t.Fatalf("%d bits: bit %d of Or, AndNot or Xor is wrong", n, i)
			}
		}
		if len(want) > 0 {
			if _, _, err := Parse(data, want[len(want)-1]); err == nil {
				t.Fatalf("%d bits: bit %d accepted with that as max", n, want[len(want)-1])
			}
			if got := 0; true {
				b.Each(func(int) bool { got++; return false })
				if got != 1 {
					t.Fatalf("Each went on after false: %d visits", got)
				}
			}
		}
		// A shorter destination is filled as far as it goes.
		short := NewBits(n / 2)
		short.Or(&b)
		for i := range short {
			if short[i] != s[i] {
				t.Fatalf("%d bits: word %d of a shorter Or is wrong", n, i)
			}
		}
	}
}

func TestParseErrors(t *testing.T) {
	be := binary.BigEndian
	head := func(bits, words uint32) []byte { return be.AppendUint32(be.AppendUint32(nil, bits), words) }
	tests := []struct {
		name string
		data []byte
	}{
		{"empty", nil},
		{"short", make([]byte, 11)},
		{"words-missing", append(head(64, 1), 0, 0, 0, 0)},
		{"count-overflows", append(head(64, 0xffffffff), make([]byte, 20)...)},
		{"literals-missing", be.AppendUint32(be.AppendUint64(head(64, 1), 1<<33), 0)},
		{"run-past-max", be.AppendUint32(be.AppendUint64(head(64, 1), 3<<1|1), 0)},
		{"run-huge", be.AppendUint32(be.AppendUint64(head(64, 1), 0xffffffff<<1|1), 0)},
		{"zeros-huge", be.AppendUint32(be.AppendUint64(be.AppendUint64(head(64, 2), 0xffffffff<<1), 0xffffffff<<1), 0)},
		{"literal-past-max", be.AppendUint32(be.AppendUint64(be.AppendUint64(head(101, 2), 1<<33|1<<1), 1<<40), 0)},
	}
	for _, tt := range tests {
		_, _, err := Parse(tt.data, 100)
		var c *object.CorruptError
		if !errors.As(err, &c) {
			t.Errorf("%s: error %v, want a *CorruptError", tt.name, err)
		}
	}
}

// Git's split index says in a bitmap which entries of the shared index are gone
// (gitformat-index(5), "Split index").
func TestGitSplitIndex(t *testing.T) {
	dir := t.TempDir()
	git := func(stdin string, args ...string) string {
		t.Helper()
		c := exec.Command("git", args...)
		c.Dir = dir
		c.Stdin = strings.NewReader(stdin)
		c.Env = append(os.Environ(), "HOME="+dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_INDEX_FILE=", "GIT_TEST_SPLIT_INDEX=")
		c.Env = slices.DeleteFunc(c.Env, func(s string) bool { return s == "GIT_INDEX_FILE=" || s == "GIT_TEST_SPLIT_INDEX=" })
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	git("", "init", "-q")
	git("", "config", "splitIndex.maxPercentChange", "100")
	blob := git("", "hash-object", "-w", "--stdin")
	const n = 1000
	var all strings.Builder
	for i := range n {
		fmt.Fprintf(&all, "100644 %s\tf%04d\n", blob, i)
	}
	git(all.String(), "update-index", "--index-info")
	git("", "update-index", "--split-index")
	var gone strings.Builder
	var want []int
	for i := range n {
		if i%97 == 0 || i > 200 && i < 450 {
			want = append(want, i)
			fmt.Fprintf(&gone, "0 %s\tf%04d\n", strings.Repeat("0", len(blob)), i)
		}
	}
	git(gone.String(), "update-index", "--index-info")
	data, err := os.ReadFile(filepath.Join(dir, ".git", "index"))
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(data, []byte("link"))
	if at < 0 {
		t.Fatal("git wrote no link extension")
	}
	size := int(binary.BigEndian.Uint32(data[at+4:]))
	ext := data[at+8:][:size][len(blob)/2:]
	deleted, used, err := Parse(ext, n)
	if err != nil {
		t.Fatal(err)
	}
	if got := positions(deleted.Each); !slices.Equal(got, want) {
		t.Errorf("deleted entries %v, want %v", got, want)
	}
	replaced, used2, err := Parse(ext[used:], n)
	if err != nil || replaced.Count() != 0 {
		t.Errorf("%d replaced entries, error %v; want none", replaced.Count(), err)
	}
	if used+used2 != len(ext) {
		t.Errorf("bitmaps take %d bytes, the extension has %d", used+used2, len(ext))
	}
}

func FuzzParse(f *testing.F) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{0, 1, 64, 130, 5000} {
		f.Add(encode(random(r, n), n), n)
	}
	f.Fuzz(func(t *testing.T, data []byte, max int) {
		max &= 1<<16 - 1
		b, n, err := Parse(data, max)
		if err != nil {
			return
		}
		if n > len(data) {
			t.Fatalf("used %d of %d bytes", n, len(data))
		}
		s := NewBits(max)
		s.Or(&b)
		last := -1
		b.Each(func(i int) bool {
			if i <= last || i >= max || !s.Get(i) {
				t.Fatalf("bit %d after %d, max %d, in Bits: %v", i, last, max, s.Get(i))
			}
			last = i
			return true
		})
		if s.Count() != b.Count() {
			t.Fatalf("Bits count %d, Bitmap count %d", s.Count(), b.Count())
		}
		if b.Len() > max {
			t.Fatalf("Len %d, max %d", b.Len(), max)
		}
	})
}

// TestAppendCompressed compresses bitmaps of all kinds of runs and reads them back.
func TestAppendCompressed(t *testing.T) {
	words := []uint64{0, ^uint64(0), 1, 1 << 63, 0x5555}
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 200 {
		s := make(Bits, n%23)
		for i := range s {
			s[i] = words[r.IntN(1+r.IntN(len(words)))]
			if i > 0 && r.IntN(3) > 0 {
				s[i] = s[i-1]
			}
		}
		data := s.AppendCompressed([]byte("x"), 64*len(s))[1:]
		b, size, err := Parse(data, 64*len(s))
		if err != nil || size != len(data) {
			t.Fatalf("%x: %v, %d bytes of %d", []uint64(s), err, size, len(data))
		}
		got := NewBits(64 * len(s))
		got.Or(&b)
		if fmt.Sprint(got) != fmt.Sprint(s) {
			t.Fatalf("%x became %x", []uint64(s), []uint64(got))
		}
	}
}
