//go:build unix

package filestat

import (
	"io/fs"

	"golang.org/x/sys/unix"
)

// Of reads the stat of path, without following a symbolic link at its end. The
// error is a unix.Errno.
func Of(dst *Stat, path string) error {
	var st unix.Stat_t
	for {
		err := unix.Lstat(path, &st)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return err
		}
		dst.set(&st)
		return nil
	}
}

// statInto follows symbolic links.
func statInto(dst *Stat, path string) error {
	var st unix.Stat_t
	for {
		err := unix.Stat(path, &st)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return &fs.PathError{Op: "stat", Path: path, Err: err}
		}
		dst.set(&st)
		return nil
	}
}

func (s *Stat) set(st *unix.Stat_t) {
	*s = Stat{
		MtimeSec: int64(st.Mtim.Sec), MtimeNsec: uint32(st.Mtim.Nsec),
		CtimeSec: int64(st.Ctim.Sec), CtimeNsec: uint32(st.Ctim.Nsec),
		Dev: uint64(st.Dev), Ino: uint64(st.Ino), Size: st.Size, Nlink: uint64(st.Nlink),
		Mode: uint32(st.Mode), UID: st.Uid, GID: st.Gid,
	}
}
