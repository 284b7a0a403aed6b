package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"gust/internal/daemon/client"
	"gust/internal/daemon/live"
	"gust/internal/daemon/server"
	"gust/internal/daemon/socket"
	"gust/internal/daemon/wire"
	"gust/internal/face/prompt"
	"gust/internal/pure/summary"
)

// startTime is how long a person waits for a server to come up.
const startTime = 10 * time.Second

// errNoServer is what there is to say of a server that is not there.
var errNoServer = errors.New("no server is running")

func (p *Program) serverCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "server", Short: "Start, stop or look at the server that all shells share",
		Long: `One server per user keeps repositories warm for every shell, prompt and script. Programs start
it when there is none, and it ends 15 minutes after the last; GUST_SERVER=0 in the environment
keeps them from it. These commands are for looking and for troubleshooting.`,
		Example: `  gust server status
  gust server stop`,
		Args: cobra.NoArgs, RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	var asJSON bool
	status := &cobra.Command{
		Use: "status", Short: "Print what the server knows, and how it keeps it", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return failing(p.serverStatus(c.Context(), asJSON)) },
	}
	status.Flags().BoolVar(&asJSON, "json", false, "one line of JSON")
	var idle time.Duration
	run := &cobra.Command{
		Use: "run", Short: "Serve in the foreground, with the log on standard error", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			o := server.ProcessOptions{Env: p.Env, Foreground: true, Errs: p.Err, IdleExit: idle}
			if server.Process(c.Context(), o) != 0 {
				return failing(errSaid)
			}
			return nil
		},
	}
	run.Flags().DurationVar(&idle, "idle-exit", 15*time.Minute, "end after so long without a client")
	c.AddCommand(status, run,
		&cobra.Command{
			Use: "start", Short: "Start the server, unless it runs", Args: cobra.NoArgs,
			RunE: func(c *cobra.Command, _ []string) error { return failing(p.serverStart(c.Context())) },
		},
		&cobra.Command{
			Use: "stop", Short: "Ask the server to end; what it was asked is answered", Args: cobra.NoArgs,
			RunE: func(c *cobra.Command, _ []string) error { return failing(p.serverStop(c.Context())) },
		})
	return c
}

// A failure is an error of a command that was well said.
type failure struct{ error }

func (f failure) Unwrap() error { return f.error }

// failing returns err as a failure.
func failing(err error) error {
	if err == nil {
		return nil
	}
	return failure{err}
}

// errSaid is a failure that its reader knows already.
var errSaid = errors.New("")

// failed tells of a failure.
func (p *Program) failed(f failure) int {
	if errors.Is(f, errSaid) {
		return exitFail
	}
	return p.fail(exitFail, "%v", f)
}

// connect connects to the server, and starts it first if start is set. The error
// is errNoServer where it does not run.
func (p *Program) connect(ctx context.Context, start bool) (*client.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	d := client.New(p.Env, start)
	d.Patience = startTime
	c, err := d.Connect(ctx)
	if err != nil && !start && socket.Absent(err) {
		return nil, errNoServer
	}
	return c, err
}

func (p *Program) serverStart(ctx context.Context) error {
	c, err := p.connect(ctx, true)
	if err != nil {
		return err
	}
	defer c.Close()
	_, err = fmt.Fprintf(p.Out, "the server runs as process %d\n", c.Greeting.PID)
	return err
}

func (p *Program) serverStop(ctx context.Context) error {
	c, err := p.connect(ctx, false)
	if errors.Is(err, errNoServer) {
		_, err = fmt.Fprintln(p.Out, err)
		return err
	}
	if err != nil {
		return err
	}
	defer c.Close()
	if _, err := c.Do(ctx, wire.Request{Op: wire.Stop}); err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.Out, "the server, process %d, ends\n", c.Greeting.PID)
	return err
}

func (p *Program) serverStatus(ctx context.Context, asJSON bool) error {
	c, err := p.connect(ctx, false)
	if err != nil {
		return err
	}
	defer c.Close()
	a, err := c.Do(ctx, wire.Request{Op: wire.Status})
	switch {
	case err != nil:
		return err
	case a.Server == nil:
		return errors.New("the server says nothing of itself")
	case asJSON:
		_, err = p.Out.Write(wire.AppendLine(nil, a.Server))
		return err
	}
	return p.writeStatus(a.Server)
}

// writeStatus writes s for people.
func (p *Program) writeStatus(s *wire.ServerStatus) error {
	var out bytes.Buffer
	fmt.Fprintf(&out, "process %d, build %s, up %v, %d MB\n", s.PID, s.Build.Version, time.Duration(s.Uptime)*time.Second, s.Memory>>20)
	fmt.Fprintf(&out, "socket  %s\n", s.Socket)
	if path := server.LogPath(p.lookup); path != "" {
		fmt.Fprintf(&out, "log     %s\n", path)
	}
	fmt.Fprintf(&out, "clients %d, of them this one; subscriptions %d; queries %d; directories watched %d\n", s.Clients, s.Subscriptions, s.Queries, s.Watches)
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	if len(s.Repositories) > 0 {
		fmt.Fprint(w, "\nrepository\tmode\tqueries\tmedian\t99 of 100 within\n")
	}
	for _, r := range s.Repositories {
		mode := r.Mode
		switch {
		case mode == "":
			mode = "not kept"
		case r.Why != "":
			mode += ": " + r.Why
		}
		fmt.Fprintf(w, "%s\t%s\t%d\t%.3f ms\t%.3f ms\n", bytes.Map(printable, []byte(r.WorkDir)), bytes.Map(printable, []byte(mode)), r.Queries, r.Median, r.P99)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, r := range s.Repositories {
		if r.Error != "" {
			fmt.Fprintf(&out, "last error in %s: %s\n", bytes.Map(printable, []byte(r.WorkDir)), bytes.Map(printable, []byte(r.Error)))
		}
	}
	_, err := p.Out.Write(out.Bytes())
	return err
}

func (p *Program) watchCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "watch [DIR]", Short: "Print the prompt of a directory, and again whenever it changes",
		Example: `  gust watch
  gust watch ~/src/project --json`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			dir := ""
			if len(args) > 0 {
				dir = args[0]
			}
			return failing(p.watch(c.Context(), dir, asJSON))
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "lines of JSON")
	return c
}

// lookAgain is how often `gust watch` looks where no server does that for it.
const lookAgain = 2 * time.Second

// A watching is one run of `gust watch`.
type watching struct {
	p      *Program
	q      live.Request
	style  *prompt.Style
	asJSON bool
	last   []byte
	err    error // of writing
}

func (p *Program) watch(ctx context.Context, dir string, asJSON bool) error {
	dir, err := p.absolute(dir)
	if err != nil {
		return err
	}
	w := watching{p: p, style: prompt.NewStyle(p.lookup), asJSON: asJSON}
	w.q = p.question(dir, w.style)
	var own Asker
	for w.err == nil && ctx.Err() == nil {
		if client.Wanted(p.Env, true) {
			if c, err := p.connect(ctx, true); err == nil {
				// It ends when the server does, and then there may be another.
				r := wire.Request{Op: wire.Query, Subscribe: true}
				r.SetLive(w.q)
				_ = c.Ask(ctx, r, w.line)
				c.Close()
				if w.last != nil {
					continue
				}
			}
		}
		if own == nil {
			own = p.Asker()
		}
		s, err := own.Query(ctx, w.q)
		if a := wire.AnswerOf("", s, err); !w.line(&a) {
			break
		}
		select {
		case <-time.After(lookAgain):
		case <-ctx.Done():
		}
	}
	return w.err
}

// line writes an answer, if it is another one. It reports false if that failed.
func (w *watching) line(a *wire.Answer) bool {
	var line []byte
	if w.asJSON {
		line = wire.AppendLine(nil, a)
	} else {
		form := prompt.Plain
		if w.p.Terminal {
			form = prompt.ANSI
		}
		s, err := a.Summary()
		switch {
		case s != nil:
			line = prompt.Append(nil, s, w.style, form)
		case err != nil:
			line = fmt.Appendf(nil, "git itself refuses this repository: %v", err)
		default:
			line = []byte("not in a git repository")
		}
		line = append(line, '\n')
	}
	if bytes.Equal(line, w.last) {
		return true
	}
	w.last = line
	_, w.err = w.p.Out.Write(line)
	return w.err == nil
}

// queryBy is `gust query --json --deadline`: what is known in time.
func (p *Program) queryBy(ctx context.Context, dir string, limit time.Duration) int {
	end := time.Now().Add(limit)
	dir, err := p.absolute(dir)
	if err != nil {
		return p.fail(exitFail, "%v", err)
	}
	a := p.answerBy(ctx, p.question(dir, prompt.NewStyle(p.lookup)), end)
	if _, err := p.Out.Write(wire.AppendLine(nil, a)); err != nil || a.Error != "" {
		return exitFail
	}
	return exitOK
}

// answerBy returns what is known about q at the time end: the server's answer, or
// else that of an engine of this process.
func (p *Program) answerBy(ctx context.Context, q live.Request, end time.Time) wire.Answer {
	var last wire.Answer
	if client.Wanted(p.Env, true) {
		ctx, cancel := context.WithDeadline(ctx, end)
		defer cancel()
		if c, err := client.New(p.Env, true).Connect(ctx); err == nil {
			defer c.Close()
			r := wire.Request{Op: wire.Query, Deadline: int(max(time.Until(end).Milliseconds(), 1))}
			r.SetLive(q)
			if c.Ask(context.WithoutCancel(ctx), r, func(a *wire.Answer) bool { last = *a; return false }) == nil {
				return last
			}
		}
	}
	type result struct {
		s   *summary.Summary
		err error
	}
	done := make(chan result, 1)
	go func() { // until the end of this process, if it takes longer
		s, err := p.Asker().Query(ctx, q)
		done <- result{s, err}
	}()
	late := time.NewTimer(time.Until(end))
	defer late.Stop()
	select {
	case r := <-done:
		return wire.AnswerOf("", r.s, r.err)
	case <-late.C:
		return wire.Answer{Complete: new(bool)}
	}
}
