package index

import (
	"slices"
	"strings"

	"gust/internal/pure/object"
)

// merge returns the entries of the split index f over its shared base, sorted.
//
// Entries without a name replace, in order, the base's entries that the replace
// bitmap names; the base's entries in the delete bitmap are gone; all other
// entries are new (gitformat-index(5), "Split index").
func (f *fileData) merge(base *fileData) ([]record, error) {
	gone := make([]bool, len(base.records))
	for i := range base.records {
		base.records[i].id += uint32(len(f.ids))
	}
	f.ids = append(f.ids, base.ids...)
	for _, pos := range f.link.deleted {
		if int(pos) >= len(gone) {
			return nil, f.corruptLink("deletes entry %d of %d", pos, len(gone))
		}
		gone[pos] = true
	}
	added := f.overlay
	for _, pos := range f.link.replace {
		switch {
		case int(pos) >= len(gone):
			return nil, f.corruptLink("replaces entry %d of %d", pos, len(gone))
		case gone[pos]:
			return nil, f.corruptLink("replaces the deleted entry %d", pos)
		case len(added) == 0 || added[0].path != "":
			return nil, f.corruptLink("has too few replacements, missing that of entry %d", pos)
		}
		r := added[0]
		r.path = base.records[pos].path
		base.records[pos], added = r, added[1:]
	}
	merged := make([]record, 0, len(base.records)+len(added))
	for i := range base.records {
		if !gone[i] {
			merged = append(merged, base.records[i])
		}
	}
	for i := range added {
		if added[i].path == "" {
			return nil, f.corruptLink("has an entry without a name that replaces nothing")
		}
	}
	merged = append(merged, added...)
	slices.SortStableFunc(merged, func(a, b record) int {
		if c := strings.Compare(a.path, b.path); c != 0 {
			return c
		}
		return a.Stage() - b.Stage()
	})
	return merged, nil
}

func (f *fileData) corruptLink(format string, args ...any) error {
	err := corrupt(0, "split index "+format, args...).(*object.CorruptError)
	err.Path = f.source.path
	return err
}
