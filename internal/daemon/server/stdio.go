// Package server serves requests over stdio and over the socket; it owns lifetime
// and shutdown.
package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"time"

	"gust/internal/daemon/gitstatusd"
	"gust/internal/daemon/live"
	"gust/internal/pure/summary"
)

// A Handler answers one request. It does not know where the request came from.
type Handler func(ctx context.Context, q live.Request) (*summary.Summary, error)

// Stdio serves the classic protocol over a pair of streams.
type Stdio struct {
	In      io.Reader
	Out     io.Writer
	Handler Handler
	Log     *Log
	Limits  live.Limits
	Env     []string // of this process, NAME=value
	// Extended accepts environment variables in requests.
	Extended bool
	// Idle is called once a second while no request is waiting, and ends Serve by
	// returning false. It may be nil.
	Idle func() bool
}

// idlePeriod is how long the protocol waits before it looks whether anybody is
// left to answer.
const idlePeriod = time.Second

// Serve answers requests in order until the end of In, a failing Out, or Idle's
// word. The error is that of reading or writing, nil at a regular end.
func (s *Stdio) Serve(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	requests := make(chan []byte)
	failed := make(chan error, 1)
	go func() { failed <- s.read(ctx, requests) }()
	var tick <-chan time.Time
	if s.Idle != nil {
		ticker := time.NewTicker(idlePeriod)
		defer ticker.Stop()
		tick = ticker.C
	}
	var out []byte
	busy := false // a request came since the last tick
	for {
		select {
		case data, ok := <-requests:
			if !ok {
				return <-failed
			}
			busy = true
			out = s.answer(ctx, data, out[:0])
			if len(out) == 0 {
				continue
			}
			if _, err := s.Out.Write(out); err != nil {
				return fmt.Errorf("cannot write response: %w", err)
			}
		case <-tick:
			if !busy && !s.Idle() {
				return nil
			}
			busy = false
		}
	}
}

// read cuts the input into requests and sends each, without its separator.
func (s *Stdio) read(ctx context.Context, requests chan<- []byte) error {
	defer close(requests)
	var pending []byte
	buf := make([]byte, 64<<10)
	skipping := false // inside of a request that is too long
	for {
		n, err := s.In.Read(buf)
		for rest := buf[:n]; len(rest) > 0; {
			part, after, ended := bytes.Cut(rest, []byte{gitstatusd.RecordSeparator})
			if !skipping {
				pending = append(pending, part...)
			}
			if len(pending) > gitstatusd.MaxRequest {
				s.Log.Printf(gitstatusd.Error, "request of more than %d bytes refused", gitstatusd.MaxRequest)
				pending, skipping = nil, true
			}
			if !ended {
				break
			}
			if !skipping {
				select {
				case requests <- pending:
				case <-ctx.Done():
					return nil
				}
			}
			pending, skipping, rest = nil, false, after
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("cannot read requests: %w", err)
		}
	}
}

// answer appends the response to a request; nothing for a malformed one.
func (s *Stdio) answer(ctx context.Context, data, dst []byte) []byte {
	q, err := gitstatusd.ParseRequest(data, s.Extended)
	if err != nil {
		s.Log.Printf(gitstatusd.Error, "%v", err)
		return dst
	}
	if q.Hello {
		return gitstatusd.AppendResponse(dst, q.ID, nil)
	}
	start := time.Now()
	sum, err := s.handle(ctx, &q)
	if err != nil {
		s.Log.Printf(gitstatusd.Error, "%v", err)
	}
	s.Log.Printf(gitstatusd.Debug, "answered %q in %v", q.Dir, time.Since(start))
	return gitstatusd.AppendResponse(dst, q.ID, sum)
}

// handle asks the handler. A panic is one lost answer, not a lost daemon.
func (s *Stdio) handle(ctx context.Context, q *gitstatusd.Request) (sum *summary.Summary, err error) {
	defer func() {
		if p := recover(); p != nil {
			sum, err = nil, fmt.Errorf("panic while answering '%s': %v\n%s", q.Dir, p, debug.Stack())
		}
	}()
	env := s.Env
	if s.Extended && len(q.Env) > 0 {
		env = append(env[:len(env):len(env)], q.Env...)
	}
	return s.Handler(ctx, live.Request{Dir: q.Dir, GitDir: q.GitDir, Env: env, NoIndex: q.NoIndex, Limits: s.Limits})
}
