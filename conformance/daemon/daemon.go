// Package daemon runs the gitstatusd under test and speaks its protocol. It is
// for tests only.
package daemon

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"gust/internal/gittest"
)

// patience is how long a response may take before the daemon counts as hung. It
// is no measurement: a loaded machine may stall a process for seconds.
const patience = 60 * time.Second

// A Daemon is one running gitstatusd. Its methods are for one goroutine.
type Daemon struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	stderr lockedBuffer
	exited chan error
	asked  int
}

// A lockedBuffer collects what the daemon logs.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// Start runs the gitstatusd at path.
func Start(path string, env []string, args ...string) (*Daemon, error) {
	d := &Daemon{cmd: exec.Command(path, args...), exited: make(chan error, 1)}
	d.cmd.Env = env
	d.cmd.Stderr = &d.stderr
	in, err := d.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	// A pipe of our own: cmd.Wait closes the one that StdoutPipe makes, maybe
	// before the last response was read.
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	d.in, d.cmd.Stdout, d.out = in, w, bufio.NewReader(r)
	err = d.cmd.Start()
	w.Close()
	if err != nil {
		r.Close()
		return nil, err
	}
	go func() {
		d.exited <- d.cmd.Wait()
	}()
	return d, nil
}

// For starts a gitstatusd that ends with the test, in e's environment.
func For(t testing.TB, path string, e *gittest.Env, args ...string) *Daemon {
	t.Helper()
	d, err := Start(path, e.Environ(), args...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Errorf("gitstatusd at the end of its input: %v", err)
		}
	})
	return d
}

// Log returns what the daemon has written to its standard error.
func (d *Daemon) Log() string { return d.stderr.String() }

// PID returns the process ID.
func (d *Daemon) PID() int { return d.cmd.Process.Pid }

// Send writes raw bytes to the daemon.
func (d *Daemon) Send(raw string) error {
	_, err := io.WriteString(d.in, raw)
	return err
}

// Receive returns the next response, without its record separator.
func (d *Daemon) Receive() (string, error) {
	watchdog := time.AfterFunc(patience, func() { _ = d.cmd.Process.Kill() })
	raw, err := d.out.ReadString(30)
	if !watchdog.Stop() {
		return "", fmt.Errorf("no response for %v; log:\n%s", patience, d.Log())
	}
	if err != nil {
		return "", fmt.Errorf("instead of a response: %w; read %q; log:\n%s", err, raw, d.Log())
	}
	return strings.TrimSuffix(raw, "\x1e"), nil
}

// Request returns the bytes of a request.
func Request(id string, p gittest.Place, noIndex bool) string {
	dir := p.Dir
	if p.GitDir {
		dir = ":" + dir
	}
	if noIndex {
		return id + "\x1f" + dir + "\x1f1\x1e"
	}
	return id + "\x1f" + dir + "\x1e"
}

// Ask asks about p and returns the fields of the response. The response must
// carry the request's ID.
func (d *Daemon) Ask(p gittest.Place, noIndex bool) ([]string, error) {
	d.asked++
	id := fmt.Sprintf("q%d", d.asked)
	if err := d.Send(Request(id, p, noIndex)); err != nil {
		return nil, fmt.Errorf("cannot write a request: %w; log:\n%s", err, d.Log())
	}
	raw, err := d.Receive()
	if err != nil {
		return nil, err
	}
	fields := strings.Split(raw, "\x1f")
	if fields[0] != id {
		return nil, fmt.Errorf("the response to %q is %q", id, raw)
	}
	return fields, nil
}

// Close ends the daemon's input and waits for it to exit, which it must do with
// status 0.
func (d *Daemon) Close() error {
	if err := d.in.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
		return err
	}
	return d.Wait()
}

// Wait waits for the daemon to exit and returns how it did: nil for status 0.
func (d *Daemon) Wait() error {
	watchdog := time.AfterFunc(patience, func() { _ = d.cmd.Process.Kill() })
	defer watchdog.Stop()
	err := <-d.exited
	d.exited <- err
	if err != nil {
		return fmt.Errorf("%w; log:\n%s", err, d.Log())
	}
	return nil
}

// Kill ends the daemon at once.
func (d *Daemon) Kill() {
	_ = d.cmd.Process.Kill()
	_ = d.Wait()
}
