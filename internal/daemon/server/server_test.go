package server_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"gust/internal/daemon/live"
	"gust/internal/daemon/server"
	"gust/internal/daemon/socket"
	"gust/internal/daemon/wire"
	"gust/internal/pure/summary"
)

func query(id, dir string) wire.Request { return wire.Request{ID: id, Op: wire.Query, Dir: dir} }

func TestQuery(t *testing.T) {
	e := &engine{answer: func(_ context.Context, q live.Request) (*summary.Summary, error) {
		switch q.Dir {
		case "/none":
			return nil, nil
		case "/bad":
			return nil, errors.New("bad repository")
		case "/half":
			return &summary.Summary{WorkDir: q.Dir, Action: "index-error"}, errors.New("bad index")
		}
		return &summary.Summary{WorkDir: q.Dir, Branch: "main\xff", Staged: q.Limits.Staged}, nil
	}}
	s := serve(t, e, server.Options{})
	c := s.connect()
	if g := c.Greeting; g.Protocol != wire.Protocol || g.PID != os.Getpid() {
		t.Errorf("greeting %+v", g)
	}
	for _, tt := range []struct {
		dir, branch, problem string
		found                bool
	}{{"/r", "main\xff", "", true}, {"/none", "", "", false}, {"/bad", "", "bad repository", false}, {"/half", "", "bad index", true}} {
		q := live.Request{Dir: tt.dir, Env: []string{"GIT_DIR=/x", "EDITOR=vi"}, Limits: live.Limits{Staged: 7}}
		sum, err := c.Query(deadline(t), q)
		problem := ""
		if err != nil {
			problem = err.Error()
		}
		if (sum != nil) != tt.found || problem != tt.problem || sum != nil && sum.Branch != tt.branch {
			t.Errorf("%s: got %+v, %v", tt.dir, sum, err)
		}
	}
	want := live.Request{Dir: "/r", Env: []string{"GIT_DIR=/x"}, Limits: live.Limits{Staged: 7}}
	if got := e.asked[0]; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the engine was asked %+v, want %+v", got, want)
	}
}

func TestAcknowledged(t *testing.T) {
	release := make(chan struct{})
	e := &engine{answer: func(context.Context, live.Request) (*summary.Summary, error) {
		<-release
		return nil, nil
	}}
	c := serve(t, e, server.Options{}).connect()
	send(t, c, query("a", "/r"))
	if a := receive(t, c); a.ID != "a" || !a.Ack {
		t.Errorf("got %+v, want an acknowledgement", a)
	}
	send(t, c, query("a", "/r"))
	if a := receive(t, c); !strings.Contains(a.Error, "already in flight") {
		t.Errorf("a second request with an ID in use: %+v", a)
	}
	close(release)
	if a := receive(t, c); a.ID != "a" || a.Complete == nil || !*a.Complete {
		t.Errorf("got %+v, want the answer", a)
	}
	send(t, c, query("a", "relative"))
	if a := receive(t, c); a.ID != "a" || a.Error == "" {
		t.Errorf("a relative directory: %+v", a)
	}
}

// TestDeadline asks an engine that takes its time, before and after there is an
// earlier answer to show.
func TestDeadline(t *testing.T) {
	release := make(chan struct{})
	n := 0
	e := &engine{answer: func(context.Context, live.Request) (*summary.Summary, error) {
		<-release
		n++
		return &summary.Summary{WorkDir: "/r", Staged: n}, nil
	}}
	c := serve(t, e, server.Options{}).connect()
	for i := range 2 {
		r := query("a", "/r")
		r.Deadline = 1
		send(t, c, r)
		receive(t, c) // the acknowledgement
		a := receive(t, c)
		if a.Complete == nil || *a.Complete {
			t.Fatalf("got %+v, want an incomplete answer", a)
		}
		known := a.State != nil && a.Staged == i && a.Stale && *a.Repository
		if i == 0 && (a.State != nil || a.Repository != nil || a.Stale) || i > 0 && !known {
			t.Errorf("answer %d in time is %+v", i, a)
		}
		release <- struct{}{}
		if a := receive(t, c); a.Complete == nil || !*a.Complete || a.Stale || a.Staged != i+1 {
			t.Errorf("answer %d in the end is %+v", i, a)
		}
	}
	close(release)
}

func TestSubscribe(t *testing.T) {
	branches := make(chan string, 10)
	e := &engine{changes: make(chan struct{}, 1), answer: func(context.Context, live.Request) (*summary.Summary, error) {
		return &summary.Summary{WorkDir: "/r", Branch: <-branches}, nil
	}}
	s := serve(t, e, server.Options{})
	c := s.connect()
	r := query("a", "/r")
	r.Subscribe = true
	branches <- "one"
	send(t, c, r)
	receive(t, c) // the acknowledgement
	for _, next := range []string{"one", "two", "three"} {
		if a := receive(t, c); a.ID != "a" || a.State == nil || a.Branch != next {
			t.Fatalf("got %+v, want branch %s", a, next)
		}
		switch next {
		case "one":
			branches <- "one" // a change that changes nothing makes no line
			e.changes <- struct{}{}
			until(t, "the answer was looked at again", func() bool { return e.count(func() int { return len(e.asked) }) == 2 })
			branches <- "two"
			e.changes <- struct{}{}
		case "two":
			branches <- "three"
			e.changes <- struct{}{}
		}
	}
	send(t, c, wire.Request{ID: "b", Op: wire.Status})
	if a := receive(t, c); a.Server == nil || a.Server.Subscriptions != 1 || a.Server.Clients != 1 {
		t.Errorf("status with a subscription: %+v", a.Server)
	}
	if n := e.count(func() int { return e.told }); n != 1 {
		t.Errorf("%d wait for changes, want the subscription", n)
	}
	send(t, c, wire.Request{ID: "b", Op: wire.Cancel, Of: "a"})
	for range 2 { // in any order
		switch a := receive(t, c); {
		case a.ID == "a" && a.Error == "canceled", a.ID == "b" && a.OK:
		default:
			t.Errorf("got %+v after the end of the subscription", a)
		}
	}
	until(t, "the engine is told of the end", func() bool { return e.count(func() int { return e.told }) == 0 })
	send(t, c, wire.Request{ID: "b", Op: wire.Cancel, Of: "a"})
	if a := receive(t, c); a.Error == "" {
		t.Errorf("the end of what has ended: %+v", a)
	}
}

// TestSubscribePolled subscribes where nobody tells of changes, at first.
func TestSubscribePolled(t *testing.T) {
	n := 0
	e := &engine{answer: func(context.Context, live.Request) (*summary.Summary, error) {
		n++
		return &summary.Summary{WorkDir: "/r", Staged: n}, nil
	}}
	s := serve(t, e, server.Options{Poll: 8 * time.Millisecond})
	c := s.connect()
	r := query("", "/r")
	r.Subscribe = true
	send(t, c, r)
	receive(t, c) // the acknowledgement
	for i := range 3 {
		if a := receive(t, c); a.State == nil || a.Staged != i+1 {
			t.Fatalf("answer %d: %+v", i, a)
		}
	}
	c.Close()
	until(t, "the subscription has ended with its client", func() bool {
		c := s.connect()
		defer c.Close()
		a, err := c.Do(deadline(t), wire.Request{Op: wire.Status})
		return err == nil && a.Server.Subscriptions == 0
	})
}

// TestEqualRequestsShare asks the same from many clients while the engine works:
// what came too late for that work shares the next.
func TestEqualRequestsShare(t *testing.T) {
	release, begun := make(chan struct{}), make(chan struct{}, 10)
	e := &engine{answer: func(context.Context, live.Request) (*summary.Summary, error) {
		begun <- struct{}{}
		<-release
		return &summary.Summary{WorkDir: "/r"}, nil
	}}
	s := serve(t, e, server.Options{})
	const n = 10
	var wg sync.WaitGroup
	for i := range n {
		c := s.connect()
		r := query("a", "/r")
		r.Env = wire.Env{"GIT_EDITOR": fmt.Sprint(i), "HOME": "/h"}
		send(t, c, r)
		if a := receive(t, c); !a.Ack {
			t.Fatalf("got %+v", a)
		}
		if i == 0 {
			<-begun
		}
		wg.Add(1)
		go func() {
			defer wg.Done()
			if a, err := c.Receive(); err != nil || a.State == nil {
				t.Errorf("got %+v, %v", a, err)
			}
		}()
	}
	other := s.connect()
	send(t, other, query("", "/other")) // does not wait for the first
	<-begun
	// An acknowledgement says that a request has come, not yet that it waits.
	until(t, "all but the first wait", func() bool { return s.Waiting() == n-1 })
	close(release)
	wg.Wait()
	if got := e.count(func() int { return len(e.asked) }); got != 3 {
		t.Errorf("%d equal requests and another one asked the engine %d times, want 3", n, got)
	}
}

// TestDisconnectCancels leaves while the engine works, as a client of each kind.
func TestDisconnectCancels(t *testing.T) {
	begun, ended := make(chan struct{}), make(chan error, 1)
	e := &engine{answer: func(ctx context.Context, q live.Request) (*summary.Summary, error) {
		begun <- struct{}{}
		<-ctx.Done()
		ended <- ctx.Err()
		return nil, ctx.Err()
	}}
	s := serve(t, e, server.Options{})
	for _, relay := range []bool{false, true} {
		u, err := socket.Dial(s.place)
		if err != nil {
			t.Fatal(err)
		}
		request := wire.AppendLine(nil, query("", "/r"))
		if relay {
			request = append(wire.AppendLine(nil, wire.Request{Op: wire.Relay}), "id\x1f/r\x1e"...)
		}
		if _, err := u.Write(request); err != nil {
			t.Fatal(err)
		}
		<-begun
		u.Close()
		select {
		case err := <-ended:
			if !errors.Is(err, context.Canceled) {
				t.Errorf("the work for a client that left ended with %v", err)
			}
		case <-time.After(patience):
			t.Fatalf("the work for a client that left goes on (relay: %v)", relay)
		}
	}
	s.ping()
}

// TestHalfClosed has nothing more to say, and still hears.
func TestHalfClosed(t *testing.T) {
	release := make(chan struct{})
	e := &engine{answer: func(ctx context.Context, q live.Request) (*summary.Summary, error) {
		select {
		case <-release:
			return &summary.Summary{WorkDir: "/r"}, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}}
	s := serve(t, e, server.Options{})
	u, err := socket.Dial(s.place)
	if err != nil {
		t.Fatal(err)
	}
	defer u.Close()
	fmt.Fprintf(u, "%s", wire.AppendLine(nil, query("a", "/r")))
	if err := u.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	until(t, "the engine is asked", func() bool { return e.count(func() int { return len(e.asked) }) == 1 })
	close(release)
	var all strings.Builder
	buf := make([]byte, 4096)
	for n := 0; err == nil; n, err = u.Read(buf) {
		all.Write(buf[:n])
	}
	if got := all.String(); strings.Count(got, "\n") != 3 || !strings.Contains(got, `"workdir":"/r"`) {
		t.Errorf("got %q, want a greeting, an acknowledgement and the answer", got)
	}
}

func TestPanic(t *testing.T) {
	e := &engine{answer: func(_ context.Context, q live.Request) (*summary.Summary, error) {
		if q.Dir == "/bad" {
			panic("oops")
		}
		return nil, nil
	}}
	s := serve(t, e, server.Options{})
	c := s.connect()
	if _, err := c.Query(deadline(t), live.Request{Dir: "/bad"}); err == nil || !strings.Contains(err.Error(), "oops") {
		t.Errorf("got %v, want the panic", err)
	}
	if _, err := c.Query(deadline(t), live.Request{Dir: "/good"}); err != nil {
		t.Errorf("after a panic: %v", err)
	}
	s.contains("server_test.go")
	if n := e.count(func() int { return e.dropped }); n != 1 {
		t.Errorf("the repository was dropped %d times", n)
	}
}

func TestStatus(t *testing.T) {
	e := &engine{answer: func(_ context.Context, q live.Request) (*summary.Summary, error) {
		if q.Dir == "/broken" {
			return &summary.Summary{WorkDir: q.Dir}, errors.New("bad index")
		}
		return &summary.Summary{WorkDir: "/r"}, nil
	}}
	build := wire.Build{Version: "v1", Time: 7}
	s := serve(t, e, server.Options{Build: build, Watches: func() int { return 5 }})
	c := s.connect()
	for _, dir := range []string{"/r", "/r/sub", "/broken"} {
		_, _ = c.Query(deadline(t), live.Request{Dir: dir})
	}
	a, err := c.Do(deadline(t), wire.Request{Op: wire.Status})
	if err != nil {
		t.Fatal(err)
	}
	st := a.Server
	if st.Protocol != wire.Protocol || st.Build != build || st.PID != os.Getpid() || st.Socket != s.place.Socket ||
		st.Clients != 1 || st.Queries != 3 || st.Watches != 5 || st.Memory <= 0 || st.Goroutines <= 0 {
		t.Errorf("status is %+v", st)
	}
	if r := st.Repositories; len(r) != 2 || r[0].WorkDir != "/broken" || r[0].Error != "bad index" || r[1].WorkDir != "/r" || r[1].Queries != 2 {
		t.Errorf("repositories are %+v", r)
	}
}
