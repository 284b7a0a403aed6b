package inflate

import (
	"bytes"
	"compress/flate"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
)

// samples are contents of many kinds.
func samples() map[string][]byte {
	r := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 200_000)
	for i := range noise {
		noise[i] = byte(r.Uint32())
	}
	few := make([]byte, 100_000) // long codes: frequencies fall by half
	for i := range few {
		few[i] = byte(min(r.ExpFloat64()*3, 255))
	}
	var text strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&text, "line %d of %d\n", i, r.IntN(1000))
	}
	commit := "tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\nparent 1c9df3a8c0b9a8f1f7fdd0fd3ea2b2c3d4e5f607\n" +
		"author Some Person <some.person@example.com> 1700000000 +0100\ncommitter Other Person <other@example.org> 1700000123 +0200\n\nsubject\n\nbody\n"
	return map[string][]byte{
		"empty": nil, "one": []byte("x"), "commit": []byte(commit), "noise": noise, "short-noise": noise[:300],
		"zeros": make([]byte, 100_000), "text": []byte(text.String()), "few": few,
		"period-3": bytes.Repeat([]byte("abc"), 5000), "far": append(append(noise[:32768:32768], noise[:32768]...), noise[:500]...),
	}
}

func compress(t testing.TB, data []byte, level int) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := zlib.NewWriterLevel(&b, level)
	if err != nil {
		t.Fatal(err)
	}
	w.Write(data)
	w.Close()
	return b.Bytes()
}

func eachSample(t *testing.T, f func(t *testing.T, data, z []byte)) {
	for name, data := range samples() {
		for _, level := range []int{flate.NoCompression, flate.BestSpeed, 6, flate.BestCompression, flate.HuffmanOnly} {
			t.Run(fmt.Sprintf("%s-%d", name, level+2), func(t *testing.T) { f(t, data, compress(t, data, level)) })
		}
	}
}

func TestWhole(t *testing.T) {
	eachSample(t, func(t *testing.T, data, z []byte) {
		var d Decoder
		n := int64(len(data))
		for _, trailing := range []string{"", "x", strings.Repeat("y", 40)} {
			src := append(bytes.Clone(z), trailing...)
			for _, dst := range [][]byte{nil, []byte("before"), make([]byte, 3, 1000), make([]byte, 3, len(data)+3)} {
				out, used, err := d.Whole(dst, src, n)
				if err != nil || used != len(z) || !bytes.Equal(out, append(bytes.Clone(dst), data...)) {
					t.Fatalf("Whole: %d bytes, used %d of %d, %v", len(out), used, len(z), err)
				}
			}
		}
		if _, _, err := d.Whole(nil, z, n+1); err != io.EOF {
			t.Errorf("one byte too few: %v, want EOF", err)
		}
		if n > 0 {
			if _, _, err := d.Whole(nil, z, n-1); err != errPastEnd {
				t.Errorf("one byte too many: %v", err)
			}
		}
		bad := bytes.Clone(z)
		bad[len(bad)-1] ^= 1
		if _, _, err := d.Whole(nil, bad, n); err != ErrChecksum {
			t.Errorf("wrong checksum: %v", err)
		}
		for _, cut := range []int{0, 1, 2, len(z) / 2, len(z) - 5, len(z) - 4, len(z) - 1} {
			if _, _, err := d.Whole(nil, z[:cut:cut], n); err != io.ErrUnexpectedEOF {
				t.Errorf("cut to %d of %d: %v, want ErrUnexpectedEOF", cut, len(z), err)
			}
		}
	})
}

func TestPrefix(t *testing.T) {
	eachSample(t, func(t *testing.T, data, z []byte) {
		var d Decoder
		buf := make([]byte, 0, 700)
		for _, n := range []int{0, 1, 2, 3, 257, 258, 259, 384, 1000, 65536, len(data) - 1, len(data)} {
			if n < 0 || n > len(data) {
				continue
			}
			out, err := d.Prefix(buf, z, int64(n))
			if err != nil || !bytes.Equal(out, data[:n]) {
				t.Fatalf("Prefix(%d) = %d bytes, %v", n, len(out), err)
			}
		}
		out, err := d.Prefix(nil, z, int64(len(data))+1)
		if err != io.EOF || !bytes.Equal(out, data) {
			t.Errorf("Prefix past the end: %d bytes, %v", len(out), err)
		}
		if len(data) > 1000 {
			// Of a stream cut off, either what is wanted is there or it is missing.
			for cut := range min(len(z), 2000) {
				out, err := d.Prefix(nil, z[:cut:cut], 1000)
				if err == nil && !bytes.Equal(out, data[:1000]) || err != nil && err != io.ErrUnexpectedEOF {
					t.Fatalf("cut to %d: %d bytes, %v", cut, len(out), err)
				}
			}
		}
	})
}

// The stream reader is the decoder's slow twin.
func TestReader(t *testing.T) {
	eachSample(t, func(t *testing.T, data, z []byte) {
		var r Reader
		src := append(bytes.Clone(z), "trailing"...)
		for _, mem := range []bool{true, false} {
			reset := func(src []byte) {
				if mem {
					r.Reset(src)
					return
				}
				r.ResetReader(bytes.NewReader(src))
			}
			reset(src)
			var out []byte
			var err error
			for n := 1; len(out) < len(data) && err == nil; n *= 3 {
				out, err = r.Append(out, int64(min(n, len(data)-len(out))))
			}
			if err != nil || !bytes.Equal(out, data) {
				t.Fatalf("Append: %d bytes, %v", len(out), err)
			}
			if err := r.Finish(); err != nil {
				t.Errorf("Finish: %v", err)
			}
			if r.AtEnd() {
				t.Error("AtEnd with data left")
			}
			reset(z)
			if _, err := r.Append(nil, int64(len(data))+1); err != io.EOF && err != io.ErrUnexpectedEOF {
				t.Errorf("Append past the end: %v", err)
			}
			if err := r.Finish(); err != nil || !r.AtEnd() {
				t.Errorf("Finish: %v, AtEnd %v", err, r.AtEnd())
			}
			if len(data) > 0 {
				reset(z)
				if err := r.Finish(); err == nil {
					t.Error("Finish before the end succeeded")
				}
			}
			reset(z[:len(z)-1])
			r.Append(nil, int64(len(data)))
			if err := r.Finish(); err != io.ErrUnexpectedEOF {
				t.Errorf("cut off: %v", err)
			}
		}
		r.Release()
		if _, err := r.Append(nil, 1); err == nil {
			t.Error("Append after Release succeeded")
		}
	})
}

func TestHeader(t *testing.T) {
	var d Decoder
	var r Reader
	for _, head := range []string{"", "\x78", "\x78\x9d", "\x79\x9c", "\x88\x98", "\x78\xbb", "\x00\x00"} {
		_, err := d.Prefix(nil, []byte(head), 1)
		r.Reset([]byte(head))
		_, err2 := r.Append(nil, 1)
		if err == nil || err2 == nil {
			t.Errorf("header %q: %v, %v", head, err, err2)
		}
	}
}

// What is promised is not what memory is set aside for.
func TestPromise(t *testing.T) {
	z := compress(t, []byte("short"), 6)
	var d Decoder
	out, _, err := d.Whole(nil, z, 1<<40)
	if err != io.EOF || cap(out) > 2*step {
		t.Errorf("Whole: %v, room for %d bytes", err, cap(out))
	}
	var r Reader
	r.Reset(z)
	out, err = r.Append(nil, 1<<40)
	if err != io.EOF || cap(out) > 2*step {
		t.Errorf("Append: %v, room for %d bytes", err, cap(out))
	}
}

func TestDecoderPrefixAllocs(t *testing.T) {
	z := compress(t, samples()["commit"], 6)
	var d Decoder
	buf := make([]byte, 0, 1000)
	if n := testing.AllocsPerRun(100, func() { d.Prefix(buf, z, 200) }); n != 0 {
		t.Errorf("Prefix allocates %v times", n)
	}
}

// reference decodes with the standard library.
func reference(z []byte, n int64) ([]byte, error) {
	r, err := zlib.NewReader(bytes.NewReader(z))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(r, n))
}

func FuzzDecoder(f *testing.F) {
	for _, data := range samples() {
		for _, level := range []int{0, 1, 6, flate.HuffmanOnly} {
			if z := compress(f, data[:min(len(data), 3000)], level); len(z) < 4000 {
				f.Add(z)
			}
		}
	}
	f.Fuzz(func(t *testing.T, z []byte) {
		const limit = 1 << 20
		want, wantErr := reference(z, limit)
		if len(want) == limit {
			return
		}
		var d Decoder
		out, err := d.Prefix(nil, z, limit)
		// The library checks the checksum, the prefix does not reach it.
		if errors.Is(wantErr, zlib.ErrChecksum) || errors.Is(wantErr, io.ErrUnexpectedEOF) && err == io.EOF {
			wantErr = nil
		}
		if (err == io.EOF) != (wantErr == nil) {
			t.Fatalf("decoder: %d bytes, %v; library: %d bytes, %v", len(out), err, len(want), wantErr)
		}
		if err == io.EOF && wantErr == nil && !bytes.Equal(out, want) {
			t.Fatalf("decoder made %d bytes, the library %d others", len(out), len(want))
		}
		whole, used, err := d.Whole(nil, z, int64(len(want)))
		if err == nil && (!bytes.Equal(whole, want) || used > len(z)) {
			t.Fatalf("Whole made %d bytes, the library %d others; used %d of %d", len(whole), len(want), used, len(z))
		}
		if wantErr == nil {
			for _, n := range []int{0, 1, len(out) / 2, len(out)} {
				if n > len(out) {
					continue
				}
				part, err := d.Prefix(make([]byte, 0, 300), z, int64(n))
				if err != nil || !bytes.Equal(part, out[:n]) {
					t.Fatalf("Prefix(%d) = %d bytes, %v", n, len(part), err)
				}
			}
		}
	})
}

func BenchmarkDecoder(b *testing.B) {
	for _, name := range []string{"commit", "text"} {
		data := samples()[name]
		z := compress(b, data, 6)
		buf := make([]byte, 0, len(data)+300)
		b.Run(name+"-whole", func(b *testing.B) {
			var d Decoder
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				if _, _, err := d.Whole(buf, z, int64(len(data))); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"-prefix", func(b *testing.B) {
			var d Decoder
			for b.Loop() {
				if _, err := d.Prefix(buf, z, 100); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"-stream", func(b *testing.B) {
			var r Reader
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				r.Reset(z)
				if _, err := r.Append(buf, int64(len(data))); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
