package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"gust/internal/daemon/live"
	"gust/internal/daemon/wire"
	"gust/internal/pure/summary"
)

// begin starts to answer a query.
func (c *conn) begin(r *wire.Request) {
	q, err := r.Live()
	if err != nil {
		c.send(wire.Answer{ID: r.ID, Error: err.Error()})
		return
	}
	select {
	case c.slots <- struct{}{}: // a client with so much in flight waits
	case <-c.ctx.Done():
		return
	}
	parent := c.ctx
	ctx, cancel := context.WithCancel(parent)
	if r.ID != "" && !c.register(r.ID, cancel) {
		cancel()
		<-c.slots
		c.send(wire.Answer{Error: fmt.Sprintf("request '%.200s' is already in flight", r.ID)})
		return
	}
	c.send(wire.Answer{ID: r.ID, Ack: true})
	c.work.Add(1)
	go func() {
		defer c.work.Done()
		defer func() { <-c.slots }()
		defer cancel()
		p := pending{c: c, id: r.ID, q: q, key: questionKey(&q), deadline: time.Duration(max(r.Deadline, 0)) * time.Millisecond}
		var line []byte
		if r.Subscribe {
			p.subscribe(ctx)
		} else {
			line = p.ask(ctx)
		}
		c.unregister(r.ID) // before the last word: who hears it may use the ID again
		switch {
		case line != nil:
			c.bytes(line)
		case ctx.Err() != nil && c.ctx.Err() == nil:
			c.send(wire.Answer{ID: r.ID, Error: "canceled"})
		}
	}()
}

func (c *conn) register(id string, cancel context.CancelFunc) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.active[id]; ok {
		return false
	}
	if c.active == nil {
		c.active = make(map[string]context.CancelFunc)
	}
	c.active[id] = cancel
	return true
}

func (c *conn) unregister(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.active, id)
}

// A pending is a query on its way.
type pending struct {
	c        *conn
	id       string
	q        live.Request
	key      string
	deadline time.Duration // of the next answer; 0: none
}

// ask returns the complete answer as a line, nil if ctx has ended. If the
// deadline comes first, it says so with what was last known.
func (p *pending) ask(ctx context.Context) []byte {
	var late *time.Timer
	if p.deadline > 0 {
		told := make(chan struct{})
		late = time.AfterFunc(p.deadline, func() {
			defer close(told)
			p.c.send(partial(p.id, p.c.s.known.get(p.key)))
		})
		defer func() {
			if !late.Stop() {
				<-told
			}
		}()
	}
	sum, err := p.c.s.ask(ctx, p.key, p.q)
	if ctx.Err() != nil || errors.Is(err, context.Canceled) {
		return nil
	}
	return wire.AppendLine(nil, wire.AnswerOf(p.id, sum, err))
}

// partial returns the answer of a server that does not know yet: what it knew
// last, or nothing.
func partial(id string, last *summary.Summary) wire.Answer {
	complete := false
	if last == nil {
		return wire.Answer{ID: id, Complete: &complete}
	}
	a := wire.AnswerOf(id, last, nil)
	a.Complete, a.Stale = &complete, true
	return a
}

// subscribe writes the answer, and another one whenever it is another, until ctx
// or the server ends.
func (p *pending) subscribe(ctx context.Context) {
	s := p.c.s
	s.count(1)
	defer s.count(-1)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.subs, cancel)()
	var last []byte
	changed, stop := s.changes(p.q)
	defer func() { stop() }()
	// A repository is watched once it was asked about again: soon, then.
	poll := s.o.Poll / 8
	for {
		start := time.Now()
		line := p.ask(ctx)
		if line == nil {
			return
		}
		p.deadline = 0
		if !bytes.Equal(line, last) {
			p.c.bytes(line)
			last = line
		}
		took := time.Since(start)
		if changed == nil {
			// Nobody tells. At most a tenth of the time goes into looking.
			if !sleep(ctx, max(poll, 10*took)) {
				return
			}
			poll = min(2*poll, s.o.Poll)
			stop()
			changed, stop = s.changes(p.q)
			continue
		}
		select {
		case <-ctx.Done():
			return
		case _, ok := <-changed:
			if !ok {
				changed = nil
			}
		}
		if !sleep(ctx, max(debounce, 4*took)) {
			return
		}
		// Anew, since another repository may be there by now. What the answer to come
		// will know needs no token.
		old := stop
		changed, stop = s.changes(p.q)
		old()
	}
}

// changes asks the engine to tell of changes.
func (s *Server) changes(q live.Request) (<-chan struct{}, func()) {
	if e, ok := s.engine.(changer); ok {
		ch, stop := e.Changed(q)
		if stop == nil {
			stop = func() {}
		}
		return ch, stop
	}
	return nil, func() {}
}

// count counts a subscription.
func (s *Server) count(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.subscribed += n
}

// sleep waits for d, and reports false if ctx ended before.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
