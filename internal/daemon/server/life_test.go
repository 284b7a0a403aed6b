package server_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"gust/internal/daemon/client"
	"gust/internal/daemon/live"
	"gust/internal/daemon/server"
	"gust/internal/daemon/socket"
	"gust/internal/daemon/wire"
	"gust/internal/pure/summary"
)

// TestBadInput says what makes no sense: an error line, a closed connection, a
// line in the log, and nobody else notices.
func TestBadInput(t *testing.T) {
	s := serve(t, &engine{}, server.Options{})
	witness := s.connect()
	long := strings.Repeat("x", 10<<20)
	for _, tt := range []struct{ name, input, problem string }{
		{"garbage", "\x00\x01\xfe\xff{{{\n", "bad request"},
		{"empty", "\n", "bad request"},
		{"http", "GET / HTTP/1.1\r\n", "bad request"},
		{"ten-megabytes", long + "\n", "without an end"},
		{"ten-megabytes-of-json", `{"op":"query","dir":"/` + long + `"}` + "\n", "without an end"},
		{"no-end", long, "without an end"},
		{"unknown-op", `{"op":"fly"}` + "\n", "unknown op"},
		{"future-protocol", fmt.Sprintf(`{"op":"hello","protocol":%d}`+"\n", wire.Protocol+1), fmt.Sprintf("protocol %d is not spoken here", wire.Protocol+1)},
		{"relay-without-end", `{"op":"relay"}` + "\n" + long, "without an end"},
		{"relay-garbage", `{"op":"relay"}` + "\n" + "\x00\x1e", "malformed request"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			u, err := socket.Dial(s.place)
			if err != nil {
				t.Fatal(err)
			}
			defer u.Close()
			_, _ = u.Write([]byte(tt.input)) // fails where it is refused before its end
			var all strings.Builder
			buf := make([]byte, 4096)
			for n := 0; err == nil; n, err = u.Read(buf) {
				all.Write(buf[:n])
			}
			if got := all.String(); !strings.Contains(got, tt.problem) {
				t.Errorf("got %q, want '%s'", got, tt.problem)
			}
			if !strings.HasPrefix(tt.name, "relay-garbage") { // that is its gitstatusd's to tell
				s.contains(tt.problem)
			}
			if _, err := witness.Query(deadline(t), live.Request{Dir: "/r"}); err != nil {
				t.Errorf("another client got %v", err)
			}
		})
	}
}

// TestNeverReads has a client that asks and asks and does not read.
func TestNeverReads(t *testing.T) {
	s := serve(t, &engine{}, server.Options{WriteTimeout: 20 * time.Millisecond})
	witness := s.connect()
	u, err := socket.Dial(s.place)
	if err != nil {
		t.Fatal(err)
	}
	defer u.Close()
	line := wire.AppendLine(nil, query("", "/r"))
	for err == nil {
		if _, err := witness.Query(deadline(t), live.Request{Dir: "/r"}); err != nil {
			t.Fatalf("another client got %v", err)
		}
		for i := 0; i < 20 && err == nil; i++ {
			_ = u.SetWriteDeadline(time.Now().Add(patience))
			_, err = u.Write(line)
		}
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("a client that does not read is not given up")
	}
	s.contains("client given up")
	s.ping()
}

func TestManyClients(t *testing.T) {
	s := serve(t, &engine{}, server.Options{})
	var conns []*client.Conn
	for range 64 {
		conns = append(conns, s.connect())
	}
	for range 3 {
		for i, c := range conns {
			send(t, c, query(fmt.Sprint(i), fmt.Sprintf("/%d", i)))
		}
		for i, c := range conns {
			receive(t, c)
			if a := receive(t, c); a.State == nil || a.WorkDir != fmt.Sprintf("/%d", i) || a.ID != fmt.Sprint(i) {
				t.Errorf("client %d got %+v", i, a)
			}
		}
	}
}

func TestIdleExit(t *testing.T) {
	s := serve(t, &engine{}, server.Options{IdleExit: time.Millisecond})
	s.wait()
	if _, err := os.Lstat(s.place.Socket); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket is still there: %v", err)
	}
}

// TestBusyStays is idle for less than a client stays.
func TestBusyStays(t *testing.T) {
	const idle = 100 * time.Millisecond
	release := make(chan struct{})
	e := &engine{answer: func(context.Context, live.Request) (*summary.Summary, error) {
		<-release
		return nil, nil
	}}
	s := serve(t, e, server.Options{IdleExit: idle})
	c := s.connect()
	send(t, c, query("", "/r"))
	receive(t, c)
	// Whatever would end the server has been due by then: a timer that begins
	// later fires later.
	due := time.NewTimer(2 * idle)
	<-due.C
	close(release)
	if a := receive(t, c); a.Complete == nil {
		t.Errorf("got %+v", a)
	}
	c.Close()
	s.wait()
}

// TestSocketGone removes and replaces the socket below a server: it serves the
// clients that it has, and ends with the last.
func TestSocketGone(t *testing.T) {
	for _, replaced := range []bool{false, true} {
		t.Run(fmt.Sprintf("replaced-%v", replaced), func(t *testing.T) {
			dir := runtimeDir(t)
			s := serveIn(t, dir, &engine{}, server.Options{})
			c := s.connect()
			if err := os.Remove(s.place.Socket); err != nil {
				t.Fatal(err)
			}
			var next *service
			if replaced {
				next = serveIn(t, dir, &engine{}, server.Options{})
			}
			if _, err := c.Do(deadline(t), wire.Request{Op: wire.Ping}); err != nil {
				t.Errorf("the server left its client: %v", err)
			}
			c.Close()
			s.wait()
			if next != nil {
				next.ping() // its socket is still there
			}
		})
	}
}

// TestStop asks for the end while requests are in flight: they are answered, and
// another server can begin meanwhile.
func TestStop(t *testing.T) {
	release := make(chan struct{})
	e := &engine{changes: make(chan struct{}), answer: func(_ context.Context, q live.Request) (*summary.Summary, error) {
		if q.Dir == "/slow" {
			<-release
		}
		return &summary.Summary{WorkDir: q.Dir}, nil
	}}
	dir := runtimeDir(t)
	s := serveIn(t, dir, e, server.Options{})
	subscriber, waiting, idle, relay := s.connect(), s.connect(), s.connect(), s.connect()
	r := query("", "/r")
	r.Subscribe = true
	send(t, subscriber, r)
	receive(t, subscriber)
	receive(t, subscriber)
	send(t, waiting, query("", "/slow"))
	receive(t, waiting)
	send(t, relay, wire.Request{Op: wire.Relay})
	if _, err := s.connect().Do(deadline(t), wire.Request{Op: wire.Stop}); err != nil {
		t.Fatal(err)
	}
	next := serveIn(t, dir, &engine{}, server.Options{})
	next.ping()
	closed(t, subscriber)
	closed(t, idle)
	closed(t, relay)
	close(release)
	if a := receive(t, waiting); a.State == nil || a.WorkDir != "/slow" {
		t.Errorf("the request in flight got %+v", a)
	}
	s.wait()
	next.ping()
}

// TestAbandon ends a server that cannot answer what it was asked.
func TestAbandon(t *testing.T) {
	e := &engine{answer: func(ctx context.Context, q live.Request) (*summary.Summary, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}}
	s := serve(t, e, server.Options{Grace: time.Millisecond})
	c := s.connect()
	send(t, c, query("", "/r"))
	receive(t, c)
	send(t, c, wire.Request{Op: wire.Stop})
	s.wait()
	s.contains("unanswered")
}

// TestLongestTTL has relays with lives of their own.
func TestLongestTTL(t *testing.T) {
	e := &engine{}
	s := serve(t, e, server.Options{})
	ttl := func(want time.Duration) {
		t.Helper()
		until(t, "the TTL is "+want.String(), func() bool { return e.count(func() int { return int(e.ttl) }) == int(want) })
	}
	relay := func(seconds int) *client.Conn {
		c := s.connect()
		send(t, c, wire.Request{Op: wire.Relay, TTL: seconds})
		return c
	}
	relay(60)
	ttl(time.Minute)
	long := relay(7200)
	ttl(2 * time.Hour)
	for_ever := relay(-1)
	ttl(0)
	relay(5)
	for_ever.Close()
	ttl(2 * time.Hour)
	long.Close()
	ttl(time.Minute)
}

// TestDescriptors connects and leaves in every way, and counts descriptors.
func TestDescriptors(t *testing.T) {
	open := func() int {
		names, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Skipf("descriptors cannot be counted here: %v", err)
		}
		return len(names)
	}
	s := serve(t, &engine{}, server.Options{})
	s.ping()
	before := open()
	for i := range 50 {
		c := s.connect()
		switch i % 4 {
		case 0:
			send(t, c, query("", "/r"))
		case 1:
			send(t, c, wire.Request{Op: wire.Relay})
		case 2:
			send(t, c, wire.Request{Op: "nonsense"})
		}
		c.Close()
	}
	until(t, "every descriptor is closed", func() bool { return open() <= before })
}
