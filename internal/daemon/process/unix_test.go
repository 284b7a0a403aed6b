//go:build unix

package process

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// patience is how long something may take before it counts as hung. It is no
// measurement.
const patience = 60 * time.Second

// A nature is what a started process finds itself to be.
type nature struct {
	Dir         string
	Env         []string
	Args        []string
	Leader      bool // of its own session
	Umask       int
	Descriptors []string // where each leads
	Status      string   // /proc/self/status
}

// The arguments that make this test program another one.
const (
	describe = "describe-yourself" // writes its nature to the named file, and stays until that is gone
	hold     = "hold-lock"         // locks the named file until the end of its input
)

func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == describe {
		describeTo(os.Args[2])
		os.Exit(0)
	}
	if len(os.Args) == 3 && os.Args[1] == hold {
		f, err := os.OpenFile(os.Args[2], os.O_RDWR, 0)
		if err != nil {
			os.Exit(1)
		}
		if unix.FcntlFlock(f.Fd(), unix.F_SETLK, &unix.Flock_t{Type: unix.F_WRLCK}) != nil {
			os.Exit(1)
		}
		os.Stdout.WriteString("held\n")
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func describeTo(path string) {
	n := nature{Env: os.Environ(), Args: os.Args}
	n.Dir, _ = os.Getwd()
	sid, _ := unix.Getsid(0)
	n.Leader = sid == os.Getpid()
	n.Umask = unix.Umask(0)
	status, _ := os.ReadFile("/proc/self/status")
	n.Status = string(status)
	for fd := range 64 {
		if to, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(fd)); err == nil {
			n.Descriptors = append(n.Descriptors, to)
		}
	}
	data, _ := json.Marshal(n)
	_ = os.WriteFile(path+".new", data, 0o600)
	_ = os.Rename(path+".new", path)
	for _, err := os.Stat(path); err == nil; _, err = os.Stat(path) {
		time.Sleep(10 * time.Millisecond)
	}
}

func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("still not: %s", what)
		}
	}
}

// TestStart starts a process from one that has pipes, a lock, blocked signals and
// a directory of its own, and looks at what is left of them.
func TestStart(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "nature")
	// A descriptor as a shell hands it over: one that exec(2) does not close.
	var held [2]int
	if err := syscall.Pipe(held[:]); err != nil {
		t.Fatal(err)
	}
	r := os.NewFile(uintptr(held[0]), "pipe")
	defer r.Close()
	t.Chdir(t.TempDir())
	pid, err := Start(exe, exe, []string{describe, path}, []string{"A=b"})
	if err != nil {
		t.Fatal(err)
	}
	// The child lives, and the last writer here goes: the end of the pipe is seen.
	syscall.Close(held[1])
	eof := make(chan error, 1)
	go func() {
		_, err := r.Read(make([]byte, 1))
		eof <- err
	}()
	select {
	case err := <-eof:
		if err != io.EOF {
			t.Errorf("the held pipe: %v", err)
		}
	case <-time.After(patience):
		t.Error("the new process holds a pipe of its parent")
	}
	until(t, "the process has described itself", func() bool { _, err := os.Stat(path); return err == nil })
	if Reap(pid) {
		t.Error("it has ended before its time")
	}
	var n nature
	data, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(data, &n)
	}
	if err != nil {
		t.Fatal(err)
	}
	if n.Dir != "/" || !n.Leader || !slices.Equal(n.Env, []string{"A=b"}) || !slices.Equal(n.Args, []string{exe, describe, path}) {
		t.Errorf("it is %+v", n)
	}
	if n.Status != "" { // Linux
		if null := []string{"/dev/null", "/dev/null", "/dev/null"}; !slices.Equal(n.Descriptors[:min(3, len(n.Descriptors))], null) {
			t.Errorf("its descriptors are %q", n.Descriptors)
		}
		for _, d := range n.Descriptors[min(3, len(n.Descriptors)):] {
			if strings.HasPrefix(d, "pipe:") || strings.HasPrefix(d, "socket:") || strings.HasPrefix(d, "/tmp") {
				t.Errorf("it has inherited %s", d)
			}
		}
		if !strings.Contains(n.Status, "SigBlk:\t0000000000000000\n") {
			t.Errorf("signals are blocked in it:\n%s", n.Status)
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	until(t, "it has ended", func() bool { return Reap(pid) })
}

func TestStartFails(t *testing.T) {
	if pid, err := Start("test", filepath.Join(t.TempDir(), "none"), nil, nil); err == nil {
		t.Errorf("a program that is not there has pid %d", pid)
	}
}

// TestCloseListed is the way of systems without close_range(2).
func TestCloseListed(t *testing.T) {
	for _, dir := range []string{"/proc/self/fd", "/nowhere"} {
		fd, err := unix.Dup(0)
		if err != nil {
			t.Fatal(err)
		}
		defer unix.Close(fd)
		if err := closeListedOnExec(dir); err != nil {
			t.Fatal(err)
		}
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err != nil || flags&unix.FD_CLOEXEC == 0 {
			t.Errorf("%s: descriptor %d has flags %#x, %v", dir, fd, flags, err)
		}
	}
}

func TestExited(t *testing.T) {
	cmd := exec.Command("cat")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	gone := Exited(cmd.Process.Pid)
	if !Alive(cmd.Process.Pid) {
		t.Error("a process that runs is not alive")
	}
	select {
	case <-gone:
		t.Error("it has not exited yet")
	default:
	}
	in.Close()
	if gone != nil {
		select {
		case <-gone:
		case <-time.After(patience):
			t.Error("nobody tells of its end")
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	if Alive(cmd.Process.Pid) {
		t.Error("a process that is gone is alive")
	}
	if Exited(cmd.Process.Pid) != nil {
		t.Error("a process that is gone can be waited for")
	}
}

func TestUnlocked(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "lock")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	fd := int(f.Fd())
	if held, err := LockHeld(fd); held || err != nil {
		t.Errorf("before anybody holds it: %v, %v", held, err)
	}
	cmd := exec.Command(exe, hold, path)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatalf("%q, %v: %s", line, err, stderr.String())
	}
	if held, err := LockHeld(fd); !held || err != nil {
		t.Errorf("while it is held: %v, %v", held, err)
	}
	free := Unlocked(fd)
	if free == nil {
		t.Fatal("it cannot be waited for")
	}
	select {
	case <-free:
		t.Error("free while it is held")
	default:
	}
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	select {
	case <-free:
	case <-time.After(patience):
		t.Error("nobody tells that it is free")
	}
	readOnly, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer readOnly.Close()
	if Unlocked(int(readOnly.Fd())) != nil {
		t.Error("a lock cannot be waited for on a descriptor that only reads")
	}
	if _, err := LockHeld(1 << 20); err == nil {
		t.Error("a descriptor that is not open can be asked")
	}
}
