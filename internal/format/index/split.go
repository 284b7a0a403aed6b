package index

import (
	"bytes"
	"fmt"
	"slices"

	"gust/internal/pure/object"
)

// merge makes f.records the entries of the split index f over its shared base at
// path, sorted.
//
// Entries without a name replace, in order, the base's entries that the replace
// bitmap names; the base's entries in the delete bitmap are gone; all other
// entries are new (gitformat-index(5), "Split index").
func (f *fileData) merge(path string) (source, error) {
	base := fileData{algo: f.algo}
	if err := base.read(path); err != nil {
		return base.source, err
	}
	if base.source.sig.Absent() {
		return base.source, fmt.Errorf("index '%s' names a shared index that is missing: '%s'", f.source.path, path)
	}
	return base.source, f.over(base.records)
}

// over puts f's records over those of base.
func (f *fileData) over(base []record) error {
	gone := make([]bool, len(base))
	for _, pos := range f.link.deleted {
		if int(pos) >= len(gone) {
			return f.corruptLink("deletes entry %d of %d", pos, len(gone))
		}
		gone[pos] = true
	}
	added := f.records
	for _, pos := range f.link.replace {
		switch {
		case int(pos) >= len(gone):
			return f.corruptLink("replaces entry %d of %d", pos, len(gone))
		case gone[pos]:
			return f.corruptLink("replaces the deleted entry %d", pos)
		case len(added) == 0 || len(added[0].path) != 0:
			return f.corruptLink("has too few replacements, missing that of entry %d", pos)
		}
		added[0].path = base[pos].path
		base[pos], added = added[0], added[1:]
	}
	merged := make([]record, 0, len(base)+len(added))
	for i := range base {
		if !gone[i] {
			merged = append(merged, base[i])
		}
	}
	for i := range added {
		if len(added[i].path) == 0 {
			return f.corruptLink("has an entry without a name that replaces nothing")
		}
	}
	f.records = append(merged, added...)
	slices.SortStableFunc(f.records, func(a, b record) int {
		if c := bytes.Compare(a.path, b.path); c != 0 {
			return c
		}
		return a.Stage() - b.Stage()
	})
	return nil
}

func (f *fileData) corruptLink(format string, args ...any) error {
	err := corrupt(0, "split index "+format, args...).(*object.CorruptError)
	err.Path = f.source.path
	return err
}
