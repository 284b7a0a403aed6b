package index

import (
	"fmt"

	"gust/internal/pure/object"
	"gust/internal/pure/oid"
)

// maxTreeDepth bounds how deep trees are followed: paths of that depth are longer
// than Git accepts.
const maxTreeDepth = 2048

// maxExpanded bounds the entries of an expanded index.
const maxExpanded = 1 << 27

// Expand returns ix with each sparse directory replaced by the files of its tree,
// as skip-worktree entries that were never looked at. readTree returns the content
// of a tree object; its errors are returned as they are.
func (ix *Index) Expand(readTree func(oid.ID) ([]byte, error)) (*Index, error) {
	x := expander{read: readTree, b: newBuilder(ix.Algo), algo: ix.Algo}
	for i := range ix.Entries {
		path := string(ix.AppendPath(nil, i))
		if ix.IsSparseDir(i) {
			if err := x.tree(path, ix.ID(i), 0); err != nil {
				return nil, err
			}
			continue
		}
		if err := x.add(ix.Entries[i], path, ix.RawID(i)); err != nil {
			return nil, err
		}
	}
	full := x.b.finish(&fileData{version: ix.Version})
	full.MtimeSec, full.MtimeNsec, full.Split = ix.MtimeSec, ix.MtimeNsec, ix.Split
	full.sources = ix.sources
	return full, nil
}

type expander struct {
	read func(oid.ID) ([]byte, error)
	b    *builder
	algo oid.Algo
}

func (x *expander) add(e Entry, path string, id []byte) error {
	if err := x.b.add(&e, id, []byte(path), 0); err != nil {
		return fmt.Errorf("cannot expand sparse index: %w", err)
	}
	return nil
}

func (x *expander) tree(dir string, id oid.ID, depth int) error {
	if depth > maxTreeDepth {
		return fmt.Errorf("tree %s is nested more than %d deep", id, maxTreeDepth)
	}
	data, err := x.read(id)
	if err != nil {
		return err
	}
	r := object.NewTreeReader(data, x.algo)
	var te object.TreeEntry
	for {
		more, err := r.Next(&te)
		if err != nil {
			return fmt.Errorf("cannot read tree %s: %w", id, err)
		}
		if !more {
			return nil
		}
		path := dir + "/" + string(te.Name)
		if te.Mode.IsTree() {
			if err := x.tree(path, te.ID, depth+1); err != nil {
				return err
			}
			continue
		}
		if len(x.b.ix.Entries) >= maxExpanded {
			return fmt.Errorf("tree %s holds too many files", id)
		}
		err = x.add(Entry{Mode: uint32(te.Mode.Canonical()), Flags: SkipWorktree}, path, te.ID.Raw())
		if err != nil {
			return err
		}
	}
}
