package server_test

import (
	"bytes"
	"context"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"gust/internal/daemon/client"
	"gust/internal/daemon/gitstatusd"
	"gust/internal/daemon/live"
	"gust/internal/daemon/server"
	"gust/internal/daemon/socket"
	"gust/internal/daemon/wire"
	"gust/internal/pure/summary"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long something may take before it counts as hung. It is no
// measurement.
const patience = 60 * time.Second

// An engine is one whose answers a test decides.
type engine struct {
	answer func(ctx context.Context, q live.Request) (*summary.Summary, error)

	mu      sync.Mutex // guards what follows
	asked   []live.Request
	changes chan struct{} // nil: nobody tells
	told    int           // those that wait for changes
	dropped int
	ttl     time.Duration
}

// Query answers with the branch "main" in the directory of q, unless a test says
// what else.
func (e *engine) Query(ctx context.Context, q live.Request) (*summary.Summary, error) {
	e.mu.Lock()
	e.asked = append(e.asked, q)
	e.mu.Unlock()
	if e.answer != nil {
		return e.answer(ctx, q)
	}
	return &summary.Summary{WorkDir: q.Dir, Branch: "main"}, nil
}

func (e *engine) Changed(live.Request) (<-chan struct{}, func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.told++
	return e.changes, func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.told--
	}
}

func (e *engine) Drop(live.Request) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.dropped++
}

func (e *engine) SetTTL(d time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.ttl = d
}

// count returns what f reads under the engine's lock.
func (e *engine) count(f func() int) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return f()
}

// A service is a server that runs in this process.
type service struct {
	*server.Server
	t     testing.TB
	place socket.Place
	env   []string
	log   *logged
	done  chan struct{} // closed when Serve has returned
}

// A logged collects log lines.
type logged struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logged) Write(data []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(data)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// runtimeDir returns a new directory with a short name, which an address needs.
func runtimeDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "gust")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// serve runs a server until the test ends.
func serve(t testing.TB, e *engine, o server.Options) *service {
	t.Helper()
	return serveIn(t, runtimeDir(t), e, o)
}

func serveIn(t testing.TB, dir string, e *engine, o server.Options) *service {
	t.Helper()
	s := &service{t: t, env: []string{"XDG_RUNTIME_DIR=" + dir}, log: new(logged), done: make(chan struct{})}
	var err error
	if s.place, err = socket.Locate(server.Lookup(s.env)); err != nil {
		t.Fatal(err)
	}
	l, err := socket.Listen(s.place)
	if err != nil {
		t.Fatal(err)
	}
	s.Server = server.New(e, server.NewLog(s.log, gitstatusd.Debug), o)
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		defer close(s.done)
		if err := s.Serve(ctx, l); err != nil {
			t.Errorf("the server ended with %v", err)
		}
	}()
	t.Cleanup(func() {
		cancel()
		s.wait()
	})
	return s
}

// wait waits for the end of the server.
func (s *service) wait() {
	s.t.Helper()
	select {
	case <-s.done:
	case <-time.After(patience):
		s.t.Fatalf("the server does not end; log:\n%s", s.log)
	}
}

// connect returns a connection that ends with the test.
func (s *service) connect() *client.Conn {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	d := client.Dialer{Env: s.env, Patience: patience}
	c, err := d.Connect(ctx)
	if err != nil {
		s.t.Fatalf("cannot connect: %v; log:\n%s", err, s.log)
	}
	s.t.Cleanup(c.Close)
	return c
}

// ping checks that the server answers others.
func (s *service) ping() {
	s.t.Helper()
	c := s.connect()
	defer c.Close()
	if _, err := c.Do(deadline(s.t), wire.Request{Op: wire.Ping}); err != nil {
		s.t.Errorf("ping: %v; log:\n%s", err, s.log)
	}
}

// deadline returns a context that ends when something hangs.
func deadline(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

// until waits for a condition.
func until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("still not: %s", what)
		}
	}
}

// send sends a request.
func send(t testing.TB, c *client.Conn, r wire.Request) {
	t.Helper()
	if err := c.Send(r); err != nil {
		t.Fatal(err)
	}
}

// receive reads a line.
func receive(t testing.TB, c *client.Conn) wire.Answer {
	t.Helper()
	type result struct {
		a   wire.Answer
		err error
	}
	got := make(chan result, 1)
	go func() {
		a, err := c.Receive()
		got <- result{a, err}
	}()
	select {
	case r := <-got:
		if r.err != nil {
			t.Fatal(r.err)
		}
		return r.a
	case <-time.After(patience):
		t.Fatal("no answer")
		return wire.Answer{}
	}
}

// closed waits until the server closes the connection.
func closed(t testing.TB, c *client.Conn) {
	t.Helper()
	if a, err := c.Receive(); err == nil {
		t.Errorf("got %+v, want a closed connection", a)
	}
}

// contains waits until the log has text in it.
func (s *service) contains(text string) {
	s.t.Helper()
	until(s.t, "the log contains '"+text+"'", func() bool { return strings.Contains(s.log.String(), text) })
}
