package scan

import "slices"

// Differing visits the entries that the last whole scan found to differ from the
// working tree, in the order of the index; gone says that there is no file.
func (t *Tree) Differing(visit func(entry int, gone bool)) {
	var all []uint32
	for d := range t.results {
		all = append(all, t.results[d].dirty...)
	}
	slices.SortFunc(all, func(a, b uint32) int { return int(a&^goneBit) - int(b&^goneBit) })
	for _, x := range all {
		visit(int(x&^goneBit), x&goneBit != 0)
	}
}

// Untracked visits what the last whole scan, under the mode given, found untracked,
// in no order: paths from the root of the working tree, those of directories with a
// slash at their end. path is valid during the call.
func (t *Tree) Untracked(mode UntrackedMode, visit func(path []byte)) {
	v := untrackedVisit{mode: mode, visit: visit}
	for d := range t.nodes {
		n := &t.nodes[d]
		if t.results[d].untracked == 0 || n.excluded {
			continue
		}
		v.path = append(v.path[:0], t.ix.DirPath(d)...)
		v.node(n)
	}
}

type untrackedVisit struct {
	mode  UntrackedMode
	visit func(path []byte)
	path  []byte
}

// node visits what is untracked in a directory.
func (v *untrackedVisit) node(n *node) {
	keep := len(v.path)
	for i := range n.kids {
		k := &n.kids[i]
		if k.ignored || k.dir && (k.node == nil || k.hides && v.mode == UntrackedNormal) {
			continue
		}
		if keep > 0 {
			v.path = append(v.path, '/')
		}
		v.path = append(v.path, k.nameZ[:len(k.nameZ)-1]...)
		switch {
		case !k.dir:
			v.visit(v.path)
		case k.node.repository:
			if !k.hides {
				v.visit(append(v.path, '/'))
			}
		case k.folds(v.mode):
			if k.node.below > 0 {
				v.visit(append(v.path, '/'))
			}
		default:
			v.node(k.node)
		}
		v.path = v.path[:keep]
	}
}
