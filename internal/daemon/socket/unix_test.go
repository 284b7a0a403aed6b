//go:build unix

package socket

import (
	"bytes"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// asNobody is the argument that makes this test program connect to the socket in
// its second one.
const asNobody = "connect-as-nobody"

func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == asNobody {
		c, err := net.Dial("unix", os.Args[2])
		if err != nil {
			os.Stderr.WriteString(err.Error())
			os.Exit(1)
		}
		_, _ = c.Read(make([]byte, 1)) // until the other end closes
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func place(t *testing.T) Place {
	t.Helper()
	p, err := Locate(lookup(map[string]string{"XDG_RUNTIME_DIR": short(t)}))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestSecure(t *testing.T) {
	for _, tt := range []struct {
		name    string
		make    func(t *testing.T, dir string) error
		problem string // empty: none
	}{
		{"absent", func(*testing.T, string) error { return nil }, ""},
		{"there", func(_ *testing.T, dir string) error { return os.Mkdir(dir, 0o700) }, ""},
		{"open-to-group", func(_ *testing.T, dir string) error {
			return errors.Join(os.Mkdir(dir, 0o700), os.Chmod(dir, 0o710))
		}, "its mode is 0710"},
		{"file", func(_ *testing.T, dir string) error { return os.WriteFile(dir, nil, 0o600) }, "not a directory"},
		{"symbolic-link", func(t *testing.T, dir string) error { return os.Symlink(t.TempDir(), dir) }, "symbolic link"},
		{"dangling-link", func(_ *testing.T, dir string) error { return os.Symlink("nowhere", dir) }, "symbolic link"},
		{"foreign", func(t *testing.T, dir string) error {
			if os.Geteuid() != 0 {
				t.Skip("only root can make a directory of another user")
			}
			return errors.Join(os.Mkdir(dir, 0o700), os.Chown(dir, 65534, 65534))
		}, "belongs to user 65534"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := place(t)
			if err := tt.make(t, p.Dir); err != nil {
				t.Fatal(err)
			}
			err := p.Secure()
			var unsafe *UnsafeError
			if tt.problem == "" {
				if info, statErr := os.Lstat(p.Dir); err != nil || statErr != nil || info.Mode() != os.ModeDir|0o700 {
					t.Errorf("got %v, and %v, %v", err, info, statErr)
				}
				return
			}
			if !errors.As(err, &unsafe) || !strings.Contains(err.Error(), tt.problem) || !strings.Contains(err.Error(), p.Dir) {
				t.Errorf("got %v, want an UnsafeError about %s: '%s'", err, p.Dir, tt.problem)
			}
			if l, err := Listen(p); !errors.As(err, &unsafe) {
				t.Errorf("Listen: %v, %v", l, err)
			}
			if c, err := Dial(p); !errors.As(err, &unsafe) {
				t.Errorf("Dial: %v, %v", c, err)
			}
		})
	}
}

// TestLockThroughLink plants a symbolic link where a lock would be opened.
func TestLockThroughLink(t *testing.T) {
	p := place(t)
	if err := p.Secure(); err != nil {
		t.Fatal(err)
	}
	victim := filepath.Join(t.TempDir(), "victim")
	if err := os.WriteFile(victim, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(victim, p.lock()); err != nil {
		t.Fatal(err)
	}
	if l, err := Listen(p); err == nil {
		l.Close()
		t.Error("the lock was opened through a symbolic link")
	}
	if data, err := os.ReadFile(victim); string(data) != "precious" {
		t.Errorf("the file behind the link is %q, %v", data, err)
	}
}

func TestListen(t *testing.T) {
	p := place(t)
	if _, err := Dial(p); !Absent(err) {
		t.Errorf("without a server: %v", err)
	}
	l, err := Listen(p)
	if err != nil {
		t.Fatal(err)
	}
	if l.Path() != p.Socket || l.Lost() {
		t.Errorf("the listener is at %s, lost: %v", l.Path(), l.Lost())
	}
	if _, err := Listen(p); !errors.Is(err, ErrServed) {
		t.Errorf("a second server: %v", err)
	}
	c, err := Dial(p)
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Dial(p); !Absent(err) {
		t.Errorf("after the server: %v", err)
	}
	again, err := Listen(p)
	if err != nil {
		t.Fatal(err)
	}
	again.Close()
}

// TestStale finds the socket of a server that was killed.
func TestStale(t *testing.T) {
	p := place(t)
	if err := p.Secure(); err != nil {
		t.Fatal(err)
	}
	dead, err := net.ListenUnix("unix", &net.UnixAddr{Name: p.Socket, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	dead.SetUnlinkOnClose(false)
	dead.Close()
	if _, err := Dial(p); !Absent(err) {
		t.Errorf("a stale socket: %v", err)
	}
	l, err := Listen(p)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := Dial(p)
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
}

// TestLost takes the socket from a server that lives on, and lets another begin.
func TestLost(t *testing.T) {
	p := place(t)
	lost, err := Listen(p)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(p.Socket); err != nil {
		t.Fatal(err)
	}
	if !lost.Lost() {
		t.Error("without its socket, it is not lost")
	}
	l, err := Listen(p)
	if err != nil {
		t.Fatalf("where nobody can be reached: %v", err)
	}
	defer l.Close()
	if !lost.Lost() || l.Lost() {
		t.Errorf("lost: %v, %v; want the first one alone", lost.Lost(), l.Lost())
	}
	lost.Close() // must leave what is not its own
	if l.Lost() {
		t.Error("the end of a lost server took the socket of the next one")
	}
	if _, err := Listen(p); !errors.Is(err, ErrServed) {
		t.Errorf("after the end of the lost server: %v", err)
	}
}

// TestRace lets many servers begin at once: one does, and stays reachable.
func TestRace(t *testing.T) {
	for range 5 {
		p := place(t)
		var mu sync.Mutex
		var served []*Listener
		var wg sync.WaitGroup
		for range 8 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				l, err := Listen(p)
				switch {
				case err == nil:
					mu.Lock()
					served = append(served, l)
					mu.Unlock()
				case !errors.Is(err, ErrServed):
					t.Error(err)
				}
			}()
		}
		wg.Wait()
		if len(served) != 1 || served[0].Lost() {
			t.Errorf("%d servers", len(served))
		}
		for _, l := range served {
			l.Close()
		}
	}
}

func TestCheckPeer(t *testing.T) {
	p := place(t)
	l, err := Listen(p)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := Dial(p) // checks the other end
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	own, err := l.AcceptUnix()
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	if err := CheckPeer(own); err != nil {
		t.Errorf("a client of the same user: %v", err)
	}
	if os.Geteuid() != 0 {
		t.Skip("only root can be another user too")
	}
	// Everything open, so that the peer's identity alone is left to refuse it.
	exe := filepath.Join(filepath.Dir(p.Dir), "program")
	program, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Skipf("cannot copy this program: %v", err)
	}
	if err := errors.Join(os.WriteFile(exe, program, 0o755), os.Chmod(filepath.Dir(p.Dir), 0o755),
		os.Chmod(p.Dir, 0o755), os.Chmod(p.Socket, 0o777)); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, asNobody, p.Socket)
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = l.SetDeadline(time.Now().Add(time.Minute))
	foreign, err := l.AcceptUnix()
	if err != nil {
		t.Fatalf("%v; the client says %q", err, stderr.String())
	}
	if err := CheckPeer(foreign); err == nil || !strings.Contains(err.Error(), "65534") {
		t.Errorf("a client of another user: %v", err)
	}
	foreign.Close()
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v: %s", err, stderr.String())
	}
}

// TestWaitHangup tells a client that is silent from one that has left.
func TestWaitHangup(t *testing.T) {
	p := place(t)
	l, err := Listen(p)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := Dial(p)
	if err != nil {
		t.Fatal(err)
	}
	s, err := l.AcceptUnix()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := c.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	hung := make(chan error, 1)
	go func() { hung <- WaitHangup(s) }()
	if _, err := s.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Read(make([]byte, 1)); err != nil {
		t.Errorf("after its last word, the client hears %v", err)
	}
	c.Close()
	if err := <-hung; err != nil {
		t.Errorf("after its leaving: %v", err)
	}
}
