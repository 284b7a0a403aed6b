// Package server serves requests over stdio and over the socket; it owns lifetime
// and shutdown.
package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
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
// of Idle or Gone, which are not heard while a request is answered. The error is
// that of reading or writing, nil at a regular end.
//
// One goroutine reads, answers and writes: handing a request to another one costs
// more than most answers do.
func (s *Stdio) Serve(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	l := loop{s: s, idle: time.NewTimer(idlePeriod)}
	if s.Idle == nil {
		l.idle.Stop()
	}
	defer l.idle.Stop()
	ended := make(chan error, 1)
	go func() { ended <- l.read(ctx) }() // where somebody else ends, until the end of In
	for gone := s.Gone; ; {
		select {
		case err := <-ended:
			return err
		case <-gone:
			gone = nil
			l.leaving.Store(true)
			l.idle.Reset(idlePeriod)
		case <-l.idle.C:
			if !l.mu.TryLock() {
				l.idle.Reset(idlePeriod)
				continue
			}
			if l.leaving.Load() {
				return nil // no answer begins any more: the lock stays
			}
			again, done := s.Idle()
			if done {
				return nil
			}
			l.mu.Unlock()
			if again > 0 {
				l.idle.Reset(max(again, idlePeriod))
			}
		}
	}
}

// A loop is one run of Serve.
type loop struct {
	s       *Stdio
	idle    *time.Timer // due when no request came for idlePeriod
	leaving atomic.Bool // Gone was closed

	mu  sync.Mutex // held while a request is answered
	out []byte
}

// request answers one.
func (l *loop) request(ctx context.Context, data []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.s
	if l.out = s.answer(ctx, data, l.out[:0]); len(l.out) > 0 {
		if _, err := s.Out.Write(l.out); err != nil {
			return fmt.Errorf("cannot write response: %w", err)
		}
	}
	if s.Idle != nil || l.leaving.Load() {
		l.idle.Reset(idlePeriod)
	}
	return nil
}

// read cuts the input into requests, and has each answered.
func (l *loop) read(ctx context.Context) error {
	s := l.s
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
				if err := l.request(ctx, pending); err != nil {
					return err
				}
			}
			pending, skipping, rest = pending[:0], false, after
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
