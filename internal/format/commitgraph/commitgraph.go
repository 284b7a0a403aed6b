// Package commitgraph holds commit-graph files and chains: parents, generation
// numbers, changed-path filters (which are skipped).
//
// The file (gitformat-commit-graph(5), numbers in network byte order):
//
//	"CGPH", 1-byte version (1), 1-byte hash (1 SHA-1, 2 SHA-256),
//	1-byte number of chunks, 1-byte number of base files
//	table of contents and chunks, see package chunk:
//	  OIDF  fan-out table
//	  OIDL  raw commit IDs, in order
//	  CDAT  for each commit: raw tree ID; 4-byte positions of the first two
//	        parents, 0x70000000 for none, with the highest bit set in the second
//	        a row of EDGE; 30 bits of generation number, 34 bits of commit time
//	  EDGE  4-byte positions of the second and later parents of an octopus, the
//	        highest bit set in the last
//	  GDA2  4-byte distance of the corrected commit date from the commit time; with
//	        the highest bit set a row of the next
//	  GDO2  8-byte distances
//	  BASE  raw hashes of the base files, oldest first
//	hash of all of the above
//
// A chain is the file info/commit-graphs/commit-graph-chain in an object
// directory: one hexadecimal hash a line, oldest first, each naming a layer, the
// file graph-HASH.graph beside it or in an alternate. Positions count from the
// first commit of the oldest layer.
package commitgraph

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"gust/internal/disk/filestat"
	"gust/internal/disk/mmap"
	"gust/internal/format/chunk"
	"gust/internal/pure/object"
	"gust/internal/pure/oid"
)

// A CorruptError names the file and the offset of bytes that break the format.
type CorruptError = object.CorruptError

// A Graph is an open commit-graph: a single file or a chain. It is safe for
// concurrent use.
type Graph struct {
	algo      oid.Algo
	layers    []*layer // oldest first
	count     int      // commits in all of them
	corrected bool     // every layer has corrected commit dates
}

// FilePath returns the path of the single commit-graph file in an object
// directory.
func FilePath(objectDir string) string { return filepath.Join(objectDir, "info", "commit-graph") }

// ChainPath returns the path of the chain file in an object directory.
func ChainPath(objectDir string) string {
	return filepath.Join(chainDir(objectDir), "commit-graph-chain")
}

func chainDir(objectDir string) string { return filepath.Join(objectDir, "info", "commit-graphs") }

// Open opens the first commit-graph found in the object directories dirs, which
// are a repository's own and its alternates; in each the single file goes before
// the chain. It returns nil without one. A file that is invalid is passed over
// and the error, a *CorruptError or one of opening it, returned beside what was
// found after all; of a chain the layers below the broken one are used. The
// caller must Close the Graph.
func Open(dirs []string, a oid.Algo) (*Graph, error) {
	var errs []error
	for _, dir := range dirs {
		g, err := openFile(FilePath(dir), a)
		errs = append(errs, err)
		if g == nil {
			g, err = openChain(dir, dirs, a)
			errs = append(errs, err)
		}
		if g != nil {
			return g, errors.Join(errs...)
		}
	}
	return nil, errors.Join(errs...)
}

func openFile(path string, a oid.Algo) (*Graph, error) {
	l, err := openLayer(path, a, nil)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return newGraph(a, []*layer{l}), nil
}

// maxChain bounds the chain file: 10,000 layers of the longest hash.
const maxChain = 10_000 * 65

func openChain(dir string, dirs []string, a oid.Algo) (*Graph, error) {
	path := ChainPath(dir)
	data, _, err := filestat.ReadFile(path, maxChain)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var layers []*layer
	var hashes []oid.ID
	off := 0
	for line := range strings.Lines(string(data)) {
		hash, err := oid.Parse(a, strings.TrimRight(line, "\r\n"))
		if err != nil {
			return newGraph(a, layers), &CorruptError{Path: path, Offset: int64(off), Problem: "bad hash of a layer"}
		}
		l, err := findLayer(dir, dirs, hash, a, hashes)
		if err != nil {
			return newGraph(a, layers), err
		}
		if n := len(layers); n > 0 {
			l.base = layers[n-1].base + layers[n-1].count
		}
		if l.base > maxCommits-l.count {
			l.file.Close()
			return newGraph(a, layers), &CorruptError{Path: path, Offset: int64(off), Problem: "too many commits"}
		}
		layers, hashes = append(layers, l), append(hashes, hash)
		off += len(line)
	}
	return newGraph(a, layers), nil
}

// findLayer opens the layer with the given hash in dir or else in one of dirs.
func findLayer(dir string, dirs []string, hash oid.ID, a oid.Algo, bases []oid.ID) (*layer, error) {
	name := "graph-" + hash.String() + ".graph"
	l, err := openLayer(filepath.Join(chainDir(dir), name), a, bases)
	for _, d := range dirs {
		if !errors.Is(err, fs.ErrNotExist) {
			break
		}
		l, err = openLayer(filepath.Join(chainDir(d), name), a, bases)
	}
	return l, err
}

// newGraph returns the graph of the given layers, nil if there are none.
func newGraph(a oid.Algo, layers []*layer) *Graph {
	if len(layers) == 0 {
		return nil
	}
	top := layers[len(layers)-1]
	g := &Graph{algo: a, layers: layers, count: top.base + top.count, corrected: true}
	for _, l := range layers {
		// Dates are of use only where all commits have them: a walk compares them.
		g.corrected = g.corrected && (l.dates.End > 0 || l.count == 0)
	}
	return g
}

// Close releases the files once calls in progress have returned. Later calls of
// Do fail with mmap.ErrClosed.
func (g *Graph) Close() error {
	if g != nil {
		for _, l := range g.layers {
			l.file.Close()
		}
	}
	return nil
}

// Len returns the number of commits. Positions are below it.
func (g *Graph) Len() int { return g.count }

// Corrected reports whether generation numbers are corrected commit dates
// (version 2) rather than topological levels (version 1).
func (g *Graph) Corrected() bool { return g.corrected }

// Lookup returns the position of the commit id; ok is false if the graph lacks it
// or cannot be read.
func (g *Graph) Lookup(id oid.ID) (pos uint32, ok bool) {
	err := g.Do(func(v *View) error {
		pos, ok = v.Lookup(&id)
		return nil
	})
	return pos, ok && err == nil
}

// A layer is one file.
type layer struct {
	file  *mmap.File
	base  int // commits in the layers below
	count int

	fanout, ids, commits, edges, dates, farDates chunk.Span
}

const (
	headSize   = 8
	maxCommits = 1<<30 + 1<<29 + 1<<28 - 1 // see noParent
)

func openLayer(path string, a oid.Algo, bases []oid.ID) (*layer, error) {
	file, err := mmap.Open(path)
	if err != nil {
		return nil, err
	}
	return newLayer(file, a, bases)
}

func newLayer(file *mmap.File, a oid.Algo, bases []oid.ID) (*layer, error) {
	l := &layer{file: file}
	if err := file.Do(func(data []byte) error { return l.parse(data, a, bases) }); err != nil {
		file.Close()
		var c *CorruptError
		if errors.As(err, &c) && c.Path == "" {
			c.Path = file.Path()
		}
		return nil, err
	}
	return l, nil
}

func (l *layer) parse(data []byte, a oid.Algo, bases []oid.ID) error {
	bad := func(off int, format string, args ...any) error {
		return &CorruptError{Offset: int64(off), Problem: fmt.Sprintf(format, args...)}
	}
	hash := a.Size()
	if len(data) < headSize+hash {
		return bad(len(data), "commit-graph is cut off")
	}
	if string(data[:4]) != "CGPH" {
		return bad(0, "no commit-graph signature")
	}
	if data[4] != 1 {
		return bad(4, "unknown commit-graph version %d", data[4])
	}
	if want := byte(a) + 1; data[5] != want {
		return bad(5, "commit-graph of hash %d, want %d", data[5], want)
	}
	if int(data[7]) != len(bases) {
		return bad(7, "commit-graph of %d base files, want %d", data[7], len(bases))
	}
	table, err := chunk.Parse(data, headSize, int(data[6]), hash)
	if err != nil {
		return err
	}
	if l.fanout, err = table.Require("OIDF", chunk.FanoutSize); err != nil {
		return err
	}
	n, ok := chunk.CheckFanout(l.fanout.Of(data))
	if !ok || n > maxCommits {
		return bad(l.fanout.Start, "fan-out does not ascend")
	}
	l.count = n
	if l.ids, err = table.Require("OIDL", int64(n)*int64(hash)); err != nil {
		return err
	}
	if l.commits, err = table.Require("CDAT", int64(n)*int64(hash+16)); err != nil {
		return err
	}
	if l.edges, err = optional(&table, "EDGE", -1); err != nil {
		return err
	}
	if l.dates, err = optional(&table, "GDA2", int64(n)*4); err != nil {
		return err
	}
	if l.farDates, err = optional(&table, "GDO2", -1); err != nil {
		return err
	}
	if len(bases) == 0 {
		return nil
	}
	base, err := table.Require("BASE", int64(len(bases)*hash))
	if err != nil {
		return err
	}
	for i := range bases {
		if at := base.Start + i*hash; !bases[i].EqualRaw(data[at : at+hash]) {
			return bad(at, "base file is not the one below in the chain")
		}
	}
	return nil
}

func optional(t *chunk.Table, name string, size int64) (chunk.Span, error) {
	if _, _, ok := t.Find(chunk.ID(name)); !ok {
		return chunk.Span{}, nil
	}
	return t.Require(name, size)
}

// u32 reads the 4-byte number at off.
func u32(data []byte, off int) uint32 { return binary.BigEndian.Uint32(data[off:]) }
