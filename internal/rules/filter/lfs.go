package filter

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"path"
	"strconv"
	"strings"
)

// LFSHead is the number of bytes at the start of a content that tell whether it
// is a Git LFS pointer already: pointers are shorter than this.
const LFSHead = 1024

const lfsVersion = "https://git-lfs.github.com/spec/v1"

// isLFS reports whether the driver is the one that "git lfs install" sets up.
func (d Driver) isLFS() bool {
	for command, verb := range map[string]string{d.Process: "filter-process", d.Clean: "clean"} {
		words := strings.Fields(command)
		if len(words) > 1 && words[0] == "git" {
			words = append([]string{"git-" + words[1]}, words[2:]...)
		}
		if len(words) > 1 && strings.TrimSuffix(path.Base(words[0]), ".exe") == "git-lfs" && words[1] == verb {
			return true
		}
	}
	return false
}

// An LFSHash computes the pointer of a content in pieces.
type LFSHash struct {
	sum  hash.Hash
	size int64
}

// NewLFSHash returns the LFSHash of nothing.
func NewLFSHash() *LFSHash { return &LFSHash{sum: sha256.New()} }

// Write adds a piece. It never fails.
func (h *LFSHash) Write(p []byte) (int, error) {
	h.size += int64(len(p))
	return h.sum.Write(p)
}

// Pointer returns the pointer file of what was written, in the canonical form
// of Git LFS's specification.
func (h *LFSHash) Pointer() []byte {
	b := []byte("version " + lfsVersion + "\noid sha256:")
	b = hex.AppendEncode(b, h.sum.Sum(nil))
	b = append(b, "\nsize "...)
	b = strconv.AppendInt(b, h.size, 10)
	return append(b, '\n')
}

// LFSPointer returns what Git LFS stores for the content src: its pointer, but
// src itself if it is empty or a pointer already.
func LFSPointer(src []byte) []byte {
	if len(src) == 0 || len(src) < LFSHead && IsLFSPointer(src) {
		return src
	}
	h := NewLFSHash()
	h.Write(src)
	return h.Pointer()
}

// IsLFSPointer reports whether src is a whole pointer file: a version that Git
// LFS knows, extension lines perhaps, the object and its size, in this order. Empty lines are
// none.
func IsLFSPointer(src []byte) bool {
	var lines []string
	for line := range strings.SplitSeq(string(bytes.TrimSpace(src)), "\n") {
		if line = strings.TrimSuffix(line, "\r"); line != "" {
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 {
		return false
	}
	switch lines[0] {
	case "version " + lfsVersion, "version http://git-media.io/v/2", "version https://hawser.github.com/spec/v1":
	default:
		return false
	}
	lines = lines[1:]
	for seen := 0; len(lines) > 0 && isLFSExtension(lines[0]); lines = lines[1:] {
		priority := 1 << (lines[0][len("ext-")] - '0')
		if seen&priority != 0 {
			return false
		}
		seen |= priority
	}
	if len(lines) != 2 || !isLFSObject(lines[0], "oid") {
		return false
	}
	size, ok := strings.CutPrefix(lines[1], "size ")
	n, err := strconv.ParseInt(size, 10, 64)
	return ok && err == nil && n >= 0
}

// isLFSExtension reports whether line is "ext-<digit>-<name> sha256:<hex>".
func isLFSExtension(line string) bool {
	key, _, ok := strings.Cut(line, " ")
	return ok && len(key) > 6 && strings.HasPrefix(key, "ext-") && '0' <= key[4] && key[4] <= '9' && key[5] == '-' &&
		isLFSObject(line, key)
}

// isLFSObject reports whether line is key followed by an object's hash.
func isLFSObject(line, key string) bool {
	digits, ok := strings.CutPrefix(line, key+" sha256:")
	return ok && len(digits) == 2*sha256.Size && strings.Trim(digits, "0123456789abcdef") == ""
}
