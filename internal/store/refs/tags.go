package refs

import (
	"slices"
	"strings"
	"sync"

	"gust/internal/pure/oid"
)

const tagPrefix = "refs/tags/"

type tagSource interface{}

type tagCache struct {
	mu sync.Mutex
}

// TagAt returns the short name of the last, in byte order, of the tags that
// lead to commit, "" if there is none. peel follows an object ID through tag
// objects; it is asked only where packed-refs does not say, and a tag that it
// cannot follow is passed over.
func (s *Store) TagAt(commit oid.ID, peel func(oid.ID) (oid.ID, error)) (string, error) {
	var names []string
	err := s.List(tagPrefix, func(name string, id, peeled oid.ID) bool {
		if peeled.IsNull() {
			var err error
			if peeled, err = peel(id); err != nil {
				return true
			}
		}
		if peeled == commit {
			names = append(names, name)
		}
		return true
	})
	if err != nil || len(names) == 0 {
		return "", err
	}
	return strings.TrimPrefix(slices.Max(names), tagPrefix), nil
}
