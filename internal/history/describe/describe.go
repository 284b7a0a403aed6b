// Package describe names a commit after the nearest tag and the distance to it
// (git-describe(1)).
package describe

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"gust/internal/history/revwalk"
	"gust/internal/pure/oid"
	"gust/internal/store/odb"
	"gust/internal/store/refs"
)

// DefaultCandidates is the number of names that are considered unless Options say
// otherwise.
const DefaultCandidates = 10

// maxCandidates is the largest number that Git considers: it has so many flags for
// a commit.
const maxCandidates = 28

// Options are those of git-describe(1). Its defaults are Candidates:
// DefaultCandidates and an Abbrev of what core.abbrev says.
type Options struct {
	All, Tags, Long, Always, FirstParent bool

	Candidates     int // 0: exact matches only
	Abbrev         int // hexadecimal digits, 0: the name alone
	Match, Exclude []string
}

// ErrNoNames says that there is no name to choose from.
var ErrNoNames = errors.New("No names found, cannot describe anything.") //lint:ignore ST1005 git's own words

// A NoNameError says that no name describes a commit. Its message is Git's.
type NoNameError struct {
	Commit oid.ID
	Exact  bool // only an exact match was wanted
	Light  bool // tags that are not annotated would have
}

func (e *NoNameError) Error() string {
	switch {
	case e.Exact:
		return fmt.Sprintf("no tag exactly matches '%s'", e.Commit)
	case e.Light:
		return fmt.Sprintf("No annotated tags can describe '%s'.\nHowever, there were unannotated tags: try --tags.", e.Commit)
	}
	return fmt.Sprintf("No tags can describe '%s'.\nTry --always, or create some tags.", e.Commit)
}

// A Describer describes commits of one repository as its refs were when it was
// made. It is not safe for concurrent use.
type Describer struct {
	DB     *odb.DB
	Refs   *refs.Store
	Walker *revwalk.Walker
	Warn   func(message string) // told what is odd about a tag, in Git's words; required

	o     Options
	names map[oid.ID]*name // by what they lead to; see name
	any   bool             // there are names, in names or not
	buf   []byte
}

// Start sets the options and reads the names. The error is ErrNoNames unless
// o.Always is set, or one of reading refs.
func (d *Describer) Start(o Options) error {
	d.o = o
	d.o.Candidates = min(max(o.Candidates, 0), maxCandidates)
	if d.o.Candidates == 0 {
		return nil // few names are of use, when the commit is known
	}
	return d.start(nil)
}

func (d *Describer) start(only *oid.ID) error {
	if err := d.readNames(only); err != nil {
		return err
	}
	if !d.any && !d.o.Always {
		return ErrNoNames
	}
	return nil
}

// usable reports whether the options let n describe a commit.
func (d *Describer) usable(n *name) bool { return d.o.All || d.o.Tags || n.rank == annotated }

// Describe returns what commit is called. The error is a *NoNameError, ErrNoNames as
// Start's, or one of reading refs, tags or commits.
func (d *Describer) Describe(ctx context.Context, commit oid.ID) (string, error) {
	if d.o.Candidates == 0 {
		if err := d.start(&commit); err != nil {
			return "", err
		}
	}
	n, err := d.name(commit)
	if err != nil {
		return "", err
	}
	if n != nil && d.usable(n) {
		text, misnamed, err := d.text(n)
		if err == nil && (misnamed || d.o.Long) {
			// Of a tag of a tag Git shows what the outer one names.
			of := commit
			if n.rank == annotated {
				of = n.object
			}
			text, err = d.suffixed(text, 0, of)
		}
		return text, err
	}
	if d.o.Candidates == 0 {
		return "", &NoNameError{Commit: commit, Exact: true}
	}
	var w walk
	err = d.Walker.Walk(ctx, func(c *revwalk.Commits) error {
		w = walk{d: d, c: c}
		return w.run(ctx, commit)
	})
	if err != nil {
		return "", err
	}
	if len(w.found) == 0 {
		if d.o.Always {
			return d.abbrev(commit)
		}
		return "", &NoNameError{Commit: commit, Light: w.light}
	}
	best := &w.found[0]
	text, misnamed, err := d.text(best.name)
	if err == nil && (misnamed || d.o.Abbrev > 0) {
		text, err = d.suffixed(text, best.depth, commit)
	}
	return text, err
}

// text returns what n is called, and whether it is annotated under another name
// than its ref's, of which d warns once.
func (d *Describer) text(n *name) (text string, misnamed bool, err error) {
	if n.rank != annotated {
		if d.o.All {
			return n.path, false, nil
		}
		return strings.TrimPrefix(n.path, "tags/"), false, nil
	}
	if err := d.readTag(n); err != nil {
		return "", false, err
	}
	known := strings.TrimPrefix(n.path, "tags/")
	misnamed = n.called != known
	if misnamed && !n.checked {
		shown := known
		if d.o.All {
			shown = n.path
		}
		d.Warn(fmt.Sprintf("tag '%s' is externally known as '%s'", shown, n.called))
	}
	n.checked = true
	text = n.called
	if d.o.All {
		text = "tags/" + text
	}
	return text, misnamed, nil
}

func (d *Describer) suffixed(text string, depth int, commit oid.ID) (string, error) {
	short, err := d.abbrev(commit)
	return fmt.Sprintf("%s-%d-g%s", text, depth, short), err
}

// abbrev returns as many digits of id as the options want, more if need be; all if
// they want none.
func (d *Describer) abbrev(id oid.ID) (string, error) {
	hex := id.String()
	if d.o.Abbrev <= 0 {
		return hex, nil
	}
	n, err := d.DB.UniqueLen(id, d.o.Abbrev)
	return hex[:n], err
}
