package status

import (
	"context"
	"io"

	"gust/internal/pure/object"
	"gust/internal/pure/oid"
	"gust/internal/worktree/scan"
)

// contentKey identifies the settings that decide how content is cleaned.
func (b *backend) contentKey() any { return 0 }

// Same reports whether a file is the content that its entry names.
func (b *backend) Same(ctx context.Context, f *scan.File) (bool, error) {
	id := b.ix.ID(f.Entry)
	if object.Mode(b.ix.Entries[f.Entry].Mode) == object.ModeSymlink {
		target, err := f.Dir.Readlink(f.NameZ, string(f.Path))
		return oid.Hash(id.Algo(), "blob", []byte(target)) == id, err
	}
	file, err := f.Dir.OpenFile(f.NameZ, string(f.Path))
	if err != nil {
		return false, err
	}
	defer file.Close()
	h := oid.NewHasher(id.Algo(), "blob", f.Stat.Size)
	if _, err := io.Copy(h, file); err != nil {
		return false, err
	}
	return h.Sum() == id, ctx.Err()
}
