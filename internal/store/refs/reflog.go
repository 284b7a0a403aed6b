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
		good := isLogLine(line, algo)
		for errors.Is(err, bufio.ErrBufferFull) {
			// A message of any length: the fields stood in the first piece.
			_, err = r.ReadSlice('\n')
		}
		switch {
		case err == nil && good:
			n++
		case err == io.EOF: // what is left has no newline: someone is writing it
			return n, nil
		case err != nil:
			return 0, fmt.Errorf("cannot read reflog: %w", err)
		}
	}
}

// isLogLine reports whether line is an entry to Git: old and new object ID, name,
// <address>, a time other than 0, a zone of four digits, and perhaps more.
func isLogLine(line []byte, algo oid.Algo) bool {
	n := algo.HexSize()
	if len(line) < 2*n+2 || !isHex(line[:n], n) || line[n] != ' ' || !isHex(line[n+1:2*n+1], n) || line[2*n+1] != ' ' {
		return false
	}
	_, rest, ok := bytes.Cut(line[2*n+2:], []byte(">"))
	if !ok || len(rest) == 0 || rest[0] != ' ' {
		return false
	}
	rest = bytes.TrimLeft(rest, " \t")
	if len(rest) > 0 && (rest[0] == '-' || rest[0] == '+') {
		rest = rest[1:]
	}
	zero := true
	for len(rest) > 0 && isDigit(rest[0]) {
		zero = zero && rest[0] == '0'
		rest = rest[1:]
	}
	return !zero && len(rest) >= 6 && rest[0] == ' ' && (rest[1] == '+' || rest[1] == '-') &&
		isDigit(rest[2]) && isDigit(rest[3]) && isDigit(rest[4]) && isDigit(rest[5])
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
