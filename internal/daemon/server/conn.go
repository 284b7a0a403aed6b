package server

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime/debug"
	"sync"
	"time"

	"gust/internal/daemon/gitstatusd"
	"gust/internal/daemon/process"
	"gust/internal/daemon/socket"
	"gust/internal/daemon/wire"
)

// A conn is one client.
type conn struct {
	s *Server
	c *net.UnixConn
	r *bufio.Reader
	// ttl is what the client asks for; 0: the standard one, negative: for ever.
	// Guarded by s.mu.
	ttl time.Duration

	ctx    context.Context // ends with the client
	cancel context.CancelFunc
	work   sync.WaitGroup // requests in flight
	slots  chan struct{}  // one taken for each of them

	wmu  sync.Mutex // guards what follows
	dead bool       // a write failed
	out  []byte     // a line on its way

	mu        sync.Mutex // guards what follows
	active    map[string]context.CancelFunc
	finishing bool
}

func newConn(s *Server, u *net.UnixConn) *conn {
	c := &conn{s: s, c: u, r: bufio.NewReader(u), slots: make(chan struct{}, maxInFlight)}
	c.ctx, c.cancel = context.WithCancel(s.ctx)
	return c
}

// longAgo is a deadline that ends what waits.
var longAgo = time.Unix(1, 0)

// finish makes serve return when what is in flight is answered.
func (c *conn) finish() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.finishing = true
	_ = c.c.SetReadDeadline(longAgo) // fails where it is closed
}

// resume takes back a read deadline, unless it is there to stay.
func (c *conn) resume() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.finishing {
		_ = c.c.SetReadDeadline(time.Time{})
	}
}

// serve answers the client until it leaves, the server finishes, or something is
// wrong with what it says.
func (c *conn) serve() {
	defer func() {
		if p := recover(); p != nil {
			c.s.log.problem(&panicError{what: fmt.Sprintf("panic while serving a client: %v", p), stack: debug.Stack()})
		}
		c.cancel()
		c.work.Wait()
		c.c.Close()
	}()
	c.send(wire.Greeting{Protocol: wire.Protocol, Build: c.s.o.Build, PID: os.Getpid(), View: process.View()})
	for {
		line, err := readRecord(c.r, '\n')
		if err != nil {
			c.end(err)
			return
		}
		req, err := wire.ParseRequest(line)
		if err != nil {
			c.refuse("", err)
			return
		}
		if !c.handle(&req) {
			return
		}
	}
}

// errTooLong says that a client's line or record does not end in time.
var errTooLong = fmt.Errorf("more than %d bytes without an end", wire.MaxLine)

// readRecord reads to the next delim and returns what is before it. The bytes are
// valid until the next read. At the end of input, what has no delimiter is not
// returned.
func readRecord(r *bufio.Reader, delim byte) ([]byte, error) {
	data, err := r.ReadSlice(delim)
	if err == nil {
		return data[:len(data)-1], nil
	}
	if err != bufio.ErrBufferFull {
		return nil, err
	}
	long := append([]byte(nil), data...)
	for {
		data, err = r.ReadSlice(delim)
		long = append(long, data...)
		switch {
		case len(long) > wire.MaxLine:
			return nil, errTooLong
		case err == nil:
			return long[:len(long)-1], nil
		case err != bufio.ErrBufferFull:
			return nil, err
		}
	}
}

// end sees to what is in flight after the last line was read.
func (c *conn) end(err error) {
	switch {
	case errors.Is(err, errTooLong):
		c.refuse("", err)
	case errors.Is(err, os.ErrDeadlineExceeded):
		c.work.Wait() // the server is finishing
	case err == io.EOF:
		// Perhaps all that the client had to say. It still hears.
		done := make(chan struct{})
		go func() {
			c.work.Wait()
			c.finish()
			close(done)
		}()
		if socket.WaitHangup(c.c) == nil {
			c.cancel()
		}
		<-done
	}
}

// refuse answers what makes no sense, after which nothing does.
func (c *conn) refuse(id string, err error) {
	c.s.log.Printf(gitstatusd.Warn, "client refused: %v", err)
	c.send(wire.Answer{ID: id, Error: err.Error()})
}

// send writes a line.
func (c *conn) send(v any) {
	c.wmu.Lock()
	defer c.wmu.Unlock()
	c.out = wire.AppendLine(c.out[:0], v)
	c.write(c.out)
}

// bytes writes data.
func (c *conn) bytes(data []byte) {
	c.wmu.Lock()
	defer c.wmu.Unlock()
	c.write(data)
}

// write writes data. A client that does not take it within the time for that is
// given up. c.wmu is held.
func (c *conn) write(data []byte) {
	if c.dead {
		return
	}
	_ = c.c.SetWriteDeadline(time.Now().Add(c.s.o.WriteTimeout)) // fails as Write will
	if _, err := c.c.Write(data); err != nil {
		c.dead = true
		if errors.Is(err, os.ErrDeadlineExceeded) {
			c.s.log.Printf(gitstatusd.Warn, "client given up: it did not read for %v", c.s.o.WriteTimeout)
		}
		c.cancel()
		c.c.Close() // wakes the reader
	}
}

// handle does what a request asks for, or begins to. It reports false if nothing
// more must be read.
func (c *conn) handle(r *wire.Request) bool {
	switch r.Op {
	case wire.Hello:
		if r.Protocol > wire.Protocol {
			c.refuse(r.ID, fmt.Errorf("protocol %d is not spoken here, but %d", r.Protocol, wire.Protocol))
			return false
		}
		c.send(wire.Answer{ID: r.ID, OK: true})
	case wire.Ping:
		c.send(wire.Answer{ID: r.ID, OK: true})
	case wire.Status:
		c.send(wire.Answer{ID: r.ID, Server: c.s.status()})
	case wire.Stop:
		// First the end, then the word: who hears it finds the place free.
		c.s.Finish("a client asked for it")
		c.send(wire.Answer{ID: r.ID, OK: true})
	case wire.Cancel:
		c.mu.Lock()
		end := c.active[r.Of]
		c.mu.Unlock()
		if end == nil {
			c.send(wire.Answer{ID: r.ID, Error: fmt.Sprintf("no request '%.200s' is in flight", r.Of)})
			break
		}
		end()
		c.send(wire.Answer{ID: r.ID, OK: true})
	case wire.Query:
		c.begin(r)
	case wire.Relay:
		c.relay(r)
		return false
	default:
		c.refuse(r.ID, fmt.Errorf("unknown op '%.200s'", r.Op))
		return false
	}
	return true
}
