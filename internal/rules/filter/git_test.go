package filter

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gust/internal/gittest"
	"gust/internal/pure/oid"
)

// A sample is one file with its attributes.
type sample struct {
	name, attributes string
	content          []byte
}

// compare writes the samples into one tree and asks every git for the object
// IDs of what it would store.
func compare(t *testing.T, s *Settings, config []string, samples []sample) {
	t.Helper()
	r := gittest.NewTree(t)
	for i := 0; i+1 < len(config); i += 2 {
		r.Run("config", config[i], config[i+1])
	}
	// Small directories keep git from comparing every name with every rule.
	const perDir = 40
	dir := func(i int) string { return fmt.Sprintf("d%d/", i/perDir) }
	r.Write(".gitattributes", nil)
	var paths strings.Builder
	for part := range slices.Chunk(samples, perDir) {
		d := dir(strings.Count(paths.String(), "\n"))
		if err := os.Mkdir(filepath.Join(r.Dir, d), 0o777); err != nil {
			t.Fatal(err)
		}
		var attributes strings.Builder
		for _, x := range part {
			fmt.Fprintf(&attributes, "%s %s\n", x.name, x.attributes)
			paths.WriteString(d + x.name + "\n")
			r.Write(d+x.name, x.content)
		}
		r.Write(d+".gitattributes", []byte(attributes.String()))
	}
	for _, git := range gittest.All(t) {
		ids := strings.Fields(r.Git(git, []byte(paths.String()), "hash-object", "--stdin-paths"))
		if len(ids) != len(samples) {
			t.Fatalf("%s hash-object answers %d lines for %d files", git, len(ids), len(samples))
		}
		s.Runner = newTestRunner(r.Dir, r.Env.Environ()) // as fresh as git's processes
		for i, x := range samples {
			p := planFor(s, x.attributes)
			got, err := p.Clean(context.Background(), dir(i)+x.name, x.content, nil)
			if id := oid.Hash(oid.SHA1, "blob", got); err != nil || id.String() != ids[i] {
				t.Errorf("%s stores the file %.80q with %q as %s, gust as %s (%.80q, %v)", git, x.content, x.attributes, ids[i], id, got, err)
			}
		}
		s.Runner.Close()
	}
}

// randomContent returns content in which whatever matters to a conversion is
// frequent.
func randomContent(rng *rand.Rand) []byte {
	tokens := []string{"a", "text ", "\n", "\r\n", "\r\n", "\t", "$", "$Id$", "$Id: x $", "$Id:", "Id:", "$Id: \n$", "$Idx$", "$Id:$", "\xe9", "ü", "\x1b", "\b"}
	rare := []string{"\r", "\x00", "\x1a", "\x01", "\x7f", "\x02\x03"}
	var b bytes.Buffer
	for range rng.IntN(30) {
		if rng.IntN(25) == 0 {
			b.WriteString(rare[rng.IntN(len(rare))])
		} else {
			b.WriteString(tokens[rng.IntN(len(tokens))])
		}
	}
	if rng.IntN(4) == 0 {
		// Long enough for a few control bytes to be text.
		b.WriteString(strings.Repeat("0123456789abcdef", 8*rng.IntN(3)))
	}
	if rng.IntN(8) == 0 {
		b.WriteByte(0x1a)
	}
	return b.Bytes()
}

func TestCleanAgainstGit(t *testing.T) {
	attributes := []string{"", "text", "-text", "text=auto", "text=auto eol=crlf", "text=auto eol=lf", "eol=crlf", "eol=lf", "-text eol=lf", "crlf", "-crlf", "crlf=input",
		"crlf=auto", "text=input", "text=x", "text=x crlf", "ident", "ident text", "ident text=auto", "-ident", "ident=x", "binary", "binary text=auto"}
	for value, auto := range map[string]AutoCRLF{"false": AutoFalse, "true": AutoTrue, "input": AutoInput} {
		for _, eol := range []string{"lf", "crlf", "native"} {
			if value == "input" && eol == "crlf" {
				continue // git refuses the combination
			}
			t.Run(value+"-"+eol, func(t *testing.T) {
				rng := rand.New(rand.NewPCG(uint64(auto), uint64(len(eol))))
				n := 200
				if testing.Short() {
					n = 50
				}
				var samples []sample
				for i := range n {
					samples = append(samples, sample{fmt.Sprintf("f%d", i), attributes[rng.IntN(len(attributes))], randomContent(rng)})
				}
				compare(t, &Settings{AutoCRLF: auto}, []string{"core.autocrlf", value, "core.eol", eol, "core.safecrlf", "false"}, samples)
			})
		}
	}
}

func TestEncodingAgainstGit(t *testing.T) {
	contents := []string{"", "a", "ab", "\xff\xfea\x00\r\x00\n\x00", "\xfe\xff\x00a\x00\r\x00\n", "a\x00b\x00", "\x00a\x00b", "\xff\xfea", "\xff\xfe", "\xff\xfe\xff\xfea\x00",
		"\xff\xfe\x3d\xd8\x00\xde", "\xff\xfe\x3d\xd8", "\xff\xfe\x3d\xd8a\x00", "\xff\xfe\x00\xde", "\xfe\xff\xd8\x3d\xde\x00", "\x3d\xd8\x00\xde", "\xd8\x3d\xde\x00",
		"\xff\xfe\x00\x00a\x00\x00\x00", "\x00\x00\xfe\xff\x00\x00\x00a", "a\x00\x00\x00", "\x00\x00\x00a", "\xff\xfe\x00\x00\x00\x00\x11\x00", "\xff\xfe\x00\x00\x00\xd8\x00\x00",
		"\xff\xfe\x00\x00\x00\xf6\x01\x00", "\x00\xf6\x01\x00", "\xef\xbb\xbfa", "\x93\xfa\x96\x7b", "\xc6\xfc\xcb\xdc", "caf\xe9\r\n", "\xc4\xe3\xba\xc3"}
	var samples []sample
	for _, encoding := range []string{"UTF-16", "utf16", "UTF-16LE", "utf-16be", "UTF16BE", "UTF-16LE-BOM", "utf16le-bom", "UTF-16BE-BOM", "UTF-32", "UTF-32LE", "UTF-32BE", "utf32",
		"UTF-8", "utf8", "ISO-8859-1", "latin1", "latin-1", "US-ASCII", "Shift_JIS", "EUC-JP", "GBK", "no-such-encoding"} {
		for _, content := range contents {
			for _, more := range []string{"", " text", " text=auto ident"} {
				samples = append(samples, sample{fmt.Sprintf("f%d", len(samples)), "working-tree-encoding=" + encoding + more, []byte(content)})
			}
		}
	}
	compare(t, new(Settings), nil, samples)
}

// TestSingleByteEncodingsAgainstGit takes every byte of the encodings that
// have one byte per character.
func TestSingleByteEncodingsAgainstGit(t *testing.T) {
	var samples []sample
	encodings := []string{"ISO-8859-1", "ISO-8859-2", "ISO-8859-5", "ISO-8859-7", "ISO-8859-8", "ISO-8859-9", "ISO-8859-15", "windows-1250", "windows-1251", "windows-1252",
		"windows-1253", "windows-1254", "windows-1257", "cp1252", "KOI8-R", "KOI8-U", "IBM437", "cp850", "IBM866"}
	if testing.Short() {
		encodings = []string{"ISO-8859-5", "windows-1252", "KOI8-U"}
	}
	for _, encoding := range encodings {
		for c := 0x7f; c < 0x100; c++ {
			samples = append(samples, sample{fmt.Sprintf("f%d", len(samples)), "working-tree-encoding=" + encoding, []byte{'x', byte(c)}})
		}
	}
	compare(t, new(Settings), nil, samples)
}
