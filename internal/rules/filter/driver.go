package filter

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"time"
)

const (
	// timeLimit is how long a driver may take over one file: a prompt waits.
	timeLimit = time.Second
	// killDelay is how long a killed command's pipes are waited for, in case a
	// child of it holds them open.
	killDelay = 100 * time.Millisecond
	// maxOutput is how many bytes more than its input a command may write. A
	// clean filter makes content smaller, or hardly larger.
	maxOutput = 64 << 20
)

// Expected reasons in a DriverError.
var (
	// ErrTooMuchOutput means that a command wrote without end.
	ErrTooMuchOutput = errors.New("filter wrote too much")
	// ErrProtocol means that a process does not speak gitattributes(5)'s
	// "Long Running Filter Process".
	ErrProtocol = errors.New("filter process broke the protocol")
	// ErrNoCommand means that a required driver has no command to clean with.
	ErrNoCommand = errors.New("required filter has no clean command")
	// ErrClosed means that the Runner was closed.
	ErrClosed = errors.New("filter runner is closed")
	// errRefused is a process's "status=error" and "status=abort": no failure
	// of the process.
	errRefused = errors.New("filter process refused the file")
)

// A DriverError says that a filter driver's command did not clean a file.
type DriverError struct {
	Driver string // the name in filter.<name>.*
	Path   string
	Err    error // wraps context.DeadlineExceeded if the time was up
}

func (e *DriverError) Error() string {
	return fmt.Sprintf("cannot clean '%s' with filter '%s': %v", e.Path, e.Driver, e.Err)
}

func (e *DriverError) Unwrap() error { return e.Err }

// A Runner runs the commands of trusted filter drivers. Long-running processes
// are started at first use and live until Close. A driver that was too slow
// once is not run again by this Runner. It is safe for concurrent use.
type Runner struct {
	dir       string
	env       []string
	timeLimit time.Duration // timeLimit but in tests
	maxOutput int           // maxOutput but in tests

	mu        sync.Mutex // guards what follows; is not held while a command runs
	processes map[string]*process
	slow      map[string]bool // by driver name
	closed    bool
}

// NewRunner returns a Runner whose commands run in dir, the root of the working
// tree, with the environment env.
func NewRunner(dir string, env []string) *Runner {
	return &Runner{
		dir:       dir,
		env:       env,
		timeLimit: timeLimit,
		maxOutput: maxOutput,
		processes: make(map[string]*process),
		slow:      make(map[string]bool),
	}
}

// Close ends the processes and waits for them. Later use is an error.
func (r *Runner) Close() {
	r.mu.Lock()
	processes := r.processes
	r.processes, r.closed = nil, true
	r.mu.Unlock()
	for _, p := range processes {
		p.close()
	}
}

// clean returns src as the driver cleans it, or src itself where Git goes on
// without the driver.
func (r *Runner) clean(ctx context.Context, name string, d Driver, path string, src []byte) ([]byte, error) {
	out, err := r.run(ctx, name, d, path, src)
	switch {
	case err == nil:
		return out, nil
	case d.Required, errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled),
		errors.Is(err, ErrTooMuchOutput), errors.Is(err, ErrClosed):
		return nil, &DriverError{Driver: name, Path: path, Err: err}
	}
	return src, nil
}

// run is clean without the rules for failure.
func (r *Runner) run(ctx context.Context, name string, d Driver, path string, src []byte) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	r.mu.Lock()
	slow, closed := r.slow[name], r.closed
	r.mu.Unlock()
	if slow {
		return nil, fmt.Errorf("filter was too slow before: %w", context.DeadlineExceeded)
	}
	if closed {
		return nil, ErrClosed
	}
	limited, cancel := context.WithTimeout(ctx, r.timeLimit)
	defer cancel()
	var out []byte
	var err error
	switch {
	case d.Process != "":
		out, err = r.runProcess(limited, d.Process, path, src)
	case d.Clean != "":
		out, err = r.runCommand(limited, d.Clean, path, src)
	default:
		return nil, ErrNoCommand
	}
	if limited.Err() != nil && err != nil {
		err = fmt.Errorf("%w: %w", limited.Err(), err)
		if ctx.Err() == nil {
			r.mu.Lock()
			r.slow[name] = true
			r.mu.Unlock()
		}
	}
	return out, err
}

// runCommand runs command once, with src as its input.
func (r *Runner) runCommand(ctx context.Context, command, path string, src []byte) ([]byte, error) {
	cmd := r.command(ctx, expand(command, path))
	cmd.Stdin = bytes.NewReader(src)
	out := &limitedBuffer{limit: len(src) + r.maxOutput}
	cmd.Stdout = out
	err := cmd.Run()
	if out.full {
		return nil, ErrTooMuchOutput
	}
	if err != nil {
		return nil, fmt.Errorf("filter command failed: %w", err)
	}
	return out.b.Bytes(), nil
}

// command returns the command that a shell runs line with. Its input and output
// are the caller's to connect; what it says on the standard error is dropped.
func (r *Runner) command(ctx context.Context, line string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "sh", "-c", line)
	cmd.Dir, cmd.Env = r.dir, r.env
	cmd.WaitDelay = killDelay
	return cmd
}

// expand replaces %f in command by path, quoted for the shell, and %% by %.
func expand(command, path string) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(command, "%")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		switch {
		case strings.HasPrefix(rest, "f"):
			b.WriteString(quote(path))
			rest = rest[1:]
		case strings.HasPrefix(rest, "%"):
			b.WriteByte('%')
			rest = rest[1:]
		default:
			b.WriteByte('%')
		}
		command = rest
	}
}

// quote quotes s for a POSIX shell.
func quote(s string) string {
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// A limitedBuffer keeps what is written to it and fails beyond limit bytes.
type limitedBuffer struct {
	b     bytes.Buffer
	limit int
	full  bool
}

func (l *limitedBuffer) Write(p []byte) (int, error) {
	if l.b.Len()+len(p) > l.limit {
		l.full = true
		return 0, io.ErrShortWrite
	}
	return l.b.Write(p)
}
