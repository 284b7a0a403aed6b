//go:build unix

package process

import (
	"fmt"
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// Start runs the program at path, which ps(1) shows as name, as a process that shares
// nothing with this one:
// a session of its own, /dev/null on its first three descriptors and no others,
// the root directory as its working directory, no signal blocked, and exactly
// the environment env. It returns the process ID, which Reap wants back.
//
// Every descriptor of this process from 3 up is marked to be closed by exec(2),
// also those that it was itself started with.
func Start(name, path string, args, env []string) (pid int, err error) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return 0, err
	}
	defer null.Close()
	if err := closeOnExec(); err != nil {
		return 0, fmt.Errorf("cannot keep descriptors from a new process: %w", err)
	}
	if env == nil {
		env = []string{} // nil would mean this process's own
	}
	// A child begins with the signal mask of the thread that made it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer unblockSignals()()
	p, err := os.StartProcess(path, append([]string{name}, args...), &os.ProcAttr{
		Dir: "/", Env: env, Files: []*os.File{null, null, null},
		Sys: &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		return 0, err
	}
	pid = p.Pid
	return pid, p.Release()
}

// Reap takes notice of the end of a process that Start made, and reports whether
// it has ended. It does not wait.
func Reap(pid int) bool {
	got, err := unix.Wait4(pid, nil, unix.WNOHANG, nil)
	return got == pid || err != nil && err != unix.EINTR
}
