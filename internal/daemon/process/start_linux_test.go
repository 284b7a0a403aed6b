package process

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestStartUnblocks starts a process from a thread that blocks a signal.
func TestStartUnblocks(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	blocked := unix.Sigset_t{}
	blocked.Val[0] = 1 << (unix.SIGUSR2 - 1)
	var before unix.Sigset_t
	if err := unix.PthreadSigmask(unix.SIG_BLOCK, &blocked, &before); err != nil {
		t.Fatal(err)
	}
	defer unix.PthreadSigmask(unix.SIG_SETMASK, &before, nil)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "nature")
	pid, err := Start(exe, exe, []string{describe, path}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var after unix.Sigset_t
	if err := unix.PthreadSigmask(unix.SIG_BLOCK, nil, &after); err != nil || after.Val[0]&blocked.Val[0] == 0 {
		t.Errorf("the signal is not blocked here any more: %v, %v", after, err)
	}
	until(t, "the process has described itself", func() bool { _, err := os.Stat(path); return err == nil })
	var n nature
	data, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(data, &n)
	}
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(n.Status, "SigBlk:\t0000000000000000\n") {
		t.Errorf("signals are blocked in it:\n%s", n.Status)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	until(t, "it has ended", func() bool { return Reap(pid) })
}
