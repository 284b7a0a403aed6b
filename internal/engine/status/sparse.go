package status

import (
	"fmt"

	"gust/internal/disk/filestat"
	"gust/internal/pure/object"
	"gust/internal/pure/oid"
	"gust/internal/rules/sparse"
)

// A coneFile is what info/sparse-checkout says.
type coneFile struct {
	file cachedFile
	is   bool // it is there, and in cone mode
}

// update reads the file at path again if it changed.
func (c *coneFile) update(path string) {
	if data, changed := c.file.read(path); changed {
		c.is = !c.file.sig.Absent() && sparse.IsCone(data)
	}
}

// expanded reports whether Git expands the sparse directories of the index when it
// reads it: it does unless the settings and the patterns are as a sparse index needs
// them (git-sparse-checkout(1)).
func (s *Repo) expanded() bool {
	if !s.ix.Sparse {
		return false
	}
	s.cone.update(s.r.GitDir + "/info/sparse-checkout")
	return !s.settings.sparseIndex || !s.cone.is
}

// expand makes s.full the expanded form of s.ix, if it is not.
func (s *Repo) expand() (err error) {
	if s.full == nil {
		s.full, err = s.ix.Expand(func(id oid.ID) ([]byte, error) {
			typ, data, err := s.db.Read(id, nil)
			if err == nil && typ != object.Tree {
				err = fmt.Errorf("object %s is a %s, not a tree", id, typ)
			}
			return data, err
		})
	}
	return err
}

// sparseDirPresent reports whether a sparse directory of the index may be there. A
// pass over the expanded index cannot tell.
func (s *Repo) sparseDirPresent() bool {
	var st filestat.Stat
	for i := range s.ix.Entries {
		if s.ix.IsSparseDir(i) && filestat.Of(&st, s.r.WorkTree+"/"+string(s.ix.AppendPath(nil, i))) == nil {
			return true
		}
	}
	return false
}
