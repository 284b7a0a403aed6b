package server

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"
)

// maxLog bounds the log file, in bytes. The one before it is kept beside it.
const maxLog = 1 << 20

// A logFile is a file that never grows beyond a size: when it would, it becomes
// the old one, in place of that.
type logFile struct {
	path string
	max  int64
	// opened is told of every file that is begun. It may be nil.
	opened func(*os.File)

	mu   sync.Mutex // guards what follows
	f    *os.File
	size int64
}

// LogPath returns the path of a background server's log, "" if no directory for it is
// known.
func LogPath(lookup func(string) (string, bool)) string {
	if dir, _ := lookup("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "gust", "server.log")
	}
	if home, _ := lookup("HOME"); filepath.IsAbs(home) {
		return filepath.Join(home, ".local", "state", "gust", "server.log")
	}
	return ""
}

// openLogFile opens the log at path, and makes its directory. Close it.
func openLogFile(path string, max int64, opened func(*os.File)) (*logFile, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("cannot make the directory of the log: %w", err)
	}
	l := &logFile{path: path, max: max, opened: opened}
	if err := l.open(); err != nil {
		return nil, err
	}
	return l, nil
}

func (l *logFile) open() error {
	f, err := os.OpenFile(l.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("cannot open the log: %w", err)
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return fmt.Errorf("cannot look at the log: %w", err)
	}
	l.f, l.size = f, info.Size()
	if l.opened != nil {
		l.opened(f)
	}
	return nil
}

// Write writes one message.
func (l *logFile) Write(data []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.f == nil {
		return 0, os.ErrClosed
	}
	if l.size > 0 && l.size+int64(len(data)) > l.max {
		l.f.Close()
		l.f = nil
		if err := os.Rename(l.path, l.path+".old"); err != nil {
			return 0, err
		}
		if err := l.open(); err != nil {
			return 0, err
		}
	}
	n, err := l.f.Write(data)
	l.size += int64(n)
	return n, err
}

// Close closes the file.
func (l *logFile) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.f != nil {
		l.f.Close()
		l.f = nil
	}
}

// crashesTo makes the runtime write what ends the process to f too: nobody sees
// the standard error of a server.
func crashesTo(f *os.File) { _ = debug.SetCrashOutput(f, debug.CrashOptions{}) }
