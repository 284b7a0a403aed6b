//go:build unix

package filestat

import (
	"io/fs"

	"golang.org/x/sys/unix"
)

// openRaw opens the file at path for reading, without the runtime's poller: a
// small file is read in three calls.
func openRaw(path string) (int, error) {
	for {
		fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
		if err == nil || err != unix.EINTR {
			return fd, err
		}
	}
}

// ReadStart reads the first bytes of the file at path, following symbolic links,
// into buf and returns how many they are: less than len(buf) where the file is
// shorter. A directory is an error that says that there is no file.
func ReadStart(path string, buf []byte) (int, error) {
	fd, err := openRaw(path)
	if err != nil {
		return 0, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(fd)
	for {
		n, err := unix.Read(fd, buf)
		switch err {
		case nil:
			return n, nil // of a regular file all there is
		case unix.EINTR:
			continue
		case unix.EISDIR:
			err = fs.ErrNotExist
		}
		return 0, &fs.PathError{Op: "read", Path: path, Err: err}
	}
}

// readAll returns the content of the file at path, which had size bytes a moment
// ago. It reads no further once it has that many bytes. A file that grew meanwhile
// does not match the signature that was taken before.
func readAll(path string, size, max int64) ([]byte, error) {
	fail := func(op string, err error) ([]byte, error) {
		return nil, &fs.PathError{Op: op, Path: path, Err: err}
	}
	fd, err := openRaw(path)
	if err != nil {
		return fail("open", err)
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
