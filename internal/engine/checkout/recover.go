package checkout

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"gust/internal/disk/filestat"
	"gust/internal/disk/lockfile"
	"gust/internal/disk/workfile"
	"gust/internal/format/index"
	"gust/internal/pure/object"
	"gust/internal/repo"
	"gust/internal/store/odb"
)

// Abort takes back the move that a killed run left half done in r, and reports
// whether there was one, and what it was for. The error is lockfile.ErrLocked where
// the index is locked: by a run that still goes on, or by the killed one, whose
// lock the user is to remove.
func Abort(r *repo.Repository, db *odb.DB) (label string, found bool, err error) {
	lock, err := lockfile.Acquire(r.IndexPath)
	if err != nil {
		return "", false, err
	}
	defer lock.Rollback()
	m := &Move{r: r, db: db}
	if m.ix, err = index.Read(r.IndexPath, r.GitDir, r.Algo); err != nil {
		return "", false, err
	}
	if m.rules, err = newRules(r, db, m.ix); err != nil {
		return "", false, err
	}
	if m.rules.root, err = workfile.Open(r.WorkTree); err != nil {
		return "", false, err
	}
	defer m.rules.root.Close()
	return m.recover()
}

// recover takes back the move that a killed run left half done. The index must be
// locked: no other move is going on. What the user has changed since stays.
func (m *Move) recover() (label string, found bool, err error) {
	dir := filepath.Join(m.r.GitDir, stagingName)
	if _, err := os.Lstat(dir); err != nil {
		return "", false, nil
	}
	j, whole, err := readJournal(dir, m.r.Algo)
	if err != nil {
		return "", false, err
	}
	if root := m.ix.Dirs[0].Tree; whole && j.index != indexHash(m.r.IndexPath) && root >= 0 && m.ix.Trees[root].ID == j.to && j.to == m.q.To {
		// The killed run had done everything but move HEAD: what is left to do is that.
		m.q.From = m.q.To
	}
	if !whole || j.index != indexHash(m.r.IndexPath) {
		// Nothing had been changed yet; or the move was done, or somebody has put the
		// working tree in order since.
		j.discard()
		return "", false, nil
	}
	if err := j.openDrawers(); err != nil {
		return "", false, err
	}
	defer j.close()
	m.steps = nil
	for i := range j.steps {
		s := &j.steps[i]
		m.steps = append(m.steps, step{path: s.path, op: s.op, entry: -1, to: s.to})
	}
	m.rules.planned(m.steps)
	rc := &recovery{m: m, j: &j, conv: m.rules.conversions()}
	for i := range j.steps {
		if j.steps[i].op == opCreate {
			if err := rc.created(&j.steps[i]); err != nil {
				return j.label, true, err
			}
		}
	}
	for i := range j.steps {
		if err := rc.replaced(i); err != nil {
			return j.label, true, err
		}
	}
	m.steps = nil
	m.rules.reread(m.ix)
	j.discard()
	return j.label, true, nil
}

// A recovery takes back the steps of a journal.
type recovery struct {
	m    *Move
	j    *journal
	conv *conversions
}

// created removes the file that a step made, if it still is what the step wrote, or
// the first part of it, and then directories that are empty.
func (rc *recovery) created(s *journalStep) error {
	up, err := rc.m.rules.root.OpenDir(parent(s.path))
	if filestat.IsAbsent(err) {
		rc.emptyDirs(parent(s.path))
		return nil
	}
	if err != nil {
		return err
	}
	defer up.Close()
	var st filestat.Stat
	if err := up.Stat(&st, base(s.path)); !errors.Is(err, fs.ErrNotExist) {
		if !rc.ours(up, s, true) {
			return nil
		}
		if err := up.Unlink(base(s.path)); err != nil {
			return err
		}
	}
	rc.emptyDirs(parent(s.path))
	return nil
}

// emptyDirs removes dir, and those above it, as far as they are empty and the index
// has nothing below them.
func (rc *recovery) emptyDirs(dir string) {
	for ; dir != "" && !rc.m.hasDir(dir); dir = parent(dir) {
		up, err := rc.m.rules.root.OpenDir(parent(dir))
		if filestat.IsAbsent(err) {
			continue
		}
		if err != nil {
			return
		}
		err = up.Rmdir(base(dir))
		up.Close()
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return
		}
	}
}

// hasDir reports whether the index has entries below dir.
func (m *Move) hasDir(dir string) bool {
	d := 0
	for _, name := range bytes.Split([]byte(dir), []byte("/")) {
		k, ok := m.ix.FindDir(d, name)
		if !ok {
			return false
		}
		d = k
	}
	return true
}

// ours reports whether the file of s in the directory up has the content that the
// move wrote, or, if partly is set, begins so.
func (rc *recovery) ours(up workfile.Dir, s *journalStep, partly bool) bool {
	typ, want, err := rc.m.db.Read(s.to.ID, nil)
	if err != nil || typ != object.Blob {
		return false
	}
	if s.to.Mode == object.ModeSymlink {
		text, err := up.Readlink(base(s.path))
		return err == nil && text == string(want)
	}
	m, err := rc.conv.smudge(s.path)
	if err != nil {
		return false
	}
	if want, err = m.Apply(want, s.to.ID); err != nil {
		return false
	}
	have, err := up.ReadFile(base(s.path))
	return err == nil && (bytes.Equal(have, want) || partly && bytes.HasPrefix(want, have))
}

// replaced puts the old file of step i back, if staging has it and its place is
// free or holds what the move wrote.
func (rc *recovery) replaced(i int) error {
	s := &rc.j.steps[i]
	if s.op != opRemove && s.op != opReplace {
		return nil
	}
	drawer, number, st, err := rc.j.kept(strconv.Itoa(i))
	if err != nil || number == "" {
		return err // the step was not begun, or its old file is in its place
	}
	if uint32(st.Ino) != uint32(s.ino) {
		return nil // a new file that did not get to its place
	}
	up, err := rc.makeParents(parent(s.path))
	if err != nil {
		return err
	}
	defer up.Close()
	name := base(s.path)
	if s.op == opReplace && rc.ours(up, s, false) {
		if err := up.Unlink(name); err != nil {
			return err
		}
	}
	err = drawer.Rename(number, up, name)
	if errors.Is(err, fs.ErrExist) {
		return nil // the user's own by now; the index has the content of the old one
	}
	return err
}

// kept finds what a drawer has of the step of a number; the name is "" if none has.
func (j *journal) kept(number string) (in workfile.Dir, name string, st filestat.Stat, err error) {
	for _, d := range j.drawers {
		for _, name := range []string{number + oldSuffix, number} {
			if err := d.Stat(&st, name); !errors.Is(err, fs.ErrNotExist) {
				return d.Dir, name, st, err
			}
		}
	}
	return in, "", st, nil
}

// makeParents opens dir, and makes it if need be.
func (rc *recovery) makeParents(dir string) (workfile.Dir, error) {
	root := rc.m.rules.root
	d, err := root.OpenDir(dir)
	if dir == "" || !errors.Is(err, fs.ErrNotExist) {
		return d, err
	}
	up, err := rc.makeParents(parent(dir))
	if err != nil {
		return up, err
	}
	defer up.Close()
	if err := up.Mkdir(base(dir)); err != nil && !errors.Is(err, fs.ErrExist) {
		return up, err
	}
	return root.OpenDir(dir)
}

// Sweep removes what moves that are done have left in the git directory, and stops
// early when ctx is done.
func Sweep(ctx context.Context, gitDir string) {
	trash := filepath.Join(gitDir, trashName)
	entries, err := os.ReadDir(trash)
	if err != nil {
		return
	}
	for _, e := range entries {
		if ctx.Err() != nil {
			return
		}
		_ = os.RemoveAll(filepath.Join(trash, e.Name()))
	}
	_ = os.Remove(trash)
}
