package repo

import (
	"fmt"
	"strings"

	"gust/internal/disk/filestat"
	"gust/internal/pure/oid"
)

// Overrides are commits whose parents are not those that the commit object
// names: the ends of a shallow history have none, grafts have others.
type Overrides struct {
	Parents map[oid.ID][]oid.ID

	paths [2]string
	sigs  [2]filestat.Signature
}

// Unchanged reports whether the files that o came from are as they were.
func (o *Overrides) Unchanged() bool {
	for i := range o.paths {
		if !o.sigs[i].Matches(o.paths[i]) {
			return false
		}
	}
	return true
}

// ParentOverrides reads shallow and info/grafts (gitrepository-layout(5)).
func (r *Repository) ParentOverrides() (*Overrides, error) {
	o := &Overrides{paths: [2]string{r.CommonDir + "/shallow", r.CommonDir + "/info/grafts"}}
	if path := r.Env["GIT_SHALLOW_FILE"]; path != "" {
		o.paths[0] = path
	}
	if path := r.Env["GIT_GRAFT_FILE"]; path != "" {
		o.paths[1] = path
	}
	for i, path := range o.paths {
		data, sig, err := filestat.ReadFile(path, 1<<30)
		if err != nil && !filestat.IsAbsent(err) {
			return nil, fmt.Errorf("cannot read '%s': %w", path, err)
		}
		o.sigs[i] = sig
		for line := range strings.Lines(string(data)) {
			err := o.line(strings.TrimSpace(line), r.Algo, i == 0)
			if err != nil && i == 0 { // Git dies of a bad end, and passes over a bad graft
				return nil, fmt.Errorf("bad line in '%s': %w", path, err)
			}
		}
	}
	return o, nil
}

// line takes one line: a commit, and its parents.
func (o *Overrides) line(line string, algo oid.Algo, shallow bool) error {
	if line == "" || line[0] == '#' {
		return nil
	}
	var ids []oid.ID
	for word := range strings.FieldsSeq(line) {
		id, err := oid.Parse(algo, word)
		if err != nil {
			return err
		}
		ids = append(ids, id)
	}
	if o.Parents == nil {
		o.Parents = make(map[oid.ID][]oid.ID)
	}
	if shallow {
		ids = ids[:1]
	}
	o.Parents[ids[0]] = ids[1:]
	return nil
}

// Replacements returns what refs/replace puts in the place of objects
// (git-replace(1)); nil where that is turned off.
func (r *Repository) Replacements() (map[oid.ID]oid.ID, error) {
	if r.Env.has("GIT_NO_REPLACE_OBJECTS") {
		return nil, nil
	}
	if use, set, err := r.Config.Bool("core.useReplaceRefs"); err != nil {
		return nil, err
	} else if set && !use {
		return nil, nil
	}
	base := r.Env["GIT_REPLACE_REF_BASE"]
	if base == "" {
		base = "refs/replace/"
	}
	if !strings.HasSuffix(base, "/") {
		base += "/"
	}
	var all map[oid.ID]oid.ID
	err := r.Refs.List(base, func(name string, id, _ oid.ID) bool {
		if from, err := oid.Parse(r.Algo, name[len(base):]); err == nil {
			if all == nil {
				all = make(map[oid.ID]oid.ID)
			}
			all[from] = id
		}
		return true
	})
	return all, err
}
