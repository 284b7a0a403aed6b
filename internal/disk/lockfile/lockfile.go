// Package lockfile is <file>.lock: create, write, commit by rename, roll back.
//
// It is Git's protocol for files that several processes change: who creates the
// lock may write the file, and the new content replaces the old one at once or not
// at all.
package lockfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// ErrLocked means that another process holds the lock.
var ErrLocked = errors.New("file is locked")

// maxLinks bounds the symbolic links that a path is followed through.
const maxLinks = 5

// A Lock is a lock that is held. It is not safe for concurrent use.
type Lock struct {
	target string // what the lock is for
	file   *os.File
	done   bool
}

// Acquire creates path.lock, with the permissions that the umask leaves of 0666. A
// symbolic link is followed: the lock is for what it leads to. The error is
// ErrLocked where the lock exists, or that of creating it.
func Acquire(path string) (*Lock, error) {
	for range maxLinks {
		to, err := os.Readlink(path)
		if err != nil {
			break
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(path), to)
		}
		path = to
	}
	f, err := os.OpenFile(path+".lock", os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
	if errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("cannot create '%s.lock': %w", path, ErrLocked)
	}
	if err != nil {
		return nil, err
	}
	return &Lock{target: path, file: f}, nil
}

// Name returns the path of the lock file.
func (l *Lock) Name() string { return l.target + ".lock" }

// Write appends p to the new content.
func (l *Lock) Write(p []byte) (int, error) { return l.file.Write(p) }

// Close ends the writing, before Commit, and hardens what was written if sync is
// set. The lock stays.
func (l *Lock) Close(sync bool) error {
	if l.file == nil {
		return nil
	}
	var err error
	if sync {
		err = l.file.Sync()
	}
	if cerr := l.file.Close(); err == nil {
		err = cerr
	}
	l.file = nil
	return err
}

// Commit makes the new content that of the file and gives up the lock. With sync
// set it is hardened first. After an error nothing has changed, and Rollback is to
// be called.
func (l *Lock) Commit(sync bool) error {
	if l.done {
		return fmt.Errorf("lock of '%s' was given up", l.target)
	}
	if err := l.Close(sync); err != nil {
		return err
	}
	if err := os.Rename(l.Name(), l.target); err != nil {
		return err
	}
	l.done = true
	return nil
}

// Rollback gives up the lock and leaves the file as it is. It does nothing after
// Commit or a second time, so that it can be deferred.
func (l *Lock) Rollback() {
	if l.done {
		return
	}
	l.done = true
	_ = l.Close(false)
	_ = os.Remove(l.Name())
}
