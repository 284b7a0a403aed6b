package content

import (
	"os"
	"path/filepath"
)

// Plain returns access to the files below root by their paths, which have
// slashes on every system.
//
// Names are looked up twice, before and after opening, and must lead to the
// same regular file: a symbolic link that replaces it in between is not
// followed.
func Plain(root string) Files {
	full := func(name string) string { return filepath.Join(root, filepath.FromSlash(name)) }
	return Files{
		Open: func(name string) (*os.File, error) { return openPlain(full(name)) },
		Readlink: func(name string) (string, error) {
			return os.Readlink(full(name))
		},
	}
}

// openPlain opens the regular file called name.
func openPlain(name string) (*os.File, error) {
	before, err := os.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !before.Mode().IsRegular() {
		return nil, errChanged
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	after, err := file.Stat()
	if err != nil {
		file.Close()
		return nil, err
	}
	if !os.SameFile(before, after) {
		file.Close()
		return nil, errChanged
	}
	return file, nil
}
