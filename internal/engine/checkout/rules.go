package checkout

import (
	"fmt"
	"sync"

	"gust/internal/disk/workfile"
	"gust/internal/engine/status"
	"gust/internal/engine/treediff"
	"gust/internal/format/index"
	"gust/internal/pure/object"
	"gust/internal/pure/oid"
	"gust/internal/repo"
	"gust/internal/rules/attr"
	"gust/internal/rules/filter"
	"gust/internal/store/odb"
)

// maxAttributes bounds a .gitattributes file in bytes, as Git bounds its own.
const maxAttributes = 100 << 20

// rules are the attributes and conversions of one move. Attributes that decide how a
// file is compared come from the working tree, where it has them; those that
// decide how one is written, from the new index. It is safe for concurrent use.
type rules struct {
	*status.Rules
	db   *odb.DB
	ix   *index.Index
	root workfile.Dir

	asIs    bool       // files are written as they are compared
	mu      sync.Mutex // guards what follows
	in, out map[string]*attr.Stack
	next    map[string]treediff.Side // the .gitattributes files that change; nil before the plan
}

func newRules(r *repo.Repository, db *odb.DB, ix *index.Index) (*rules, error) {
	base, err := status.ReadRules(r)
	if err != nil {
		return nil, &Refusal{Reason: "settings cannot be read", Err: err}
	}
	return &rules{Rules: base, db: db, ix: ix, in: make(map[string]*attr.Stack), out: make(map[string]*attr.Stack)}, nil
}

// reread makes r that of another index.
func (r *rules) reread(ix *index.Index) {
	r.ix, r.next = ix, nil
	clear(r.in)
	clear(r.out)
}

const attributesName = ".gitattributes"

// planned tells r what the new index will have.
func (r *rules) planned(steps []step) {
	r.next = make(map[string]treediff.Side)
	for i := range steps {
		p := steps[i].path
		if len(p) >= len(attributesName) && p[len(p)-len(attributesName):] == attributesName {
			r.next[p] = steps[i].to
		}
	}
}

// comparing returns the stack by which files in dir are compared.
func (r *rules) comparing(dir string) (*attr.Stack, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stack(dir, r.in, r.inWorkTree)
}

// writing returns the stack by which files in dir are written.
func (r *rules) writing(dir string) (*attr.Stack, error) {
	if r.asIs {
		return r.comparing(dir)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stack(dir, r.out, r.inNewIndex)
}

// stack returns the stack of dir, from cache or from that of its parent and read.
func (r *rules) stack(dir string, cache map[string]*attr.Stack, read func(dir string) ([]byte, error)) (*attr.Stack, error) {
	if s, ok := cache[dir]; ok {
		return s, nil
	}
	up := r.Attrs
	if dir != "" {
		var err error
		if up, err = r.stack(parent(dir), cache, read); err != nil {
			return nil, err
		}
	}
	data, err := read(dir)
	if err != nil {
		return nil, err
	}
	s := up
	if len(data) > 0 {
		s = up.Push(attr.Parse(data, attr.Options{IgnoreCase: r.IgnoreCase}), dir)
	}
	cache[dir] = s
	return s, nil
}

func join(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}

// inWorkTree reads the .gitattributes of dir from the working tree, else from the
// index.
func (r *rules) inWorkTree(dir string) ([]byte, error) {
	if data, ok := r.file(dir); ok {
		return data, nil
	}
	return r.indexed(join(dir, attributesName))
}

// inNewIndex reads the .gitattributes of dir from the new index, else from the
// working tree.
func (r *rules) inNewIndex(dir string) ([]byte, error) {
	path := join(dir, attributesName)
	if to, ok := r.next[path]; ok {
		if to.Mode == 0 || !to.Mode.IsRegular() {
			return nil, nil
		}
		return r.blob(to.ID)
	}
	if _, ok := r.ix.Find(path); ok {
		return r.indexed(path)
	}
	data, _ := r.file(dir)
	return data, nil
}

// indexed returns the blob of path's entry, nothing if there is none.
func (r *rules) indexed(path string) ([]byte, error) {
	i, ok := r.ix.Find(path)
	if !ok || r.ix.Entries[i].Stage() != 0 || !object.Mode(r.ix.Entries[i].Mode).IsRegular() {
		return nil, nil
	}
	return r.blob(r.ix.ID(i))
}

func (r *rules) blob(id oid.ID) ([]byte, error) {
	typ, data, err := r.db.Read(id, nil)
	if err == nil && typ != object.Blob {
		err = fmt.Errorf("object %s is a %s, not a blob", id, typ)
	}
	if len(data) > maxAttributes {
		data = nil
	}
	return data, err
}

// file reads the .gitattributes of dir in the working tree.
func (r *rules) file(dir string) ([]byte, bool) {
	d := r.root
	if dir != "" {
		var err error
		if d, err = r.root.OpenDir(dir); err != nil {
			return nil, false
		}
		defer d.Close()
	}
	data, err := d.ReadFile(attributesName)
	if len(data) > maxAttributes {
		return nil, true
	}
	return data, err == nil
}

// A conversions looks up the conversions of one path after the other. Each worker
// has its own.
type conversions struct {
	rules  *rules
	query  *attr.Query
	values []attr.Value
}

func (r *rules) conversions() *conversions {
	return &conversions{rules: r, query: filter.NewQuery()}
}

// plan returns how the file at path is compared. A driver that would have to run is
// a Refusal.
func (c *conversions) plan(path string) (filter.Plan, error) {
	s, err := c.rules.comparing(parent(path))
	if err != nil {
		return filter.Plan{}, err
	}
	c.values = s.Lookup([]byte(path), c.query, c.values[:0])
	if m := c.rules.Filters.Smudge(c.values); m.Left() {
		return filter.Plan{}, refuse("has a filter or an encoding", path)
	}
	return c.rules.Filters.Plan(c.values), nil
}

// smudge returns how the file at path is written.
func (c *conversions) smudge(path string) (filter.Smudge, error) {
	s, err := c.rules.writing(parent(path))
	if err != nil {
		return filter.Smudge{}, err
	}
	c.values = s.Lookup([]byte(path), c.query, c.values[:0])
	m := c.rules.Filters.Smudge(c.values)
	if m.Left() {
		return m, refuse("has a filter or an encoding", path)
	}
	return m, nil
}
