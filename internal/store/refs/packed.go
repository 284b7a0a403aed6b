package refs

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"gust/internal/disk/filestat"
	"gust/internal/pure/oid"
)

// packed is a parsed packed-refs file: a header line "# pack-refs with: ", then
// lines of an object ID, a space and a name, each perhaps followed by a line of
// "^" and the ID that the tag object named before leads to (git-pack-refs(1)).
type packed struct {
	path  string
	sig   filestat.Signature
	algo  oid.Algo
	data  []byte
	lines []uint32 // offsets of the refs' lines, sorted by the refs' names
	full  bool     // header "fully-peeled": a ref without a ^ line names no tag object
	half  bool     // header "peeled": the same, but for refs below refs/tags only
}

// maxPacked bounds packed-refs: offsets are 32 bits.
const maxPacked = math.MaxInt32

// packedRefs returns packed-refs as it is now.
func (f *files) packedRefs() (*packed, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.packedLocked()
}

// packedLocked is packedRefs for callers who hold f.mu.
func (f *files) packedLocked() (*packed, error) {
	path := f.commonDir + "/packed-refs"
	if f.packed != nil && f.packed.sig.Matches(path) {
		return f.packed, nil
	}
	data, sig, err := filestat.ReadFile(path, maxPacked)
	if err != nil && !filestat.IsAbsent(err) {
		return nil, fmt.Errorf("cannot read packed refs: %w", err)
	}
	if f.packed != nil && bytes.Equal(data, f.packed.data) {
		// Young files are read again each time, but not parsed again. A copy,
		// since others may be reading the old one.
		p := *f.packed
		p.sig = sig
		f.packed = &p
		return f.packed, nil
	}
	p, err := parsePacked(data, path, f.algo)
	if err != nil {
		return nil, err
	}
	p.sig = sig
	f.packed = p
	return p, nil
}

// parsePacked parses the content of packed-refs, which it keeps. The error is a
// *BrokenError.
func parsePacked(data []byte, path string, algo oid.Algo) (*packed, error) {
	p := &packed{path: path, algo: algo, data: data}
	broken := func(at int, problem string) (*packed, error) {
		return nil, &BrokenError{Path: path, Offset: int64(at), Problem: problem}
	}
	hexSize := algo.HexSize()
	sorted := true
	for at := 0; at < len(data); {
		length := bytes.IndexByte(data[at:], '\n')
		if length < 0 {
			return broken(at, "unterminated line")
		}
		line := data[at : at+length]
		switch {
		case len(line) > 0 && line[0] == '#':
			if traits, ok := bytes.CutPrefix(line, []byte("# pack-refs with:")); ok && at == 0 {
				p.traits(string(traits))
			}
		case len(line) > 0 && line[0] == '^':
			if len(p.lines) == 0 || !isHex(line[1:], hexSize) {
				return broken(at, "bad peeled line")
			}
		case len(line) > hexSize+1 && isSpace(line[hexSize]) && isHex(line[:hexSize], hexSize):
			p.lines = append(p.lines, uint32(at))
			if n := len(p.lines); sorted && n > 1 && bytes.Compare(p.nameAt(p.lines[n-2]), p.nameAt(p.lines[n-1])) >= 0 {
				sorted = false
			}
		default:
			return broken(at, "bad line")
		}
		at += length + 1
	}
	if !sorted {
		slices.SortStableFunc(p.lines, func(a, b uint32) int { return bytes.Compare(p.nameAt(a), p.nameAt(b)) })
	}
	return p, nil
}

func (p *packed) traits(s string) {
	for _, trait := range strings.Fields(s) {
		switch trait {
		case "fully-peeled":
			p.full = true
		case "peeled":
			p.half = true
		}
	}
}

func isHex(s []byte, n int) bool {
	if len(s) != n {
		return false
	}
	for _, c := range s {
		if c-'0' > 9 && (c|0x20)-'a' > 5 { // bytes wrap around
			return false
		}
	}
	return true
}

// nameAt returns the name in the line at offset at.
func (p *packed) nameAt(at uint32) []byte {
	line := p.data[int(at)+p.algo.HexSize()+1:]
	return line[:bytes.IndexByte(line, '\n')]
}

func (p *packed) name(i int) string { return string(p.nameAt(p.lines[i])) }

func (p *packed) id(i int) oid.ID {
	at := int(p.lines[i])
	id, _ := oid.Parse(p.algo, p.data[at:at+p.algo.HexSize()]) // parsePacked checked the digits
	return id
}

// peeledOrSelf returns what ref i leads to through tag objects, its own ID if it
// names no tag object, and whether the file says so; else the null ID.
func (p *packed) peeledOrSelf(i int) (oid.ID, bool) {
	at := int(p.lines[i]) + p.algo.HexSize() + 1
	at += bytes.IndexByte(p.data[at:], '\n') + 1
	if at < len(p.data) && p.data[at] == '^' {
		id, _ := oid.Parse(p.algo, p.data[at+1:at+1+p.algo.HexSize()])
		return id, true
	}
	if p.full || p.half && bytes.HasPrefix(p.nameAt(p.lines[i]), []byte("refs/tags/")) {
		return p.id(i), true
	}
	return oid.Null(p.algo), false
}

// same reports whether p and q are parses of the same content.
func (p *packed) same(q *packed) bool {
	return len(p.data) == len(q.data) && (len(p.data) == 0 || &p.data[0] == &q.data[0])
}

// find returns the index of the ref of the given name.
func (p *packed) find(name string) (int, bool) {
	return sort.Find(len(p.lines), func(i int) int { return strings.Compare(name, string(p.nameAt(p.lines[i]))) })
}

// span returns the range of refs whose names start with prefix.
func (p *packed) span(prefix string) (lo, hi int) {
	lo = sort.Search(len(p.lines), func(i int) bool { return string(p.nameAt(p.lines[i])) >= prefix })
	hi = lo + sort.Search(len(p.lines)-lo, func(i int) bool {
		return !bytes.HasPrefix(p.nameAt(p.lines[lo+i]), []byte(prefix))
	})
	return lo, hi
}
