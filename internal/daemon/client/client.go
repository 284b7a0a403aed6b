// Package client asks a running server, starts one, or falls back to computing
// in-process.
package client

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"gust/internal/daemon/live"
	"gust/internal/daemon/process"
	"gust/internal/daemon/server"
	"gust/internal/daemon/socket"
	"gust/internal/daemon/wire"
	"gust/internal/pure/summary"
)

// Patience is how long a client waits until its request is acknowledged, the start
// of a server included. After that, it does better by itself.
const Patience = 50 * time.Millisecond

// A ProtocolError says that a server speaks another version of the protocol, and
// is not older than this client.
type ProtocolError struct{ Spoken int }

func (e *ProtocolError) Error() string {
	return fmt.Sprintf("the server speaks protocol %d, not %d", e.Spoken, wire.Protocol)
}

// A Dialer connects to the server of this user, and starts it where there is
// none. Its methods are for one goroutine at a time.
type Dialer struct {
	Env   []string   // NAME=value, of this process
	Build wire.Build // an older server is replaced
	// Program is the path of a program that becomes a server when it is run with
	// server.Argument; empty: none is started.
	Program string
	Args    []string // further ones for it
	// Patience is how long a query may wait for its acknowledgement; 0 means
	// Patience.
	Patience time.Duration

	pid int // of the server that was started last; 0: none, or its end was seen
}

// New returns a Dialer for this process, which starts its own program if start is
// set.
func New(env []string, start bool) *Dialer {
	d := &Dialer{Env: env, Build: wire.ThisBuild()}
	if start {
		if path, err := os.Executable(); err == nil {
			// What was installed over the program that runs is as good, or better.
			d.Program = strings.TrimSuffix(path, " (deleted)")
		}
	}
	return d
}

// Connect connects to the server. Where there is none, or one of an older build,
// it starts one, and waits for it until ctx ends. The errors are those of
// socket.Dial, a *ProtocolError, and ctx's.
func (d *Dialer) Connect(ctx context.Context) (*Conn, error) {
	place, err := socket.Locate(server.Lookup(d.Env))
	if err != nil {
		return nil, err
	}
	started := 0
	for wait := time.Millisecond; ; wait = min(2*wait, 20*time.Millisecond) {
		c, err := d.greet(ctx, place)
		if err == nil && c.Greeting.View != "" && c.Greeting.View != process.View() {
			c.Close()
			return nil, ErrElsewhere
		}
		switch {
		case err == nil && (d.Program == "" || !d.Build.NewerThan(c.Greeting.Build)):
			if c.Greeting.Protocol != wire.Protocol {
				c.Close()
				return nil, &ProtocolError{c.Greeting.Protocol}
			}
			return c, nil
		case err == nil:
			_, err := c.Do(ctx, wire.Request{Op: wire.Stop})
			c.Close()
			if err != nil && ctx.Err() != nil {
				return nil, err
			}
			started = 0 // its place is free now
		case d.Program == "" || ctx.Err() != nil || !socket.Absent(err):
			return nil, err
		}
		// One that ended already has found another one, or cannot serve: one more
		// look tells.
		if started == 0 || d.Reap() && started < maxStarts {
			if err := d.start(place); err != nil {
				return nil, err
			}
			started++
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, fmt.Errorf("the server does not come up: %w", ctx.Err())
		}
	}
}

// ErrElsewhere says that the server sees other file systems than this process, in
// another mount namespace or below another root.
var ErrElsewhere = errors.New("the server sees other file systems")

// maxStarts bounds the servers that are started for one connection. One may lose
// against another that then ends.
const maxStarts = 3

// start starts a server.
func (d *Dialer) start(place socket.Place) error {
	// Where it could not serve, it need not begin.
	if err := place.Secure(); err != nil {
		return err
	}
	d.Reap()
	pid, err := process.Start(server.ProcessName, d.Program, append([]string{server.Argument}, d.Args...), serverEnv(d.Env))
	if err != nil {
		return fmt.Errorf("cannot start a server: %w", err)
	}
	d.pid = pid
	return nil
}

// Reap takes notice of the end of a server that was started, so that the system
// can forget it, and reports whether there is none. It does not wait.
func (d *Dialer) Reap() bool {
	if d.pid != 0 && process.Reap(d.pid) {
		d.pid = 0
	}
	return d.pid == 0
}

// serverEnv returns what of env a server is started with: what it finds its places
// by. All that answers depend on comes with the requests.
func serverEnv(env []string) []string {
	kept := []string{}
	for _, v := range env {
		switch name, _, _ := strings.Cut(v, "="); {
		case name == "HOME", name == "PATH", name == "TMPDIR", strings.HasPrefix(name, "XDG_"):
			kept = append(kept, v)
		}
	}
	return kept
}

// greet connects, and reads the greeting.
func (d *Dialer) greet(ctx context.Context, place socket.Place) (*Conn, error) {
	u, err := socket.Dial(place)
	if err != nil {
		return nil, err
	}
	c := &Conn{c: u, r: bufio.NewReader(u), patience: cmp.Or(d.Patience, Patience)}
	defer c.during(ctx)()
	line, err := c.r.ReadSlice('\n')
	if err == nil {
		err = json.Unmarshal(line, &c.Greeting)
	}
	if err == nil && c.Greeting.Protocol == 0 {
		err = fmt.Errorf("no greeting but %.80q", line)
	}
	if err != nil {
		u.Close()
		return nil, fmt.Errorf("the server does not greet: %w", orContext(ctx, err))
	}
	return c, nil
}

// A Conn is a connection to a server. Its methods are for one goroutine; after an
// error of the connection or of a context, it is of no use any more.
type Conn struct {
	Greeting wire.Greeting

	c        *net.UnixConn
	r        *bufio.Reader
	patience time.Duration
}

// Close ends the connection, and what was asked over it.
func (c *Conn) Close() { c.c.Close() }

// during makes reads and writes fail once ctx ends, until stop is called.
func (c *Conn) during(ctx context.Context) (stop func()) {
	if ctx.Done() == nil {
		return func() {}
	}
	end := context.AfterFunc(ctx, func() { _ = c.c.SetDeadline(time.Unix(1, 0)) })
	return func() { end() }
}

// orContext returns ctx's error in place of err, if it has ended.
func orContext(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// errLeft says that the server closed the connection before it answered.
var errLeft = errors.New("the server has left")

// Send sends a request. The answers are read with Receive.
func (c *Conn) Send(r wire.Request) error {
	if _, err := c.c.Write(wire.AppendLine(nil, r)); err != nil {
		return fmt.Errorf("%w: %w", errLeft, err)
	}
	return nil
}

// Receive reads the next line.
func (c *Conn) Receive() (wire.Answer, error) {
	var a wire.Answer
	line, err := c.r.ReadBytes('\n')
	if err != nil {
		return a, fmt.Errorf("%w: %w", errLeft, err)
	}
	if err := json.Unmarshal(line, &a); err != nil {
		return a, fmt.Errorf("bad answer of the server: %w", err)
	}
	return a, nil
}

// Do sends a request that one line answers, and returns that.
func (c *Conn) Do(ctx context.Context, r wire.Request) (wire.Answer, error) {
	defer c.during(ctx)()
	if err := c.Send(r); err != nil {
		return wire.Answer{}, orContext(ctx, err)
	}
	a, err := c.Receive()
	if err != nil {
		return a, orContext(ctx, err)
	}
	if a.Error != "" {
		return a, fmt.Errorf("the server: %s", a.Error)
	}
	return a, nil
}

// errSilent says that a request was not acknowledged.
var errSilent = errors.New("the server did not acknowledge the request in time")

// Ask sends a query and calls visit with each answer until visit returns false,
// which a query that is no subscription should at the complete one. The error is
// that of a connection without an answer.
func (c *Conn) Ask(ctx context.Context, r wire.Request, visit func(*wire.Answer) bool) error {
	defer c.during(ctx)()
	_ = c.c.SetReadDeadline(time.Now().Add(c.patience)) // fails as Send will
	if ctx.Err() != nil {
		return ctx.Err() // its deadline was overwritten, perhaps
	}
	if err := c.Send(r); err != nil {
		return orContext(ctx, err)
	}
	for acknowledged := false; ; {
		a, err := c.Receive()
		switch {
		case err != nil && !acknowledged && errors.Is(err, os.ErrDeadlineExceeded) && ctx.Err() == nil:
			return errSilent
		case err != nil:
			return orContext(ctx, err)
		}
		if !acknowledged {
			acknowledged = true
			_ = c.c.SetReadDeadline(time.Time{})
			if ctx.Err() != nil {
				return ctx.Err()
			}
		}
		if !a.Ack && !visit(&a) {
			return nil
		}
	}
}

// An unanswered is an error of the connection, not of the repository.
type unanswered struct{ error }

func (u unanswered) Unwrap() error { return u.error }

// Query asks what live.State.Query does.
func (c *Conn) Query(ctx context.Context, q live.Request) (*summary.Summary, error) {
	r := wire.Request{Op: wire.Query}
	r.SetLive(q)
	var last wire.Answer
	err := c.Ask(ctx, r, func(a *wire.Answer) bool {
		last = *a
		return a.Complete != nil && !*a.Complete
	})
	if err != nil {
		return nil, unanswered{err}
	}
	if last.Complete == nil {
		return nil, unanswered{fmt.Errorf("the server: %s", last.Error)}
	}
	return last.Summary()
}

// An engine answers requests; live.State is one.
type engine interface {
	Query(ctx context.Context, q live.Request) (*summary.Summary, error)
}

// An Asker asks the server, or an engine of its own where that does not answer. It
// is for one goroutine.
type Asker struct {
	Dialer *Dialer       // nil: there is no server to ask
	Local  func() engine // called when it is needed, at most once

	local engine
	conn  *Conn
}

// NewAsker returns an Asker for the program of this process. local makes the
// engine to fall back to.
func NewAsker[E engine](d *Dialer, local func() E) *Asker {
	return &Asker{Dialer: d, Local: func() engine { return local() }}
}

// Query answers q.
func (a *Asker) Query(ctx context.Context, q live.Request) (*summary.Summary, error) {
	if c := a.connect(ctx); c != nil {
		sum, err := c.Query(ctx, q)
		var u unanswered
		if !errors.As(err, &u) {
			return sum, err
		}
		a.Close()
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	if a.local == nil {
		a.local = a.Local()
	}
	return a.local.Query(ctx, q)
}

// connect returns a connection, nil if there is none.
func (a *Asker) connect(ctx context.Context) *Conn {
	if a.conn != nil || a.Dialer == nil {
		return a.conn
	}
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	c, err := a.Dialer.Connect(ctx)
	if err != nil {
		return nil
	}
	a.conn = c
	return c
}

// Close ends the connection.
func (a *Asker) Close() {
	if a.conn != nil {
		a.conn.Close()
		a.conn = nil
	}
}

// Standard decides whether answers come from the server where GUST_SERVER says
// nothing.
const Standard = true

// Wanted reports whether a process with the environment env uses the server:
// GUST_SERVER says so, else standard.
func Wanted(env []string, standard bool) bool {
	switch v, _ := server.Lookup(env)("GUST_SERVER"); v {
	case "0":
		return false
	case "1":
		return true
	}
	return standard
}
