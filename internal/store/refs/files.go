package refs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"gust/internal/disk/filestat"
	"gust/internal/pure/oid"
)

// files is the backend that keeps refs in files and packed-refs.
type files struct {
	gitDir, commonDir string
	algo              oid.Algo

	mu     sync.Mutex // guards what follows
	packed *packed
	stash  logCount
	tags   fileTags
}

func newFiles(o Options) *files {
	return &files{gitDir: o.GitDir, commonDir: o.CommonDir, algo: o.Algo}
}

func (f *files) close() {}

// path returns the file of the ref name.
func (f *files) path(name string) string {
	if rest, ok := strings.CutPrefix(name, "main-worktree/"); ok {
		return f.commonDir + "/" + rest
	}
	if strings.HasPrefix(name, "worktrees/") {
		return f.commonDir + "/" + name
	}
	if perWorktree(name) {
		return f.gitDir + "/" + name
	}
	return f.commonDir + "/" + name
}

func (f *files) read(name string) (Ref, error) { return f.readWith(name, f.packedRefs) }

// readLocked is read for callers who hold f.mu.
func (f *files) readLocked(name string) (Ref, error) { return f.readWith(name, f.packedLocked) }

func (f *files) readWith(name string, packedRefs func() (*packed, error)) (Ref, error) {
	ref, err := f.readLoose(name, f.path(name))
	if err == nil || !errors.Is(err, ErrNotFound) || !strings.HasPrefix(name, "refs/") {
		return ref, err
	}
	p, perr := packedRefs()
	if perr != nil {
		return Ref{}, perr
	}
	if i, ok := p.find(name); ok {
		return Ref{ID: p.id(i)}, nil
	}
	return Ref{}, err
}

// maxLoose bounds the size of a ref file: Git's names fit in a path.
const maxLoose = 64 << 10

// usualLoose is more than a ref file usually has.
const usualLoose = 512

// readLoose reads the ref file at path. The error is ErrNotFound where there is
// no file, a directory too.
func (f *files) readLoose(name, path string) (Ref, error) {
	if target, err := os.Readlink(path); err == nil {
		// Old versions of Git, and git config core.preferSymlinkRefs, make
		// symbolic refs symbolic links.
		if strings.HasPrefix(target, "refs/") && ValidName(target) {
			return Ref{Target: target}, nil
		}
	}
	buf := make([]byte, usualLoose)
	n, err := filestat.ReadStart(path, buf)
	if err == nil && n == len(buf) {
		buf = make([]byte, maxLoose)
		n, err = filestat.ReadStart(path, buf)
	}
	if err != nil {
		if filestat.IsAbsent(err) {
			return Ref{}, fmt.Errorf("cannot read ref '%s': %w", name, ErrNotFound)
		}
		return Ref{}, err
	}
	ref, problem := parseLoose(buf[:n], f.algo)
	if problem != "" {
		return Ref{}, &BrokenError{Path: path, Problem: problem}
	}
	return ref, nil
}

// parseLoose parses the content of a ref file.
func parseLoose(data []byte, algo oid.Algo) (Ref, string) {
	s := strings.TrimRight(string(data), " \t\n\r")
	if target, ok := strings.CutPrefix(s, "ref:"); ok {
		target = strings.TrimLeft(target, " \t\n\r")
		if target == "" {
			return Ref{}, "symbolic ref without a target"
		}
		return Ref{Target: target}, ""
	}
	n := algo.HexSize()
	if len(data) < n || len(data) > n && !isSpace(data[n]) {
		return Ref{}, "neither an object ID nor a symbolic ref"
	}
	id, err := oid.Parse(algo, data[:n])
	if err != nil {
		return Ref{}, err.Error()
	}
	return Ref{ID: id}, ""
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// loose returns the entries of the ref files whose names start with prefix,
// sorted by name.
func (f *files) loose(prefix string) ([]entry, error) {
	var all []entry
	dir := prefix[:strings.LastIndexByte(prefix, '/')+1]
	if err := f.looseBelow(f.commonDir, strings.TrimSuffix(dir, "/"), false, &all); err != nil {
		return nil, err
	}
	for _, own := range []string{"refs/bisect", "refs/worktree", "refs/rewritten"} {
		if strings.HasPrefix(own+"/", dir) || strings.HasPrefix(dir, own+"/") {
			if err := f.looseBelow(f.gitDir, own, true, &all); err != nil {
				return nil, err
			}
		}
	}
	all = slices.DeleteFunc(all, func(e entry) bool { return !strings.HasPrefix(e.name, prefix) })
	slices.SortFunc(all, func(a, b entry) int { return strings.Compare(a.name, b.name) })
	return all, nil
}

// looseBelow appends the refs in and below the directory name of base. Per-worktree
// refs are left out unless own is set.
func (f *files) looseBelow(base, name string, own bool, all *[]entry) error {
	names, err := os.ReadDir(filepath.Join(base, name))
	if err != nil {
		if unlistable(err) {
			return nil
		}
		return err
	}
	for _, d := range names {
		child := name + "/" + d.Name()
		if notARef(d.Name()) || !own && perWorktree(child+"/") {
			continue
		}
		if isDir(d, filepath.Join(base, child)) {
			if err := f.looseBelow(base, child, own, all); err != nil {
				return err
			}
			continue
		}
		if d.Type()&fs.ModeSymlink != 0 && dangling(filepath.Join(base, child)) {
			continue
		}
		e := entry{name: child, peeled: oid.Null(f.algo)}
		if e.ref, err = f.readLoose(child, filepath.Join(base, child)); err != nil {
			if errors.Is(err, ErrNotFound) {
				continue // deleted meanwhile
			}
			e.broken = true
		}
		e.broken = e.broken || !ValidName(child)
		*all = append(*all, e)
	}
	return nil
}

// notARef reports whether a file of this name among refs is none.
func notARef(base string) bool { return base[0] == '.' || strings.HasSuffix(base, ".lock") }

// isDir reports whether d, which is at path, is a directory or leads to one.
func isDir(d fs.DirEntry, path string) bool {
	if d.Type()&fs.ModeSymlink == 0 {
		return d.IsDir()
	}
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// dangling reports whether the symbolic link at path leads nowhere. Git does not
// list such a link, though it reads one whose text is the name of a ref.
func dangling(path string) bool {
	_, err := os.Stat(path)
	return err != nil
}

// unlistable reports whether err says that a directory is not there or may not
// be read: it has no refs then, as it has none to Git.
func unlistable(err error) bool { return filestat.IsAbsent(err) || errors.Is(err, fs.ErrPermission) }

func (f *files) list(prefix string, visit func(e *entry) bool) error {
	// Loose refs first: git pack-refs writes packed-refs before it deletes them,
	// so a ref is in at least one of the two.
	loose, err := f.loose(prefix)
	if err != nil {
		return err
	}
	p, err := f.packedRefs()
	if err != nil {
		return err
	}
	lo, hi := p.span(prefix)
	for lo < hi || len(loose) > 0 {
		var e entry
		order := 1
		if lo < hi {
			order = -1
			if len(loose) > 0 {
				order = strings.Compare(p.name(lo), loose[0].name)
			}
		}
		if order < 0 {
			e = entry{name: p.name(lo), ref: Ref{ID: p.id(lo)}}
			e.peeled, _ = p.peeledOrSelf(lo)
			e.broken = !ValidName(e.name)
		} else {
			e, loose = loose[0], loose[1:]
		}
		if order <= 0 {
			lo++
		}
		if !visit(&e) {
			return nil
		}
	}
	return nil
}
