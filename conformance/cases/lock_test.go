package cases

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"gust/conformance/daemon"
	"gust/internal/gittest"
)

// TestC49Commits asks from four daemons without pause while git commits: no
// commit may find a lock, and every answer is one of a whole repository.
func TestC49Commits(t *testing.T) {
	e := gittest.New(t, gittest.System(t))
	e.Script(t, "git init -q r; cd r; for i in 1 2 3; do echo $i >f$i; done; git add .; git commit -qm a; touch f1 f2")
	ctx, stop := context.WithCancel(context.Background())
	var clients sync.WaitGroup
	for range 4 {
		d := daemon.For(t, gitstatusd, e, gittest.Unlimited().Args()...)
		clients.Go(func() {
			for ctx.Err() == nil {
				got, err := d.Ask(gittest.Place{Dir: e.Path("r")}, false)
				if err != nil {
					t.Error(err)
					return
				}
				if bad := expect("branch=main index-size=3 conflicted=0 action=", got); bad != nil {
					t.Errorf("while git commits: %q: %q", bad, got)
					return
				}
			}
		})
	}
	e.Script(t, `cd r; for i in $(seq 40); do git commit -q --allow-empty -m $i; echo x$i >f1; git add f1; git commit -qm $i; echo $i >f1.new; cp f1.new f1; rm f1.new; done `)
	stop()
	clients.Wait()
	if n := e.Run(t, "r", "rev-list", "--count", "HEAD"); n != "81\n" {
		t.Errorf("git made %s commits, want 81: a daemon was in its way", n)
	}
}

// TestC52ReadsNothing counts the bytes that a daemon reads where an untracked file
// is large.
func TestC52ReadsNothing(t *testing.T) {
	if _, err := os.Stat("/proc/self/io"); err != nil {
		t.Log("NOT TESTED: how much is read (no /proc/PID/io)")
		return
	}
	e := gittest.New(t, gittest.System(t))
	e.Script(t, "git init -q r; cd r; git commit -q --allow-empty -m a; truncate -s 8G big; mkdir d; truncate -s 8G d/big")
	d := daemon.For(t, gitstatusd, e, gittest.Unlimited().Args()...)
	got, err := d.Ask(gittest.Place{Dir: e.Path("r")}, false)
	if err != nil {
		t.Fatal(err)
	}
	if bad := expect("clean untracked=2", got); bad != nil {
		t.Errorf("%q: %q", bad, got)
	}
	read := bytesRead(t, filepath.Join("/proc", strconv.Itoa(d.PID()), "io"))
	// The binary's own pages are mapped, not read: what is read are small files.
	if read > 4<<20 {
		t.Errorf("the daemon has read %d bytes", read)
	}
}

// bytesRead returns the bytes that the process of a /proc/PID/io file has read.
func bytesRead(t *testing.T, path string) int64 {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var n int64
	if _, err := fmt.Sscanf(string(data), "rchar: %d", &n); err != nil {
		t.Fatalf("%s: %v: %q", path, err, data)
	}
	return n
}
