// Package socket is the per-user socket: where it is, who may use it, and whose
// turn it is to serve it.
//
// The directory is $XDG_RUNTIME_DIR/gust where that variable names a directory of
// the user, else gust-UID under the temporary directory. It holds the socket and
// two files that only carry locks (flock(2)): server.lock is held by the server
// for as long as new clients may find it, start.lock for the moment in which one
// begins. Neither is ever opened through a symbolic link.
package socket

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
)

// ErrUnsupported says that this system has no per-user sockets that gust can
// trust.
var ErrUnsupported = errors.New("no per-user sockets on this system")

// ErrServed says that another server holds the socket.
var ErrServed = errors.New("another server is running")

// An UnsafeError says why a directory is not used for the socket.
type UnsafeError struct {
	Dir     string
	Problem string
}

func (e *UnsafeError) Error() string {
	return fmt.Sprintf("refusing socket directory '%s': %s", e.Dir, e.Problem)
}

// A Place is where the server of one user is found.
type Place struct {
	Dir    string // absolute
	Socket string // in Dir, short enough for bind(2)
}

// maxPath is how many bytes of a path fit into a socket's address on every
// system, with the name that a socket has before it is put into its place:
// sun_path is 104 bytes on the BSDs, 108 on Linux.
const maxPath = 104 - 1 - len(newSuffix)

// newSuffix ends the name of a socket that is not in its place yet.
const newSuffix = ".new"

// Locate returns the place for the user of this process, whose environment
// lookup reads. It does not create or check the directory; see Secure. The error
// is ErrUnsupported, or there is no temporary directory with a short name.
func Locate(lookup func(name string) (string, bool)) (Place, error) {
	uid := userID()
	if uid < 0 {
		return Place{}, ErrUnsupported
	}
	var dirs []string
	// One of another user, as after su(1), is as good as none: making a directory
	// in it would lock that user out.
	if dir, _ := lookup("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) && ownDirectory(dir) {
		dirs = append(dirs, filepath.Join(dir, "gust"))
	}
	if dir, _ := lookup("TMPDIR"); filepath.IsAbs(dir) {
		dirs = append(dirs, filepath.Join(dir, "gust-"+strconv.Itoa(uid)))
	}
	dirs = append(dirs, "/tmp/gust-"+strconv.Itoa(uid))
	for i, dir := range dirs {
		name := "server.sock"
		if i > 0 && len(dirs[0])+1+len(name) > maxPath {
			// Too long for an address, the first choice still tells one place
			// from another.
			sum := sha256.Sum256([]byte(dirs[0]))
			name = hex.EncodeToString(sum[:8]) + ".sock"
		}
		if path := filepath.Join(dir, name); len(path) <= maxPath {
			return Place{Dir: dir, Socket: path}, nil
		}
	}
	return Place{}, fmt.Errorf("no socket fits into '%s': the name is too long", dirs[0])
}

// lock returns the path of the file that the server locks.
func (p Place) lock() string { return p.Socket[:len(p.Socket)-len(".sock")] + ".lock" }

// starting returns the path of the file that is locked while a server begins.
func (p Place) starting() string { return p.Socket[:len(p.Socket)-len(".sock")] + ".start" }
