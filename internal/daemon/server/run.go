package server

import (
	"context"
	"io"
	"time"

	"gust/internal/daemon/gitstatusd"
	"gust/internal/daemon/live"
	"gust/internal/daemon/process"
	"gust/internal/worktree/watch"
)

// Run is the classic daemon in one process: it serves in and out with an engine
// of its own until the end of in, and returns the exit code.
func Run(ctx context.Context, o *gitstatusd.Options, in io.Reader, out, errs io.Writer, env []string) int {
	process.IgnoreBrokenPipe()
	log := NewLog(errs, o.Level)
	options := live.Options{Threads: o.Threads, TTL: o.TTL, Report: func(err error) { log.Printf(gitstatusd.Error, "%v", err) }}
	if o.Watch {
		options.Pool = watch.NewPool(watch.PoolOptions{})
		defer options.Pool.Close()
	}
	state := live.New(options)
	defer state.Close()
	s := &Stdio{
		In: in, Out: out, Handler: state.Query, Log: log, Limits: o.Limits, Env: env, Extended: o.Extended,
		Idle: func() bool {
			state.Expire(time.Now())
			return wanted(o, log)
		},
	}
	if o.LockFD < 0 && o.ParentPID < 0 && o.TTL <= 0 {
		s.Idle = nil // nothing to look at: no wake-ups
	}
	if err := s.Serve(ctx); err != nil {
		log.Printf(gitstatusd.Warn, "%v", err)
	}
	return gitstatusd.ExitOK
}

// wanted reports whether somebody is left to answer.
func wanted(o *gitstatusd.Options, log *Log) bool {
	if o.LockFD >= 0 {
		held, err := process.LockHeld(o.LockFD)
		if err != nil {
			log.Printf(gitstatusd.Warn, "cannot look at the lock on descriptor %d: %v", o.LockFD, err)
		}
		if !held {
			return false
		}
	}
	return o.ParentPID < 0 || process.Alive(o.ParentPID)
}
