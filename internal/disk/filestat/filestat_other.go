//go:build !unix

package filestat

import (
	"io/fs"
	"os"
)

// Of reads the stat of path, without following a symbolic link at its end.
// Where the system has no Unix stat, times beyond the modification time and the
// identity of the file are zero.
func Of(dst *Stat, path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	dst.set(info)
	return nil
}

// statInto follows symbolic links.
func statInto(dst *Stat, path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	dst.set(info)
	return nil
}

func (s *Stat) set(info fs.FileInfo) {
	t := info.ModTime()
	*s = Stat{
		MtimeSec: t.Unix(), MtimeNsec: uint32(t.Nanosecond()),
		CtimeSec: t.Unix(), CtimeNsec: uint32(t.Nanosecond()),
		Size: info.Size(), Nlink: 1,
	}
	switch {
	case info.IsDir():
		s.Mode = ModeDir | 0o755
	case info.Mode()&fs.ModeSymlink != 0:
		s.Mode = ModeSymlink | 0o777
	case info.Mode().IsRegular():
		s.Mode = ModeRegular | 0o644
	}
}
