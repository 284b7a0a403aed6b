package checkout

import (
	"context"

	"gust/internal/engine/treediff"
	"gust/internal/format/index"
	"gust/internal/pure/object"
)

// planPaths is plan for a move with a Limit.
func (m *Move) planPaths(ctx context.Context) error {
	l := m.q.Limit
	m.skip = make([]bool, len(m.ix.Entries))
	if !l.FromIndex {
		if err := m.planFromTree(ctx); err != nil {
			return err
		}
	}
	if l.Match == nil {
		return nil
	}
	var path []byte
	for i := range m.ix.Entries {
		if path = m.ix.AppendPath(path[:0], i); !m.skip[i] {
			m.skip[i] = !l.Match(path)
		}
	}
	return nil
}

// planFromTree plans the paths at which the tree differs from the index.
func (m *Move) planFromTree(ctx context.Context) error {
	l := m.q.Limit
	return m.unreadable(treediff.Entries(ctx, m.db, m.q.To, m.ix, func(path []byte, to treediff.Side, at int) error {
		none := to == treediff.Side{}
		switch {
		case none && l.Overlay:
			m.skip[at] = true // as good as unknown: no pathspec picks it
			return nil
		case l.Match != nil && !l.Match(path):
			return nil
		case l.Files:
			return m.forced(string(path), to, at)
		}
		if err := checkStaged(string(path), to); err != nil {
			return err
		}
		s := step{string(path), opStage, at, to}
		if none {
			s.op = opForget
		}
		m.steps = append(m.steps, s)
		return nil
	}))
}

// checkStaged refuses an entry that must not come into an index.
func checkStaged(path string, to treediff.Side) error {
	if to.Mode == 0 {
		return nil
	}
	return checkPath(path, to.Mode)
}

// skipped reports whether the Limit leaves entry i alone.
func (m *Move) skipped(i int) bool { return m.skip[i] }

// refresh compares the new index with the files, for the stats in it and for Local.
func (m *Move) refresh(ctx context.Context) error {
	ix := m.next
	m.rules.reread(ix)
	l, err := m.lookAt(ctx, ix, lookOptions{refresh: true})
	if err != nil {
		return err
	}
	entries := ix.Entries
	l.settle(func(i int) *index.Entry { return &entries[i] })
	for i, v := range l.verdicts {
		if v == same {
			continue
		}
		path := string(ix.AppendPath(nil, i))
		if object.Mode(entries[i].Mode) == object.ModeGitlink {
			return refuse("is a submodule without a directory", path)
		}
		m.local = append(m.local, Change{letters[v], path})
	}
	return nil
}

// letters are the status letters of verdicts.
var letters = [...]byte{changed: 'M', retyped: 'T', absent: 'D'}
