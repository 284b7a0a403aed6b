package dirlist

import (
	"encoding/binary"
	"os"
	"unsafe"

	"gust/internal/disk/filestat"

	"golang.org/x/sys/unix"
)

// A Dir is an open directory. The zero Dir is not open.
type Dir struct {
	fd   int
	hot  bool
	ext4 bool
}

// Hot returns d for calls that are expected to be answered from memory or by a
// local disk; the directories opened in it are of the same kind. See filestat.At
// for what that means.
func (d Dir) Hot() Dir { return Dir{d.fd, true, d.ext4} }

const openFlags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_CLOEXEC | unix.O_NONBLOCK

// Open opens the directory at path, following symbolic links. Close it.
func Open(path string) (Dir, error) {
	for {
		fd, err := unix.Open(path, openFlags, 0)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return Dir{}, err
		}
		return Dir{fd: fd}, nil
	}
}

// OpenDir opens the directory with the given NUL-terminated name in d. It does
// not follow a symbolic link: that is an error, as for every other file that is
// not a directory (IsNotDir), and a missing one (filestat.IsAbsent).
//
// Hot path: once per directory. Does not allocate.
func (d Dir) OpenDir(nameZ string) (Dir, error) {
	for {
		// unsafe is sound: nameZ ends in NUL and lives until the call returns.
		var fd uintptr
		var e unix.Errno
		if d.hot {
			fd, _, e = unix.RawSyscall6(unix.SYS_OPENAT, uintptr(d.fd), uintptr(unsafe.Pointer(unsafe.StringData(nameZ))),
				openFlags|unix.O_NOFOLLOW, 0, 0, 0)
		} else {
			fd, _, e = unix.Syscall6(unix.SYS_OPENAT, uintptr(d.fd), uintptr(unsafe.Pointer(unsafe.StringData(nameZ))),
				openFlags|unix.O_NOFOLLOW, 0, 0, 0)
		}
		if e == unix.EINTR {
			continue
		}
		if e != 0 {
			return Dir{}, e
		}
		return Dir{int(fd), d.hot, d.ext4}, nil
	}
}

// OpenFile opens a NUL-terminated name in d for reading, without following a
// symbolic link and without blocking on a FIFO. path names it in errors.
func (d Dir) OpenFile(nameZ, path string) (*os.File, error) {
	for {
		fd, err := unix.Openat(d.fd, nameZ[:len(nameZ)-1], unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return nil, &os.PathError{Op: "open", Path: path, Err: err}
		}
		return os.NewFile(uintptr(fd), path), nil
	}
}

// Readlink returns the target of the symbolic link with a NUL-terminated name in
// d. path names it in errors.
func (d Dir) Readlink(nameZ, path string) (string, error) {
	buf := make([]byte, 256)
	for {
		n, err := unix.Readlinkat(d.fd, nameZ[:len(nameZ)-1], buf)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return "", &os.PathError{Op: "readlink", Path: path, Err: err}
		}
		if n < len(buf) {
			return string(buf[:n]), nil
		}
		buf = make([]byte, 2*len(buf))
	}
}

// Fd returns the descriptor of d, for a watch of it.
func (d Dir) Fd() int { return d.fd }

// IsOpen reports whether d is open.
func (d Dir) IsOpen() bool { return d.fd != 0 }

// Close closes d. A zero Dir is not closed.
func (d Dir) Close() {
	switch {
	case d.fd == 0:
	case d.hot:
		unix.RawSyscall(unix.SYS_CLOSE, uintptr(d.fd), 0, 0)
	default:
		unix.Close(d.fd)
	}
}

// Stat reads the stat of d itself.
func (d Dir) Stat(dst *filestat.Stat) error { return filestat.Fd(dst, d.fd, d.hot) }

// StatName reads the stat of a NUL-terminated name in d, without following a
// symbolic link.
//
// Hot path: once per index entry. Does not allocate.
func (d Dir) StatName(dst *filestat.Stat, nameZ string) error {
	return filestat.At(dst, d.fd, nameZ, d.hot)
}

// Local returns d with what is known of its file system, which the directories
// opened in it are taken to share, and whether that is one whose directories' time
// stamps follow every change of their entries at once: an allow-list of local file
// systems, by the type that statfs(2) gives.
func (d Dir) Local() (_ Dir, exact bool) {
	var st unix.Statfs_t
	if unix.Fstatfs(d.fd, &st) != nil {
		return d, false
	}
	switch uint32(st.Type) {
	case unix.EXT4_SUPER_MAGIC: // ext2 and ext3 have the same number, and the same driver today
		d.ext4 = true
		return d, true
	case unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.TMPFS_MAGIC, unix.RAMFS_MAGIC,
		unix.F2FS_SUPER_MAGIC, unix.OVERLAYFS_SUPER_MAGIC, 0x2fc12fc1 /* zfs */, 0xca451a4e: /* bcachefs */
		return d, true
	}
	return d, false
}

// ext4End is the position that ext4 gives behind the last entry of a directory
// that it walks in hash order, as it does all but very old ones; no entry has it.
// Seeing it saves a system call that only says that there is no more.
const ext4End = 1<<63 - 1

// direntHeader is the size of linux_dirent64 (getdents64(2)) before d_name:
// d_ino 8, d_off 8, d_reclen 2, d_type 1.
const direntHeader = 19

// List reads the names in d, which must not have been listed before, into l.
//
// Hot path: once per changed directory. Does not allocate.
func (d Dir) List(l *Listing) error {
	l.reset()
	if l.buf == nil {
		l.buf = make([]byte, 32<<10) // what glibc uses: a few hundred names a call
	}
	for {
		n, err := unix.Getdents(d.fd, l.buf)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return err
		}
		if n <= 0 {
			return nil
		}
		end := false
		for rest := l.buf[:n]; len(rest) > direntHeader; {
			size := int(binary.NativeEndian.Uint16(rest[16:]))
			if size <= direntHeader || size > len(rest) {
				return unix.EIO
			}
			name := rest[direntHeader:size]
			for i, c := range name {
				if c == 0 {
					name = name[:i]
					break
				}
			}
			l.add(name, kindOf(rest[18]))
			end = d.ext4 && int64(binary.NativeEndian.Uint64(rest[8:])) == ext4End
			rest = rest[size:]
		}
		if end {
			return nil
		}
	}
}

func kindOf(dtype byte) Kind {
	switch dtype {
	case unix.DT_REG:
		return Regular
	case unix.DT_LNK:
		return Symlink
	case unix.DT_DIR:
		return Directory
	case unix.DT_UNKNOWN:
		return Unknown
	}
	return Other
}

// IsNotDir reports whether err says that a name is there but is no directory.
func IsNotDir(err error) bool { return err == unix.ENOTDIR || err == unix.ELOOP }
