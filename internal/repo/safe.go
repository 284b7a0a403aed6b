package repo

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"gust/internal/disk/filestat"
	"gust/internal/format/config"
)

// checkSafe applies safe.directory and safe.bareRepository to a repository that
// was discovered. workTree is "" for a bare one, gitFile where there is none.
func (l *locator) checkSafe(workTree, gitDir, gitFile string) error {
	if workTree == "" {
		c, err := l.protected()
		if err != nil {
			return fmt.Errorf("'%s': %w: %v", gitDir, ErrUnsafe, err)
		}
		for _, e := range c.Entries("safe.bareRepository") {
			if e.Value != "all" && e.Value != "explicit" {
				return fmt.Errorf("'%s': %w: %w", gitDir, ErrUnsafe, &config.ValueError{Entry: e, Problem: "neither all nor explicit"})
			}
		}
		if v, _ := c.Get("safe.bareRepository"); v == "explicit" && !implicitlyBare(gitDir) {
			return fmt.Errorf("'%s': %w: safe.bareRepository is explicit", gitDir, ErrUnsafe)
		}
	}
	if owned(gitFile, l.env) && owned(workTree, l.env) && owned(gitDir, l.env) {
		return nil
	}
	path := workTree
	if path == "" {
		path = gitDir
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	c, err := l.protected()
	if err != nil {
		return fmt.Errorf("'%s': %w: %v", path, ErrUnsafe, err)
	}
	if !l.safeDirectory(c, path) {
		return fmt.Errorf("'%s': %w: dubious ownership", path, ErrUnsafe)
	}
	return nil
}

// protected returns the configuration that no repository can change
// (git-config(1), "protected configuration"). It knows no git dir and no branch.
func (l *locator) protected() (*config.Config, error) {
	o, err := configOptions(l.env, l.cwd)
	if err != nil {
		return nil, err
	}
	return config.Load(o)
}

// implicitlyBare reports whether a bare-looking git dir is part of a repository
// with a working tree: .git itself, or what belongs to a worktree or submodule.
func implicitlyBare(path string) bool {
	return filepath.Base(path) == ".git" || strings.Contains(path, "/.git/worktrees/") || strings.Contains(path, "/.git/modules/")
}

// owned reports whether path belongs to the current user, or to the one who
// became root through sudo. "" is nothing that could belong to someone else.
func owned(path string, env Env) bool {
	uid := os.Geteuid()
	if path == "" || uid < 0 {
		return true
	}
	var st filestat.Stat
	if filestat.Of(&st, path) != nil {
		return false
	}
	if uid == 0 && st.UID != 0 {
		// As strtoul(3) and the width of a user ID have it.
		if sudo, err := strconv.ParseUint(strings.TrimPrefix(strings.TrimLeft(env["SUDO_UID"], " \t\n\v\f\r"), "+"), 10, 64); err == nil {
			return st.UID == uint32(sudo)
		}
	}
	return st.UID == uint32(uid)
}

// safeDirectory reports whether safe.directory lists path: itself, "." where one
// is in it, a directory above it with "/*" behind, or "*". An empty value forgets
// those before it.
func (l *locator) safeDirectory(c *config.Config, path string) bool {
	safe := false
	for _, e := range c.Entries("safe.directory") {
		switch e.Value {
		case "":
			safe = false
			continue
		case "*":
			safe = true
			continue
		case ".":
			safe = safe || path == l.cwd
			continue
		}
		dir, err := config.ExpandPath(e.Value, l.env.Home())
		if err != nil || !filepath.IsAbs(dir) {
			continue
		}
		if above, ok := strings.CutSuffix(dir, "/*"); ok {
			safe = safe || strings.HasPrefix(path, strings.TrimSuffix(real(above+"/"), "/")+"/")
		} else {
			safe = safe || real(dir) == path
		}
	}
	return safe
}

// real returns path without symbolic links, or path if that cannot be.
func real(path string) string {
	if r, err := filepath.EvalSymlinks(path); err == nil {
		return r
	}
	return path
}
