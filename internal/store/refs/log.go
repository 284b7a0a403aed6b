package refs

import (
	"bytes"
	"errors"
	"fmt"
	"math"

	"gust/internal/disk/filestat"
	"gust/internal/pure/oid"
)

// A LogEntry is one line of a reflog.
type LogEntry struct {
	Old, New oid.ID
	Message  string // without the newline
}

// ErrNoLog says that reflogs of this ref storage cannot be read.
var ErrNoLog = errors.New("reflogs in reftables cannot be read")

// Log returns the entries of the reflog of the ref of the given full name, oldest
// first; none if it has no reflog. The error is ErrNoLog or that of reading the
// file.
func (s *Store) Log(name string) ([]LogEntry, error) { return s.b.log(name) }

func (t *tables) log(string) ([]LogEntry, error) { return nil, ErrNoLog }

func (f *files) log(name string) ([]LogEntry, error) {
	if !safeName(name) {
		return nil, nil
	}
	base := f.commonDir
	if perWorktree(name) {
		base = f.gitDir
	}
	data, _, err := filestat.ReadFile(base+"/logs/"+name, math.MaxInt32)
	if err != nil {
		if filestat.IsAbsent(err) {
			return nil, nil
		}
		return nil, fmt.Errorf("cannot read reflog: %w", err)
	}
	var all []LogEntry
	for line := range bytes.Lines(data) {
		if !isLogLine(line, f.algo) {
			continue
		}
		n := f.algo.HexSize()
		var e LogEntry
		e.Old, _ = oid.Parse(f.algo, line[:n])        // isLogLine checked
		e.New, _ = oid.Parse(f.algo, line[n+1:2*n+1]) // the digits
		if _, message, ok := bytes.Cut(line, []byte("\t")); ok {
			e.Message = string(bytes.TrimSuffix(message, []byte("\n")))
		}
		all = append(all, e)
	}
	return all, nil
}
