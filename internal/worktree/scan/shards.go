package scan

import "gust/internal/format/index"

const (
	// shardsPerThread is how many shards there are for each thread: enough that a
	// thread which is done early, or whose core is shared, does not keep the others
	// waiting for more than a few percent of the time.
	shardsPerThread = 4
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

// cut returns bounds at shallow directories near those of equal work: a shard
// begins by opening the parents of its first directory.
func cut(ix *index.Index, threads int) []int {
	dirs := len(ix.Dirs)
	count := shardsPerThread * threads
	if threads <= 1 || dirs < 8*count {
		return []int{0, dirs}
	}
	per := (len(ix.Entries) + dirCost*dirs) / count
	depth := make([]int, dirs)
	bounds, sum, best := []int{0}, 0, 0
	for d := range ix.Dirs {
		if d > 0 {
			depth[d] = depth[ix.Dirs[d].Parent] + 1
		}
		target := len(bounds) * per
		if sum >= target-per/2 && (best == 0 || depth[d] < depth[best]) {
			best = d
		}
		if sum >= target+per/2 {
			bounds, best = append(bounds, best), 0
		}
		sum += dirCost + len(ix.Files(d))
	}
	return append(bounds, dirs)
}
