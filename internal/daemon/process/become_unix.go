//go:build unix

package process

import (
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// Become runs the program at path in the place of this one, with this argv, argv[0]
// included, and the environment env; descriptors 0 to 2, the working directory and
// the process ID stay. in, if not nil, is its standard input. On Unix it returns
// only if that fails; elsewhere it waits for the program and returns its exit code.
func Become(path string, argv, env []string, in []byte) (code int, err error) {
	if in != nil {
		if err := feed(in); err != nil {
			return 0, fmt.Errorf("cannot pass on the standard input: %w", err)
		}
	}
	// The library's Exec, not the bare system call: it puts back the limit of open
	// files that the runtime raised.
	return 0, &os.PathError{Op: "exec", Path: path, Err: syscall.Exec(path, argv, env)}
}

// feed makes data the standard input, in a file without a name: it needs nobody who
// goes on writing.
func feed(data []byte) error {
	f, err := os.CreateTemp("", "gust-stdin-")
	if err != nil {
		return err
	}
	defer f.Close()
	if err := os.Remove(f.Name()); err != nil {
		return err
	}
	if _, err := f.Write(data); err != nil {
		return err
	}
	if _, err := f.Seek(0, 0); err != nil {
		return err
	}
	if err := unix.Close(0); err != nil {
		return err
	}
	// dup(2) takes the lowest free number; dup2 is not there on every machine.
	if fd, err := unix.Dup(int(f.Fd())); err != nil || fd != 0 {
		return fmt.Errorf("descriptor %d instead of 0: %w", fd, err)
	}
	return nil
}
