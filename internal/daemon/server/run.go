package server

import (
	"context"
	"fmt"
	"io"
	"runtime/debug"
	"sync"
	"time"

	"gust/internal/daemon/gitstatusd"
	"gust/internal/daemon/live"
	"gust/internal/daemon/process"
	"gust/internal/pure/summary"
	"gust/internal/worktree/watch"
)

// A Local answers the classic protocol with an engine of its own, which it makes
// when it is first needed. Its methods are for one goroutine.
type Local struct {
	O   *gitstatusd.Options
	Env []string // of this process, NAME=value
	Log *Log

	state *live.State
	pool  *watch.Pool // nil: poll

	freeing sync.WaitGroup
}

// firstGCPercent is how much the heap may grow before it is collected while the
// first answer is made, in percent.
const firstGCPercent = 400

// Respond is a Responder.
func (l *Local) Respond(ctx context.Context, q *gitstatusd.Request, _, dst []byte) []byte {
	if l.state == nil {
		// Nearly all that the first answer makes is kept: the garbage collector would
		// look through it in vain, while somebody waits.
		defer debug.SetGCPercent(debug.SetGCPercent(firstGCPercent))
		options := live.Options{Threads: l.O.Threads, TTL: l.O.TTL, Report: l.Log.problem}
		if l.O.Watch {
			l.pool = watch.NewPool(watch.PoolOptions{})
			options.Pool, options.Eager = l.pool, true
		}
		l.state = live.New(options)
	}
	env := l.Env
	if l.O.Extended && len(q.Env) > 0 {
		env = append(env[:len(env):len(env)], q.Env...)
	}
	sum, err := query(ctx, l.state, live.Request{Dir: q.Dir, GitDir: q.GitDir, Env: env, NoIndex: q.NoIndex, Limits: l.O.Limits})
	if err != nil {
		l.Log.problem(err)
	}
	return gitstatusd.AppendResponse(dst, q.ID, sum)
}

// Free frees the engine, and with it what it knows, beside what comes next, which
// may be an answer of a new one.
func (l *Local) Free() {
	if l.state == nil {
		return
	}
	closeEngine := l.take()
	l.freeing.Go(func() {
		closeEngine()
		// The pages go back at once: who needed an engine once may stay for days
		// without.
		debug.FreeOSMemory()
	})
}

// Close frees the engine of a process that ends, whose pages the system takes.
func (l *Local) Close() {
	if l.state != nil {
		l.take()()
	}
	l.freeing.Wait()
}

// take leaves l without an engine and returns what closes the one it had.
func (l *Local) take() func() {
	state, pool := l.state, l.pool
	l.state, l.pool = nil, nil
	return func() {
		state.Close()
		if pool != nil {
			pool.Close()
		}
	}
}

// Expire frees repositories that were not asked for since the TTL, and returns
// after how long to look again; 0: nothing is left to free.
func (l *Local) Expire() (again time.Duration) {
	if l.state == nil || l.O.TTL <= 0 || l.state.Expire(time.Now()) == 0 {
		return 0
	}
	return min(l.O.TTL, time.Minute)
}

// An engine answers requests; live.State is one.
type engine interface {
	Query(ctx context.Context, q live.Request) (*summary.Summary, error)
}

// query asks e. A panic is one lost answer, not a lost daemon.
func query(ctx context.Context, e engine, q live.Request) (sum *summary.Summary, err error) {
	defer func() {
		if p := recover(); p != nil {
			sum, err = nil, &panicError{what: fmt.Sprintf("panic while answering '%s': %v", q.Dir, p), stack: debug.Stack()}
		}
	}()
	return e.Query(ctx, q)
}

// A panicError is what became of a request.
type panicError struct {
	what  string
	stack []byte
}

func (e *panicError) Error() string { return e.what }

// Run is the classic daemon: it serves in and out with respond until the end of
// in, or until nobody is left to answer, and returns the exit code. local is the
// engine that respond may use; Run closes it.
func Run(ctx context.Context, local *Local, respond Responder, in io.Reader, out io.Writer) int {
	process.IgnoreBrokenPipe()
	o, log := local.O, local.Log
	defer local.Close()
	s := &Stdio{In: in, Out: out, Respond: respond, Log: log, Extended: o.Extended}
	g := guard{o: o, log: log, local: local}
	s.Idle, s.Gone = g.idle, g.watch()
	if err := s.Serve(ctx); err != nil {
		log.Printf(gitstatusd.Warn, "%v", err)
	}
	return gitstatusd.ExitOK
}

// A guard knows whether somebody is left to answer.
type guard struct {
	o     *gitstatusd.Options
	log   *Log
	local *Local

	once           sync.Once // closes gone
	gone           chan struct{}
	parent, locked bool // watched: they need no look
}

// watch returns a channel that is closed when nobody is left, as far as the
// system tells without being asked.
func (g *guard) watch() <-chan struct{} {
	g.gone = make(chan struct{})
	if g.o.ParentPID >= 0 {
		if exited := process.Exited(g.o.ParentPID); exited != nil {
			g.parent = true
			g.follow(exited)
		}
	}
	return g.gone
}

// follow closes g.gone after ch.
func (g *guard) follow(ch <-chan struct{}) {
	go func() { // until the end of this process, as what it waits for
		<-ch
		g.once.Do(func() { close(g.gone) })
	}()
}

// idle is Stdio.Idle: it looks at what must be looked at.
func (g *guard) idle() (again time.Duration, done bool) {
	again = g.local.Expire()
	if g.o.ParentPID >= 0 && !g.parent {
		if !process.Alive(g.o.ParentPID) {
			return 0, true
		}
		again = idlePeriod
	}
	if g.o.LockFD >= 0 && !g.locked {
		held, err := process.LockHeld(g.o.LockFD)
		if err != nil {
			g.log.Printf(gitstatusd.Warn, "cannot look at the lock on descriptor %d: %v", g.o.LockFD, err)
		}
		if !held {
			return 0, true
		}
		again = idlePeriod
		if free := process.Unlocked(g.o.LockFD); free != nil {
			g.locked, again = true, g.local.Expire()
			g.follow(free)
		}
	}
	return again, false
}
