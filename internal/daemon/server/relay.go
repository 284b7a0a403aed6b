package server

import (
	"context"
	"errors"
	"time"

	"gust/internal/daemon/gitstatusd"
	"gust/internal/daemon/live"
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

	answered bool // guarded by c.wmu
	out      []byte
}

// relay serves a gitstatusd: records of the classic protocol, answered in order,
// for the rest of the connection.
func (c *conn) relay(r *wire.Request) {
	c.s.mu.Lock()
	c.ttl = time.Duration(r.TTL) * time.Second
	c.s.mu.Unlock()
	c.s.setTTL()
	p := &relayed{c: c, extended: r.Extended, q: live.Request{Env: r.Environ(), Limits: r.Limits.Live()}}
	records := make(chan []byte)
	c.work.Add(1)
	go func() {
		defer c.work.Done()
		for data := range records {
			p.answer(data)
		}
	}()
	for {
		data, err := readRecord(c.r, gitstatusd.RecordSeparator)
		if err != nil {
			close(records)
			c.end(err)
			return
		}
		select {
		case records <- append([]byte(nil), data...):
		case <-c.ctx.Done():
			close(records)
			return
		}
	}
}

// answer answers one request.
func (p *relayed) answer(data []byte) {
	r, err := gitstatusd.ParseRequest(data, p.extended)
	if err != nil {
		// Its gitstatusd should have said so.
		p.write(wire.AppendMessage(nil, gitstatusd.Error, err.Error()))
		p.c.c.Close()
		return
	}
	q := p.q
	q.Dir, q.GitDir, q.NoIndex = r.Dir, r.GitDir, r.NoIndex
	if len(r.Env) > 0 {
		var v wire.Request
		v.SetEnviron(append(q.Env[:len(q.Env):len(q.Env)], r.Env...))
		q.Env = v.Environ()
	}
	p.setAnswered(false)
	ack := time.AfterFunc(ackDelay, func() {
		p.c.wmu.Lock()
		defer p.c.wmu.Unlock()
		if !p.answered {
			p.c.write([]byte{wire.Acknowledged, gitstatusd.RecordSeparator})
		}
	})
	defer ack.Stop()
	sum, err := p.c.s.ask(p.c.ctx, questionKey(&q), q)
	if p.c.ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return // it is gone
	}
	out := p.out[:0]
	if err != nil {
		out = wire.AppendMessage(out, gitstatusd.Error, err.Error())
	}
	out = gitstatusd.AppendResponse(append(out, wire.Response), r.ID, sum)
	p.out = out
	p.write(out)
}

func (p *relayed) setAnswered(is bool) {
	p.c.wmu.Lock()
	defer p.c.wmu.Unlock()
	p.answered = is
}

// write writes the end of an answer.
func (p *relayed) write(data []byte) {
	p.c.wmu.Lock()
	defer p.c.wmu.Unlock()
	p.answered = true
	p.c.write(data)
}
