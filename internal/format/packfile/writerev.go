package packfile

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// WriteReverse writes the pack's .rev file if it has none, and puts it in place whole
// or not at all.
func (p *Pack) WriteReverse() error {
	path := strings.TrimSuffix(p.path, ".pack") + ".rev"
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	idx, err := p.Index()
	if err != nil {
		return err
	}
	order, err := idx.order()
	if err != nil {
		return err
	}
	of, err := idx.PackHash()
	if err != nil {
		return err
	}
	out := []byte("RIDX\x00\x00\x00\x01")
	out = binary.BigEndian.AppendUint32(out, uint32(p.algo)+1)
	out = append(append(out, order...), of.Raw()...)
	h := p.algo.New()
	h.Write(out)
	return WriteWhole(path, "tmp_rev_*", h.Sum(out))
}

// WriteWhole writes a file that nobody changes any more, beside its path under a name
// like temp and then in place: whoever reads sees nothing, an older one, or all of it.
func WriteWhole(path, temp string, content []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), temp)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err == nil {
		err = f.Chmod(0o444)
	}
	if err == nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
		return fmt.Errorf("cannot write '%s': %w", path, err)
	}
	return nil
}
