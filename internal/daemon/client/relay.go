package client

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"gust/internal/daemon/gitstatusd"
	"gust/internal/daemon/server"
	"gust/internal/daemon/socket"
	"gust/internal/daemon/wire"
)

const (
	// dialTime bounds one attempt to connect, which goes on beside the answers of
	// the engine in this process.
	dialTime = 5 * time.Second
	// firstPause and lastPause bound how long a server that could not be used is
	// left alone: each failure doubles it.
	firstPause = time.Second
	lastPause  = time.Minute
)

// A Relay answers the classic protocol by passing each request on to the server.
// What that does not acknowledge in time, it answers in this process. Respond is
// for one goroutine.
type Relay struct {
	Dialer *Dialer
	Local  *server.Local
	Log    *server.Log

	link   *link
	coming chan dialed // a connection that is being made; nil: none

	shortest  time.Duration // of pauses; 0 means firstPause
	pause     time.Duration // after the last failure
	notBefore time.Time     // no connection is made before
	failures  int

	ctx    context.Context // ends with the relay
	cancel context.CancelFunc
	dials  sync.WaitGroup
}

// A link is a connection to the server that carries records.
type link struct {
	c *net.UnixConn
	r *bufio.Reader
}

type dialed struct {
	link *link
	err  error
}

// Start begins to connect, so that the first request finds a connection.
func (r *Relay) Start() {
	r.ctx, r.cancel = context.WithCancel(context.Background())
	r.dial()
}

// Close ends the connection. The server goes on.
func (r *Relay) Close() {
	r.cancel()
	r.dials.Wait()
	if r.coming != nil {
		if d := <-r.coming; d.link != nil {
			d.link.c.Close()
		}
		r.coming = nil
	}
	r.drop()
}

// Respond is a server.Responder.
func (r *Relay) Respond(ctx context.Context, q *gitstatusd.Request, raw, dst []byte) []byte {
	// A server that died or finishes is replaced at once, one that does not answer
	// is left alone.
	for range 2 {
		deadline := time.Now().Add(Patience)
		if !r.connected(deadline) {
			break
		}
		out, err := r.link.ask(raw, dst, deadline, r.Log)
		if err == nil {
			r.pause, r.failures = 0, 0
			r.Dialer.Reap()
			r.Local.Free()
			return out
		}
		r.drop()
		if errors.Is(err, os.ErrDeadlineExceeded) {
			r.failed(errSilent)
			break
		}
		r.Log.Printf(gitstatusd.Debug, "the server has left: %v", err)
	}
	return r.Local.Respond(ctx, q, raw, dst)
}

// drop ends the connection.
func (r *Relay) drop() {
	if r.link != nil {
		r.link.c.Close()
		r.link = nil
	}
}

// connected reports whether there is a connection, and waits for one until the
// deadline.
func (r *Relay) connected(deadline time.Time) bool {
	if r.link != nil {
		return true
	}
	if r.coming == nil {
		if time.Now().Before(r.notBefore) {
			return false
		}
		r.dial()
	}
	late := time.NewTimer(time.Until(deadline))
	defer late.Stop()
	select {
	case d := <-r.coming:
		r.coming = nil
		if d.err != nil {
			r.failed(d.err)
			return false
		}
		r.link = d.link
		return true
	case <-late.C:
		return false
	}
}

// failed notes that the server cannot be used.
func (r *Relay) failed(err error) {
	r.pause = min(max(2*r.pause, cmp.Or(r.shortest, firstPause)), lastPause)
	level := gitstatusd.Debug
	switch {
	case errors.Is(err, socket.ErrUnsupported):
		r.pause = lastPause // nothing will change
	case r.failures == 0:
		level = gitstatusd.Warn // once, or each prompt would bring a line
	}
	r.failures++
	r.notBefore = time.Now().Add(r.pause)
	r.Log.Printf(level, "answering without a server: %v", err)
}

// dial begins to connect.
func (r *Relay) dial() {
	coming := make(chan dialed, 1)
	r.coming = coming
	r.dials.Add(1)
	go func() {
		defer r.dials.Done()
		ctx, cancel := context.WithTimeout(r.ctx, dialTime)
		defer cancel()
		c, err := r.Dialer.Connect(ctx)
		if err == nil {
			err = c.Send(r.opening())
		}
		if err != nil {
			coming <- dialed{err: err}
			return
		}
		coming <- dialed{link: &link{c: c.c, r: c.r}}
	}()
}

// opening returns the request that turns a connection to records.
func (r *Relay) opening() wire.Request {
	o := r.Local.O
	w := wire.Request{Op: wire.Relay, Extended: o.Extended, Limits: wire.LimitsOf(o.Limits), TTL: -1}
	if o.TTL > 0 {
		w.TTL = int(max(o.TTL/time.Second, 1))
	}
	w.SetEnviron(r.Local.Env)
	return w
}

// ask passes a request on and appends the response to dst. The error is
// os.ErrDeadlineExceeded if the request was not acknowledged before the deadline.
func (l *link) ask(raw, dst []byte, deadline time.Time, log *server.Log) ([]byte, error) {
	// One write: half a request would be none to the server.
	request := append(append(make([]byte, 0, len(raw)+1), raw...), gitstatusd.RecordSeparator)
	if err := l.c.SetDeadline(deadline); err != nil {
		return nil, err
	}
	if _, err := l.c.Write(request); err != nil {
		return nil, err
	}
	var part []byte // of a record that is longer than the buffer
	for {
		data, err := l.r.ReadSlice(gitstatusd.RecordSeparator)
		if err == bufio.ErrBufferFull && len(part) <= wire.MaxLine {
			part = append(part, data...)
			continue
		}
		if err != nil {
			return nil, err
		}
		record := data
		if len(part) > 0 {
			record = append(part, data...)
			part = nil
		}
		switch record[0] {
		case wire.Acknowledged:
			err = l.c.SetReadDeadline(time.Time{})
		case wire.Message:
			var level gitstatusd.LogLevel
			var text string
			if level, text, err = wire.ParseMessage(record[1:]); err == nil {
				log.Printf(level, "%s", text)
			}
		case wire.Response:
			return append(dst, record[1:]...), nil
		default:
			err = fmt.Errorf("bad record of the server: %.80q", record)
		}
		if err != nil {
			return nil, err
		}
	}
}
