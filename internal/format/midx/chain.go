package midx

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"gust/internal/disk/filestat"
	"gust/internal/pure/oid"
)

// Names of the files in a pack directory.
const (
	Name      = "multi-pack-index"
	ChainDir  = "multi-pack-index.d"
	ChainName = "multi-pack-index-chain"
)

// maxChain bounds the chain file: 10,000 layers of the longest hash.
const maxChain = 10_000 * 65

// ReadChain returns the paths of the layers of the incremental chain in the pack
// directory dir, oldest first, and the signature of the chain file. Without one
// there are no paths and no error. A line that is no hash is a *CorruptError.
func ReadChain(dir string, a oid.Algo) ([]string, filestat.Signature, error) {
	path := filepath.Join(dir, ChainDir, ChainName)
	data, sig, err := filestat.ReadFile(path, maxChain)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, sig, nil
	}
	if err != nil {
		return nil, sig, err
	}
	var paths []string
	off := 0
	for line := range strings.Lines(string(data)) {
		hash := strings.TrimRight(line, "\r\n")
		if _, err := oid.Parse(a, hash); err != nil {
			return nil, sig, &CorruptError{Path: path, Offset: int64(off), Problem: "bad hash of a layer"}
		}
		paths = append(paths, filepath.Join(dir, ChainDir, "multi-pack-index-"+hash+".midx"))
		off += len(line)
	}
	return paths, sig, nil
}
