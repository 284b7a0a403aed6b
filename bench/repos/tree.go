package repos

import (
	"fmt"
	"hash/fnv"
	"math"
	"slices"
)

// A Shape is the size of a working tree.
type Shape struct {
	Files, Dirs int // the root counts as a directory
}

// The shapes that docs/performance.md speaks of: a service, a large product, a
// company's monorepo.
var (
	Small  = Shape{10_000, 900}
	Medium = Shape{100_000, 8_000}
	Large  = Shape{300_000, 25_000}
)

// depth is how many levels of directories a tree has, whatever its size: what
// grows is the width, as in real trees. With paths of meanPath it makes names of
// about seven bytes, which is what directories of large real trees are called
// (src, main, java, service, internal …).
const depth = 9

// meanPath is the mean length of a path in bytes, that of large trees of Java,
// TypeScript and Go.
const meanPath = 90

// Paths returns the files of a tree of this shape, in the order of Git's index.
// The same shape gives the same paths, always. Every directory holds at least one
// file, some hold many; mean path lengths are close to 90 bytes.
func (s Shape) Paths() []string {
	dirs := s.directories()
	paths := make([]string, s.Files)
	for i := range paths {
		d := i
		if i >= len(dirs) {
			d = int(mix("file", i) % uint64(len(dirs)))
		}
		paths[i] = dirs[d] + fileName(i)
	}
	slices.Sort(paths)
	return paths
}

// directories returns the directories, "" first, the others with a trailing
// slash, each after its parent.
func (s Shape) directories() []string {
	width := max(2, int(math.Round(math.Pow(float64(s.Dirs), 1.0/depth))))
	levels := make([]int, s.Dirs)
	total := 0
	for i := 1; i < s.Dirs; i++ {
		levels[i] = levels[(i-1)/width] + 1
		total += levels[i]
	}
	// A path is a directory's names, their slashes and a file name.
	length := float64((meanPath-fileLength)*s.Dirs) / float64(max(1, total))
	dirs := make([]string, s.Dirs)
	for i := 1; i < s.Dirs; i++ {
		dirs[i] = dirs[(i-1)/width] + name("dir", i, int(length-1+float64(i%8)/8)) + "/"
	}
	return dirs
}

// syllables make names that look and compress like those people give.
var syllables = []string{
	"ser", "vi", "ce", "con", "trol", "ler", "han", "dle", "re", "quest", "cli", "ent", "mo", "del", "ad", "apt",
	"er", "plat", "form", "ren", "der", "lay", "out", "stor", "age", "in", "dex", "watch", "par", "se", "syn", "c",
}

var endings = []string{".go", ".ts", ".java", ".md", ".json", ".proto", ".py", ".css"}

// fileLength is the length of a file's name with its ending, in bytes.
const fileLength = 19

func fileName(i int) string {
	ending := endings[mix("ending", i)%uint64(len(endings))]
	return name("name", i, fileLength-len(ending)) + ending
}

// name returns a name of length bytes, or a few more if that is too short to be
// unique to i among names of its kind.
func name(kind string, i, length int) string {
	number := fmt.Sprintf("_%x", i)
	h := mix(kind, i)
	var b []byte
	for len(b)+len(number) < length {
		b = append(b, syllables[h%uint64(len(syllables))]...)
		h /= uint64(len(syllables))
	}
	return string(b[:max(2, min(len(b), length-len(number)))]) + number
}

// mix returns a number that looks random and is the same in every run.
func mix(kind string, i int) uint64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s %d", kind, i)
	return h.Sum64()
}

// content returns what file i holds: one of a few hundred texts, so that the
// object database stays small. No scan of a clean tree reads them.
func content(i int) []byte {
	i %= distinctBlobs
	var b []byte
	for line := range 5 + i%40 {
		b = fmt.Appendf(b, "line %d of text %d, as wide as lines are\n", line, i)
	}
	return b
}

const distinctBlobs = 256
