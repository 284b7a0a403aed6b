package packfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"strconv"

	"gust/internal/disk/mmap"
)

// A source is the bytes of a pack: mapped, or read piece by piece where there
// are no mappings or the address space is too small for them.
type source struct {
	mapped *mmap.File // nil: file is used
	file   *os.File
	size   int64
}

// mapLimit is the largest pack that is mapped: any with 64-bit addresses. With 32
// bits a handful of packs of this size leave room for all else.
const mapLimit = int64(64<<20) << (16 * (strconv.IntSize / 64))

func openSource(path string, plain bool) (*source, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: path, Err: errors.New("not a regular file")}
	}
	if mmap.Mapped && !plain && st.Size() <= mapLimit {
		m, err := mmap.Open(path)
		if err == nil {
			return &source{mapped: m, size: int64(m.Size())}, nil
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		// Out of address space or mappings: reading works all the same.
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	return &source{file: f, size: st.Size()}, nil
}

func (s *source) close() {
	if s.mapped != nil {
		s.mapped.Close()
		return
	}
	s.file.Close()
}

// do calls use with the pack's content, or nil if it is not mapped.
func (s *source) do(use func(data []byte) error) error {
	if s.mapped != nil {
		return s.mapped.Do(use)
	}
	return use(nil)
}

// readAt fills dst with the bytes at off.
func (s *source) readAt(dst []byte, off int64) error {
	return s.do(func(data []byte) error {
		if data != nil {
			copy(dst, data[off:])
			return nil
		}
		_, err := s.file.ReadAt(dst, off)
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return err
	})
}
