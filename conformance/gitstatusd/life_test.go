//go:build unix

package gitstatusd

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"gust/conformance/daemon"
	"gust/internal/gittest"
)

// TestEndOfInput ends the input in the middle of a request: what came before is
// answered, and the exit status is 0.
func TestEndOfInput(t *testing.T) {
	e := repository(t)
	for _, tail := range []string{"", "b", "b\x1f", "b\x1f" + e.Path("r")} {
		cmd := exec.Command(gitstatusd)
		cmd.Env = e.Environ()
		cmd.Stdin = strings.NewReader(strings.Repeat("a\x1f"+e.Path("r")+"\x1e", 5) + tail)
		out, err := cmd.Output()
		if err != nil {
			t.Errorf("input ends in %q: %v", tail, err)
		}
		if n := strings.Count(string(out), "\x1e"); n != 5 || !strings.HasSuffix(string(out), "\x1e") {
			t.Errorf("input ends in %q: %d responses, want 5: %q", tail, n, out)
		}
	}
}

// TestReaderGone closes the output: the daemon ends, as nobody is left to answer.
func TestReaderGone(t *testing.T) {
	e := repository(t)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(gitstatusd)
	cmd.Env, cmd.Stdout = e.Environ(), w
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	r.Close()
	for range 3 {
		_, _ = io.WriteString(in, "a\x1f/\x1e") // fails once the daemon is gone
	}
	_ = cmd.Wait() // the input stays open: only the output's end can end it
	in.Close()
}

// TestParentGone names a parent that is no more.
func TestParentGone(t *testing.T) {
	gone := exec.Command("true")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	e := repository(t)
	d, err := daemon.Start(gitstatusd, e.Environ(), "-p", strconv.Itoa(gone.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Wait(); err != nil { // its input stays open
		t.Errorf("with a parent that is gone: %v", err)
	}
}

// TestParentEnds asks while the parent lives, and then waits for the daemon to
// follow it.
func TestParentEnds(t *testing.T) {
	parent := exec.Command("cat")
	hold, err := parent.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	e := repository(t)
	d, err := daemon.Start(gitstatusd, e.Environ(), "--parent-pid="+strconv.Itoa(parent.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := d.Ask(gittest.Place{Dir: e.Path("r")}, false); err != nil || len(got) != gittest.NumFields {
		t.Errorf("while the parent lives: %q, %v", got, err)
	}
	hold.Close()
	if err := parent.Wait(); err != nil {
		t.Fatal(err)
	}
	if err := d.Wait(); err != nil {
		t.Errorf("after its parent: %v", err)
	}
}

// TestLock holds a POSIX lock on a file, and lets it go.
func TestLock(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lock := func(kind int16) {
		t.Helper()
		if err := syscall.FcntlFlock(f.Fd(), syscall.F_SETLK, &syscall.Flock_t{Type: kind, Whence: io.SeekStart}); err != nil {
			t.Fatal(err)
		}
	}
	lock(syscall.F_WRLCK)
	e := repository(t)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	cmd := exec.Command(gitstatusd, "-l", "3")
	cmd.Env, cmd.Stdout, cmd.ExtraFiles = e.Environ(), w, []*os.File{f}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	if _, err := io.WriteString(in, "a\x1f/\x1e"); err != nil {
		t.Fatal(err)
	}
	answer := make([]byte, len("a\x1f0\x1e"))
	if _, err := io.ReadFull(r, answer); err != nil || string(answer) != "a\x1f0\x1e" {
		t.Errorf("while the lock is held: %q, %v", answer, err)
	}
	lock(syscall.F_UNLCK)
	if err := cmd.Wait(); err != nil { // its input stays open
		t.Errorf("after the lock was let go: %v", err)
	}
	in.Close()
}

// TestWithoutCurrentDirectory starts the daemon in a directory that is then
// removed.
func TestWithoutCurrentDirectory(t *testing.T) {
	e := repository(t)
	cmd := exec.Command("sh", "-c", `mkdir gone; cd gone; rmdir ../gone; exec "$0"`, gitstatusd)
	cmd.Dir, cmd.Env = e.Dir, e.Environ()
	cmd.Stdin = strings.NewReader("a\x1f" + e.Path("r") + "\x1e")
	out, err := cmd.Output()
	if err != nil || strings.Count(string(out), "\x1f") != gittest.NumFields-1 {
		t.Errorf("got %q, %v", out, err)
	}
}

// TestForgets asks a daemon that frees repositories at once.
func TestForgets(t *testing.T) {
	e := repository(t)
	d := daemon.For(t, gitstatusd, e, "-r", "0")
	for i := range 5 {
		e.Script(t, "touch r/new"+strconv.Itoa(i))
		got, err := d.Ask(gittest.Place{Dir: e.Path("r")}, false)
		if err != nil || len(got) != gittest.NumFields || got[13] != "1" {
			t.Errorf("got %q, %v", got, err)
		}
	}
}

// TestLogsTheFile damages the index: the answer says so, one line of the log
// names the file, and the next answer is right.
func TestLogsTheFile(t *testing.T) {
	e := repository(t)
	d := daemon.For(t, gitstatusd, e)
	place := gittest.Place{Dir: e.Path("r")}
	e.Script(t, "cd r; cp .git/index ../whole; printf garbage >.git/index")
	got, err := d.Ask(place, false)
	if err != nil || len(got) != gittest.NumFields || got[8] != "index-error" || got[4] != "main" {
		t.Errorf("with a damaged index: %q, %v", got, err)
	}
	e.Script(t, "cp whole r/.git/index")
	if got, err = d.Ask(place, false); err != nil || len(got) != gittest.NumFields || got[8] != "" || got[9] != "1" {
		t.Errorf("with the index mended: %q, %v", got, err)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	if log := d.Log(); strings.Count(log, "\n") != 1 || !strings.Contains(log, e.Path("r/.git/index")) {
		t.Errorf("the log is %q, want one line that names the index", log)
	}
}
