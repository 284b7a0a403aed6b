package server

import (
	"context"
	"errors"
	"io"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"gust/internal/daemon/gitstatusd"
	"gust/internal/daemon/live"
	"gust/internal/daemon/process"
	"gust/internal/daemon/socket"
	"gust/internal/daemon/wire"
	"gust/internal/worktree/watch"
)

// Argument is the first argument of a program of gust that is to be a server in
// the background. It is for programs, not for people, who have `gust server`.
const Argument = "--gust-server-process"

// ProcessName is what the system's lists of processes show of a server in the
// background: whoever looks for the gitstatusd of a shell is not to find it.
const ProcessName = "gust-server"

// idleArgument begins the argument that says after how long without a client the
// server ends.
const idleArgument = "--idle-exit="

// EagerArgument makes the server watch repositories from their first answer on;
// see live.Options.
const EagerArgument = "--watch-at-once"

// memoryLimit is the soft limit of the Go heap, in bytes: beyond it, the garbage
// collector works harder.
const memoryLimit = 512 << 20

// ProcessOptions say how a process is a server.
type ProcessOptions struct {
	Env        []string  // NAME=value, of this process
	Foreground bool      // for somebody who looks: messages go to Errs
	Errs       io.Writer // standard error
	IdleExit   time.Duration
	Eager      bool // see live.Options
}

// ProcessArgs returns the options of a server in the background from the
// arguments of a program, without its name; ok is false if they are for something
// else.
func ProcessArgs(args, env []string) (o ProcessOptions, ok bool) {
	if len(args) == 0 || args[0] != Argument {
		return o, false
	}
	o = ProcessOptions{Env: env, Errs: io.Discard}
	for _, arg := range args[1:] {
		if value, ok := strings.CutPrefix(arg, idleArgument); ok {
			// What is no duration leaves the standard one: nobody would read a message.
			o.IdleExit, _ = time.ParseDuration(value)
		}
		o.Eager = o.Eager || arg == EagerArgument
	}
	return o, true
}

// Process is a whole server process: it serves the user's socket until nobody
// needs it, and returns the exit code.
func Process(ctx context.Context, o ProcessOptions) int {
	process.Umask(0o077)
	if !o.Foreground {
		process.SetName(ProcessName)
	}
	if o.Foreground {
		process.IgnoreBrokenPipe() // of Errs
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	signals, stop := process.Terminated()
	defer stop()
	go func() {
		select {
		case <-signals:
			cancel()
		case <-ctx.Done():
		}
	}()
	lookup := Lookup(o.Env)
	log, closeLog := openLog(&o, lookup)
	defer closeLog()
	l, err := listen(lookup)
	if err != nil {
		if errors.Is(err, socket.ErrServed) && !o.Foreground {
			return 0 // what was wanted is there
		}
		log.Printf(gitstatusd.Error, "cannot serve: %v", err)
		return 1
	}
	debug.SetMemoryLimit(memoryLimit)
	pool := watch.NewPool(watch.PoolOptions{})
	defer pool.Close()
	state := live.New(live.Options{Threads: runtime.GOMAXPROCS(0), TTL: defaultTTL, Pool: pool, Eager: o.Eager, Report: log.problem})
	defer state.Close()
	build := wire.ThisBuild()
	log.Printf(gitstatusd.Info, "serving %s, build %s", l.Path(), build.Version)
	if err := New(state, log, Options{Build: build, IdleExit: o.IdleExit, Watches: func() int { return pool.Stats().Watches }}).Serve(ctx, l); err != nil {
		log.Printf(gitstatusd.Error, "%v", err)
		return 1
	}
	log.Printf(gitstatusd.Info, "finished")
	return 0
}

// openLog opens the log of a server process. One that cannot write any is a
// server all the same.
func openLog(o *ProcessOptions, lookup func(string) (string, bool)) (*Log, func()) {
	if o.Foreground {
		return NewLog(o.Errs, gitstatusd.Info), func() {}
	}
	if path := LogPath(lookup); path != "" {
		if f, err := openLogFile(path, maxLog, crashesTo); err == nil {
			return NewLog(f, gitstatusd.Info), f.Close
		}
	}
	return NewLog(io.Discard, gitstatusd.Fatal), func() {}
}

// listen returns the listener of this process: systemd's, or one of its own.
func listen(lookup func(string) (string, bool)) (*socket.Listener, error) {
	if l, err := socket.Inherited(lookup); l != nil || err != nil {
		return l, err
	}
	place, err := socket.Locate(lookup)
	if err != nil {
		return nil, err
	}
	return socket.Listen(place)
}

// Lookup returns os.LookupEnv for env, a list of NAME=value of which the last of
// a name counts.
func Lookup(env []string) func(name string) (string, bool) {
	return func(name string) (string, bool) {
		for i := len(env) - 1; i >= 0; i-- {
			if n, value, ok := strings.Cut(env[i], "="); ok && n == name {
				return value, true
			}
		}
		return "", false
	}
}
