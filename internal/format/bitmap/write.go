package bitmap

import (
	"cmp"
	"encoding/binary"
	"slices"

	"gust/internal/format/packfile"
	"gust/internal/pure/ewah"
	"gust/internal/pure/object"
	"gust/internal/pure/oid"
)

// A Writer collects the bitmaps of a file.
type Writer struct {
	algo    oid.Algo
	of      oid.ID
	objects int
	types   [4]ewah.Bits
	entries []entry
	recent  []ewah.Bits // of the last entries
	buf     []byte
}

// A entry is an entry.
type entry struct {
	commit int
	back   int // entries to the one that it differs from, 0: none
	data   []byte
}

// NewWriter returns a Writer for a pack or multi-pack-index of so many objects with
// the given hash.
func NewWriter(a oid.Algo, objects int, of oid.ID) *Writer {
	w := &Writer{algo: a, of: of, objects: objects}
	for i := range w.types {
		w.types[i] = ewah.NewBits(objects)
	}
	return w
}

// SetType says of what type the object with a bit is.
func (w *Writer) SetType(bit int, typ object.Type) { w.types[typ-1].Set(bit) }

// window is how many entries back one is looked for that an entry differs little
// from. Git allows 160; more than a few seldom helps.
const window = 10

// Add adds what a commit reaches, given its number in the order of IDs. bits is the
// Writer's from then on. Commits close in history are to come one after the other:
// an entry is stored as the difference from the one it resembles most.
func (w *Writer) Add(commit int, bits ewah.Bits) {
	e := entry{commit: commit, data: bits.AppendCompressed(nil, w.objects)}
	diff := make(ewah.Bits, len(bits))
	for k := range w.recent {
		for i := range diff {
			diff[i] = bits[i] ^ w.recent[k][i]
		}
		w.buf = diff.AppendCompressed(w.buf[:0], w.objects)
		if len(w.buf) < len(e.data) {
			e.data = append([]byte(nil), w.buf...)
			e.back = len(w.recent) - k
		}
	}
	w.entries = append(w.entries, e)
	if len(w.recent) == window {
		w.recent = slices.Delete(w.recent, 0, 1)
	}
	w.recent = append(w.recent, bits)
}

// Len returns the number of entries.
func (w *Writer) Len() int { return len(w.entries) }

// WriteTo writes the file at path, with a lookup table if that is wanted: whoever
// reads sees the old one or the new one, and whoever is killed leaves the old one.
func (w *Writer) WriteTo(path string, table bool) error {
	return packfile.WriteWhole(path, "tmp_bitmap_*", w.file(table))
}

// file returns the content of the file.
func (w *Writer) file(table bool) []byte {
	flags := uint16(flagFull)
	if table {
		flags |= flagTable
	}
	out := []byte("BITM\x00\x01")
	out = binary.BigEndian.AppendUint16(out, flags)
	out = binary.BigEndian.AppendUint32(out, uint32(len(w.entries)))
	out = append(out, w.of.Raw()...)
	for i := range w.types {
		out = w.types[i].AppendCompressed(out, w.objects)
	}
	offsets := make([]uint64, len(w.entries))
	for i := range w.entries {
		e := &w.entries[i]
		offsets[i] = uint64(len(out))
		out = binary.BigEndian.AppendUint32(out, uint32(e.commit))
		out = append(append(out, byte(e.back), 0), e.data...)
	}
	if table {
		out = w.appendTable(out, offsets)
	}
	h := w.algo.New()
	h.Write(out)
	return h.Sum(out)
}

func (w *Writer) appendTable(out []byte, offsets []uint64) []byte {
	order := make([]int, len(w.entries))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(w.entries[a].commit, w.entries[b].commit) })
	place := make([]uint32, len(order))
	for k, i := range order {
		place[i] = uint32(k)
	}
	for _, i := range order {
		base := uint32(noRow)
		if back := w.entries[i].back; back > 0 {
			base = place[i-back]
		}
		out = binary.BigEndian.AppendUint32(out, uint32(w.entries[i].commit))
		out = binary.BigEndian.AppendUint64(out, offsets[i])
		out = binary.BigEndian.AppendUint32(out, base)
	}
	return out
}
