package scan

import "gust/internal/format/index"

const (
	// halving is into how many shards for each thread the work is cut before the
	// shards become half as large: big ones first, since each begins by opening the
	// parents of its first directory, and small ones last, so that no thread waits
	// long for another.
	halving = 2
	// smallest is the part of all work that the smallest shards have.
	smallest = 64
	// dirCost is the work of a directory in that of an entry: it is opened, looked at
	// and closed.
	dirCost = 3
)

// shards cuts the index's directories into runs of about the same work and
// returns their bounds: shard i is [bounds[i], bounds[i+1]).
func (t *Tree) shards(threads int) []int {
	if t.bounds == nil || t.threads != threads {
		t.bounds, t.threads = cut(t.ix, threads), threads
	}
	return t.bounds
}

// cut returns bounds at shallow directories near those of the wanted sizes.
func cut(ix *index.Index, threads int) []int {
	dirs := len(ix.Dirs)
	if threads <= 1 || dirs < smallest {
		return []int{0, dirs}
	}
	total := len(ix.Entries) + dirCost*dirs
	size, left := total/(2*halving*threads), halving*threads
	depth := make([]int, dirs)
	bounds, sum, target, best := []int{0}, 0, size, 0
	for d := range ix.Dirs {
		if d > 0 {
			depth[d] = depth[ix.Dirs[d].Parent] + 1
		}
		if sum >= target-size/2 && (best == 0 || depth[d] < depth[best]) {
			best = d
		}
		if sum >= target+size/2 && best > 0 {
			bounds, best = append(bounds, best), 0
			if left--; left == 0 && size/2 > total/smallest {
				size, left = size/2, halving*threads
			}
			target += size
		}
		sum += dirCost + len(ix.Files(d))
	}
	return append(bounds, dirs)
}
