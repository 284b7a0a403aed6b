//go:build !unix

package process

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
)

// Become runs the program at path in the place of this one, with this argv, argv[0]
// included, and the environment env; descriptors 0 to 2, the working directory and
// the process ID stay. in, if not nil, is its standard input. On Unix it returns
// only if that fails; elsewhere it waits for the program and returns its exit code.
func Become(path string, argv, env []string, in []byte) (code int, err error) {
	cmd := exec.Cmd{Path: path, Args: argv, Env: env, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr}
	if in != nil {
		cmd.Stdin = bytes.NewReader(in)
	}
	err = cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode(), nil
	}
	return 0, err
}
