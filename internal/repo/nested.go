package repo

import (
	"errors"

	"gust/internal/disk/filestat"
)

// IsRepository reports whether dir, a directory inside of another working tree,
// is the working tree of a repository of its own, so that Git does not look into
// it: its .git is a git dir, or a file that leads to one. A .git file that cannot
// be read counts, as it does to Git.
func IsRepository(dir string, env Env) bool {
	l := locator{cwd: dir, env: env}
	path := dir + "/.git"
	target, err := readGitFile(path)
	if err == nil {
		return l.isGitDir(target)
	}
	if errors.Is(err, errNoGitFile) {
		return l.isGitDir(path)
	}
	return filestat.IsDenied(err)
}
