package server

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"gust/internal/daemon/gitstatusd"
)

// A Log writes messages of at least one level, one line each. It is safe for
// concurrent use.
type Log struct {
	mu    sync.Mutex // guards w
	w     io.Writer
	level gitstatusd.LogLevel
}

// NewLog returns a log that writes messages of at least level to w.
func NewLog(w io.Writer, level gitstatusd.LogLevel) *Log { return &Log{w: w, level: level} }

// Printf writes one message. Control bytes in it, which may come from a
// repository, are written as question marks.
func (l *Log) Printf(level gitstatusd.LogLevel, format string, args ...any) {
	if level < l.level {
		return
	}
	line := fmt.Appendf(nil, "[%s %s] ", time.Now().Format("2006-01-02 15:04:05.000"), level)
	line = fmt.Appendf(line, format, args...)
	for i, c := range line {
		if c < 32 || c == 127 {
			line[i] = '?'
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.w.Write(append(line, '\n')) // nobody is left to tell of a failing log
}

// problem writes what went wrong with a request. Of a panic, it also writes where.
func (l *Log) problem(err error) {
	l.Printf(gitstatusd.Error, "%v", err)
	var p *panicError
	if errors.As(err, &p) {
		for line := range strings.Lines(string(p.stack)) {
			l.Printf(gitstatusd.Error, "    %s", strings.TrimSpace(line))
		}
	}
}
