package index

import (
	"bytes"
	"strconv"

	"gust/internal/pure/oid"
)

// A treeNode is one node of the TREE extension as it stands in the file, in
// pre-order.
type treeNode struct {
	name     string
	subtrees int
	Tree
}

// treeBytes is what a node takes in the file, less than most do.
const treeBytes = 32

// parseTrees reads the TREE extension. It returns nil if the extension is
// damaged: the cache tree is a cache.
func parseTrees(ext []byte, algo oid.Algo) []treeNode {
	nodes := make([]treeNode, 0, len(ext)/treeBytes+1)
	names := string(ext)
	// open counts the nodes still expected: a valid extension ends when it is 0.
	for open := 1; open > 0; open-- {
		n := treeNode{}
		name, rest, ok := bytes.Cut(ext, []byte{0})
		if !ok {
			return nil
		}
		line, rest, ok := bytes.Cut(rest, []byte{'\n'})
		if !ok {
			return nil
		}
		count, subtrees, ok := bytes.Cut(line, []byte{' '})
		if !ok {
			return nil
		}
		var err1, err2 error
		n.Entries, err1 = strconv.Atoi(string(count))
		n.subtrees, err2 = strconv.Atoi(string(subtrees))
		if err1 != nil || err2 != nil || n.subtrees < 0 || n.subtrees > len(rest) {
			return nil
		}
		n.name = names[len(names)-len(ext):][:len(name)]
		n.ID = oid.Null(algo)
		if n.Entries >= 0 {
			if len(rest) < algo.Size() {
				return nil
			}
			n.ID, rest = oid.FromBytes(algo, rest), rest[algo.Size():]
		}
		nodes = append(nodes, n)
		open += n.subtrees
		ext = rest
	}
	if len(ext) != 0 {
		return nil
	}
	return nodes
}

// attachTrees gives each directory its node of the cache tree.
func (ix *Index) attachTrees(nodes []treeNode) {
	if len(nodes) == 0 || nodes[0].name != "" || len(ix.Dirs) == 0 {
		return
	}
	ix.Trees = make([]Tree, 0, len(nodes))
	type level struct{ dir, left int } // dir -1: a directory that has no entries
	var stack []level
	for i := range nodes {
		dir := 0
		if len(stack) > 0 {
			top := &stack[len(stack)-1]
			top.left--
			dir = -1
			if top.dir >= 0 {
				if k, ok := ix.FindDir(top.dir, []byte(nodes[i].name)); ok {
					dir = k
				}
			}
		}
		if dir >= 0 && nodes[i].Entries >= 0 {
			ix.Dirs[dir].Tree = len(ix.Trees)
			ix.Trees = append(ix.Trees, nodes[i].Tree)
		}
		stack = append(stack, level{dir, nodes[i].subtrees})
		for len(stack) > 0 && stack[len(stack)-1].left == 0 {
			stack = stack[:len(stack)-1]
		}
	}
}
