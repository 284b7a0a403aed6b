// Package filestat holds the stat fields that Git records, read relative to a
// directory, and the rule for when a stat may be believed.
package filestat

import "time"

// A Stat is what Git's index records of a file, and what decides whether a file
// changed since. Times are seconds and nanoseconds since 1970.
type Stat struct {
	MtimeSec, CtimeSec   int64
	MtimeNsec, CtimeNsec uint32
	Dev, Ino             uint64
	Size                 int64 // bytes
	Nlink                uint64
	Mode                 uint32 // st_mode: type and permissions as stat(2) gives them
	UID, GID             uint32
}

// Types of files in Stat.Mode, as inode(7) numbers them on every Unix. The plain
// fallback maps Go's modes to them.
const (
	ModeType    = 0o170000
	ModeDir     = 0o040000
	ModeRegular = 0o100000
	ModeSymlink = 0o120000
)

// IsDir reports whether the file is a directory.
func (s *Stat) IsDir() bool { return s.Mode&ModeType == ModeDir }

// IsRegular reports whether the file is a regular file.
func (s *Stat) IsRegular() bool { return s.Mode&ModeType == ModeRegular }

// IsSymlink reports whether the file is a symbolic link.
func (s *Stat) IsSymlink() bool { return s.Mode&ModeType == ModeSymlink }

// Mtime returns the modification time in nanoseconds since 1970.
func (s *Stat) Mtime() int64 { return s.MtimeSec*1e9 + int64(s.MtimeNsec) }

// Ctime returns the time of the last status change in nanoseconds since 1970.
func (s *Stat) Ctime() int64 { return s.CtimeSec*1e9 + int64(s.CtimeNsec) }

// Tick is an upper bound, in nanoseconds, on the granularity of the time stamps
// of local Linux file systems: the kernel stamps files with its coarse clock,
// which advances every 1 to 10 ms.
const Tick = int64(10 * time.Millisecond)

// CoarseTick is the same bound for file systems that store whole (FAT: even)
// seconds, or whose type is unknown.
const CoarseTick = int64(2 * time.Second)

// Settled reports whether s, read at time now (nanoseconds since 1970), may be
// believed later: a file written once more within its file system's clock tick
// can keep its time stamps, so a stat younger than that tick proves nothing.
// Zero nanoseconds mean that the file system may store whole seconds.
func (s *Stat) Settled(now int64) bool {
	return settled(s.MtimeSec, s.MtimeNsec, now) && settled(s.CtimeSec, s.CtimeNsec, now)
}

func settled(sec int64, nsec uint32, now int64) bool {
	tick := Tick
	if nsec == 0 {
		tick = CoarseTick
	}
	return sec*1e9+int64(nsec) < now-tick
}
