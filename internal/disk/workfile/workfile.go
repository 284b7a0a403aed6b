// Package workfile changes the files of a working tree through open directories,
// never through a symbolic link.
//
// Nothing here replaces a file that it was not told about: new files and renamed
// ones take a name that is free, or the call fails with fs.ErrExist, and Exchange
// swaps two files that both stay.
package workfile

import "errors"

// ErrNoExchange means that this system, or the file system, cannot swap two files
// at once.
var ErrNoExchange = errors.New("files cannot be exchanged here")

// perm returns the permissions of a new file, of which the umask leaves some.
func perm(exec bool) uint32 {
	if exec {
		return 0o777
	}
	return 0o666
}
