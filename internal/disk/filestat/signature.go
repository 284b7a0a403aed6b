package filestat

import (
	"errors"
	"io/fs"
	"syscall"
	"time"
)

// A Signature is what a path looked like when it was read, kept to find out
// later with one stat whether it must be read again. An absent file has a
// signature too. The zero Signature matches nothing.
type Signature struct {
	stat    Stat
	state   uint8
	settled bool
}

const (
	signNone    = iota // never matches
	signAbsent         // there was no such file
	signPresent        // stat holds what there was
)

// Sign returns the signature of path, following symbolic links. Call it before
// the file is read: a change after the call is then seen by a later Matches.
func Sign(path string) Signature {
	now := time.Now().UnixNano()
	var s Signature
	switch err := statInto(&s.stat, path); {
	case err == nil:
		s.state, s.settled = signPresent, s.stat.Settled(now)
	case IsAbsent(err):
		s.state, s.settled = signAbsent, true
	}
	return s
}

// Matches reports whether path still is what it was when s was taken. It answers
// false whenever that cannot be known: the stat failed, or s was taken within a
// clock tick of the file's last change.
func (s *Signature) Matches(path string) bool {
	if s.state == signNone || !s.settled {
		return false
	}
	var now Stat
	err := statInto(&now, path)
	if s.state == signAbsent {
		return err != nil && IsAbsent(err)
	}
	return err == nil && now == s.stat
}

// Absent reports whether there was no file when s was taken.
func (s *Signature) Absent() bool { return s.state == signAbsent }

// Stat returns what the file looked like; the zero Stat if it was absent.
func (s *Signature) Stat() Stat { return s.stat }

// IsAbsent reports whether err says that a path names nothing: no such file, or
// a component of it that is no directory.
func IsAbsent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// ReadFile returns the contents of the regular file at path, following symbolic
// links, and a signature taken before the first byte was read. The signature is
// valid, and says absent, when the error is that the file does not exist. Files
// larger than max bytes, and files that are not regular (a FIFO would block),
// are errors.
func ReadFile(path string, max int64) ([]byte, Signature, error) {
	sig := Sign(path)
	if sig.state == signAbsent {
		return nil, sig, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
	}
	if sig.state == signPresent && !sig.stat.IsRegular() {
		return nil, sig, &fs.PathError{Op: "read", Path: path, Err: errors.New("not a regular file")}
	}
	if sig.stat.Size > max {
		return nil, sig, &fs.PathError{Op: "read", Path: path, Err: errTooLarge}
	}
	data, err := readAll(path, sig.stat.Size, max)
	if err != nil && !errors.Is(err, errTooLarge) {
		sig = Signature{} // nothing is known: look again next time
	}
	return data, sig, err
}

var errTooLarge = errors.New("file too large")

// IsDenied reports whether err says that the user may not look.
func IsDenied(err error) bool { return errors.Is(err, fs.ErrPermission) }
