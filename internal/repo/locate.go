package repo

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"gust/internal/disk/filestat"
	"gust/internal/format/config"
)

var (
	// ErrNotFound says that a directory is in no repository.
	ErrNotFound = errors.New("not a git repository")
	// ErrUnsafe says that a repository was found but may not be used: someone
	// else owns it, or safe.bareRepository forbids it (git-config(1), safe.*).
	ErrUnsafe = errors.New("repository is not safe to use")
)

// A Location says where a repository is, before anything of it was read. It is
// comparable: two directories with one Location are in one repository, seen in
// the same way.
type Location struct {
	GitDir     string // absolute, without symbolic links
	GitDirName string // the path that Git has for GitDir where it has symbolic links, else "": includeIf sees both
	CommonDir  string // absolute; GitDir if the repository has no other working trees
	WorkTree   string // absolute; the working tree unless the configuration names another, "" if there is none
	Given      bool   // WorkTree is from GIT_WORK_TREE: the configuration does not matter
}

// Locate finds the repository that dir, an absolute path, is in. With gitDir
// set, dir is what GIT_DIR would be. The errors are ErrNotFound and ErrUnsafe,
// wrapped with the reason.
//
// Locate reads HEAD and the one-line files that lead from one directory to
// another, and otherwise only stats: two paths for each directory on the way up.
func Locate(dir string, gitDir bool, env Env) (Location, error) {
	l := locator{env: env, dir: filepath.Clean(dir)}
	if gitDir {
		return l.explicit(dir)
	}
	cwd, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return Location{}, notFound(dir, err.Error())
	}
	if !searchable(cwd) {
		return Location{}, notFound(dir, "cannot enter the directory")
	}
	l.cwd = cwd
	if given, ok := env["GIT_DIR"]; ok {
		return l.explicit(given)
	}
	return l.discover()
}

// A locator looks for the repository of one directory.
type locator struct {
	dir string // where Git would be run, as the caller names it
	cwd string // the same without symbolic links; "" if dir is unknown
	env Env

	given bool // the git dir is given; what is discovered has no symbolic links above it

	git, common string // the git dir that was last asked for its common dir, and that
}

// abs returns a path that is given relative to the current directory.
func (l *locator) abs(path string) string { return from(l.cwd, path) }

func notFound(dir, why string) error {
	return fmt.Errorf("'%s': %w: %s", dir, ErrNotFound, why)
}

// searchable reports whether path is a directory that one may go through.
func searchable(path string) bool {
	var st filestat.Stat
	return filestat.Of(&st, path+"/.") == nil
}

// explicit takes path for GIT_DIR.
func (l *locator) explicit(path string) (Location, error) {
	l.given = true
	abs := l.abs(path)
	if !filepath.IsAbs(abs) {
		return Location{}, notFound(path, "GIT_DIR is not a path")
	}
	name := abs
	if l.cwd != "" && !filepath.IsAbs(path) {
		name = filepath.Join(l.dir, path)
	}
	guess := "" // a .git file lies in its working tree
	if target, err := readGitFile(abs); err == nil {
		guess, abs, name = filepath.Dir(abs), target, target
	} else if !errors.Is(err, errNoGitFile) {
		return Location{}, notFound(path, err.Error())
	}
	if !l.isGitDir(abs) {
		return Location{}, notFound(path, "GIT_DIR is no repository")
	}
	loc := Location{WorkTree: l.cwd}
	if l.cwd == "" {
		if loc.WorkTree = guess; guess == "" {
			loc.WorkTree = guessWorkTree(abs)
		}
	}
	// Git sets this for the commands that it runs in a bare repository.
	if implicit, ok := l.env["GIT_IMPLICIT_WORK_TREE"]; ok {
		if v, ok := config.ParseBool(implicit); ok && !v {
			loc.WorkTree = ""
		}
	}
	return l.finish(loc, abs, name)
}

// guessWorkTree returns the working tree of a git dir for callers who do not say
// where they are: Git itself would take the current directory.
func guessWorkTree(gitDir string) string {
	if data, err := readSmall(gitDir + "/gitdir"); err == nil {
		// A linked working tree's git dir says where its .git file is.
		back := strings.TrimRight(data, "\r\n")
		if !filepath.IsAbs(back) {
			back = filepath.Join(gitDir, back)
		}
		return filepath.Dir(back)
	}
	if filepath.Base(gitDir) == ".git" {
		return filepath.Dir(gitDir)
	}
	return ""
}

// finish fills in what follows from the git dir at path, which Git calls name.
func (l *locator) finish(loc Location, path, name string) (Location, error) {
	real := path
	var st filestat.Stat
	if l.given || filestat.Of(&st, path) != nil || st.IsSymlink() {
		var err error
		if real, err = filepath.EvalSymlinks(path); err != nil {
			return Location{}, notFound(path, err.Error())
		}
	}
	loc.GitDir = real
	if name != real {
		loc.GitDirName = name
	}
	var err error
	if loc.CommonDir, err = l.commonDir(real); err != nil {
		return Location{}, err
	}
	if given, ok := l.env["GIT_WORK_TREE"]; ok {
		if given == "" {
			return Location{}, notFound(path, "GIT_WORK_TREE is empty")
		}
		loc.WorkTree, loc.Given = l.abs(given), true
	}
	return loc, nil
}

// discover looks for a repository in the current directory and those above it.
func (l *locator) discover() (Location, error) {
	cwd := l.cwd
	stop := ceiling(cwd, l.env)
	across, err := l.env.bool("GIT_DISCOVERY_ACROSS_FILESYSTEM")
	if err != nil {
		return Location{}, notFound(cwd, err.Error())
	}
	var first, st filestat.Stat
	if err := filestat.Of(&first, cwd); err != nil {
		return Location{}, notFound(cwd, err.Error())
	}
	for dir := cwd; ; {
		loc, found, err := l.at(dir)
		if found || err != nil {
			return loc, err
		}
		parent := filepath.Dir(dir)
		if parent == dir || len(parent) <= stop {
			return Location{}, notFound(cwd, "nor any of the parent directories")
		}
		dir = parent
		if err := filestat.Of(&st, dir); err != nil {
			return Location{}, notFound(cwd, err.Error())
		}
		if !across && st.Dev != first.Dev {
			return Location{}, notFound(cwd, "nor any parent up to the mount point (GIT_DISCOVERY_ACROSS_FILESYSTEM is not set)")
		}
	}
}

// at looks for a repository in dir itself.
func (l *locator) at(dir string) (loc Location, found bool, err error) {
	dotGit := filepath.Join(dir, ".git")
	target, err := readGitFile(dotGit)
	switch {
	case err == nil:
		if !l.isGitDir(target) {
			return Location{}, false, notFound(dir, "its .git file leads to no repository: '"+target+"'")
		}
		return l.checked(Location{WorkTree: dir}, target, dotGit)
	case !errors.Is(err, errNoGitFile):
		return Location{}, false, notFound(dir, err.Error())
	}
	if !errors.Is(err, errNoDotGit) && l.isGitDir(dotGit) {
		return l.checked(Location{WorkTree: dir}, dotGit, "")
	}
	if l.isGitDir(dir) {
		return l.checked(Location{}, dir, "")
	}
	return Location{}, false, nil
}

// checked finishes a Location that was discovered, and applies safe.*.
func (l *locator) checked(loc Location, gitDir, gitFile string) (Location, bool, error) {
	if err := l.checkSafe(loc.WorkTree, gitDir, gitFile); err != nil {
		return Location{}, false, err
	}
	name := gitDir
	if gitFile == "" && loc.WorkTree == l.cwd {
		// At the top of the working tree Git has a relative path, which it makes
		// absolute by PWD. Below, it has gone up to the top and PWD is void.
		name = filepath.Join(l.dir, filepath.Base(gitDir))
	}
	loc, err := l.finish(loc, gitDir, name)
	return loc, err == nil, err
}

var (
	// errNoGitFile says that a path is no .git file, but perhaps a directory.
	errNoGitFile = errors.New("not a .git file")
	// errNoDotGit says that there is nothing of the name.
	errNoDotGit = fmt.Errorf("%w: nothing there", errNoGitFile)
)

// maxGitFile is Git's limit on the size of a .git file.
const maxGitFile = 1 << 20

// readGitFile returns the directory that the .git file at path leads to,
// absolute (gitrepository-layout(5), "gitfile").
func readGitFile(path string) (string, error) {
	var st filestat.Stat
	if err := filestat.Of(&st, path); err != nil {
		return "", errNoDotGit
	}
	if st.IsSymlink() {
		sig := filestat.Sign(path)
		if st = sig.Stat(); sig.Absent() {
			return "", errNoDotGit
		}
	}
	if st.IsDir() {
		return "", errNoGitFile
	}
	if !st.IsRegular() {
		return "", fmt.Errorf("'%s' is neither a directory nor a regular file", path)
	}
	data, err := readSmall(path)
	if err != nil {
		return "", err
	}
	target, ok := strings.CutPrefix(strings.TrimRight(data, "\r\n"), "gitdir: ")
	if !ok {
		return "", fmt.Errorf("invalid .git file '%s'", path)
	}
	if target == "" {
		return "", fmt.Errorf("no path in .git file '%s'", path)
	}
	if !filepath.IsAbs(target) {
		target = filepath.Dir(path) + "/" + target
	}
	real, err := filepath.EvalSymlinks(target)
	if err != nil {
		return "", fmt.Errorf(".git file '%s' leads nowhere: %w", path, err)
	}
	return real, nil
}

// isGitDir reports whether path looks like a git dir: it has a HEAD that is one,
// and there are directories for objects and refs.
func (l *locator) isGitDir(path string) bool {
	if !validHead(path + "/HEAD") {
		return false
	}
	common, err := l.commonDir(path)
	if err != nil || !searchable(common+"/refs") {
		return false
	}
	objects := common + "/objects"
	if given, ok := l.env["GIT_OBJECT_DIRECTORY"]; ok {
		if objects = l.abs(given); objects == "" {
			return false
		}
	}
	return searchable(objects)
}

// headSize is how much of HEAD Git reads to see whether it is one.
const headSize = 255

// validHead reports whether the file at path could be a HEAD: a symbolic link to
// a ref, or a file that begins with "ref: refs/" or with an object ID.
func validHead(path string) bool {
	var st filestat.Stat
	if err := filestat.Of(&st, path); err != nil {
		return false
	}
	if st.IsSymlink() {
		target, err := os.Readlink(path)
		return err == nil && strings.HasPrefix(target, "refs/")
	}
	if !st.IsRegular() {
		return false
	}
	var buf [headSize]byte
	n, err := filestat.ReadStart(path, buf[:])
	if err != nil {
		return false
	}
	data := buf[:n]
	if rest, ok := bytes.CutPrefix(data, []byte("ref:")); ok {
		return bytes.HasPrefix(bytes.TrimLeft(rest, " \t\n\r"), []byte("refs/"))
	}
	const hexSize = 40 // of a SHA-1; a SHA-256 starts with as many digits
	if n < hexSize {
		return false
	}
	for _, c := range data[:hexSize] {
		if !('0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f') {
			return false
		}
	}
	return true
}

// commonDir returns the common dir of a git dir, absolute.
func (l *locator) commonDir(gitDir string) (string, error) {
	if gitDir == l.git {
		return l.common, nil
	}
	common, err := l.readCommonDir(gitDir)
	if err == nil {
		l.git, l.common = gitDir, common
	}
	return common, err
}

func (l *locator) readCommonDir(gitDir string) (string, error) {
	if given, ok := l.env["GIT_COMMON_DIR"]; ok {
		if given == "" {
			return "", notFound(gitDir, "GIT_COMMON_DIR is empty")
		}
		return filepath.EvalSymlinks(l.abs(given))
	}
	data, err := readSmall(gitDir + "/commondir")
	if err != nil {
		if filestat.IsAbsent(err) {
			return gitDir, nil
		}
		return "", fmt.Errorf("cannot read '%s/commondir': %w", gitDir, err)
	}
	target := strings.TrimRight(data, "\r\n")
	if !filepath.IsAbs(target) {
		target = gitDir + "/" + target
	}
	real, err := filepath.EvalSymlinks(target)
	if err != nil {
		return "", fmt.Errorf("'%s/commondir' leads nowhere: %w", gitDir, err)
	}
	return real, nil
}

// readSmall returns the content of one of the one-line files.
func readSmall(path string) (string, error) {
	data, _, err := filestat.ReadFile(path, maxGitFile)
	return string(data), err
}

// ceiling returns the length of the longest directory of GIT_CEILING_DIRECTORIES
// that is above cwd: nothing of that length or shorter is looked at. It is -1 if
// there is none.
func ceiling(cwd string, env Env) int {
	longest, resolve := -1, true
	for _, dir := range filepath.SplitList(env["GIT_CEILING_DIRECTORIES"]) {
		if dir == "" {
			resolve = false // what follows has no symbolic links, the user says
			continue
		}
		if !filepath.IsAbs(dir) {
			continue
		}
		if resolve {
			real, err := filepath.EvalSymlinks(dir)
			if err != nil {
				continue
			}
			dir = real
		}
		dir = strings.TrimRight(dir, "/")
		if strings.HasPrefix(cwd, dir+"/") && len(cwd) > len(dir)+1 {
			longest = max(longest, len(dir))
		}
	}
	return longest
}
