package reftable

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"

	"gust/internal/disk/filestat"
	"gust/internal/pure/oid"
)

// A Stack reads the tables of one directory. Every answer is that of the disk at
// the time of the call. A Stack is safe for concurrent use.
type Stack struct {
	dir  string
	algo oid.Algo

	mu     sync.Mutex // guards what follows
	sig    filestat.Signature
	list   string // content of tables.list
	tables []*shared
	serial uint64 // grows whenever list changes
}

// shared is a table and how many use it: the stack, and calls that are running.
type shared struct {
	*Table
	name  string
	users int // guarded by Stack.mu
}

const (
	maxList   = 1 << 20 // size of tables.list
	maxTables = 4096
	// attempts is how often tables.list is read again because a table that it
	// named has been replaced meanwhile.
	attempts = 20
)

// NewStack returns the Stack of the directory dir. It reads nothing yet. A
// directory without tables.list is an empty stack.
func NewStack(dir string, algo oid.Algo) *Stack { return &Stack{dir: dir, algo: algo} }

// acquire returns the tables, oldest first, which stay open until release.
func (s *Stack) acquire() ([]*shared, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.refresh(); err != nil {
		return nil, err
	}
	for _, t := range s.tables {
		t.users++
	}
	return s.tables, nil
}

func (s *Stack) release(tables []*shared) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range tables {
		t.drop()
	}
}

// drop gives up one use.
func (t *shared) drop() {
	if t.users--; t.users == 0 {
		t.Close()
	}
}

// refresh reads tables.list and opens the tables it names. While a writer
// replaces tables, one that is named may be gone: then the list has changed.
func (s *Stack) refresh() error {
	path := s.dir + "/tables.list"
	if s.sig.Matches(path) {
		return nil
	}
	var err error
	for range attempts {
		data, sig, readErr := filestat.ReadFile(path, maxList)
		if readErr != nil && !filestat.IsAbsent(readErr) {
			return fmt.Errorf("cannot read the list of reftables: %w", readErr)
		}
		if s.serial > 0 && string(data) == s.list {
			s.sig = sig
			return nil
		}
		var tables []*shared
		if tables, err = s.open(string(data)); err == nil {
			for _, t := range s.tables {
				t.drop()
			}
			s.tables, s.list, s.sig = tables, string(data), sig
			s.serial++
			return nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return err
}

// open opens the tables of a list, or takes those that are open already.
func (s *Stack) open(list string) (tables []*shared, err error) {
	defer func() {
		if err != nil {
			for _, t := range tables {
				t.drop()
			}
		}
	}()
	for name := range strings.SplitSeq(list, "\n") {
		if name == "" {
			continue
		}
		if strings.ContainsAny(name, "/\x00") || len(tables) == maxTables {
			return tables, &CorruptError{Path: s.dir + "/tables.list", Problem: "bad list of tables"}
		}
		t := s.known(name)
		if t == nil {
			table, err := Open(s.dir+"/"+name, s.algo)
			if err != nil {
				return tables, err
			}
			t = &shared{Table: table, name: name}
		}
		t.users++
		tables = append(tables, t)
	}
	return tables, nil
}

func (s *Stack) known(name string) *shared {
	for _, t := range s.tables {
		if t.name == name {
			return t
		}
	}
	return nil
}

// Serial returns a number that changes whenever the content of the stack may
// have changed.
func (s *Stack) Serial() (uint64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.refresh()
	return s.serial, err
}

// Close closes the tables.
func (s *Stack) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.tables {
		t.drop()
	}
	s.tables, s.list, s.sig, s.serial = nil, "", filestat.Signature{}, 0
}

// Ref calls use with the record about the ref of the given name, which is valid
// during the call. It reports whether the ref exists.
func (s *Stack) Ref(name string, use func(*Ref)) (bool, error) {
	tables, err := s.acquire()
	if err != nil {
		return false, err
	}
	defer s.release(tables)
	key := []byte(name)
	found := false
	for i := len(tables) - 1; i >= 0; i-- {
		known := false
		err := tables[i].file.Do(func(data []byte) error {
			w, err := tables[i].seekRefs(data, key)
			if err != nil || w.done || !bytes.Equal(w.ref.Name, key) {
				return err
			}
			known, found = true, w.ref.Kind != Deletion
			if found {
				use(&w.ref)
			}
			return nil
		})
		if err != nil || known {
			return found, err
		}
	}
	return false, nil
}

// Refs visits the refs whose names start with prefix, in order of their names,
// until visit returns false. The Ref is valid during the call.
func (s *Stack) Refs(prefix string, visit func(*Ref) bool) error {
	tables, err := s.acquire()
	if err != nil {
		return err
	}
	defer s.release(tables)
	return merge(tables, make([]*refs, 0, len(tables)), []byte(prefix), visit)
}

// merge seeks the tables one inside of the other's Do, then visits what they
// hold. The newest is last in walks.
func merge(tables []*shared, walks []*refs, prefix []byte, visit func(*Ref) bool) error {
	if len(walks) < len(tables) {
		t := tables[len(walks)]
		return t.file.Do(func(data []byte) error {
			w, err := t.seekRefs(data, prefix)
			if err != nil {
				return err
			}
			return merge(tables, append(walks, w), prefix, visit)
		})
	}
	for {
		var first *refs
		for _, w := range walks {
			if w.done || !bytes.HasPrefix(w.ref.Name, prefix) {
				continue
			}
			if first == nil || bytes.Compare(w.ref.Name, first.ref.Name) <= 0 {
				first = w
			}
		}
		if first == nil {
			return nil
		}
		if first.ref.Kind != Deletion && !visit(&first.ref) {
			return nil
		}
		name := append([]byte(nil), first.ref.Name...)
		for _, w := range walks {
			for !w.done && bytes.HasPrefix(w.ref.Name, prefix) && bytes.Compare(w.ref.Name, name) <= 0 {
				if err := w.advance(); err != nil {
					return err
				}
			}
		}
	}
}

// LogLength returns the number of entries in the log of the ref name.
func (s *Stack) LogLength(name string) (int, error) {
	live := make(map[uint64]bool)
	err := s.logRecords(name, func(r *logRecord) {
		if r.entry {
			live[r.update] = true
		} else {
			delete(live, r.update)
		}
	})
	return len(live), err
}

// A LogEntry is one entry of a log.
type LogEntry struct {
	Old, New oid.ID
	Message  string // without the newline
}

// Log returns the entries in the log of the ref name, oldest first.
func (s *Stack) Log(name string) ([]LogEntry, error) {
	live := make(map[uint64]LogEntry)
	err := s.logRecords(name, func(r *logRecord) {
		if !r.entry {
			delete(live, r.update)
			return
		}
		n := s.algo.Size()
		live[r.update] = LogEntry{
			Old: oid.FromBytes(s.algo, r.ids[:n]), New: oid.FromBytes(s.algo, r.ids[n:]),
			Message: string(bytes.TrimSuffix(r.message, []byte("\n"))),
		}
	})
	var all []LogEntry
	for _, update := range slices.Sorted(maps.Keys(live)) {
		all = append(all, live[update])
	}
	return all, err
}

// logRecords visits the records in the log of the ref name in all tables: what is in
// a later one replaces what is in those before it.
func (s *Stack) logRecords(name string, visit func(*logRecord)) error {
	tables, err := s.acquire()
	if err != nil {
		return err
	}
	defer s.release(tables)
	for _, t := range tables {
		if err := t.file.Do(func(data []byte) error { return t.logRecords(data, name, visit) }); err != nil {
			return err
		}
	}
	return nil
}
