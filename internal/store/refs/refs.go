// Package refs reads and writes references and reflogs over the files or the reftable
// backend.
//
// The layout is gitrepository-layout(5)'s: a ref is a file below the git dir or
// the common dir that holds an object ID or "ref: " and a name, or a line of
// packed-refs, which a file of the same name overrides.
package refs

import (
	"errors"
	"fmt"

	"gust/internal/pure/oid"
)

// ErrNotFound says that there is no ref of a name.
var ErrNotFound = errors.New("no such ref")

// A BrokenError reports a ref, or a file of refs, that cannot be read as one.
type BrokenError struct {
	Path    string // of the file
	Offset  int64  // bytes
	Problem string
}

func (e *BrokenError) Error() string {
	return fmt.Sprintf("broken ref file '%s' at offset %d: %s", e.Path, e.Offset, e.Problem)
}

// A Ref is what one ref says.
type Ref struct {
	Target string // the ref that this symbolic ref names; "" if it is not symbolic
	ID     oid.ID // if not symbolic
}

// A Head is what HEAD says.
type Head struct {
	Branch string // full name of the ref that HEAD leads to; "" if HEAD is detached
	Target string // the ref that HEAD itself names, which is Branch unless that was reached by a chain
	ID     oid.ID // the commit, or the null ID if the branch is unborn
}

// Options says where refs are and how they are stored.
type Options struct {
	GitDir    string // of this working tree
	CommonDir string // what all working trees share; "" if it is GitDir
	Algo      oid.Algo
	Format    string // "files" (or "") or "reftable"
}

// A Store reads the refs of one working tree of one repository. Every answer is
// that of the disk at the time of the call; what is kept between calls is
// checked by its signature. A Store is safe for concurrent use.
type Store struct {
	b    backend
	algo oid.Algo
}

// backend is how refs are stored.
type backend interface {
	// read returns the ref of one name without following it.
	read(name string) (Ref, error)
	// list visits the refs whose names start with prefix, sorted by name;
	// symbolic refs too.
	list(prefix string, visit func(e *entry) bool) error
	// tagAt returns the full name of the last tag that leads to commit.
	tagAt(commit oid.ID, peel peeler) (string, error)
	// logLength returns the number of entries in the reflog of name.
	logLength(name string) (int, error)
	// log returns the entries of the reflog of name, oldest first.
	log(name string) ([]LogEntry, error)
	// close gives up what is open.
	close()
}

// entry is one ref of a listing.
type entry struct {
	name   string
	ref    Ref
	peeled oid.ID // what a tag object leads to, ref.ID if it names none; null if unknown
	broken bool
}

// maxSymref is how many refs Git reads on the way through symbolic refs.
const maxSymref = 5

// Open returns the Store of a repository. It reads nothing yet.
func Open(o Options) (*Store, error) {
	if o.CommonDir == "" {
		o.CommonDir = o.GitDir
	}
	switch o.Format {
	case "", "files":
		return &Store{b: newFiles(o), algo: o.Algo}, nil
	case "reftable":
		return &Store{b: newTables(o), algo: o.Algo}, nil
	}
	return nil, fmt.Errorf("unknown ref storage format '%s'", o.Format)
}

// Close gives up open files. The Store may still be used, and opens them again.
func (s *Store) Close() { s.b.close() }

// Read returns the ref of the given full name, without following a symbolic
// ref. The error is ErrNotFound, a *BrokenError, or that of reading a file.
func (s *Store) Read(name string) (Ref, error) {
	if !safeName(name) {
		return Ref{}, fmt.Errorf("cannot read ref '%s': %w", name, ErrNotFound)
	}
	return s.b.read(name)
}

// resolve follows name to a ref that is not symbolic. If the last ref of the
// chain does not exist, it returns that ref's name, the null ID and ErrNotFound.
func (s *Store) resolve(name string) (string, oid.ID, error) {
	return follow(name, s.algo, s.Read)
}

// follow is resolve by means of read.
func follow(name string, algo oid.Algo, read func(string) (Ref, error)) (string, oid.ID, error) {
	null := oid.Null(algo)
	for range maxSymref {
		r, err := read(name)
		if err != nil {
			return name, null, err
		}
		if r.Target == "" {
			return name, r.ID, nil
		}
		if !ValidName(r.Target) && !safeName(r.Target) {
			return name, null, &BrokenError{Path: name, Problem: "symbolic ref to a bad name"}
		}
		name = r.Target
	}
	return name, null, &BrokenError{Path: name, Problem: "symbolic refs lead too far"}
}

// Resolve returns the object ID that the ref of the given full name leads to.
// The error is ErrNotFound if it or what it leads to does not exist.
func (s *Store) Resolve(name string) (oid.ID, error) {
	_, id, err := s.resolve(name)
	return id, err
}

// Follow is Resolve, and returns the name of the ref that the symbolic refs end
// in. Where that does not exist, the error is nil and the ID is null.
func (s *Store) Follow(name string) (string, oid.ID, error) {
	r, err := s.Read(name)
	if err != nil || r.Target == "" {
		return name, r.ID, err
	}
	name, id, err := s.resolve(name)
	if errors.Is(err, ErrNotFound) {
		err = nil
	}
	return name, id, err
}

// Head returns what HEAD says. An unborn branch is no error; a HEAD that names
// the null object ID is one, as it names no commit.
func (s *Store) Head() (Head, error) {
	r, err := s.Read("HEAD")
	if err != nil {
		return Head{ID: oid.Null(s.algo)}, err
	}
	if r.Target == "" {
		if r.ID.IsNull() {
			err = &BrokenError{Path: "HEAD", Problem: "detached at the null object ID"}
		}
		return Head{ID: r.ID}, err
	}
	name, id, err := s.resolve("HEAD")
	if errors.Is(err, ErrNotFound) {
		err = nil
	}
	return Head{Branch: name, Target: r.Target, ID: id}, err
}

// List visits the refs whose full names start with prefix, sorted by name in
// byte order, until visit returns false. A symbolic ref is visited with the ID
// that it leads to; broken refs and those that lead nowhere are left out, as
// git for-each-ref does. peeled is what a tag object leads to, id of a ref that names
// none, where packed-refs says so; else null.
func (s *Store) List(prefix string, visit func(name string, id, peeled oid.ID) bool) error {
	return s.b.list(prefix, func(e *entry) bool {
		id := e.ref.ID
		if e.broken {
			return true
		}
		if e.ref.Target != "" {
			var err error
			if id, err = s.Resolve(e.name); err != nil {
				return true
			}
		}
		return visit(e.name, id, e.peeled)
	})
}

// StashCount returns the number of stashes: the length of the reflog of
// refs/stash, which all working trees share.
func (s *Store) StashCount() (int, error) {
	return s.b.logLength("refs/stash")
}
