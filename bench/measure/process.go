package measure

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// Command measures a whole process, from its start to its end. cmd must not have
// been started.
func Command(cmd *exec.Cmd) (Cost, error) {
	began := time.Now()
	err := cmd.Run()
	cost := Cost{Wall: time.Since(began)}
	if cmd.ProcessState != nil {
		cost.CPU = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	return cost, err
}

// Within measures what f costs the running process pid.
func Within(pid int, f func() error) (Cost, error) {
	before := onCPU(pid)
	began := time.Now()
	err := f()
	cost := Cost{Wall: time.Since(began)}
	cost.CPU = onCPU(pid) - before
	return cost, err
}

// onCPU returns how long the threads of pid have been on a processor: the first
// number in their schedstat (proc_pid_schedstat in the kernel's documentation),
// in nanoseconds. 0 where there is no such file.
func onCPU(pid int) (sum time.Duration) {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid)) // the pattern is well-formed
	for _, file := range files {
		data, err := os.ReadFile(file)
		var ns int64
		if _, scanned := fmt.Sscan(string(data), &ns); err == nil && scanned == nil {
			sum += time.Duration(ns)
		}
	}
	return sum
}
