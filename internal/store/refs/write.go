package refs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"gust/internal/disk/lockfile"
	"gust/internal/pure/oid"
)

// ErrReadOnly means that refs of this storage cannot be written.
var ErrReadOnly = errors.New("refs in reftables cannot be written")

// ErrConflict means that a ref cannot be made because another has a part of its
// name, or that a directory is in its place.
var ErrConflict = errors.New("ref name is taken by others")

// A LogPolicy is the value of core.logAllRefUpdates in a repository that is not
// bare: which reflogs are begun. Those that exist are always continued.
type LogPolicy uint8

const (
	LogUsual  LogPolicy = iota // branches, remote-tracking refs, notes and HEAD; the default
	LogAlways                  // every ref
	LogNever
)

// A LogLine is what is added to reflogs for one change.
type LogLine struct {
	Old, New  oid.ID
	Committer string // "NAME <ADDRESS> SECONDS ZONE"
	Message   string // one line
	Policy    LogPolicy
	HeadToo   bool // the reflog of HEAD gets the line too: HEAD leads to the ref
}

// A RefLock is the lock of a ref that is about to change. It is not safe for
// concurrent use.
type RefLock struct {
	f    *files
	name string
	lock *lockfile.Lock
}

// Lock locks the ref of the given full name, which need not exist. The error is
// lockfile.ErrLocked, ErrReadOnly, ErrConflict or that of making a file.
func (s *Store) Lock(name string) (*RefLock, error) {
	f, ok := s.b.(*files)
	if !ok {
		return nil, ErrReadOnly
	}
	if !ValidName(name) || !safeName(name) {
		return nil, fmt.Errorf("cannot lock ref '%s': not a valid name", name)
	}
	path := f.path(name)
	if strings.HasPrefix(name, "refs/") {
		if err := f.conflict(name); err != nil {
			return nil, err
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return nil, err
		}
	}
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("cannot lock ref '%s': %w", name, ErrConflict)
	}
	if info, err := os.Lstat(f.logPath(name)); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("cannot lock ref '%s': %w", name, ErrConflict)
	}
	lock, err := lockfile.Acquire(path)
	if err != nil {
		return nil, err
	}
	return &RefLock{f, name, lock}, nil
}

// conflict reports as ErrConflict that a packed ref's name is a part of name, or
// the other way round. Loose ones show when directories are made.
func (f *files) conflict(name string) error {
	p, err := f.packedRefs()
	if err != nil {
		return err
	}
	taken := func(other string) bool {
		_, err := f.read(other)
		return err == nil
	}
	if lo, hi := p.span(name + "/"); lo < hi {
		return fmt.Errorf("cannot lock ref '%s': %w", name, ErrConflict)
	}
	for i := range name {
		if name[i] == '/' && i > len("refs/") && taken(name[:i]) {
			return fmt.Errorf("cannot lock ref '%s': %w", name, ErrConflict)
		}
	}
	return nil
}

// SetID makes the ref name id, and logs that.
func (l *RefLock) SetID(id oid.ID, line *LogLine, sync bool) error {
	return l.set(id.String()+"\n", line, sync)
}

// SetTarget makes the ref a symbolic one that names target, and logs that.
func (l *RefLock) SetTarget(target string, line *LogLine, sync bool) error {
	return l.set("ref: "+target+"\n", line, sync)
}

func (l *RefLock) set(content string, line *LogLine, sync bool) error {
	if _, err := l.lock.Write([]byte(content)); err != nil {
		return err
	}
	if err := l.lock.Close(sync); err != nil {
		return err
	}
	if err := l.f.appendLog(l.name, line); err != nil {
		return err
	}
	if line.HeadToo {
		if err := l.f.appendLog("HEAD", line); err != nil {
			return err
		}
	}
	return l.lock.Commit(false)
}

// Note adds line to the ref's reflog and changes nothing else.
func (l *RefLock) Note(line *LogLine) error { return l.f.appendLog(l.name, line) }

// Release gives up the lock, unless the ref was set. It may be called twice.
func (l *RefLock) Release() { l.lock.Rollback() }

func (f *files) logPath(name string) string {
	base := f.commonDir
	if perWorktree(name) {
		base = f.gitDir
	}
	return base + "/logs/" + name
}

// appendLog adds line to the reflog of name, if it has one or gets one.
func (f *files) appendLog(name string, line *LogLine) error {
	path, flags := f.logPath(name), os.O_WRONLY|os.O_APPEND
	if line.Policy == LogAlways || line.Policy == LogUsual && usuallyLogged(name) {
		flags |= os.O_CREATE
	}
	file, err := os.OpenFile(path, flags, 0o666)
	if errors.Is(err, fs.ErrNotExist) {
		if flags&os.O_CREATE == 0 {
			return nil
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return err
		}
		file, err = os.OpenFile(path, flags, 0o666)
	}
	if err != nil {
		return err
	}
	text := fmt.Sprintf("%s %s %s\t%s\n", line.Old, line.New, line.Committer, strings.Join(strings.Fields(line.Message), " "))
	_, err = file.WriteString(text)
	if cerr := file.Close(); err == nil {
		err = cerr
	}
	return err
}

// usuallyLogged reports whether name gets a reflog by default (git-config(1),
// core.logAllRefUpdates).
func usuallyLogged(name string) bool {
	if name == "HEAD" {
		return true
	}
	for _, prefix := range []string{"refs/heads/", "refs/remotes/", "refs/notes/"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}
