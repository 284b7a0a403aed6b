package server

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"gust/conformance/daemon"
	"gust/internal/daemon/client"
	"gust/internal/daemon/process"
	"gust/internal/daemon/server"
	"gust/internal/daemon/wire"
	"gust/internal/gittest"
)

// patience is how long something may take before it counts as hung. It is no
// measurement.
const patience = 60 * time.Second

// The programs under test.
var program, gust string // gitstatusd, and gust

func TestMain(m *testing.M) {
	os.Exit(gittest.BuildAndRun(m, map[string]*string{"gitstatusd": &program, "gust": &gust}))
}

// A home is the environment of one user, without a server at first.
type home struct {
	*gittest.Env
	t       *testing.T
	runtime string
}

// settle returns an environment with a clean repository in r. A server that is
// there in the end is ended.
func settle(t *testing.T) *home {
	t.Helper()
	runtime, err := os.MkdirTemp("", "gust") // an address needs a short name
	if err != nil {
		t.Fatal(err)
	}
	h := &home{Env: gittest.New(t, gittest.System(t)), t: t, runtime: runtime}
	h.Setenv("XDG_RUNTIME_DIR", runtime)
	h.Setenv("XDG_STATE_HOME", h.Path("state"))
	h.Setenv("GUST_SERVER", "1")
	h.repository("r")
	t.Cleanup(func() {
		h.stop()
		if t.Failed() {
			t.Logf("log of the server:\n%s", h.log())
		}
		os.RemoveAll(runtime)
	})
	return h
}

func (h *home) repository(name string) {
	h.t.Helper()
	h.Script(h.t, "git init -q '"+name+"'; cd '"+name+"'; echo a >f; git add f; git commit -qm one")
}

// log returns the log of the background servers.
func (h *home) log() string {
	old, _ := os.ReadFile(h.Path("state/gust/server.log.old"))
	now, _ := os.ReadFile(h.Path("state/gust/server.log"))
	return string(old) + string(now)
}

// status returns what the server says of itself, nil if there is none.
func (h *home) status() *wire.ServerStatus {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	c, err := (&client.Dialer{Env: h.Environ()}).Connect(ctx)
	if err != nil {
		return nil
	}
	defer c.Close()
	a, err := c.Do(ctx, wire.Request{Op: wire.Status})
	if err != nil {
		return nil
	}
	return a.Server
}

// stop ends the server, if there is one, and waits for the end of its process.
func (h *home) stop() {
	h.t.Helper()
	st := h.status()
	if st == nil {
		return
	}
	if err := signal(st.PID, syscall.SIGTERM); err != nil {
		h.t.Errorf("cannot end the server: %v", err)
	}
	until(h.t, "the server has ended", func() bool { return gone(st.PID) })
}

// signal sends a signal to a process.
func signal(pid int, s os.Signal) error {
	p, err := os.FindProcess(pid)
	if err != nil {
		return err
	}
	defer func() { _ = p.Release() }()
	return p.Signal(s)
}

// gone reports whether a process has ended. One that nobody waited for has.
func gone(pid int) bool {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return !process.Alive(pid)
	}
	_, rest, _ := strings.Cut(string(data), ") ")
	return strings.HasPrefix(rest, "Z")
}

func until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("still not: %s", what)
		}
	}
}

// right asks d about the repository name, and wants n untracked files in it.
func (h *home) right(d *daemon.Daemon, name string, n int) {
	h.t.Helper()
	got, err := d.Ask(gittest.Place{Dir: h.Path(name)}, false)
	if err != nil || len(got) != gittest.NumFields || got[2] != h.Path(name) || got[13] != strconv.Itoa(n) {
		h.t.Errorf("got %q, %v; want %d untracked in %s", got, err, n, name)
	}
}

// connected asks until the server has answered a relay, and returns its status.
func (h *home) connected(d *daemon.Daemon) *wire.ServerStatus {
	h.t.Helper()
	var st *wire.ServerStatus
	until(h.t, "the server has answered", func() bool {
		h.right(d, "r", 0)
		st = h.status()
		return st != nil && st.Queries > 0
	})
	return st
}

// TestStart has the first relay start a server, and looks at what that is; the
// second one shares it.
func TestStart(t *testing.T) {
	h := settle(t)
	h.Setenv("EDITOR", "vi")
	h.Setenv("XDG_SOMETHING", "x")
	// What a shell has open, and its children inherit.
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	first := exec.Command(program)
	first.Dir, first.Env, first.ExtraFiles = h.Dir, h.Environ(), []*os.File{w}
	in, err := first.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := first.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	if _, err := io.WriteString(in, "}hello\x1f\x1e"); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(out, make([]byte, len("}hello\x1f0\x1e"))); err != nil {
		t.Fatal(err)
	}
	var st *wire.ServerStatus
	until(t, "a server is there", func() bool { st = h.status(); return st != nil })
	if name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", st.PID)); err == nil && string(name) != server.ProcessName+"\n" {
		t.Errorf("the server's process is called %q", name)
	}
	in.Close()
	if err := first.Wait(); err != nil {
		t.Errorf("the first relay: %v", err)
	}
	eof := make(chan error, 1)
	go func() {
		_, err := r.Read(make([]byte, 1))
		eof <- err
	}()
	select {
	case err := <-eof:
		if err != io.EOF {
			t.Errorf("the pipe: %v", err)
		}
	case <-time.After(patience):
		t.Error("the server holds a pipe of the shell")
	}
	h.natureOf(st.PID)
	second := daemon.For(t, program, h.Env)
	if got := h.connected(second); got.PID != st.PID {
		t.Errorf("the second relay has server %d, the first had %d", got.PID, st.PID)
	}
}

// natureOf looks at a server process.
func (h *home) natureOf(pid int) {
	h.t.Helper()
	if _, err := os.Stat("/proc/self/fd"); err != nil {
		h.t.Skipf("processes cannot be looked at here: %v", err)
	}
	proc := func(name string) string { return fmt.Sprintf("/proc/%d/%s", pid, name) }
	for name, want := range map[string]string{"cwd": "/", "fd/0": "/dev/null", "fd/1": "/dev/null", "fd/2": "/dev/null"} {
		if got, err := os.Readlink(proc(name)); err != nil || got != want {
			h.t.Errorf("%s of the server is %s, %v; want %s", name, got, err, want)
		}
	}
	env, err := os.ReadFile(proc("environ"))
	if err != nil {
		h.t.Fatal(err)
	}
	for _, v := range strings.Split(strings.TrimSuffix(string(env), "\x00"), "\x00") {
		name, _, _ := strings.Cut(v, "=")
		if !slices.Contains([]string{"HOME", "PATH", "TMPDIR"}, name) && !strings.HasPrefix(name, "XDG_") {
			h.t.Errorf("the server has %s in its environment", v)
		}
	}
	status, err := os.ReadFile(proc("status"))
	if err != nil {
		h.t.Fatal(err)
	}
	if !strings.Contains(string(status), "Umask:\t0077\n") {
		h.t.Errorf("the umask is not 0077 in the status of the server:\n%s", status)
	}
	// Signals 32 and 33 are the C library's own: make's children ignore them, through
	// posix_spawn(3), and Go's runtime leaves them alone.
	const internalSignals = 1<<31 | 1<<32
	_, after, _ := strings.Cut(string(status), "SigIgn:\t")
	mask, _, _ := strings.Cut(after, "\n")
	if ignored, err := strconv.ParseUint(mask, 16, 64); err != nil || ignored&^internalSignals != 0 {
		h.t.Errorf("the server ignores the signals %q", mask)
	}
	stat, err := os.ReadFile(proc("stat"))
	if err != nil {
		h.t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	if f := strings.Fields(rest); len(f) < 4 || f[3] != strconv.Itoa(pid) { // state, parent, group, session
		h.t.Errorf("the server leads no session: %s", stat)
	}
}

// TestOneServer starts many relays at once: one server comes of it, and everybody
// has an answer.
func TestOneServer(t *testing.T) {
	h := settle(t)
	const n = 16
	var relays []*daemon.Daemon
	for range n {
		relays = append(relays, daemon.For(t, program, h.Env))
	}
	for _, d := range relays {
		h.right(d, "r", 0)
	}
	until(t, "all relays share a server", func() bool {
		for _, d := range relays {
			h.right(d, "r", 0)
		}
		st := h.status()
		return st != nil && st.Clients == n+1
	})
	if n := strings.Count(h.log(), "serving "); n != 1 {
		t.Errorf("%d servers began", n)
	}
}

// TestNoServer asks for none, in each way.
func TestNoServer(t *testing.T) {
	h := settle(t)
	h.right(daemon.For(t, program, h.Env, "--no-server"), "r", 0)
	h.Setenv("GUST_SERVER", "0")
	h.right(daemon.For(t, program, h.Env), "r", 0)
	if entries, err := os.ReadDir(h.runtime); err != nil || len(entries) > 0 {
		t.Errorf("a server was looked for: %v, %v", entries, err)
	}
}

// TestOtherView asks from where other file systems are mounted than the server sees.
func TestOtherView(t *testing.T) {
	h := settle(t)
	h.connected(daemon.For(t, program, h.Env))
	if out, err := exec.Command("unshare", "-m", "true").CombinedOutput(); err != nil {
		t.Skipf("NOT TESTED: no mount namespace: %v %s", err, out)
	}
	mounted := exec.Command("unshare", "-m", "sh", "-ec", `mount -t tmpfs none r; cd r; git init -q .; >new; printf '1\037%s\036' "$PWD" | "$0"`, program)
	mounted.Dir, mounted.Env = h.Dir, h.Environ()
	out, err := mounted.CombinedOutput()
	fields := strings.Split(string(out), "\x1f")
	if err != nil || len(fields) < 14 || fields[13] != "1" {
		t.Errorf("got %q, %v; want 1 untracked", out, err)
	}
}

// build returns a copy of the program that is a build of the given age.
func (h *home) build(name string, age time.Duration) string {
	h.t.Helper()
	data, err := os.ReadFile(program)
	if err != nil {
		h.t.Fatal(err)
	}
	path := h.Path(name)
	if err := os.WriteFile(path, data, 0o755); err != nil {
		h.t.Fatal(err)
	}
	at := time.Now().Add(-age)
	if err := os.Chtimes(path, at, at); err != nil {
		h.t.Fatal(err)
	}
	return path
}

// TestUpgrade has relays of an old and of a new build, in turns.
func TestUpgrade(t *testing.T) {
	h := settle(t)
	older := daemon.For(t, h.build("old", time.Hour), h.Env)
	first := h.connected(older)
	newer := daemon.For(t, h.build("new", time.Minute), h.Env)
	var second *wire.ServerStatus
	until(t, "the new build has its own server", func() bool {
		h.right(newer, "r", 0)
		h.right(older, "r", 0)
		second = h.status()
		return second != nil && second.PID != first.PID && second.Queries > 0
	})
	if !(second.Build.Time > first.Build.Time) {
		t.Errorf("build %+v was replaced by %+v", first.Build, second.Build)
	}
	until(t, "the old server has ended", func() bool { return gone(first.PID) })
	// Neither the relay that is left nor another old one brings the old server back.
	oldest := daemon.For(t, h.build("older", 2*time.Hour), h.Env)
	until(t, "all share the new server", func() bool {
		h.right(older, "r", 0)
		h.right(oldest, "r", 0)
		h.right(newer, "r", 0)
		st := h.status()
		if st == nil || st.PID != second.PID {
			t.Fatalf("the server is %+v, want %+v", st, second)
		}
		return st.Clients == 4
	})
}

// TestSymbolicLink and TestForeignDirectory find a socket directory that is not
// to be trusted: said once, and answered without a server.
func TestSymbolicLink(t *testing.T) {
	h := settle(t)
	if err := os.Symlink(t.TempDir(), filepath.Join(h.runtime, "gust")); err != nil {
		t.Fatal(err)
	}
	h.refused("symbolic link")
}

func TestForeignDirectory(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can make a directory of another user")
	}
	h := settle(t)
	dir := filepath.Join(h.runtime, "gust")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(dir, 65534, 65534); err != nil {
		t.Fatal(err)
	}
	h.refused("belongs to user 65534")
}

func (h *home) refused(problem string) {
	h.t.Helper()
	d := daemon.For(h.t, program, h.Env)
	for range 3 {
		h.right(d, "r", 0)
	}
	if log := d.Log(); strings.Count(log, "\n") != 1 || !strings.Contains(log, problem) {
		h.t.Errorf("the relay says %q, want one line: '%s'", log, problem)
	}
	if st := h.status(); st != nil {
		h.t.Errorf("a server runs: %+v", st)
	}
}

// TestForeignClient opens the socket to everybody, and has another user come.
func TestForeignClient(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can be another user too")
	}
	h := settle(t)
	d := daemon.For(t, program, h.Env)
	st := h.connected(d)
	for path, mode := range map[string]os.FileMode{h.runtime: 0o755, filepath.Dir(st.Socket): 0o755, st.Socket: 0o777} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	defer func() { // or nobody would trust it enough to end its server
		if err := os.Chmod(filepath.Dir(st.Socket), 0o700); err != nil {
			t.Error(err)
		}
	}()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3 to be the other user with")
	}
	u := exec.Command(python, "-c", `import os, socket, sys
os.setgroups([]); os.setgid(65534); os.setuid(65534)
s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); sys.stdout.write(repr(s.recv(100)))`, st.Socket)
	u.Dir = "/"
	out, err := u.CombinedOutput()
	if err != nil || strings.Contains(string(out), "gust") {
		t.Errorf("the other user reads %s, %v; want nothing", out, err)
	}
	until(t, "the log tells of the other user", func() bool { return strings.Contains(h.log(), "user 65534") })
	h.right(d, "r", 0)
}

// TestEnds ends servers in each way: their work is done, and nothing is left.
func TestEnds(t *testing.T) {
	for name, end := range map[string]func(h *home, cmd *exec.Cmd){
		"idle": func(*home, *exec.Cmd) {},
		"terminated": func(h *home, cmd *exec.Cmd) {
			until(h.t, "the server is there", func() bool { return h.status() != nil })
			if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
				h.t.Error(err)
			}
		},
		"hung-up": func(h *home, cmd *exec.Cmd) {
			until(h.t, "the server is there", func() bool { return h.status() != nil })
			if err := cmd.Process.Signal(syscall.SIGHUP); err != nil {
				h.t.Error(err)
			}
		},
		"without-socket": func(h *home, cmd *exec.Cmd) {
			until(h.t, "the server is there", func() bool { return h.status() != nil })
			d, err := daemon.Start(program, h.Environ())
			if err != nil {
				h.t.Fatal(err)
			}
			defer d.Kill()
			st := h.connected(d)
			if err := os.RemoveAll(filepath.Dir(st.Socket)); err != nil {
				h.t.Error(err)
			}
			h.right(d, "r", 0)
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := settle(t)
			args := []string{server.Argument}
			if name == "idle" {
				args = append(args, "--idle-exit=10ms")
			}
			cmd := exec.Command(program, args...)
			cmd.Env = h.Environ()
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			hung := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
			defer hung.Stop()
			end(h, cmd)
			if err := cmd.Wait(); err != nil {
				t.Errorf("the server ended with %v", err)
			}
			if sockets, err := filepath.Glob(h.runtime + "/gust/*.sock*"); err != nil || len(sockets) > 0 {
				t.Errorf("it left %q, %v", sockets, err)
			}
			if log := h.log(); !strings.Contains(log, "finished") {
				t.Errorf("its log is\n%s", log)
			}
		})
	}
}

// TestKill kills the server and relays at random while four shells change their
// repositories and ask. A relay that lives answers every request, and every
// answer is right.
func TestKill(t *testing.T) {
	h := settle(t)
	const shells, rounds = 4, 40
	for i := range shells {
		h.repository(fmt.Sprintf("r%d", i))
	}
	asking := make(chan struct{}) // closed when the last shell is done
	var killer, wg sync.WaitGroup
	killer.Add(1)
	go func() {
		defer killer.Done()
		for n := 0; ; n++ {
			// Uneven, so that no step of a start is spared for ever.
			select {
			case <-asking:
				return
			case <-time.After(time.Duration(5+n*37%120) * time.Millisecond):
			}
			if data, err := os.ReadFile(filepath.Join(h.runtime, "gust", "server.lock")); err == nil {
				if pid, err := strconv.Atoi(strings.TrimSpace(string(data))); err == nil && pid > 1 {
					_ = signal(pid, os.Kill) // perhaps it has ended by itself
				}
			}
		}
	}()
	for i := range shells {
		wg.Add(1)
		go func() {
			defer wg.Done()
			h.shell(fmt.Sprintf("r%d", i), rounds, i)
		}()
	}
	wg.Wait()
	close(asking)
	killer.Wait()
	if n := strings.Count(h.log(), "serving "); n < 3 {
		t.Errorf("%d servers began; this tested nothing", n)
	}
	d := daemon.For(t, program, h.Env)
	h.connected(d)
}

// shell makes a file, asks, and looks at the answer, for a number of rounds.
// Every few, it kills its relay while a request is on its way.
func (h *home) shell(name string, rounds, seed int) {
	var d *daemon.Daemon
	defer func() {
		if d == nil {
			return
		}
		if err := d.Close(); err != nil {
			h.t.Errorf("a relay at the end of its input: %v", err)
		}
	}()
	for n := range rounds {
		if err := os.WriteFile(h.Path(fmt.Sprintf("%s/new%d", name, n)), nil, 0o600); err != nil {
			h.t.Error(err)
			return
		}
		if d == nil {
			var err error
			if d, err = daemon.Start(program, h.Environ(), "-d", "-1"); err != nil {
				h.t.Error(err)
				return
			}
		}
		if (n*7+seed)%10 == 9 {
			_ = d.Send(daemon.Request("lost", gittest.Place{Dir: h.Path(name)}, false))
			d.Kill()
			d = nil
			continue
		}
		// Three requests at once: their answers come in order, none is left out.
		for k := range 3 {
			if err := d.Send(daemon.Request(fmt.Sprintf("%d.%d", n, k), gittest.Place{Dir: h.Path(name)}, false)); err != nil {
				h.t.Errorf("%v; log:\n%s", err, d.Log())
				return
			}
		}
		for k := range 3 {
			raw, err := d.Receive()
			got := strings.Split(raw, "\x1f")
			if err != nil || len(got) != gittest.NumFields || got[0] != fmt.Sprintf("%d.%d", n, k) || got[13] != strconv.Itoa(n+1) {
				h.t.Errorf("%s: round %d, request %d: got %q, %v; want %d untracked", name, n, k, raw, err, n+1)
				return
			}
		}
	}
}
