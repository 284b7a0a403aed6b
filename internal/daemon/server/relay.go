package server

import (
	"context"
	"time"

	"gust/internal/daemon/gitstatusd"
	"gust/internal/daemon/live"
	"gust/internal/daemon/socket"
	"gust/internal/daemon/wire"
)

// ackDelay is how long an answer may take before its request is acknowledged. A
// shorter one is its own acknowledgement: most cost their client one wake-up.
// Clients wait ten times as long.
const ackDelay = 5 * time.Millisecond

// A relayed is a gitstatusd at the other end of a connection.
type relayed struct {
	c        *conn
	q        live.Request // what is the same in every request
	extended bool
	out      []byte
}

// relay serves a gitstatusd: records of the classic protocol, answered in order,
// for the rest of the connection. They are answered by the goroutine that reads
// them: handing them to another one costs more than most answers do.
func (c *conn) relay(r *wire.Request) {
	c.s.mu.Lock()
	c.ttl = time.Duration(r.TTL) * time.Second
	c.s.mu.Unlock()
	c.s.setTTL()
	p := &relayed{c: c, extended: r.Extended, q: live.Request{Env: r.Environ(), Limits: r.Limits.Live()}}
	for {
		data, err := readRecord(c.r, gitstatusd.RecordSeparator)
		if err != nil {
			c.end(err)
			return
		}
		if !p.answer(data) {
			return
		}
	}
}

// answer answers one request. It reports false if nothing more must be read.
func (p *relayed) answer(data []byte) bool {
	r, err := gitstatusd.ParseRequest(data, p.extended)
	if err != nil {
		// Its gitstatusd should have said so.
		p.c.bytes(wire.AppendMessage(nil, gitstatusd.Error, err.Error()))
		return false
	}
	q := p.q
	q.Dir, q.GitDir, q.NoIndex = r.Dir, r.GitDir, r.NoIndex
	if len(r.Env) > 0 {
		var v wire.Request
		v.SetEnviron(append(q.Env[:len(q.Env):len(q.Env)], r.Env...))
		q.Env = v.Environ()
	}
	ctx, cancel := context.WithCancel(p.c.ctx)
	defer cancel()
	wait := p.c.await(cancel)
	sum, err := p.c.s.ask(ctx, questionKey(&q), q)
	wait.end()
	if ctx.Err() != nil {
		return false // it is gone, or the server cannot wait
	}
	out := p.out[:0]
	if err != nil {
		out = wire.AppendMessage(out, gitstatusd.Error, err.Error())
	}
	p.out = gitstatusd.AppendResponse(append(out, wire.Response), r.ID, sum)
	p.c.bytes(p.out)
	return true
}

// An await is a request that may take long: it is acknowledged then, and ends when
// its client has left.
type await struct {
	c      *conn
	cancel context.CancelFunc
	timer  *time.Timer
	done   chan struct{} // closed when what the timer began has ended
}

// await begins one. cancel is called when the client has left.
func (c *conn) await(cancel context.CancelFunc) *await {
	a := &await{c: c, cancel: cancel, done: make(chan struct{})}
	a.timer = time.AfterFunc(ackDelay, a.long)
	return a
}

// long acknowledges, and looks whether the client stays. Nobody reads meanwhile.
func (a *await) long() {
	defer close(a.done)
	a.c.bytes([]byte{wire.Acknowledged, gitstatusd.RecordSeparator})
	if socket.WaitHangup(a.c.c) == nil {
		a.cancel()
	}
}

// end makes the connection one to read from again.
func (a *await) end() {
	if a.timer.Stop() {
		return
	}
	_ = a.c.c.SetReadDeadline(longAgo) // fails where it is closed, which ends the wait too
	<-a.done
	a.c.resume()
}
