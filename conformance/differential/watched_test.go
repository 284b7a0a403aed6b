package differential

import (
	"context"
	"os"
	"os/exec"
	"testing"
	"time"

	"gust/conformance/daemon"
	"gust/internal/daemon/client"
	"gust/internal/daemon/server"
	"gust/internal/daemon/wire"
	"gust/internal/gittest"
)

// watchable returns a maker without what no watch sees: docs/differences-from-git.md
// says how long such an answer may be wrong.
func watchable(t *testing.T) *Maker {
	m := maker(t)
	m.Off["outside"] = true
	return m
}

// TestDifferentialWatched plays scenarios in which, from the first answer on, the
// kernel tells what changed. Nothing is between a change and the question.
func TestDifferentialWatched(t *testing.T) {
	playAll(t, watchable(t), tempDir(t), seedRange(*first, max(*seeds/3, 1)), startWatching)
}

// startWatching starts a daemon that watches from the first answer on.
func startWatching(e *gittest.Env, _ string, o gittest.Options) (answerer, error) {
	return daemon.Start(gitstatusd, e.Environ(), append(o.Args(), "--no-server", "--watch")...)
}

// clients is how many ask one server at once.
const clients = 4

// TestDifferentialServer plays scenarios in several shells at once, which all ask one
// server that watches: at once, and from the second query on, while others ask.
func TestDifferentialServer(t *testing.T) {
	*jobs = max(*jobs, clients)
	for name, args := range map[string][]string{"at-once": {server.EagerArgument}, "background": nil} {
		t.Run(name, func(t *testing.T) { throughServer(t, args) })
	}
}

func throughServer(t *testing.T, args []string) {
	runtime, err := os.MkdirTemp("", "gust") // an address needs a short name
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(runtime) })
	env := []string{"XDG_RUNTIME_DIR=" + runtime, "XDG_STATE_HOME=" + runtime, "GUST_SERVER=1"}
	process := exec.Command(gitstatusd, append([]string{server.Argument}, args...)...)
	process.Env, process.Stderr = append(env, "PATH="+os.Getenv("PATH")), os.Stderr
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- process.Wait() }()
	status := func() *wire.ServerStatus {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		for {
			c, err := (&client.Dialer{Env: env}).Connect(ctx)
			if err == nil {
				defer c.Close()
				a, err := c.Do(ctx, wire.Request{Op: wire.Status})
				if err != nil {
					t.Fatal(err)
				}
				return a.Server
			}
			select {
			case err := <-ended:
				t.Fatalf("the server has ended: %v", err)
			case <-ctx.Done():
				t.Fatalf("no server: %v", err)
			case <-time.After(time.Millisecond):
			}
		}
	}
	status()
	asked := playAll(t, watchable(t), tempDir(t), seedRange(*first, max(*seeds/6, 1)),
		func(e *gittest.Env, _ string, o gittest.Options) (answerer, error) {
			return daemon.Start(gitstatusd, append(e.Environ(), env...), o.Args()...)
		})
	st := status()
	t.Logf("%d answers of the server, %d watches, %d goroutines, %d MB", st.Queries, st.Watches, st.Goroutines, st.Memory>>20)
	// What a loaded server does not acknowledge in time, a gitstatusd answers itself.
	if st.Queries < asked {
		t.Errorf("the server answered %d of %d questions", st.Queries, 2*asked)
	}
	if err := process.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Errorf("the server ended with %v", err)
	}
}
