// Package server serves requests over stdio and over the socket; it owns lifetime
// and shutdown.
package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"gust/internal/daemon/gitstatusd"
)

// A Responder answers a request of the classic protocol: it appends the whole
// response to dst. raw is the request as it came, without its separator. It is
// called by one goroutine.
type Responder func(ctx context.Context, q *gitstatusd.Request, raw, dst []byte) []byte

// Stdio serves the classic protocol over a pair of streams.
type Stdio struct {
	In      io.Reader
	Out     io.Writer
	Respond Responder
	Log     *Log
	// Extended accepts environment variables in requests.
	Extended bool
	// Idle is called when no request came for a second, and ends Serve with
	// done. Else it is called once more after again, or only after another
	// request if again is 0. It may be nil.
	Idle func() (again time.Duration, done bool)
	// Gone ends Serve once it is closed and no request came for a second. It may
	// be nil.
	Gone <-chan struct{}
}

// idlePeriod is how long the protocol waits before it looks whether anybody is
// left to answer.
const idlePeriod = time.Second

// Serve answers requests in order until the end of In, a failing Out, or the word
// of Idle or Gone. The error is that of reading or writing, nil at a regular end.
func (s *Stdio) Serve(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	requests := make(chan []byte)
	failed := make(chan error, 1)
	go func() { failed <- s.read(ctx, requests) }()
	idle := time.NewTimer(idlePeriod)
	if s.Idle == nil {
		idle.Stop()
	}
	defer idle.Stop()
	gone, leaving := s.Gone, false
	var out []byte
	for {
		select {
		case data, ok := <-requests:
			if !ok {
				return <-failed
			}
			if out = s.answer(ctx, data, out[:0]); len(out) > 0 {
				if _, err := s.Out.Write(out); err != nil {
					return fmt.Errorf("cannot write response: %w", err)
				}
			}
			if s.Idle != nil || leaving {
				idle.Reset(idlePeriod)
			}
		case <-idle.C:
			if leaving {
				return nil
			}
			again, done := s.Idle()
			if done {
				return nil
			}
			if again > 0 {
				idle.Reset(max(again, idlePeriod))
			}
		case <-gone:
			gone, leaving = nil, true
			idle.Reset(idlePeriod)
		}
	}
}

// read cuts the input into requests and sends each, without its separator.
func (s *Stdio) read(ctx context.Context, requests chan<- []byte) error {
	defer close(requests)
	var pending []byte
	buf := make([]byte, 4<<10)
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
	dst = s.Respond(ctx, &q, data, dst)
	s.Log.Printf(gitstatusd.Debug, "answered %q in %v", q.Dir, time.Since(start))
	return dst
}
