package filter

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"

	"gust/internal/pure/pktline"
)

// maxList is the number of lines in a list, such as that of capabilities, from
// which on a process is taken to babble.
const maxList = 256

// A process is a running filter.<name>.process. One file is cleaned at a time.
type process struct {
	command string
	cmd     *exec.Cmd
	cancel  context.CancelFunc
	in      io.WriteCloser
	out     io.ReadCloser

	mu    sync.Mutex // guards what follows, and the conversation; taken before Runner.mu
	conn  *conversation
	dead  bool
	abort bool // it said "abort": it will not clean any more
}

// runProcess cleans src with the process for command, which is started if it
// does not run.
func (r *Runner) runProcess(ctx context.Context, command, path string, src []byte) ([]byte, error) {
	p, err := r.process(command)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.abort {
		return nil, errRefused
	}
	if p.dead {
		return nil, errors.New("filter process is gone")
	}
	// The pipes have no deadline of their own.
	stop := context.AfterFunc(ctx, p.kill)
	defer stop()
	if p.conn.client == nil {
		err = p.conn.begin(p.in)
	}
	var out []byte
	if err == nil {
		out, err = p.conn.clean(path, src)
	}
	switch {
	case err == nil:
		return out, nil
	case errors.Is(err, errAborted):
		p.abort = true
		return nil, errRefused
	case errors.Is(err, errRefused):
		return nil, err
	}
	// Git starts a failed process anew for the next file.
	p.dead = true
	r.forget(p)
	p.end()
	return nil, err
}

// process returns the process for command, starting it if need be.
func (r *Runner) process(command string) (*process, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, ErrClosed
	}
	if p := r.processes[command]; p != nil {
		return p, nil
	}
	ctx, cancel := context.WithCancel(context.Background())
	cmd := r.command(ctx, command)
	in, err := cmd.StdinPipe()
	if err != nil {
		cancel()
		return nil, fmt.Errorf("cannot start filter process: %w", err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		cancel()
		return nil, fmt.Errorf("cannot start filter process: %w", err)
	}
	if err := cmd.Start(); err != nil {
		cancel()
		return nil, fmt.Errorf("cannot start filter process: %w", err)
	}
	p := &process{command: command, cmd: cmd, cancel: cancel, in: in, out: out, conn: newConversation(out, r.maxOutput)}
	r.processes[command] = p
	return p, nil
}

// forget removes p, so that the next use starts another process.
func (r *Runner) forget(p *process) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.processes[p.command] == p {
		delete(r.processes, p.command)
	}
}

// close tells the process that there is no more to do, as Git does by closing
// its input, and waits for it, but not for ever.
func (p *process) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dead {
		return
	}
	p.dead = true
	p.in.Close()
	done := make(chan struct{})
	go func() {
		defer close(done)
		// Its answer to the end is nothing; reading sees it close its output.
		io.Copy(io.Discard, p.out)
	}()
	ctx, cancel := context.WithTimeout(context.Background(), timeLimit)
	defer cancel()
	stop := context.AfterFunc(ctx, p.kill)
	defer stop()
	<-done
	p.end()
}

// kill ends the process and whatever its pipes are waited for: a child that
// outlives it may hold the other ends.
func (p *process) kill() {
	p.cancel()
	p.in.Close()
	p.out.Close()
}

// end kills the process and waits for it.
func (p *process) end() {
	p.kill()
	// The error says that it was killed.
	_ = p.cmd.Wait()
}

// A conversation is the protocol of gitattributes(5), "Long Running Filter
// Process", over a pair of streams.
type conversation struct {
	client io.Writer // nil before begin
	lines  *pktline.Reader
	more   int // bytes that an answer may be longer than the content
}

// errAborted is the status that ends all cleaning.
var errAborted = errors.New("filter process aborted")

func newConversation(out io.Reader, more int) *conversation {
	return &conversation{lines: pktline.NewReader(bufio.NewReader(out)), more: more}
}

// begin shakes hands and makes sure that the process can clean.
func (c *conversation) begin(in io.Writer) error {
	c.client = in
	b := pktline.AppendLine(nil, "git-filter-client\n")
	b = pktline.AppendLine(b, "version=2\n")
	b = pktline.AppendFlush(b)
	if _, err := in.Write(b); err != nil {
		return fmt.Errorf("cannot greet filter process: %w", err)
	}
	greeting, err := c.list()
	if err != nil {
		return err
	}
	if len(greeting) != 2 || greeting[0] != "git-filter-server" || greeting[1] != "version=2" {
		return fmt.Errorf("%w: greeting %q", ErrProtocol, greeting)
	}
	b = pktline.AppendLine(b[:0], "capability=clean\n")
	b = pktline.AppendFlush(b)
	if _, err := in.Write(b); err != nil {
		return fmt.Errorf("cannot greet filter process: %w", err)
	}
	capabilities, err := c.list()
	if err != nil {
		return err
	}
	for _, s := range capabilities {
		if s == "capability=clean" {
			return nil
		}
	}
	return errAborted
}

// clean sends one file and returns the answer.
func (c *conversation) clean(path string, src []byte) ([]byte, error) {
	limit := len(src) + c.more
	if len(path) > pktline.MaxPayload-len("pathname=\n") {
		return nil, errRefused
	}
	b := pktline.AppendLine(nil, "command=clean\n")
	b = pktline.AppendLine(b, "pathname="+path+"\n")
	b = pktline.AppendFlush(b)
	for len(src) > 0 {
		n := min(len(src), pktline.MaxPayload)
		b = pktline.AppendLine(b, src[:n])
		if _, err := c.client.Write(b); err != nil {
			return nil, fmt.Errorf("cannot write to filter process: %w", err)
		}
		src, b = src[n:], b[:0]
	}
	if _, err := c.client.Write(pktline.AppendFlush(b)); err != nil {
		return nil, fmt.Errorf("cannot write to filter process: %w", err)
	}
	status, err := c.status("")
	if err != nil {
		return nil, err
	}
	if status != "success" {
		return nil, refusal(status)
	}
	out, err := c.content(limit)
	if err != nil {
		return nil, err
	}
	if status, err = c.status(status); err != nil {
		return nil, err
	}
	if status != "success" {
		return nil, refusal(status)
	}
	return out, nil
}

// refusal returns the error for a status other than success.
func refusal(status string) error {
	switch status {
	case "abort":
		return errAborted
	case "error":
		return errRefused
	}
	return fmt.Errorf("%w: status %q", ErrProtocol, status)
}

// status reads a list and returns the last status in it, or old.
func (c *conversation) status(old string) (string, error) {
	lines, err := c.list()
	if err != nil {
		return "", err
	}
	for _, s := range lines {
		if v, ok := strings.CutPrefix(s, "status="); ok {
			old = v
		}
	}
	return old, nil
}

// list reads lines up to a flush, each without its line feed.
func (c *conversation) list() ([]string, error) {
	var lines []string
	for {
		kind, payload, err := c.lines.Next()
		switch {
		case err != nil:
			return nil, fmt.Errorf("cannot read from filter process: %w", err)
		case kind == pktline.Flush:
			return lines, nil
		case kind != pktline.Data || len(lines) == maxList:
			return nil, fmt.Errorf("%w: a list does not end", ErrProtocol)
		}
		lines = append(lines, strings.TrimSuffix(string(payload), "\n"))
	}
}

// content reads content of at most limit bytes up to a flush.
func (c *conversation) content(limit int) ([]byte, error) {
	out := []byte{}
	for {
		kind, payload, err := c.lines.Next()
		switch {
		case err != nil:
			return nil, fmt.Errorf("cannot read from filter process: %w", err)
		case kind == pktline.Flush:
			return out, nil
		case kind != pktline.Data:
			return nil, fmt.Errorf("%w: mark inside content", ErrProtocol)
		case len(out)+len(payload) > limit:
			return nil, ErrTooMuchOutput
		}
		out = append(out, payload...)
	}
}
