package odb

import (
	"gust/internal/format/commitgraph"
)

// CommitGraph returns the commit-graph, nil if there is none, or none that is
// valid; the error then tells why, for a log. It looks at the files' stats each
// time. The graph belongs to the database, which closes it when its files change:
// a Do that fails with mmap.ErrClosed may be tried again with a new graph.
//
// It does not know what forbids the use of a graph: replacements, grafts, a
// shallow repository, core.commitGraph.
func (db *DB) CommitGraph() (*commitgraph.Graph, error) {
	g := &db.graph
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.files != nil && unchanged(g.files) {
		return g.graph, g.err
	}
	dirs := db.Dirs()
	files := make([]signed, 0, 2*len(dirs))
	for _, d := range dirs {
		files = append(files, sign(commitgraph.FilePath(d)), sign(commitgraph.ChainPath(d)))
	}
	graph, err := commitgraph.Open(dirs, db.o.Algo)
	g.graph.Close()
	g.files, g.graph, g.err = files, graph, err
	return graph, err
}

func (g *graphState) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.graph.Close()
	g.files, g.graph = nil, nil
}
