package shell_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"

	"gust/internal/gittest"
)

// A session is an interactive shell in a terminal. When the test ends, the shell
// is killed in the hardest way, and whatever it leaves behind is a fault.
type session struct {
	t      testing.TB
	shell  string // bash or zsh
	env    *gittest.Env
	tmp    string // TMPDIR
	daemon string // the path by which the daemon's processes are known
	cmd    *exec.Cmd
	tty    *os.File
	files  string
	count  int
	closed bool

	mu  sync.Mutex // guards out
	out []byte     // everything the terminal was sent
}

// editing is what both line editors send when they begin to listen.
const editing = "\x1b[?2004h"

// ready is the first prompt of a session.
const ready = "READY> "

// start starts a shell that reads none of its files, in e's directory. The
// daemon's path is in vars, or given.
func start(t testing.TB, shell string, e *gittest.Env, vars ...string) *session {
	t.Helper()
	args := map[string][]string{
		"bash": {"--noprofile", "--norc", "-i"},
		"zsh":  {"-f", "-i"},
	}[shell]
	s := &session{t: t, shell: shell, env: e, tmp: t.TempDir(), files: t.TempDir()}
	s.cmd = exec.Command(program(t, shell), args...)
	s.cmd.Dir = e.Dir
	s.cmd.Env = append(e.Environ(), "TERM=xterm-256color", "PS1="+ready, "TMPDIR="+s.tmp, "HISTFILE=/dev/null")
	s.cmd.Env = append(s.cmd.Env, vars...)
	for _, v := range vars {
		if path, ok := strings.CutPrefix(v, "GITSTATUS_DAEMON="); ok {
			s.daemon = path
		}
	}
	var err error
	if s.tty, err = pty.StartWithSize(s.cmd, &pty.Winsize{Rows: 40, Cols: 200}); err != nil {
		t.Fatalf("cannot start %s in a terminal: %v", shell, err)
	}
	go s.collect()
	t.Cleanup(s.close)
	s.expect(ready)
	return s
}

func (s *session) collect() {
	buf := make([]byte, 4096)
	for {
		n, err := s.tty.Read(buf)
		s.mu.Lock()
		s.out = append(s.out, buf[:n]...)
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// screen returns what the terminal was sent since the position from.
func (s *session) screen(from int) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return string(s.out[min(from, len(s.out)):])
}

// here is the present position in what the terminal was sent.
func (s *session) here() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.out)
}

// expect waits until the terminal has been sent text.
func (s *session) expect(text string) { s.t.Helper(); s.expectFrom(0, text) }

// expectFrom waits until the terminal has been sent text since the position from.
func (s *session) expectFrom(from int, text string) {
	s.t.Helper()
	s.await(fmt.Sprintf("%q on the terminal", text), func() bool { return strings.Contains(s.screen(from), text) })
}

// await waits for ok.
func (s *session) await(what string, ok func() bool) {
	s.t.Helper()
	waitFor(s.t, what, ok)
}

// send types text.
func (s *session) send(text string) {
	s.t.Helper()
	if _, err := s.tty.WriteString(text); err != nil {
		s.t.Fatalf("cannot type: %v", err)
	}
}

// run has the shell read a file with these commands and returns what they wrote.
// The next prompt may not be there yet.
func (s *session) run(script string) string {
	s.t.Helper()
	out, done := s.begin(script)
	s.await("the end of: "+script, func() bool { return strings.HasSuffix(read(s.t, done), "\n") })
	return read(s.t, out)
}

// begin is run without waiting: the commands write to out, and a line to done when
// they are through.
func (s *session) begin(script string) (out, done string) {
	s.t.Helper()
	s.count++
	file := filepath.Join(s.files, fmt.Sprint(s.count))
	out, done = file+".out", file+".done"
	write(s.t, file, "{\n"+script+"\n} >'"+out+"' 2>&1\necho done >'"+done+"'\n")
	s.send("source " + file + "\n")
	return out, done
}

// settle waits until the shell listens after the last run.
func (s *session) settle() { s.t.Helper(); s.shows(editing) }

// shows waits until text has come to the terminal since the last run.
func (s *session) shows(text string) {
	s.t.Helper()
	last := fmt.Sprintf("%s/%d", s.files, s.count)
	s.await(fmt.Sprintf("%q after the last command", text), func() bool {
		screen := s.screen(0)
		at := strings.LastIndex(screen, last)
		return at >= 0 && strings.Contains(screen[at:], text)
	})
}

// must runs commands that write nothing.
func (s *session) must(script string) {
	s.t.Helper()
	if out := s.run(script); out != "" {
		s.t.Fatalf("%s: %s\nwrote %q, want silence", s.shell, script, out)
	}
}

// is runs commands and compares what they wrote.
func (s *session) is(script, want string) {
	s.t.Helper()
	if got := strings.TrimSuffix(s.run(script), "\n"); got != want {
		s.t.Errorf("%s: %s\nwrote %q\nwant  %q", s.shell, script, got, want)
	}
}

// source loads the drop-in plugin.
func (s *session) source() {
	s.t.Helper()
	s.must("source " + s.plugin())
}

// plugin is the path of the drop-in plugin, prompt that of its prompt.
func (s *session) plugin() string {
	return filepath.Join(prefix(s.t), "share", "gust", "gitstatus.plugin."+s.ending())
}

func (s *session) prompt() string {
	return filepath.Join(prefix(s.t), "share", "gust", "gitstatus.prompt."+s.ending())
}

func (s *session) ending() string { return map[string]string{"bash": "sh", "zsh": "zsh"}[s.shell] }

// name is the NAME argument, which bash's functions do not have.
func (s *session) name() string { return map[string]string{"zsh": " MY"}[s.shell] }

// pid is the variable that holds the daemon's process.
func (s *session) pid() string {
	return map[string]string{"zsh": "$GITSTATUS_DAEMON_PID_MY", "bash": "$GITSTATUS_DAEMON_PID"}[s.shell]
}

// gone waits until no daemon of this session is left.
func (s *session) gone() {
	s.t.Helper()
	s.await("the end of "+s.daemon, func() bool { return len(running(s.t, s.daemon)) == 0 })
}

// killDaemon kills the daemon and waits until it is dead.
func (s *session) killDaemon() {
	s.t.Helper()
	pids := running(s.t, s.daemon)
	if len(pids) == 0 {
		s.t.Fatal("no daemon to kill")
	}
	if out, err := exec.Command("kill", append([]string{"-9"}, pids...)...).CombinedOutput(); err != nil {
		s.t.Fatalf("cannot kill %v: %v %s", pids, err, out)
	}
	// A prompt may have started another one at once.
	s.await("the death of the daemon", func() bool {
		return !slices.ContainsFunc(running(s.t, s.daemon), func(pid string) bool { return slices.Contains(pids, pid) })
	})
}

// exit ends the shell as a user does.
func (s *session) exit() {
	s.t.Helper()
	s.send("exit\n")
	s.ended()
}

// ended waits for the shell's end.
func (s *session) ended() {
	s.t.Helper()
	s.closed = true
	over := make(chan error, 1)
	go func() { over <- s.cmd.Wait() }()
	var exit *exec.ExitError
	select {
	case err := <-over:
		if err != nil && !errors.As(err, &exit) {
			s.t.Fatal(err)
		}
	case <-time.After(deadline):
		s.cmd.Process.Kill()
		s.t.Fatalf("%s does not end", s.shell)
	}
	s.tty.Close()
}

// close kills the shell, if it has not ended, and looks for what it left behind.
func (s *session) close() {
	s.t.Helper()
	if !s.closed {
		s.cmd.Process.Kill()
		s.ended()
	}
	if s.daemon != "" {
		s.gone()
	}
	if left := entries(s.t, s.tmp); len(left) > 0 {
		s.t.Errorf("%s left files behind: %q", s.shell, left)
	}
	if s.t.Failed() {
		s.t.Logf("the end of the terminal of %s:\n%q", s.shell, s.screen(max(0, s.here()-2000)))
	}
}

// eachShell runs a test for bash and zsh.
func eachShell(t *testing.T, f func(t *testing.T, shell string)) {
	for _, shell := range []string{"bash", "zsh"} {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			f(t, shell)
		})
	}
}
