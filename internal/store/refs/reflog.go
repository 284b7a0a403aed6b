package refs

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"gust/internal/disk/filestat"
	"gust/internal/pure/oid"
)

// logCount remembers the length of a reflog.
type logCount struct {
	sig   filestat.Signature
	valid bool
	n     int
}

func (f *files) logLength(name string) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	base := f.commonDir
	if perWorktree(name) {
		base = f.gitDir
	}
	path := base + "/logs/" + name
	if f.stash.valid && f.stash.sig.Matches(path) {
		return f.stash.n, nil
	}
	sig := filestat.Sign(path)
	n, err := countLog(path, f.algo)
	if err != nil {
		return 0, err
	}
	f.stash = logCount{sig: sig, valid: true, n: n}
	return n, nil
}

// countLog counts the entries of the reflog file at path; none if it is absent.
func countLog(path string, algo oid.Algo) (int, error) {
	file, err := os.Open(path)
	if err != nil {
		if filestat.IsAbsent(err) {
			return 0, nil
		}
		return 0, fmt.Errorf("cannot read reflog: %w", err)
	}
	defer file.Close()
	if info, err := file.Stat(); err == nil && !info.Mode().IsRegular() {
		return 0, nil
	}
	n := 0
	r := bufio.NewReaderSize(file, 64<<10)
	for {
		line, err := r.ReadSlice('\n')
		if err == nil && isLogLine(line, algo) {
			n++
		}
		for errors.Is(err, bufio.ErrBufferFull) {
			// A message of any length: the fields stood in the first piece.
			if line, err = r.ReadSlice('\n'); err == nil {
				n++
			}
		}
		if err == io.EOF {
			return n, nil
		}
		if err != nil {
			return 0, fmt.Errorf("cannot read reflog: %w", err)
		}
	}
}

// isLogLine reports whether line is an entry: old and new object ID, name,
// <address>, time, zone, and perhaps a tab and a message.
func isLogLine(line []byte, algo oid.Algo) bool {
	n := algo.HexSize()
	if len(line) < 2*n+2 || !isHex(line[:n], n) || line[n] != ' ' || !isHex(line[n+1:2*n+1], n) || line[2*n+1] != ' ' {
		return false
	}
	_, after, ok := bytes.Cut(line[2*n+2:], []byte("> "))
	return ok && len(after) > 0
}
