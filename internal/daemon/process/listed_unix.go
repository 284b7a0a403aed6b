//go:build unix

package process

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// closeListedOnExec marks every descriptor from 3 up that the directory names, or
// every possible one if it does not.
func closeListedOnExec(dir string) error {
	d, err := os.Open(dir)
	if err == nil {
		defer d.Close()
		var names []string
		if names, err = d.Readdirnames(-1); err == nil && len(names) > 3 {
			for _, name := range names {
				if fd, err := strconv.Atoi(name); err == nil && fd >= 3 {
					unix.CloseOnExec(fd)
				}
			}
			return nil
		}
	}
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return err
	}
	// A limit of millions would cost a second; no shell opens that many.
	for fd := 3; fd < int(min(limit.Cur, 1<<16)); fd++ {
		unix.CloseOnExec(fd)
	}
	return nil
}
