package server

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gust/conformance/daemon"
	"gust/internal/daemon/wire"
)

// gust runs the gust command and returns its output and exit code.
func (h *home) gust(args ...string) (out, errs string, code int) {
	h.t.Helper()
	cmd := exec.Command(gust, args...)
	cmd.Dir, cmd.Env = h.Path("r"), h.Environ()
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		h.t.Fatal(err)
	}
	return stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()
}

// TestCommands starts, looks at and stops the server as a person does.
func TestCommands(t *testing.T) {
	h := settle(t)
	if out, errs, code := h.gust("server", "status"); code != 1 || out != "" || errs != "gust: no server is running\n" {
		t.Errorf("status without a server: %q, %q, %d", out, errs, code)
	}
	if out, errs, code := h.gust("server", "stop"); code != 0 || out != "no server is running\n" || errs != "" {
		t.Errorf("stop without a server: %q, %q, %d", out, errs, code)
	}
	out, errs, code := h.gust("server", "start")
	st := h.status()
	if st == nil || code != 0 || errs != "" || out != fmt.Sprintf("the server runs as process %d\n", st.PID) {
		t.Fatalf("start: %q, %q, %d; the server is %+v", out, errs, code, st)
	}
	if again, _, code := h.gust("server", "start"); code != 0 || again != out {
		t.Errorf("start again: %q, %d", again, code)
	}
	d := daemon.For(t, program, h.Env)
	h.connected(d)
	out, errs, code = h.gust("server", "status")
	for _, want := range []string{fmt.Sprintf("process %d", st.PID), st.Socket, h.Path("state/gust/server.log"), h.Path("r") + "  "} {
		if !strings.Contains(out, want) || errs != "" || code != 0 {
			t.Errorf("status: %q, %q, %d; want '%s'", out, errs, code, want)
		}
	}
	out, _, code = h.gust("server", "status", "--json")
	var said wire.ServerStatus
	if err := json.Unmarshal([]byte(out), &said); err != nil || said.PID != st.PID || code != 0 || len(said.Repositories) != 1 {
		t.Errorf("status --json: %q, %v, %d", out, err, code)
	}
	if out, errs, code := h.gust("server", "stop"); code != 0 || out != fmt.Sprintf("the server, process %d, ends\n", st.PID) || errs != "" {
		t.Errorf("stop: %q, %q, %d", out, errs, code)
	}
	until(t, "the server has ended", func() bool { return gone(st.PID) })
	if out, errs, code := h.gust("server", "fly"); code == 0 {
		t.Errorf("an unknown command: %q, %q, %d", out, errs, code)
	}
}

// TestForeground runs the server for somebody who looks.
func TestForeground(t *testing.T) {
	h := settle(t)
	cmd := exec.Command(gust, "server", "run", "--idle-exit=10ms")
	cmd.Env = h.Environ()
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "serving "+h.runtime) || !strings.Contains(string(out), "no client for 10ms") {
		t.Errorf("got %s, %v", out, err)
	}
	h.gust("server", "start")
	if out, errs, code := h.gust("server", "run"); code != 1 || out != "" || !strings.Contains(errs, "another server is running") {
		t.Errorf("beside another server: %q, %q, %d", out, errs, code)
	}
}

// TestAskServer asks as scripts do, with and without a server.
func TestAskServer(t *testing.T) {
	h := settle(t)
	plain, _, _ := h.gust("query", "--json")
	h.Setenv("GUST_SERVER", "0")
	alone, _, code := h.gust("query", "--json")
	if alone != plain || code != 0 || !strings.Contains(plain, `"workdir":"`+h.Path("r")+`"`) {
		t.Errorf("with a server: %s\nwithout: %s%d", plain, alone, code)
	}
	for _, use := range []string{"0", "1"} {
		h.Setenv("GUST_SERVER", use)
		out, errs, code := h.gust("query", "--json", "--deadline", patience.String())
		var a wire.Answer
		if err := json.Unmarshal([]byte(out), &a); err != nil || a.State == nil || a.WorkDir != h.Path("r") || !*a.Complete || errs != "" || code != 0 {
			t.Errorf("GUST_SERVER=%s, in time: %q, %q, %d", use, out, errs, code)
		}
		out, errs, code = h.gust("query", "--json", "--deadline=1ns")
		if err := json.Unmarshal([]byte(out), &a); err != nil || a.Complete == nil || errs != "" || code != 0 {
			t.Errorf("GUST_SERVER=%s, too late: %q, %q, %d", use, out, errs, code)
		}
	}
	for _, args := range [][]string{{"--deadline", "20ms"}, {"--json", "--deadline", "soon"}, {"--json", "--deadline", "-1s"}} {
		if out, errs, code := h.gust(append([]string{"query"}, args...)...); code != 2 || out != "" || !strings.Contains(errs, "--deadline") {
			t.Errorf("query %q: %q, %q, %d", args, out, errs, code)
		}
	}
}

// TestWatch reads what `gust watch` prints while a repository changes, its server
// is killed, and it changes again.
func TestWatch(t *testing.T) {
	for _, use := range []string{"0", "1"} {
		t.Run("server-"+use, func(t *testing.T) {
			h := settle(t)
			h.Setenv("GUST_SERVER", use)
			cmd := exec.Command(gust, "watch", "r")
			cmd.Dir, cmd.Env = h.Dir, h.Environ()
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			hung := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
			defer hung.Stop()
			lines := bufio.NewScanner(out)
			next := func(want string) {
				t.Helper()
				// A change of two steps may be seen in between.
				for lines.Scan() {
					if lines.Text() == want {
						return
					}
				}
				t.Fatalf("the output ends before '%s'", want)
			}
			next("main")
			h.Script(t, "touch r/new")
			next("main ?1")
			if st := h.status(); use == "1" {
				if st == nil {
					t.Fatal("no server is there")
				}
				if err := signal(st.PID, os.Kill); err != nil {
					t.Fatal(err)
				}
			}
			h.Script(t, "cd r; git add new")
			next("main +1")
			if err := cmd.Process.Kill(); err != nil {
				t.Error(err)
			}
			_ = cmd.Wait()
		})
	}
}

// TestActivation hands the socket over as systemd does.
func TestActivation(t *testing.T) {
	h := settle(t)
	dir := filepath.Join(h.runtime, "gust")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dir, "server.sock"), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	f, err := l.File()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "-c", `LISTEN_FDS=1 LISTEN_PID=$$ exec "$0" server run --idle-exit=100ms`, gust)
	cmd.Env, cmd.ExtraFiles = h.Environ(), []*os.File{f}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	f.Close()
	d, err := daemon.Start(program, h.Environ())
	if err != nil {
		t.Fatal(err)
	}
	if st := h.connected(d); st.PID != cmd.Process.Pid {
		t.Errorf("the server is process %d, want %d", st.PID, cmd.Process.Pid)
	}
	d.Kill()
	if err := cmd.Wait(); err != nil {
		t.Errorf("the server ended with %v", err)
	}
	if _, err := os.Lstat(filepath.Join(dir, "server.sock")); err != nil {
		t.Errorf("the socket, which is not its own, is gone: %v", err)
	}
}
