package checkout

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"gust/internal/disk/filestat"
	"gust/internal/disk/workfile"
	"gust/internal/engine/treediff"
	"gust/internal/pure/object"
)

// inspect looks at the working tree, refuses what would lose work, and finds out
// what will differ from the target.
func (m *Move) inspect(ctx context.Context) error {
	if err := m.lookAround(ctx); err != nil {
		return err
	}
	if l := m.q.Limit; l != nil && !l.Files {
		slices.SortFunc(m.steps, func(a, b step) int { return strings.Compare(a.path, b.path) })
		return nil
	}
	if m.q.Force {
		if err := m.restore(); err != nil {
			return err
		}
	} else if err := m.listLocal(); err != nil {
		return err
	}
	if err := m.planAttributes(); err != nil {
		return err
	}
	slices.SortFunc(m.steps, func(a, b step) int { return strings.Compare(a.path, b.path) })
	m.inOrder()
	c := m.checker()
	defer c.close()
	for _, i := range m.order {
		if err := c.check(&m.steps[i]); err != nil {
			return err
		}
	}
	m.there = c.dirs
	conv := m.rules.conversions()
	for i := range m.steps {
		if s := &m.steps[i]; s.to.Mode.IsRegular() {
			if _, err := conv.smudge(s.path); err != nil {
				return err
			}
		}
	}
	return nil
}

// inOrder orders the steps so that those in one directory follow each other: each is
// opened once then.
func (m *Move) inOrder() {
	m.order = make([]int, len(m.steps))
	for i := range m.order {
		m.order[i] = i
	}
	slices.SortFunc(m.order, func(a, b int) int {
		p, q := m.steps[a].path, m.steps[b].path
		return cmp.Or(strings.Compare(parent(p), parent(q)), a-b)
	})
}

// restore adds the entries that the target has too, and whose files are not
// theirs, to a move that drops local changes.
func (m *Move) restore() error {
	planned := make(map[string]bool, len(m.steps))
	for i := range m.steps {
		planned[m.steps[i].path] = true
	}
	for i, v := range m.look.verdicts {
		if v == same || m.ix.Entries[i].Stage() != 0 {
			continue
		}
		if path := string(m.ix.AppendPath(nil, i)); !planned[path] {
			if object.Mode(m.ix.Entries[i].Mode) == object.ModeGitlink {
				return refuse("is a submodule without a directory", path)
			}
			m.steps = append(m.steps, step{path, opReplace, i, sideOfEntry(m.ix, i)})
		}
	}
	return nil
}

// planAttributes decides which attributes the files are written by.
func (m *Move) planAttributes() error {
	if m.q.Limit == nil {
		m.rules.planned(m.steps)
		return nil
	}
	// Git takes those of the working tree, as it has them when a file's turn comes.
	m.rules.asIs = true
	for i := range m.steps {
		if len(m.steps) > 1 && base(m.steps[i].path) == attributesName {
			return refuse("changes attributes of other files", m.steps[i].path)
		}
	}
	return nil
}

// listLocal finds the changes that the move keeps.
func (m *Move) listLocal() error {
	stepOf := make(map[int]bool, len(m.steps))
	for i := range m.steps {
		stepOf[m.steps[i].entry] = true
	}
	staged := make(map[int]bool, len(m.staged))
	for _, s := range m.staged {
		c := Change{'M', s.path}
		none := treediff.Side{}
		switch {
		case s.entry < 0:
			c.Status = 'D'
		case m.look.verdicts[s.entry] == absent && s.to == none:
			return refuse("is staged as new and has no file", s.path)
		case m.look.verdicts[s.entry] == absent:
			c.Status = 'D'
		case s.to == none:
			c.Status = 'A'
		case m.look.verdicts[s.entry] != same:
			return refuse("has both staged and unstaged changes", s.path)
		case (s.to.Mode == object.ModeSymlink) != (object.Mode(m.ix.Entries[s.entry].Mode) == object.ModeSymlink):
			c.Status = 'T'
		}
		staged[s.entry] = true
		m.local = append(m.local, c)
	}
	for i, v := range m.look.verdicts {
		if v == same || stepOf[i] || staged[i] {
			continue
		}
		if object.Mode(m.ix.Entries[i].Mode) == object.ModeGitlink {
			return refuse("is a submodule without a directory", string(m.ix.AppendPath(nil, i)))
		}
		m.local = append(m.local, Change{letters[v], string(m.ix.AppendPath(nil, i))})
	}
	slices.SortFunc(m.local, func(a, b Change) int { return cmp.Or(strings.Compare(a.Path, b.Path), int(a.Status)-int(b.Status)) })
	return nil
}

// A checker finds out whether what stands in a step's way may go.
type checker struct {
	m       *Move
	removed map[string]bool // the paths whose files the move removes
	dirs    map[string]bool // directories, and whether they are there
	creates map[string]int  // by directory: steps that write a path without an entry
	names   map[string]bool // what is in the directory at hand; nil if it was not listed
	dir     string          // the directory at hand …
	open    workfile.Dir    // … if it is there
	there   bool
	known   bool
}

func (m *Move) checker() *checker {
	c := &checker{m: m, removed: make(map[string]bool), dirs: make(map[string]bool), creates: make(map[string]int)}
	for i := range m.steps {
		switch s := &m.steps[i]; s.op {
		case opRemove:
			c.removed[s.path] = true
		case opCreate:
			c.creates[parent(s.path)]++
		}
	}
	return c
}

func (c *checker) close() {
	if c.there {
		c.open.Close()
	}
	c.there, c.known, c.names = false, false, nil
}

// check decides what is done about s, now that the working tree is known.
func (c *checker) check(s *step) error {
	v := absent
	if s.entry >= 0 {
		v = c.m.look.verdicts[s.entry]
	}
	switch {
	case c.m.q.Force && s.entry >= 0 && v != absent:
		if c.m.ix.Entries[s.entry].Stage() != 0 {
			return c.unmerged(s)
		}
		return nil
	case s.entry >= 0 && (v == changed || v == retyped):
		return refuse("has local changes", s.path)
	case s.to.Mode == 0 && v == absent:
		s.op = opForget
		return c.free(s.path)
	case s.entry >= 0 && v == same:
		return nil
	}
	// A file that the user removed comes back as a new one.
	s.op = opCreate
	return c.free(s.path)
}

// unmerged decides what is done about the file of an unmerged path.
func (c *checker) unmerged(s *step) error {
	var st filestat.Stat
	here, err := c.enter(parent(s.path))
	if err != nil {
		return err
	}
	if here {
		err = c.open.Stat(&st, base(s.path))
	}
	switch {
	case !here || errors.Is(err, fs.ErrNotExist):
		if s.op = opCreate; s.to.Mode == 0 {
			s.op = opForget
		}
		return nil
	case err != nil || !st.IsRegular() && !st.IsSymlink():
		return refuse("is no file", s.path)
	}
	return nil
}

func base(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// enter opens the directory dir of the working tree, and reports whether it is
// there. What stands in its place must be going.
func (c *checker) enter(dir string) (bool, error) {
	if c.known && c.dir == dir {
		return c.there, nil
	}
	c.close()
	open, err := c.m.rules.root.OpenDir(dir)
	c.dir, c.known, c.dirs[dir] = dir, true, false
	if err == nil {
		c.open, c.there, c.dirs[dir] = open, true, true
		return true, nil
	}
	if !filestat.IsAbsent(err) {
		return false, &Refusal{Reason: "cannot be looked into", Path: dir, Err: err}
	}
	// The first component that is no directory.
	for i := 0; i <= len(dir); i++ {
		if i < len(dir) && dir[i] != '/' {
			continue
		}
		var st filestat.Stat
		up, err := c.m.rules.root.OpenDir(parent(dir[:i]))
		if err != nil {
			return false, refuse("cannot be looked into", dir)
		}
		err = up.Stat(&st, base(dir[:i]))
		up.Close()
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
		if err != nil {
			return false, &Refusal{Reason: "cannot be looked at", Path: dir[:i], Err: err}
		}
		if !st.IsDir() {
			if c.removed[dir[:i]] {
				return false, nil
			}
			return false, refuse("stands in the way", dir[:i])
		}
	}
	return false, nil
}

// free checks that nothing of the user's is at path, where a file is to be.
func (c *checker) free(path string) error {
	here, err := c.enter(parent(path))
	if err != nil || !here {
		return err
	}
	if taken, err := c.taken(path); !taken || err != nil {
		return err
	}
	var st filestat.Stat
	err = c.open.Stat(&st, base(path))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return &Refusal{Reason: "cannot be looked at", Path: path, Err: err}
	case st.IsDir():
		if c.m.q.Dir == path || strings.HasPrefix(c.m.q.Dir, path+"/") {
			return refuse("is where you are", path)
		}
		return c.empties(path, 0)
	}
	return refuse("is untracked and in the way", path)
}

// fewCreates is how many names are looked up one by one before the whole directory is
// listed.
const fewCreates = 4

// taken reports whether something may be at path, in the directory at hand.
func (c *checker) taken(path string) (bool, error) {
	if c.names == nil && c.creates[c.dir] >= fewCreates {
		names, err := c.open.Names()
		if err != nil {
			return false, &Refusal{Reason: "cannot be looked into", Path: c.dir, Err: err}
		}
		c.names = make(map[string]bool, len(names))
		for _, name := range names {
			c.names[name] = true
		}
	}
	return c.names == nil || c.names[base(path)], nil
}

// maxDepth bounds how deep directories are followed.
const maxDepth = 2048

// empties checks that the move removes everything that is in the directory dir.
func (c *checker) empties(dir string, depth int) error {
	d, err := c.m.rules.root.OpenDir(dir)
	if err != nil || depth > maxDepth {
		return refuse("cannot be looked into", dir)
	}
	defer d.Close()
	names, err := d.Names()
	if err != nil {
		return &Refusal{Reason: "cannot be looked into", Path: dir, Err: err}
	}
	for _, name := range names {
		path := dir + "/" + name
		if c.removed[path] {
			continue
		}
		var st filestat.Stat
		if err := d.Stat(&st, name); err != nil || !st.IsDir() {
			return refuse("is untracked and in the way", path)
		}
		if err := c.empties(path, depth+1); err != nil {
			return err
		}
	}
	if len(names) == 0 && !c.hasRemoved(dir) {
		return refuse("is an empty directory in the way", dir)
	}
	return nil
}

func (c *checker) hasRemoved(dir string) bool {
	for p := range c.removed {
		if strings.HasPrefix(p, dir+"/") {
			return true
		}
	}
	return false
}
