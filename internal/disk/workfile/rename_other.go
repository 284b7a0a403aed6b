//go:build unix && !linux

package workfile

func openBeneath(dirfd int, path string) (int, error) { return openEach(dirfd, path) }

func exchange(int, string, int, string) error { return ErrNoExchange }

func renameFree(dirfd int, name string, toFd int, toName string) error {
	return renameChecked(dirfd, name, toFd, toName)
}

// Spread does nothing here.
func (d Dir) Spread() {}
