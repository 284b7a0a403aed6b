package repo

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"gust/internal/disk/filestat"
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
	GitDirName string // the path by which GitDir was found where that has symbolic links, else ""
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
	if gitDir {
		return explicit(dir, "", env)
	}
	cwd, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return Location{}, notFound(dir, err.Error())
	}
	if !searchable(cwd) {
		return Location{}, notFound(dir, "cannot enter the directory")
	}
	if given, ok := env["GIT_DIR"]; ok {
		return explicit(given, cwd, env)
	}
	loc, err := discover(cwd, env)
	if err != nil {
		return Location{}, err
	}
	return loc, nil
}

func notFound(dir, why string) error {
	return fmt.Errorf("'%s': %w: %s", dir, ErrNotFound, why)
}

// searchable reports whether path is a directory that one may go through.
func searchable(path string) bool {
	var st filestat.Stat
	return filestat.Of(&st, path+"/.") == nil
}

// explicit takes path for GIT_DIR, relative to cwd. cwd is "" if it is unknown.
func explicit(path, cwd string, env Env) (Location, error) {
	abs := path
	if !filepath.IsAbs(abs) {
		if path == "" || cwd == "" {
			return Location{}, notFound(path, "GIT_DIR is not a path")
		}
		abs = filepath.Join(cwd, path)
	}
	if target, err := readGitFile(abs); err == nil {
		abs = target
	} else if !errors.Is(err, errNoGitFile) {
		return Location{}, notFound(path, err.Error())
	}
	if !isGitDir(abs, env) {
		return Location{}, notFound(path, "GIT_DIR is no repository")
	}
	loc := Location{WorkTree: cwd}
	if cwd == "" {
		loc.WorkTree = guessWorkTree(abs)
	}
	return finish(loc, abs, cwd, env)
}

// guessWorkTree returns the working tree of a git dir for callers who do not say
// where they are: Git itself would take the current directory.
func guessWorkTree(gitDir string) string {
	if data, _, err := filestat.ReadFile(gitDir+"/gitdir", maxGitFile); err == nil {
		// A linked working tree's git dir says where its .git file is.
		back := strings.TrimRight(string(data), "\r\n")
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

// finish fills in what follows from the git dir at path.
func finish(loc Location, path, cwd string, env Env) (Location, error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return Location{}, notFound(path, err.Error())
	}
	loc.GitDir = real
	if path != real {
		loc.GitDirName = path
	}
	if loc.CommonDir, err = commonDir(real, env); err != nil {
		return Location{}, err
	}
	if given := env["GIT_WORK_TREE"]; given != "" {
		if !filepath.IsAbs(given) && cwd != "" {
			given = filepath.Join(cwd, given)
		}
		loc.WorkTree, loc.Given = given, true
	}
	return loc, nil
}

// discover looks for a repository in cwd and the directories above it.
func discover(cwd string, env Env) (Location, error) {
	stop := ceiling(cwd, env)
	across := env.bool("GIT_DISCOVERY_ACROSS_FILESYSTEM", false)
	var first, st filestat.Stat
	if err := filestat.Of(&first, cwd); err != nil {
		return Location{}, notFound(cwd, err.Error())
	}
	for dir := cwd; ; {
		loc, found, err := at(dir, cwd, env)
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
func at(dir, cwd string, env Env) (loc Location, found bool, err error) {
	dotGit := filepath.Join(dir, ".git")
	target, err := readGitFile(dotGit)
	switch {
	case err == nil:
		if !isGitDir(target, env) {
			return Location{}, false, notFound(dir, "its .git file leads to no repository: '"+target+"'")
		}
		return checked(Location{WorkTree: dir}, target, dotGit, cwd, env)
	case !errors.Is(err, errNoGitFile):
		return Location{}, false, notFound(dir, err.Error())
	}
	if !errors.Is(err, errNoDotGit) && isGitDir(dotGit, env) {
		return checked(Location{WorkTree: dir}, dotGit, "", cwd, env)
	}
	if isGitDir(dir, env) {
		return checked(Location{}, dir, "", cwd, env)
	}
	return Location{}, false, nil
}

// checked finishes a Location that was discovered, and applies safe.*.
func checked(loc Location, gitDir, gitFile, cwd string, env Env) (Location, bool, error) {
	if err := checkSafe(loc.WorkTree, gitDir, gitFile, env); err != nil {
		return Location{}, false, err
	}
	loc, err := finish(loc, gitDir, cwd, env)
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
	if st.IsDir() {
		return "", errNoGitFile
	}
	if st.IsSymlink() {
		sig := filestat.Sign(path)
		if st = sig.Stat(); sig.Absent() {
			return "", errNoDotGit
		}
	}
	if !st.IsRegular() {
		return "", errNoGitFile
	}
	data, _, err := filestat.ReadFile(path, maxGitFile)
	if err != nil {
		return "", err
	}
	target, ok := strings.CutPrefix(strings.TrimRight(string(data), "\r\n"), "gitdir: ")
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
func isGitDir(path string, env Env) bool {
	if !validHead(path + "/HEAD") {
		return false
	}
	common, err := commonDir(path, env)
	if err != nil || !searchable(common+"/refs") {
		return false
	}
	if objects := env["GIT_OBJECT_DIRECTORY"]; objects != "" {
		return !filepath.IsAbs(objects) || searchable(objects)
	}
	return searchable(common + "/objects")
}

// validHead reports whether the file at path could be a HEAD.
func validHead(path string) bool {
	var st filestat.Stat
	if err := filestat.Of(&st, path); err != nil {
		return false
	}
	if st.IsSymlink() {
		if target, err := os.Readlink(path); err == nil && strings.HasPrefix(target, "refs/") {
			return true
		}
	}
	data, _, err := filestat.ReadFile(path, maxGitFile)
	if err != nil {
		return false
	}
	if rest, ok := strings.CutPrefix(string(data), "ref:"); ok {
		return strings.HasPrefix(strings.TrimLeft(rest, " \t\n\r"), "refs/")
	}
	const hexSize = 40 // of a SHA-1; a SHA-256 starts with as many digits
	if len(data) < hexSize {
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
func commonDir(gitDir string, env Env) (string, error) {
	if given := env["GIT_COMMON_DIR"]; given != "" {
		return filepath.EvalSymlinks(given)
	}
	data, _, err := filestat.ReadFile(gitDir+"/commondir", maxGitFile)
	if err != nil {
		if filestat.IsAbsent(err) {
			return gitDir, nil
		}
		return "", fmt.Errorf("cannot read '%s/commondir': %w", gitDir, err)
	}
	target := strings.TrimRight(string(data), "\r\n")
	if !filepath.IsAbs(target) {
		target = gitDir + "/" + target
	}
	real, err := filepath.EvalSymlinks(target)
	if err != nil {
		return "", fmt.Errorf("'%s/commondir' leads nowhere: %w", gitDir, err)
	}
	return real, nil
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
