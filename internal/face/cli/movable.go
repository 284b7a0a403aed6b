package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"gust/internal/daemon/process"
	"gust/internal/engine/checkout"
	"gust/internal/engine/past"
	"gust/internal/pure/oid"
	"gust/internal/repo"
	"gust/internal/store/refs"
)

// inProgress are the files of the git directory that say that something is going on,
// or which a switch has to remove.
var inProgress = [...]string{
	"MERGE_HEAD", "MERGE_MSG", "MERGE_MODE", "MERGE_RR", "MERGE_AUTOSTASH", "SQUASH_MSG", "AUTO_MERGE",
	"CHERRY_PICK_HEAD", "REVERT_HEAD", "BISECT_LOG", "rebase-merge", "rebase-apply", "sequencer", "shallow.lock",
}

// movable hands over what gust's commands that move HEAD leave to git, whatever they
// are asked.
func (p *Program) movable(o *past.Past) error {
	for _, name := range inProgress {
		if _, err := os.Lstat(filepath.Join(o.Repo.GitDir, name)); err == nil {
			return errHandOver
		}
	}
	return p.writable(o)
}

// writable hands over what all commands that change the working tree leave to git.
func (p *Program) writable(o *past.Past) error {
	r := o.Repo
	if r.WorkTree == "" || r.RefFormat != "files" || o.DB.Replaced() || !p.english() {
		return errHandOver
	}
	for name := range r.Env {
		if strings.HasPrefix(name, "GIT_TRACE") || name == "GIT_REFLOG_ACTION" || name == "GIT_NAMESPACE" || name == "GIT_QUARANTINE_PATH" {
			return errHandOver
		}
	}
	for _, key := range []string{"status.aheadBehind", "status.compareBranches", "core.preferSymlinkRefs"} {
		if _, set := r.Config.Get(key); set {
			return errHandOver
		}
	}
	if len(r.Config.Subsections("hook")) > 0 {
		return errHandOver
	}
	for _, name := range []string{"reference-transaction", "post-index-change"} {
		if hook(r, name) != "" {
			return errHandOver
		}
	}
	return nil
}

// english reports whether git would speak English.
func (p *Program) english() bool {
	for _, name := range []string{"LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"} {
		v, _ := p.lookup(name)
		if v == "" {
			continue
		}
		if v == "C" || v == "POSIX" || strings.HasPrefix(v, "C.") || strings.HasPrefix(v, "en") {
			return true
		}
		return false
	}
	return true
}

// hook returns the path of the hook called name, "" if there is none to run.
func hook(r *repo.Repository, name string) string {
	dir := filepath.Join(r.CommonDir, "hooks")
	if path, set, err := r.Config.Path("core.hooksPath"); err == nil && set && path != "" {
		if dir = path; !filepath.IsAbs(dir) {
			dir = filepath.Join(r.WorkTree, dir)
		}
	}
	path := filepath.Join(dir, name)
	if info, err := os.Stat(path); err != nil || info.IsDir() {
		return ""
	}
	return path
}

// postCheckout runs the hook of that name, as git does, and returns the command's exit
// code. branch says that HEAD may have moved, and not only files changed.
func (p *Program) postCheckout(r *repo.Repository, from, to oid.ID, branch bool) int {
	if hook(r, "post-checkout") == "" {
		return exitOK
	}
	flag := "0"
	if branch {
		flag = "1"
	}
	return p.HandOver([]string{"-C", r.WorkTree, "--git-dir=" + r.GitDir, "--work-tree=" + r.WorkTree, "hook", "run", "--ignore-missing", "post-checkout", "--", from.String(), to.String(), flag}, nil)
}

// logLine returns the line for reflogs of a change by the committer that settings and
// environment name, without a message.
func (p *Program) logLine(r *repo.Repository, from, to oid.ID) (*refs.LogLine, error) {
	get := func(env string, keys ...string) string {
		if v, ok := p.lookup(env); ok && v != "" {
			return v
		}
		for _, key := range keys {
			if v, ok := r.Config.Get(key); ok && v != "" {
				return v
			}
		}
		return ""
	}
	name := get("GIT_COMMITTER_NAME", "committer.name", "user.name")
	mail := get("GIT_COMMITTER_EMAIL", "committer.email", "user.email")
	// Git makes names up from the machine's, and cleans odd ones.
	if !plainIdent(name) || !plainIdent(mail) {
		return nil, errHandOver
	}
	when, err := p.committerTime()
	if err != nil {
		return nil, err
	}
	line := &refs.LogLine{Old: from, New: to, Committer: fmt.Sprintf("%s <%s> %s", name, mail, when)}
	if v, ok := r.Config.Get("core.logAllRefUpdates"); ok {
		on, _, err := r.Config.Bool("core.logAllRefUpdates")
		switch {
		case strings.EqualFold(v, "always"):
			line.Policy = refs.LogAlways
		case err != nil:
			return nil, errHandOver
		case !on:
			line.Policy = refs.LogNever
		}
	}
	return line, nil
}

// plainIdent reports whether Git takes s as it is for a name or an address.
func plainIdent(s string) bool {
	if s == "" || strings.ContainsAny(s, "<>\n") {
		return false
	}
	odd := func(c byte) bool { return c <= ' ' || strings.IndexByte(`.,:;<>"\'`, c) >= 0 || c >= 0x7f }
	return !odd(s[0]) && !odd(s[len(s)-1])
}

// committerTime returns seconds since 1970 and a time zone, as reflogs have them.
func (p *Program) committerTime() (string, error) {
	v, ok := p.lookup("GIT_COMMITTER_DATE")
	if !ok || v == "" {
		now := time.Now()
		return fmt.Sprintf("%d %s", now.Unix(), now.Format("-0700")), nil
	}
	sec, zone, ok := strings.Cut(strings.TrimPrefix(v, "@"), " ")
	if _, err := strconv.ParseUint(sec, 10, 40); err != nil || !ok || len(sec) < 9 || len(zone) != 5 || strings.Trim(zone[1:], "0123456789") != "" || zone[0] != '+' && zone[0] != '-' {
		return "", errHandOver
	}
	return sec + " " + zone, nil
}

// sweep removes what finished moves have left, in a process of its own that nobody
// waits for, or here if that cannot be started.
func (p *Program) sweep(ctx context.Context, r *repo.Repository) {
	if exe, err := p.Exe(); err == nil {
		if _, err := process.Start("gust", exe, []string{sweepCommand, r.GitDir}, p.Env); err == nil {
			return
		}
	}
	checkout.Sweep(ctx, r.GitDir)
}

// sweepCommand is the command that sweep starts.
const sweepCommand = "__sweep"

// sweepUp is what sweep starts.
func (p *Program) sweepUp(ctx context.Context, args []string) int {
	for _, gitDir := range args {
		checkout.Sweep(ctx, gitDir)
	}
	return exitOK
}

// updating returns a function that shows progress as git does, nil where none is
// shown.
func (p *Program) updating(mode progressMode, quiet bool) func(done, total int) {
	if mode == progressOff || mode == progressAuto && (quiet || !p.ErrTerminal) {
		return nil
	}
	return newMeter(p.Err, "Updating files", 2*time.Second).show
}

// A meter is git's progress line: it appears after a delay, if there is still
// something to do then.
type meter struct {
	mu    sync.Mutex // guards what follows
	w     io.Writer
	title string
	from  time.Time // when it is first shown
	last  int       // per cent
	shown bool
}

func newMeter(w io.Writer, title string, delay time.Duration) *meter {
	return &meter{w: w, title: title, from: time.Now().Add(delay), last: -1}
}

// show tells that done of total are done.
func (m *meter) show(done, total int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	percent := done * 100 / max(total, 1)
	if !m.shown && (time.Now().Before(m.from) || done == total) || percent == m.last && done != total {
		return
	}
	m.shown, m.last = true, percent
	end := "\r"
	if done == total {
		end = ", done.\n"
	}
	fmt.Fprintf(m.w, "%s: %3d%% (%d/%d)%s", m.title, percent, done, total, end)
}
