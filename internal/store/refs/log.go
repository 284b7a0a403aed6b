package refs

import (
	"bytes"
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

// Log returns the entries of the reflog of the ref of the given full name, oldest
// first; none if it has no reflog. The error is that of reading it.
func (s *Store) Log(name string) ([]LogEntry, error) { return s.b.log(name) }

func (t *tables) log(name string) ([]LogEntry, error) {
	if isFile(name) {
		return t.loose.log(name)
	}
	stack, name := t.stack(name)
	log, err := stack.Log(name)
	if err != nil {
		return nil, fmt.Errorf("cannot read reflog: %w", err)
	}
	all := make([]LogEntry, len(log))
	for i := range log {
		all[i] = LogEntry(log[i])
	}
	return all, nil
}

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
