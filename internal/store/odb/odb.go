// Package odb holds the object database: loose, packs, midx, alternates,
// replacements.
//
// A database is an object directory (gitrepository-layout(5)) and, through
// info/alternates, others. What lies in them changes under a reader: a repack
// moves objects between files and removes the old ones. An object is therefore
// reported missing only after every place was looked at once more and no place
// had changed meanwhile.
package odb

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"sync"
	"sync/atomic"

	"gust/internal/disk/mmap"
	"gust/internal/format/commitgraph"
	"gust/internal/format/loose"
	"gust/internal/format/packfile"
	"gust/internal/pure/object"
	"gust/internal/pure/oid"
)

// A CorruptError names the file and the offset of bytes that break the format.
type CorruptError = object.CorruptError

// ErrNotFound says that the database lacks an object. It is returned wrapped in
// an error that names the object.
var ErrNotFound = errors.New("object not found")

// ErrTooLarge says that an object exceeds Options.MaxObject.
var ErrTooLarge = object.ErrTooLarge

// Options say where a database is. Fields from MaxObject on may be zero.
type Options struct {
	ObjectDir  string
	Alternates []string // as GIT_ALTERNATE_OBJECT_DIRECTORIES names them, split and unquoted
	Algo       oid.Algo

	MaxObject int64 // bytes of the largest object read whole; zero: packfile.DefaultMaxObject
	CacheSize int   // bytes of delta bases to keep; zero: 8 MiB, negative: none
	Plain     bool  // read packs piece by piece even where they could be mapped
}

// defaultCache holds the bases of a walk over trees and commits; more did not
// make one faster.
const defaultCache = 8 << 20

// A DB is an open object database. It is safe for concurrent use.
type DB struct {
	o     Options
	packs packfile.Options

	scratch sync.Pool // of *scratch
	current atomic.Pointer[snapshot]
	hint    atomic.Pointer[packfile.Pack] // where the last object was
	replace atomic.Pointer[map[oid.ID]oid.ID]
	version atomic.Uint64 // of replace

	scan   sync.Mutex // held while a new snapshot is made
	closed bool       // guarded by scan

	graph graphState
}

type scratch struct {
	pack  packfile.Scratch
	loose loose.Reader
	hash  *oid.Hasher
	head  []byte
}

// Open opens the database. An object directory that does not exist is an empty
// one, as one may appear later. The caller must Close the DB.
func Open(o Options) (*DB, error) {
	if o.MaxObject == 0 {
		o.MaxObject = packfile.DefaultMaxObject
	}
	if o.CacheSize == 0 {
		o.CacheSize = defaultCache
	}
	db := &DB{o: o, packs: packfile.Options{MaxObject: o.MaxObject, Plain: o.Plain}}
	if o.CacheSize > 0 {
		db.packs.Cache = packfile.NewCache(o.CacheSize)
	}
	db.scratch.New = func() any { return &scratch{loose: loose.Reader{MaxObject: o.MaxObject}} }
	s, _, err := db.take(nil)
	if err != nil {
		return nil, err
	}
	db.current.Store(s)
	return db, nil
}

// Close releases all files once reads in progress have returned. Later reads
// fail.
func (db *DB) Close() error {
	db.scan.Lock()
	defer db.scan.Unlock()
	if !db.closed {
		db.closed = true
		db.current.Load().closeExcept(nil)
		db.current.Store(&snapshot{})
		db.graph.close()
	}
	return nil
}

// Algo returns the hash function of the database.
func (db *DB) Algo() oid.Algo { return db.o.Algo }

// Dirs returns the object directories: the database's own, then its alternates,
// those named in the environment first.
func (db *DB) Dirs() []string {
	s := db.current.Load()
	dirs := make([]string, len(s.dirs))
	for i, d := range s.dirs {
		dirs[i] = d.path
	}
	return dirs
}

// SetReplacements makes reads of each key of m return the object m has for it,
// as refs/replace/ does (git-replace(1)). m must not be changed afterwards.
func (db *DB) SetReplacements(m map[oid.ID]oid.ID) {
	if len(m) == 0 {
		db.replace.Store(nil)
	} else {
		db.replace.Store(&m)
	}
	db.version.Add(1)
}

// ReplacementsVersion returns a number that differs after each call of
// SetReplacements. What was read before is out of date with it.
func (db *DB) ReplacementsVersion() uint64 { return db.version.Load() }

// Replaced reports whether any object is replaced.
func (db *DB) Replaced() bool { return db.replace.Load() != nil }

// maxReplace is the number of replacements that Git follows.
const maxReplace = 5

func (db *DB) replaced(id oid.ID) (oid.ID, error) {
	m := db.replace.Load()
	if m == nil {
		return id, nil
	}
	to := id
	for range maxReplace {
		next, ok := (*m)[to]
		if !ok {
			return to, nil
		}
		to = next
	}
	return id, fmt.Errorf("replacements of object %s are too deep", id)
}

// Read appends the content of the object id to dst and returns it with the
// object's type. The content is checked against id, which costs little beside
// inflating it. The error is ErrNotFound or ErrTooLarge wrapped, a *CorruptError,
// or tells why a file cannot be read; dst then is as it was.
func (db *DB) Read(id oid.ID, dst []byte) (object.Type, []byte, error) {
	typ, _, out, err := db.read(id, dst, -1)
	return typ, out, err
}

// ReadHead is Read for the first n bytes of the content, or all if there are
// fewer. It inflates no more than it must, and so cannot check the content.
func (db *DB) ReadHead(id oid.ID, dst []byte, n int) (object.Type, []byte, error) {
	typ, _, out, err := db.read(id, dst, int64(n))
	return typ, out, err
}

// ReadLinked is Read without the check against id, as Git reads objects that others
// name. Only zlib's checksum then tells content that was damaged.
func (db *DB) ReadLinked(id oid.ID, dst []byte) (object.Type, []byte, error) {
	const whole = math.MaxInt32 // no tree or commit is larger
	typ, size, out, err := db.read(id, dst, whole)
	if err == nil && size > whole {
		return db.Read(id, dst)
	}
	return typ, out, err
}

// ReadPart is ReadHead that tells the size in bytes of the whole object too.
func (db *DB) ReadPart(id oid.ID, dst []byte, n int) (object.Type, int64, []byte, error) {
	return db.read(id, dst, int64(n))
}

// Stat returns the type of the object id and its size in bytes. Errors are those
// of Read.
func (db *DB) Stat(id oid.ID) (object.Type, int64, error) {
	typ, size, _, err := db.find(id, request{stat: true})
	return typ, size, err
}

// Has returns nil if the object id is there, under its own ID whatever replaces it.
// It looks for it and does not read it. Errors are those of Read.
func (db *DB) Has(id oid.ID) error {
	_, _, _, err := db.findAs(id, id, request{has: true})
	return err
}

func (db *DB) read(id oid.ID, dst []byte, n int64) (object.Type, int64, []byte, error) {
	typ, size, out, err := db.find(id, request{dst: dst, n: n})
	if err != nil {
		return 0, 0, dst, err
	}
	return typ, size, out, nil
}

// Peel returns the object that id leads to through any number of tags, id itself
// if it is no tag. Errors are those of Read; the last object must exist too.
func (db *DB) Peel(id oid.ID) (oid.ID, error) {
	for range maxTags {
		typ, next, err := db.target(id)
		if err != nil {
			return oid.Null(db.o.Algo), err
		}
		if typ != object.Tag {
			return id, nil
		}
		id = next
	}
	return oid.Null(db.o.Algo), fmt.Errorf("tags of tags too deep at object %s", id)
}

// maxTags bounds the tags of tags that Peel follows. Only replacements can make
// them a ring.
const maxTags = 10_000

// target returns the type of id and, if it is a tag, what it tags.
func (db *DB) target(id oid.ID) (object.Type, oid.ID, error) {
	s := db.scratch.Get().(*scratch)
	defer db.scratch.Put(s)
	const enough = 256 // for the first three lines of most tags
	typ, size, data, err := db.read(id, s.head[:0], enough)
	if err != nil || typ != object.Tag {
		return typ, id, err
	}
	s.head = data
	tag, err := object.ParseTag(data, db.o.Algo)
	if err != nil && size > int64(len(data)) {
		if _, data, err = db.Read(id, nil); err != nil {
			return typ, id, err
		}
		tag, err = object.ParseTag(data, db.o.Algo)
	}
	return typ, tag.Object, inObject(err, id)
}

// inObject names the object in an error of parsing it.
func inObject(err error, id oid.ID) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("object %s: %w", id, err)
}

// maxTries bounds how often a lookup starts again because packs have changed.
const maxTries = 10

// find looks for id, replaced as need be, and answers q.
func (db *DB) find(id oid.ID, q request) (object.Type, int64, []byte, error) {
	to, err := db.replaced(id)
	if err != nil {
		return 0, 0, nil, err
	}
	return db.findAs(id, to, q)
}

// findAs is find where id is to be found for want.
func (db *DB) findAs(want, id oid.ID, q request) (object.Type, int64, []byte, error) {
	if id.Algo() != db.o.Algo {
		return 0, 0, nil, fmt.Errorf("%w: %s is no %v object ID", ErrNotFound, want, db.o.Algo)
	}
	s := db.scratch.Get().(*scratch)
	defer db.scratch.Put(s)
	for try := 1; ; try++ {
		snap := db.current.Load()
		a, err := db.search(snap, s, &id, &q)
		if err == nil {
			return a.typ, a.size, a.out, nil
		}
		if try < maxTries {
			changed, scanErr := db.rescan(snap)
			if changed {
				continue
			}
			if err == errMissing && scanErr != nil {
				err = scanErr
			}
		}
		if err != errMissing {
			return 0, 0, nil, err
		}
		if id == oid.Hash(db.o.Algo, "tree", nil) {
			return object.Tree, 0, q.dst, nil // Git knows it without storing it
		}
		return 0, 0, nil, fmt.Errorf("%w: %s", ErrNotFound, want)
	}
}

// errMissing is search's: id is nowhere.
var errMissing = errors.New("missing")

// gone reports whether err says that a file was removed or closed since the
// snapshot was taken, so that another copy is to be looked for.
func gone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, packfile.ErrClosed) ||
		errors.Is(err, mmap.ErrClosed) || errors.Is(err, fs.ErrClosed)
}

// graphState is the commit-graph and what it was read from.
type graphState struct {
	mu    sync.Mutex // guards what follows
	files []signed
	graph *commitgraph.Graph
	err   error
}
