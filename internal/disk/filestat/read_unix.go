//go:build unix

package filestat

import (
	"io/fs"

	"golang.org/x/sys/unix"
)

// readAll returns the content of the file at path, which had size bytes a moment
// ago. It opens the file without the runtime's poller, and reads no further once
// it has that many bytes: small files are read in three calls. A file that grew
// meanwhile does not match the signature that was taken before.
func readAll(path string, size, max int64) ([]byte, error) {
	fail := func(op string, err error) ([]byte, error) {
		return nil, &fs.PathError{Op: op, Path: path, Err: err}
	}
	var fd int
	for {
		var err error
		if fd, err = unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NONBLOCK|unix.O_NOCTTY, 0); err == nil {
			break
		} else if err != unix.EINTR {
			return fail("open", err)
		}
	}
	defer unix.Close(fd)
	data := make([]byte, 0, size+1) // room to see that there is more, where there is none at all yet
	for {
		n, err := unix.Read(fd, data[len(data):cap(data)])
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return fail("read", err)
		}
		data = data[:len(data)+n]
		switch {
		case n == 0 || int64(len(data)) == size:
			return data, nil
		case int64(len(data)) > max:
			return fail("read", errTooLarge)
		case len(data) == cap(data):
			data = append(data, 0)[:len(data)]
		}
	}
}
