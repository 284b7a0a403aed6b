package revision

import (
	"bytes"
	"fmt"
	"strings"

	"gust/internal/pure/object"
	"gust/internal/pure/oid"
)

// path is "REV:PATH", ":PATH" or ":N:PATH", with the first colon at the given
// offset.
func (r *Resolver) path(rev string, colon int) (oid.ID, error) {
	path := rev[colon+1:]
	if colon == 0 {
		return r.indexed(rev, path)
	}
	if strings.HasPrefix(path, "./") || strings.HasPrefix(path, "../") || path == "." || path == ".." {
		return oid.ID{}, unknown(rev) // relative to where the command runs
	}
	id, err := r.resolve(rev[:colon], treeish)
	if err == nil {
		id, err = r.peel(rev, id, object.Tree)
	}
	if err != nil {
		return id, err
	}
	for path != "" {
		var name string
		name, path, _ = strings.Cut(path, "/")
		if id, err = r.entry(rev, id, name); err != nil {
			return id, err
		}
	}
	return id, nil
}

// entry returns the ID of the entry of the given name in the tree id.
func (r *Resolver) entry(rev string, id oid.ID, name string) (oid.ID, error) {
	typ, data, err := r.DB.Read(id, nil)
	if err != nil {
		return id, r.missing(rev, err)
	}
	if typ != object.Tree {
		return id, unknown(rev)
	}
	t := object.NewTreeReader(data, id.Algo())
	var e object.TreeEntry
	for {
		ok, err := t.Next(&e)
		if err != nil {
			return id, fmt.Errorf("object %s: %w", id, err)
		}
		if !ok {
			return id, unknown(rev)
		}
		if bytes.Equal(e.Name, []byte(name)) {
			return e.ID, nil
		}
	}
}

// indexed is ":PATH" or ":N:PATH", given what follows the first colon.
func (r *Resolver) indexed(rev, path string) (oid.ID, error) {
	stage := 0
	if len(path) >= 2 && '0' <= path[0] && path[0] <= '3' && path[1] == ':' {
		stage, path = int(path[0]-'0'), path[2:]
	}
	if r.Index == nil || path == "" || path[0] == '/' || strings.HasPrefix(path, "./") || strings.HasPrefix(path, "../") {
		return oid.ID{}, unknown(rev) // among them a search for a message
	}
	id, ok, err := r.Index(path, stage)
	if err == nil && !ok {
		err = unknown(rev)
	}
	return id, err
}
