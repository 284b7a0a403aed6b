package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

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

// A lockedBuffer collects a log.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(data []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(data)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// A function is an engine.
type function func(ctx context.Context, q live.Request) (*summary.Summary, error)

func (f function) Query(ctx context.Context, q live.Request) (*summary.Summary, error) {
	return f(ctx, q)
}

// An arrangement is a place for a server, and a relay to it. No directory that the
// tests ask about exists, so that an answer of the relay's own engine is "0".
type arrangement struct {
	t     *testing.T
	place socket.Place
	relay *Relay
	log   lockedBuffer
	n     int
}

func arrange(t *testing.T, args ...string) *arrangement {
	t.Helper()
	dir, err := os.MkdirTemp("", "gust")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	o, err := gitstatusd.ParseOptions(args)
	if err != nil {
		t.Fatal(err)
	}
	env := []string{"XDG_RUNTIME_DIR=" + dir, "HOME=/h", "EDITOR=vi"}
	a := &arrangement{t: t}
	if a.place, err = socket.Locate(server.Lookup(env)); err != nil {
		t.Fatal(err)
	}
	log := server.NewLog(&a.log, o.Level)
	local := &server.Local{O: &o, Env: env, Log: log}
	a.relay = &Relay{Dialer: &Dialer{Env: env}, Local: local, Log: log, shortest: time.Millisecond}
	t.Cleanup(func() {
		a.relay.Close()
		local.Close()
	})
	return a
}

// serve runs a server over e until the test or the returned function ends it.
func (a *arrangement) serve(e function) (stop func()) {
	a.t.Helper()
	l, err := socket.Listen(a.place)
	if err != nil {
		a.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := server.New(e, server.NewLog(&a.log, gitstatusd.Debug), server.Options{}).Serve(ctx, l); err != nil {
			a.t.Error(err)
		}
	}()
	stop = func() {
		cancel()
		<-done
	}
	a.t.Cleanup(stop)
	return stop
}

// ask asks about dir and returns the fields of the response after the ID, which
// must be the request's.
func (a *arrangement) ask(dir string, more ...string) []string {
	a.t.Helper()
	a.n++
	raw := []byte(strings.Join(append([]string{fmt.Sprint(a.n), dir}, more...), "\x1f"))
	q, err := gitstatusd.ParseRequest(raw, true)
	if err != nil {
		a.t.Fatal(err)
	}
	out := string(a.relay.Respond(context.Background(), &q, raw, []byte("before|")))
	response, ok := strings.CutPrefix(out, fmt.Sprintf("before|%d\x1f", a.n))
	if !ok || strings.Count(response, "\x1e") != 1 || !strings.HasSuffix(response, "\x1e") {
		a.t.Fatalf("the response to %q is %q", raw, out)
	}
	return strings.Split(strings.TrimSuffix(response, "\x1e"), "\x1f")
}

// served checks that an answer is the server's; which names it.
func (a *arrangement) served(got []string, branch string) {
	a.t.Helper()
	if len(got) != 28 || got[3] != branch {
		a.t.Errorf("got %q, want the server's answer '%s'; log:\n%s", got, branch, a.log.String())
	}
}

// own checks that an answer is the relay's own.
func (a *arrangement) own(got []string) {
	a.t.Helper()
	if len(got) != 1 || got[0] != "0" {
		a.t.Errorf("got %q, want the relay's own answer", got)
	}
}

// until asks until the answers come from the server, or no more.
func (a *arrangement) until(fromServer bool) {
	a.t.Helper()
	for end := time.Now().Add(patience); (len(a.ask("/none")) > 1) != fromServer; {
		if time.Now().After(end) {
			a.t.Fatalf("still not: answers of the server: %v; log:\n%s", fromServer, a.log.String())
		}
	}
}

func answering(branch string) function {
	return func(_ context.Context, q live.Request) (*summary.Summary, error) {
		return &summary.Summary{WorkDir: q.Dir, Branch: branch}, nil
	}
}

func TestRelay(t *testing.T) {
	a := arrange(t, "-s", "3", "-e", "--gust", "-v", "ERROR")
	var mu sync.Mutex
	var asked []live.Request
	a.serve(func(_ context.Context, q live.Request) (*summary.Summary, error) {
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, q)
		if q.Dir == "/broken" {
			return &summary.Summary{WorkDir: q.Dir, Branch: "b"}, fmt.Errorf("index of '%s' is bad\nreally", q.Dir)
		}
		return &summary.Summary{WorkDir: q.Dir, Branch: strings.Repeat("b", 10000)}, nil
	})
	a.relay.Start()
	a.until(true)
	asked = nil
	a.served(a.ask("/dir", "1", "GIT_DIR=/%25x", "EDITOR=ed", "HOME=/other"), strings.Repeat("b", 10000))
	a.served(a.ask(":/git"), strings.Repeat("b", 10000))
	limits := live.Limits{SummaryLen: 256, Staged: 3, Unstaged: 1, Conflicted: 1, Untracked: 1, DirtyMaxIndexSize: -1, RecurseUntracked: true}
	want := []live.Request{
		{Dir: "/dir", NoIndex: true, Env: []string{"GIT_DIR=/%x", "HOME=/other"}, Limits: limits},
		{Dir: "/git", GitDir: true, Env: []string{"HOME=/h"}, Limits: limits},
	}
	if got := asked; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the engine was asked\n%+v, want\n%+v", got, want)
	}
	a.served(a.ask("/broken"), "b")
	if log := a.log.String(); strings.Count(log, "index of '/broken' is bad?really") != 1 {
		t.Errorf("the log is\n%s", log)
	}
}

// TestRelayWaits has a server that acknowledges at once, and takes far longer than
// a relay's patience to answer.
func TestRelayWaits(t *testing.T) {
	a := arrange(t)
	a.serve(func(_ context.Context, q live.Request) (*summary.Summary, error) {
		if q.Dir == "/slow" {
			<-time.After(4 * Patience)
		}
		return &summary.Summary{Branch: "b"}, nil
	})
	a.relay.Start()
	a.until(true)
	a.served(a.ask("/slow"), "b")
}

// TestRelayAlone asks without a server, then with one, then without one again.
func TestRelayAlone(t *testing.T) {
	a := arrange(t)
	a.relay.Start()
	a.own(a.ask("/none"))
	stop := a.serve(answering("first"))
	a.until(true)
	stop()
	a.own(a.ask("/none"))
	a.serve(answering("second"))
	a.until(true)
	a.served(a.ask("/none"), "second")
	if n := strings.Count(a.log.String(), "without a server"); n != 2 {
		t.Errorf("the log has %d lines about it, want one for each time:\n%s", n, a.log.String())
	}
}

// A puppet is a server that does what a test says.
func (a *arrangement) puppet(serve func(c net.Conn, request func() string)) {
	a.t.Helper()
	l, err := socket.Listen(a.place)
	if err != nil {
		a.t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Add(1)
	go func() {
		defer wg.Done()
		for {
			c, err := l.AcceptUnix()
			if err != nil {
				return
			}
			wg.Add(1)
			go func() {
				defer wg.Done()
				defer c.Close()
				_, _ = c.Write(wire.AppendLine(nil, wire.Greeting{Protocol: wire.Protocol}))
				r := bufio.NewReader(c)
				if _, err := r.ReadString('\n'); err != nil {
					return
				}
				serve(c, func() string {
					data, err := r.ReadString(gitstatusd.RecordSeparator)
					if err != nil {
						return ""
					}
					return data
				})
			}()
		}
	}()
	a.t.Cleanup(func() {
		l.Close()
		a.relay.Close()
		wg.Wait()
	})
}

// TestRelaySilence has a server that never acknowledges, and answers when nobody
// waits any more: the late answers are not taken for later ones.
func TestRelaySilence(t *testing.T) {
	a := arrange(t)
	a.puppet(func(c net.Conn, request func() string) {
		for {
			id, _, ok := strings.Cut(request(), "\x1f")
			if !ok {
				return
			}
			<-time.After(10 * Patience)
			_, _ = c.Write([]byte("=" + id + "\x1f1\x1flate\x1e"))
		}
	})
	a.relay.Start()
	for range 3 {
		a.own(a.ask("/none"))
		time.Sleep(2 * time.Millisecond) // longer than the pause: it is tried again
	}
}

// TestRelayLoses has a server that leaves at every possible point of a request.
func TestRelayLoses(t *testing.T) {
	for _, tt := range []struct{ name, words string }{
		{"at-once", ""},
		{"after-the-acknowledgement", "+\x1e"},
		{"in-an-answer", "=1\x1f1\x1f/w"},
		{"in-a-message", "+\x1e!Ehalf"},
		{"after-nonsense", "?what\x1e"},
		{"after-a-bad-message", "!\x1e"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := arrange(t)
			var mu sync.Mutex
			served := 0
			a.puppet(func(c net.Conn, request func() string) {
				if request() == "" {
					return
				}
				mu.Lock()
				served++
				mu.Unlock()
				_, _ = c.Write([]byte(tt.words))
			})
			a.relay.Start()
			for range 3 {
				a.own(a.ask("/none"))
				time.Sleep(2 * time.Millisecond) // longer than the pause
			}
			mu.Lock()
			defer mu.Unlock()
			if served < 2 {
				t.Errorf("the server was asked %d times, want every request and its second try", served)
			}
		})
	}
}

// TestRelayChangesServer ends a server between two requests: the next is answered
// by the new one, without an answer of the relay's own.
func TestRelayChangesServer(t *testing.T) {
	a := arrange(t)
	stop := a.serve(answering("first"))
	a.relay.Start()
	a.until(true)
	stop()
	a.serve(answering("second"))
	a.until(true)
	a.served(a.ask("/none"), "second")
}

// TestRelayRefuses finds a directory that is not to be trusted.
func TestRelayRefuses(t *testing.T) {
	a := arrange(t)
	if err := os.Symlink(t.TempDir(), a.place.Dir); err != nil {
		t.Fatal(err)
	}
	a.relay.Start()
	for range 3 {
		a.own(a.ask("/none"))
	}
	if log := a.log.String(); strings.Count(log, "symbolic link") != 1 {
		t.Errorf("the log is\n%s", log)
	}
}

func TestAsker(t *testing.T) {
	a := arrange(t)
	locals := 0
	asker := NewAsker(a.relay.Dialer, func() function {
		locals++
		return answering("own")
	})
	defer asker.Close()
	a.relay.Start()
	branch := func(want string) {
		t.Helper()
		s, err := asker.Query(context.Background(), live.Request{Dir: "/r"})
		if err != nil || s.Branch != want {
			t.Errorf("got %+v, %v; want %s", s, err, want)
		}
	}
	branch("own")
	stop := a.serve(answering("served"))
	for end := time.Now().Add(patience); time.Now().Before(end); {
		if s, err := asker.Query(context.Background(), live.Request{Dir: "/r"}); err == nil && s.Branch == "served" {
			break
		}
	}
	branch("served")
	stop()
	branch("own")
	if locals != 1 {
		t.Errorf("%d engines were made", locals)
	}
	a.serve(func(context.Context, live.Request) (*summary.Summary, error) {
		return nil, fmt.Errorf("bad repository")
	})
	for end := time.Now().Add(patience); time.Now().Before(end); {
		s, err := asker.Query(context.Background(), live.Request{Dir: "/r"})
		if s == nil {
			if err == nil || err.Error() != "bad repository" {
				t.Errorf("got %v", err)
			}
			return
		}
	}
	t.Error("the server is not asked")
}

func TestWanted(t *testing.T) {
	for _, tt := range []struct {
		env            []string
		standard, want bool
	}{
		{nil, true, true}, {nil, false, false},
		{[]string{"GUST_SERVER=0"}, true, false}, {[]string{"GUST_SERVER=1"}, false, true},
		{[]string{"GUST_SERVER=0", "GUST_SERVER="}, true, true},
	} {
		if got := Wanted(tt.env, tt.standard); got != tt.want {
			t.Errorf("Wanted(%q, %v) = %v", tt.env, tt.standard, got)
		}
	}
}

// TestFutureServer finds a server that speaks another protocol.
func TestFutureServer(t *testing.T) {
	a := arrange(t)
	l, err := socket.Listen(a.place)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	done := make(chan struct{})
	go func() {
		defer close(done)
		c, err := l.AcceptUnix()
		if err != nil {
			t.Error(err)
			return
		}
		defer c.Close()
		e := json.NewEncoder(c)
		if err := e.Encode(map[string]any{"gust": wire.Protocol + 1, "news": []int{1}}); err != nil {
			t.Error(err)
		}
	}()
	a.relay.Start()
	a.own(a.ask("/none"))
	<-done
	if log := a.log.String(); !strings.Contains(log, "protocol") {
		t.Errorf("the log is\n%s", log)
	}
}

// TestNoGreeting finds something else behind the socket, or nothing.
func TestNoGreeting(t *testing.T) {
	for _, words := range []string{"", "hello\n", "{}\n", strings.Repeat("x", 10000)} {
		a := arrange(t)
		l, err := socket.Listen(a.place)
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			if c, err := l.AcceptUnix(); err == nil {
				_, _ = c.Write([]byte(words))
				c.Close()
			}
		}()
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		if _, err := a.relay.Dialer.Connect(ctx); err == nil || ctx.Err() != nil {
			t.Errorf("greeted with %.20q: %v, %v", words, err, ctx.Err())
		}
		cancel()
		l.Close()
		a.relay.Start()
	}
}
