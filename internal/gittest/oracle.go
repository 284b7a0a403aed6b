package gittest

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// A Truth is what git says about a directory: every field of the protocol, with
// no limit applied. Text is as git has it, unescaped.
type Truth struct {
	// What the index file says, where git finds files that a sparse checkout should
	// not have, and changes its mind about flags and sparse directories.
	IndexSizeFile, SkipWorktreeFile int

	Found bool // false: the answer is 0, and nothing else here means anything

	WorkDir, Commit, Branch               string
	UpstreamBranch, RemoteName, RemoteURL string
	PushRemoteName, PushRemoteURL         string
	Action                                string
	IndexSize, SkipWorktree, Assumed      int
	Staged, StagedNew, StagedDeleted      int
	Unstaged, UnstagedDeleted, Conflicted int
	Untracked                             int
	UnstagedSettled                       int // Unstaged, if git believes the stat data: see Oracle.Rules
	Ahead, Behind, PushAhead, PushBehind  int
	Stashes                               int
	Tag, Encoding, Subject                string
	BashHidesDirty                        bool // bash.showDirtyState=false
	IndexError                            bool // the index cannot be read: the action is index-error
}

// An Oracle asks git about directories. It remembers the answers that depend on
// nothing but what it has just read (a commit's subject, say), so that asking
// after each of many small changes takes few processes. It is not safe for
// concurrent use.
type Oracle struct {
	git  Git
	env  []string
	dir  string // for index copies
	memo map[string]string

	// OwnIndex makes git believe the index file as it lies there. Otherwise git
	// reads a copy that is older than every file, so that it compares contents
	// wherever the recorded stat matches: most builds of git compare whole
	// seconds only, and miss a same-size edit with a restored mtime in the second
	// in which the file was added. Needed where settings such as
	// core.trustctime=false make git overlook changes on purpose.
	OwnIndex bool

	// Rules says that rules of conversion (attributes, filters, autocrlf) may have
	// changed after files were added. Of a file whose stat matches git then says
	// "unchanged", or by its converted content "modified", depending on the second
	// in which it last wrote the index: both are right.
	Rules bool

	// Processes counts the git processes started.
	Processes int
}

// NewOracle returns an oracle that asks g, in the environment that the daemon
// under test runs in, and keeps its scratch files in dir.
func NewOracle(g Git, env []string, dir string) *Oracle {
	o := &Oracle{git: g, dir: dir, memo: map[string]string{}}
	o.env = append(append([]string(nil), env...), "GIT_OPTIONAL_LOCKS=0", "LC_ALL=C")
	if g.program != "" {
		o.git.Path = g.program
		o.env = append(o.env, "GIT_EXEC_PATH="+g.exec)
	}
	return o
}

// A Place is what a request names.
type Place struct {
	Dir    string // absolute
	GitDir bool   // Dir is a GIT_DIR: the request has a colon before it
}

// errGit is returned by a git command that ran and failed.
type errGit struct {
	args   []string
	code   int
	stderr string
}

func (e *errGit) Error() string {
	return fmt.Sprintf("git %q: exit status %d: %s", e.args, e.code, strings.TrimSpace(e.stderr))
}

// A view is one question's circumstances: where git runs, and with what.
type view struct {
	o     *Oracle
	dir   string
	extra []string // environment
}

func (v *view) git(args ...string) (string, error) {
	v.o.Processes++
	// No cache of git's own stands between the question and the file system.
	args = append([]string{"-c", "core.untrackedCache=false", "-c", "core.fsmonitor=false"}, args...)
	cmd := exec.Command(v.o.git.Path, args...)
	cmd.Dir = v.dir
	cmd.Env = append(append([]string(nil), v.o.env...), v.extra...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return string(out), &errGit{args, exit.ExitCode(), stderr.String()}
	}
	return string(out), err
}

// remembered is git's answer to args, taken from memory if the same was asked
// before with the same facts. Failures are remembered as the empty answer.
func (v *view) remembered(facts string, args ...string) string {
	key := facts + "\x00" + strings.Join(args, "\x00")
	if out, ok := v.o.memo[key]; ok {
		return out
	}
	out, err := v.git(args...)
	if err != nil {
		out = ""
	}
	v.o.memo[key] = out
	return out
}

// Ask returns what git says about p, for each of the options: they matter for the
// untracked files only, which git counts in two ways. An error means that git
// could not tell.
func (o *Oracle) Ask(p Place, opts ...Options) ([]*Truth, error) {
	none := make([]*Truth, len(opts))
	for i := range none {
		none[i] = &Truth{}
	}
	v := &view{o: o, dir: p.Dir}
	if p.GitDir {
		v.extra = append(v.extra, "GIT_DIR="+p.Dir)
		v.dir = workTreeGuess(p.Dir)
	}
	if st, err := os.Stat(v.dir); err != nil || !st.IsDir() {
		return none, nil
	}
	out, err := v.git("rev-parse", "--path-format=absolute", "--git-path", "index",
		"--absolute-git-dir", "--git-common-dir", "--show-toplevel")
	if err != nil {
		return none, nil // not a repository, bare, or refused
	}
	lines := strings.SplitN(strings.TrimSuffix(out, "\n"), "\n", 4)
	if len(lines) != 4 {
		return nil, fmt.Errorf("git rev-parse printed %q", out)
	}
	index, gitDir, commonDir, top := lines[0], lines[1], lines[2], lines[3]
	v.dir = top
	list, err := v.config(gitDir, commonDir)
	if err != nil {
		return none, nil
	}
	conf := parseConfig(list)
	refs, err := v.git("show-ref", "-d")
	var failed *errGit
	if err != nil && !(errors.As(err, &failed) && failed.code == 1) {
		return nil, err
	}
	facts := list + "\x00" + refs + "\x00" + contents(commonDir+"/shallow") + "\x00" + contents(commonDir+"/info/grafts")
	byMode := map[string]*Truth{}
	var truths []*Truth
	for _, opt := range opts {
		mode := opt.untracked(conf)
		t := byMode[mode]
		if t == nil {
			t = &Truth{Found: true, WorkDir: top}
			if err := v.status(t, index, gitDir, mode, conf); err != nil {
				return nil, err
			}
			v.head(t, facts)
			v.tracking(t, facts, conf, parseRefs(refs))
			t.Tag = lastTag(refs, t.Commit)
			t.Action = v.action(gitDir, conf.last("extensions.refstorage") == "reftable")
			t.BashHidesDirty = conf.isFalse("bash.showdirtystate")
			byMode[mode] = t
		}
		own := *t
		if opt.hidesUntracked(conf) {
			own.Untracked = 0
		}
		truths = append(truths, &own)
	}
	return truths, nil
}

// config returns git's whole configuration. It is remembered with the contents of
// the files it comes from, where these include no others.
func (v *view) config(gitDir, commonDir string) (string, error) {
	home := ""
	for _, e := range v.o.env {
		if h, ok := strings.CutPrefix(e, "HOME="); ok {
			home = h
		}
		if strings.HasPrefix(e, "XDG_CONFIG_HOME=") || strings.HasPrefix(e, "GIT_CONFIG") && e != "GIT_CONFIG_NOSYSTEM=1" {
			return v.git("config", "-l", "-z")
		}
	}
	files := contents(commonDir+"/config") + "\x00" + contents(gitDir+"/config.worktree") + "\x00" +
		contents(home+"/.gitconfig") + "\x00" + contents(home+"/.config/git/config")
	if strings.Contains(strings.ToLower(files), "include") {
		return v.git("config", "-l", "-z")
	}
	return v.remembered(files, "config", "-l", "-z"), nil
}

// workTreeGuess is the directory to run git in when its GIT_DIR is given: a
// linked worktree's own directory, else the parent of the git directory.
func workTreeGuess(gitDir string) string {
	if back := strings.TrimSpace(contents(filepath.Join(gitDir, "gitdir"))); back != "" {
		if !filepath.IsAbs(back) {
			back = filepath.Join(gitDir, back)
		}
		return filepath.Dir(back)
	}
	return filepath.Dir(gitDir)
}

// contents is a small file's text, or nothing.
func contents(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return string(b)
}

// status fills in what depends on the index, and the headers of `git status`.
func (v *view) status(t *Truth, index, gitDir, mode string, conf config) error {
	indexEnv := "GIT_INDEX_FILE=" + index
	if !v.o.OwnIndex {
		// Older than any file that it lists. (git takes second 0 to mean that the time
		// is not known.)
		copied, err := v.o.copyIndex(index, time.Unix(1, 0))
		if err != nil {
			return err
		}
		if copied != "" {
			indexEnv = "GIT_INDEX_FILE=" + copied
		}
	}
	ask := view{o: v.o, dir: v.dir, extra: append(append([]string(nil), v.extra...), indexEnv)}
	args := []string{"status", "--porcelain=v2", "-z", "--branch", "--show-stash", "--ahead-behind", "--no-renames"}
	if mode != "config" {
		args = append(args, "--untracked-files="+mode)
	}
	out, err := ask.git(args...)
	if err == nil {
		t.readStatus(out)
		list, err := ask.listIndex(index, conf)
		if err != nil {
			return err
		}
		t.readIndex(list)
		t.IndexSizeFile, t.SkipWorktreeFile = t.IndexSize, t.SkipWorktree
		if conf.last("core.sparsecheckout") != "" {
			// The entries as the file has them.
			list, err := ask.elsewhere(gitDir)
			if err != nil {
				return err
			}
			var file Truth
			file.readIndex(list)
			t.IndexSizeFile, t.SkipWorktreeFile = file.IndexSize, file.SkipWorktree
		}
		return v.settled(t, ask, args, index)
	}
	if _, lsErr := ask.git("ls-files"); lsErr == nil {
		return fmt.Errorf("git status fails, and the index is not why: %w", err)
	}
	// The headers do not need the index: an absent one will do.
	t.IndexError = true
	ask.extra[len(ask.extra)-1] = "GIT_INDEX_FILE=" + filepath.Join(v.o.dir, "absent")
	if out, err = ask.git(append(args, "--untracked-files=no")...); err != nil {
		return err
	}
	t.readStatus(out)
	t.Staged, t.StagedNew, t.StagedDeleted = 0, 0, 0
	t.Unstaged, t.UnstagedDeleted, t.Conflicted, t.Untracked = 0, 0, 0, 0
	return nil
}

// elsewhere lists the index with a working tree that has no files.
func (v *view) elsewhere(gitDir string) (string, error) {
	empty := filepath.Join(v.o.dir, "empty")
	if err := os.MkdirAll(empty, 0o700); err != nil {
		return "", err
	}
	other := view{o: v.o, dir: empty, extra: append(append([]string(nil), v.extra...), "GIT_DIR="+gitDir, "GIT_WORK_TREE="+empty)}
	return other.git("ls-files", "-z", "-v", "--sparse")
}

// settled asks once more as if the index were younger than all files, if that may
// make a difference.
func (v *view) settled(t *Truth, ask view, args []string, index string) error {
	t.UnstagedSettled = t.Unstaged
	if !v.o.Rules {
		return nil
	}
	copied, err := v.o.copyIndex(index, time.Now().Add(time.Hour))
	if err != nil || copied == "" {
		return err
	}
	out, err := ask.git(args...)
	if err != nil {
		return err
	}
	var other Truth
	other.readStatus(out)
	t.UnstagedSettled = other.Unstaged
	return nil
}

// listIndex returns the entries of the index with their flags. They are remembered
// with the file's contents, but for a sparse checkout: there git clears flags of
// files that it finds after all.
func (v *view) listIndex(index string, conf config) (string, error) {
	if conf.last("core.sparsecheckout") != "" {
		return v.git("ls-files", "-z", "-v", "--sparse")
	}
	return v.remembered(contents(index), "ls-files", "-z", "-v", "--sparse"), nil
}

// copyIndex copies the index to a file with the given time, and returns that; "" if
// there is no index file.
func (o *Oracle) copyIndex(index string, at time.Time) (string, error) {
	data, err := os.ReadFile(index)
	if errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	copied := filepath.Join(o.dir, "index-copy")
	if err := os.WriteFile(copied, data, 0o600); err != nil {
		return "", err
	}
	return copied, os.Chtimes(copied, at, at)
}

// readStatus reads the output of git status --porcelain=v2 -z (git-status(1)).
func (t *Truth) readStatus(out string) {
	records := strings.Split(out, "\x00")
	for i := 0; i < len(records); i++ {
		r := records[i]
		switch {
		case strings.HasPrefix(r, "# "):
			t.readHeader(r[2:])
		case strings.HasPrefix(r, "1 "), strings.HasPrefix(r, "2 "):
			t.readChange(r[2], r[3])
			if r[0] == '2' {
				i++ // the old path
			}
		case strings.HasPrefix(r, "u "):
			t.Conflicted++
		case strings.HasPrefix(r, "? "):
			t.Untracked++
		}
	}
}

func (t *Truth) readHeader(h string) {
	key, value, _ := strings.Cut(h, " ")
	switch key {
	case "branch.oid":
		if value != "(initial)" {
			t.Commit = value
		}
	case "branch.head":
		t.Branch = value
	case "branch.ab":
		fmt.Sscanf(value, "+%d -%d", &t.Ahead, &t.Behind)
	case "stash":
		t.Stashes, _ = strconv.Atoi(value)
	}
}

func (t *Truth) readChange(staged, unstaged byte) {
	if staged != '.' {
		t.Staged++
	}
	if unstaged != '.' {
		t.Unstaged++
	}
	switch staged {
	case 'A':
		t.StagedNew++
	case 'D':
		t.StagedDeleted++
	}
	if unstaged == 'D' {
		t.UnstagedDeleted++
	}
}

// readIndex reads the output of git ls-files -v -z: a tag, a space, a path.
func (t *Truth) readIndex(out string) {
	for e := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") {
		if e == "" {
			continue
		}
		t.IndexSize++
		if e[0] == 'S' || e[0] == 's' {
			t.SkipWorktree++
		}
		if 'a' <= e[0] && e[0] <= 'z' {
			t.Assumed++
		}
	}
}
