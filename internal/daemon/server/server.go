package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"sync"
	"time"

	"gust/internal/daemon/gitstatusd"
	"gust/internal/daemon/live"
	"gust/internal/daemon/socket"
	"gust/internal/daemon/wire"
	"gust/internal/pure/summary"
)

// A changer tells when an answer may be another. The channel receives a token
// when q's repository may have changed since; it is nil where that is not known,
// and closed where it is not known any more. stop must be called in any case.
type changer interface {
	Changed(q live.Request) (ch <-chan struct{}, stop func())
}

// An expirer frees what was not asked for since the TTL, and returns how many
// repositories are left.
type expirer interface{ Expire(now time.Time) int }

// A ttlSetter can be told how long to keep repositories; 0 is for ever.
type ttlSetter interface{ SetTTL(time.Duration) }

// A lister tells of its repositories.
type lister interface {
	Repositories() []live.RepositoryStatus
}

// A dropper forgets what it knows of q's repository, which a panic may have left
// in disorder.
type dropper interface {
	Drop(q live.Request)
}

// Options configure a Server. The zero value is what users get.
type Options struct {
	Build wire.Build
	// Watches returns the number of directories that are watched. It may be nil.
	Watches func() int

	IdleExit     time.Duration // without clients; 0: defaultIdleExit
	WriteTimeout time.Duration // for a client that does not read; 0: defaultWriteTimeout
	Poll         time.Duration // of subscriptions that no change is told of; 0: defaultPoll
	Grace        time.Duration // to answer what was asked before the end; 0: defaultGrace
}

const (
	// defaultIdleExit is long enough for somebody between two shells.
	defaultIdleExit = 15 * time.Minute
	// defaultWriteTimeout is longer than a shell is ever stopped in passing, and a
	// socket holds some hundred answers until then.
	defaultWriteTimeout = 10 * time.Second
	// defaultPoll is how old what a subscriber sees may be in a repository that is
	// not watched.
	defaultPoll = 2 * time.Second
	// debounce joins the many changes that one command makes.
	debounce = 50 * time.Millisecond
	// defaultGrace is longer than any scan takes.
	defaultGrace = 30 * time.Second
	// defaultTTL is gitstatusd's.
	defaultTTL = time.Hour
	// maxClients is far above what one person opens, and below the usual limit of
	// 1,024 descriptors, which repositories need too.
	maxClients = 512
	// maxInFlight bounds the work, and the memory, of one connection.
	maxInFlight = 32
)

// A Server answers the clients of one user.
type Server struct {
	o      Options
	engine engine
	log    *Log

	flights flights
	known   known
	stats   stats
	started time.Time
	clients sync.WaitGroup

	ctx     context.Context // ends when what is in flight may not be waited for
	cancel  context.CancelFunc
	subs    context.Context // ends when the server begins to finish
	endSubs context.CancelFunc

	mu         sync.Mutex // guards what follows
	listener   *socket.Listener
	conns      map[*conn]struct{}
	finishing  bool
	idle       *time.Timer // runs while there is no client
	expire     *time.Timer // runs while the engine holds repositories
	expiring   bool
	subscribed int
}

// New returns a Server over e, which is used by many goroutines at once and may
// also be a changer, an expirer, a ttlSetter, a dropper and a lister.
func New(e engine, log *Log, o Options) *Server {
	or := func(d *time.Duration, standard time.Duration) {
		if *d <= 0 {
			*d = standard
		}
	}
	or(&o.IdleExit, defaultIdleExit)
	or(&o.WriteTimeout, defaultWriteTimeout)
	or(&o.Poll, defaultPoll)
	or(&o.Grace, defaultGrace)
	s := &Server{o: o, engine: e, log: log, started: time.Now(), conns: make(map[*conn]struct{})}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.subs, s.endSubs = context.WithCancel(s.ctx)
	return s
}

// Serve answers clients of l until ctx ends, a client asks for the end, or nobody
// needs the server any more. It closes l at once then, so that another server can
// begin, answers what it was asked before, and returns when all is answered.
func (s *Server) Serve(ctx context.Context, l *socket.Listener) error {
	defer s.cancel()
	s.mu.Lock()
	s.listener = l
	s.idle = time.AfterFunc(s.o.IdleExit, s.idleExit)
	s.mu.Unlock()
	defer context.AfterFunc(ctx, func() { s.Finish("asked to end") })()
	err := s.accept(l)
	s.Finish("cannot accept clients")
	grace := time.AfterFunc(s.o.Grace, s.abandon)
	s.clients.Wait()
	grace.Stop()
	s.cancel()
	s.flights.wg.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.idle.Stop()
	if s.expire != nil {
		s.expire.Stop()
	}
	return err
}

// Finish makes Serve return once what is in flight is answered. It does not wait.
func (s *Server) Finish(why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.finishing || s.listener == nil {
		return
	}
	s.finishing = true
	s.log.Printf(gitstatusd.Info, "finishing: %s", why)
	if err := s.listener.Close(); err != nil {
		s.log.Printf(gitstatusd.Warn, "cannot close the socket: %v", err)
	}
	s.endSubs()
	for c := range s.conns {
		c.finish()
	}
}

// abandon leaves what was not answered in time.
func (s *Server) abandon() {
	s.log.Printf(gitstatusd.Warn, "leaving requests unanswered after %v", s.o.Grace)
	s.cancel()
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		c.c.Close()
	}
}

func (s *Server) accept(l *socket.Listener) error {
	for {
		c, err := l.AcceptUnix()
		switch {
		case errors.Is(err, net.ErrClosed):
			return nil
		case err != nil:
			// Out of descriptors, mostly: clients go, and with them the trouble.
			s.log.Printf(gitstatusd.Error, "cannot accept a client: %v", err)
			select {
			case <-time.After(100 * time.Millisecond):
			case <-s.subs.Done():
				return nil
			}
			continue
		}
		s.add(c)
	}
}

// add begins to serve a client.
func (s *Server) add(u *net.UnixConn) {
	if err := socket.CheckPeer(u); err != nil {
		s.log.Printf(gitstatusd.Warn, "client refused: %v", err)
		u.Close()
		return
	}
	c := newConn(s, u)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.finishing || len(s.conns) >= maxClients {
		c.refuse("", fmt.Errorf("there are %d clients already", len(s.conns))) // fits into an empty socket
		u.Close()
		return
	}
	s.idle.Stop()
	s.conns[c] = struct{}{}
	s.clients.Add(1)
	go func() {
		defer s.clients.Done()
		c.serve()
		s.remove(c)
	}()
}

// remove ends the books on a client that left.
func (s *Server) remove(c *conn) {
	s.mu.Lock()
	delete(s.conns, c)
	last := len(s.conns) == 0 && !s.finishing
	if last {
		s.idle.Reset(s.o.IdleExit)
	}
	s.mu.Unlock()
	s.setTTL()
	if last && s.listener.Lost() {
		s.Finish("the socket is gone, and so are all clients")
	}
}

// idleExit is called when there was no client for long.
func (s *Server) idleExit() {
	s.mu.Lock()
	idle := len(s.conns) == 0
	s.mu.Unlock()
	if idle {
		s.Finish(fmt.Sprintf("no client for %v", s.o.IdleExit))
	}
}

// ask asks the engine, together with all who ask the same. key is questionKey(q).
func (s *Server) ask(ctx context.Context, key string, q live.Request) (*summary.Summary, error) {
	return s.flights.do(ctx, key, func(ctx context.Context) (*summary.Summary, error) {
		start := time.Now()
		sum, err := query(ctx, s.engine, q)
		var p *panicError
		if errors.As(err, &p) {
			s.log.problem(err)
			if d, ok := s.engine.(dropper); ok {
				d.Drop(q)
			}
		}
		if ctx.Err() == nil {
			s.stats.add(q.Dir, sum, err, time.Since(start))
			s.known.put(key, sum)
		}
		s.armExpire()
		return sum, err
	})
}

// armExpire sees to it that what was asked for now is freed in time.
func (s *Server) armExpire() {
	e, ok := s.engine.(expirer)
	if !ok {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	ttl := s.ttl()
	if s.expiring || s.finishing || ttl == 0 {
		return
	}
	s.expiring = true
	// Twice as often as need be: a repository stays for the TTL and half of it at
	// the most. At most once a second, as -r 0 would have it.
	every := max(ttl/2, time.Second)
	s.expire = time.AfterFunc(every, func() {
		left := e.Expire(time.Now())
		s.mu.Lock()
		s.expiring = false
		s.mu.Unlock()
		if left > 0 {
			s.armExpire()
		}
	})
}

// ttl returns the longest TTL that a client asks for; 0 is for ever. s.mu is held.
func (s *Server) ttl() time.Duration {
	var longest time.Duration
	for c := range s.conns {
		switch {
		case c.ttl < 0:
			return 0
		case c.ttl > longest:
			longest = c.ttl
		}
	}
	if longest == 0 {
		return defaultTTL
	}
	return longest
}

// setTTL tells the engine which TTL holds now.
func (s *Server) setTTL() {
	e, ok := s.engine.(ttlSetter)
	if !ok {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	e.SetTTL(s.ttl())
}

// status returns what there is to say about the server.
func (s *Server) status() *wire.ServerStatus {
	st := &wire.ServerStatus{
		Protocol: wire.Protocol, Build: s.o.Build, PID: os.Getpid(), Uptime: int(time.Since(s.started).Seconds()),
		Goroutines: runtime.NumGoroutine(), Memory: memory(),
	}
	if s.o.Watches != nil {
		st.Watches = s.o.Watches()
	}
	s.mu.Lock()
	st.Clients, st.Subscriptions = len(s.conns), s.subscribed
	st.Socket = s.listener.Path()
	s.mu.Unlock()
	var kept []live.RepositoryStatus
	if e, ok := s.engine.(lister); ok {
		kept = e.Repositories()
	}
	st.Queries, st.Repositories = s.stats.report(kept)
	return st
}

// memory returns the bytes that the Go runtime holds, without those that it gave
// back.
func memory() int {
	var m runtime.MemStats // package runtime/metrics costs every process 0.3 ms at its start
	runtime.ReadMemStats(&m)
	return int(m.Sys - m.HeapReleased)
}
