package workfile

import "golang.org/x/sys/unix"

// openBeneath opens the directory at path below dirfd, following no symbolic link.
func openBeneath(dirfd int, path string) (int, error) {
	how := unix.OpenHow{Flags: dirFlags, Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS}
	fd, err := retry(func() (int, error) { return unix.Openat2(dirfd, path, &how) })
	switch err {
	case unix.ENOSYS, unix.EPERM: // before Linux 5.6; forbidden by a sandbox
		return openEach(dirfd, path)
	case unix.ELOOP:
		err = unix.ENOTDIR // as O_NOFOLLOW with O_DIRECTORY says it
	}
	return fd, err
}

func exchange(dirfd int, name string, toFd int, toName string) error {
	switch err := unix.Renameat2(dirfd, name, toFd, toName, unix.RENAME_EXCHANGE); err {
	case unix.EINVAL, unix.ENOSYS, unix.EXDEV:
		return ErrNoExchange
	default:
		return err
	}
}

// renameFree renames unless the new name is taken: EEXIST.
func renameFree(dirfd int, name string, toFd int, toName string) error {
	switch err := unix.Renameat2(dirfd, name, toFd, toName, unix.RENAME_NOREPLACE); err {
	case unix.EINVAL, unix.ENOSYS:
		return renameChecked(dirfd, name, toFd, toName)
	default:
		return err
	}
}

// Spread asks the file system to put the directories that are made in d far from each
// other, at places that their names decide (chattr(1), "T"). Those that cannot do not.
func (d Dir) Spread() {
	if flags, err := unix.IoctlGetInt(d.fd, unix.FS_IOC_GETFLAGS); err == nil {
		_ = unix.IoctlSetPointerInt(d.fd, unix.FS_IOC_SETFLAGS, flags|topDir)
	}
}

const topDir = 0x20000 // FS_TOPDIR_FL of linux/fs.h
