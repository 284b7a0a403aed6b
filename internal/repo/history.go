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
	Grafted bool // info/grafts has lines

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

// ParentOverrides reads shallow and info/grafts (gitrepository-layout(5)). What
// shallow says of a commit wins.
func (r *Repository) ParentOverrides() (*Overrides, error) {
	o := &Overrides{paths: [2]string{r.CommonDir + "/shallow", r.CommonDir + "/info/grafts"}}
	if path := r.Env["GIT_SHALLOW_FILE"]; path != "" {
		o.paths[0] = path
	}
	if path := r.Env["GIT_GRAFT_FILE"]; path != "" {
		o.paths[1] = path
	}
	var texts [2]string
	for i, path := range o.paths {
		data, sig, err := filestat.ReadFile(path, 1<<30)
		if err != nil && !filestat.IsAbsent(err) {
			return nil, fmt.Errorf("cannot read '%s': %w", path, err)
		}
		o.sigs[i] = sig
		texts[i] = string(data)
	}
	o.Grafted = texts[1] != ""
	o.grafts(texts[1], r.Algo)
	at := 0
	for line := range strings.Lines(texts[0]) {
		if err := o.shallow(line, r.Algo); err != nil {
			return nil, fmt.Errorf("bad line at offset %d of '%s': %w", at, o.paths[0], err)
		}
		at += len(line)
	}
	return o, nil
}

// shallow takes one line of shallow: a commit that is to have no parents. Git
// refuses a repository in which a line begins with anything else.
func (o *Overrides) shallow(line string, algo oid.Algo) error {
	id, err := oid.Parse(algo, line[:min(len(line), algo.HexSize())])
	if err == nil {
		o.set(id, nil)
	}
	return err
}

// grafts takes the lines of info/grafts: a commit and what its parents are to be,
// with one space between. Git passes over other lines, and over what is said of a
// commit for the second time.
func (o *Overrides) grafts(text string, algo oid.Algo) {
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \t\r\n")
		var ids []oid.ID
		for line != "" {
			id, err := oid.Parse(algo, line[:min(len(line), algo.HexSize())])
			if err != nil {
				ids = nil
				break
			}
			ids = append(ids, id)
			if line = line[algo.HexSize():]; line == "" {
				break
			}
			if !strings.ContainsAny(line[:1], " \t\r\n") {
				ids = nil
				break
			}
			line = line[1:]
		}
		if len(ids) == 0 {
			continue
		}
		if _, known := o.Parents[ids[0]]; !known {
			o.set(ids[0], ids[1:])
		}
	}
}

func (o *Overrides) set(id oid.ID, parents []oid.ID) {
	if o.Parents == nil {
		o.Parents = make(map[oid.ID][]oid.ID)
	}
	o.Parents[id] = parents
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
