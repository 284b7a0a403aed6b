package passthrough

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// patience is how long a git may take to say its version.
const patience = 5 * time.Second

// Version returns the version of g, as in "git version 2.39.5". It runs g once for
// each state of its file: what it says is kept in the file cache, together with the
// path, size and time of g. A script is asked each time: what it starts may change
// without it.
func (g *Git) Version(cache string) (major, minor int, err error) {
	key := fmt.Sprintf("%s %d %d\n", g.Path, g.Info.Size(), g.Info.ModTime().UnixNano())
	if cache != "" && !g.script {
		if data, err := os.ReadFile(cache); err == nil {
			if text, ok := strings.CutPrefix(string(data), key); ok {
				if major, minor, err = parseVersion(text); err == nil {
					return major, minor, nil
				}
			}
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	out, err := exec.CommandContext(ctx, g.Path, "--version").Output()
	if err != nil {
		return 0, 0, fmt.Errorf("cannot ask '%s' for its version: %w", g.Path, err)
	}
	if major, minor, err = parseVersion(string(out)); err == nil && cache != "" && !g.script {
		keep(cache, key+string(out))
	}
	return major, minor, err
}

func parseVersion(text string) (major, minor int, err error) {
	if _, err := fmt.Sscanf(text, "git version %d.%d", &major, &minor); err != nil {
		return 0, 0, fmt.Errorf("'%s' is no version of git: %w", strings.TrimSpace(text), err)
	}
	return major, minor, nil
}

// keep writes a cache whole or not at all; that it cannot is no trouble.
func keep(path, text string) {
	dir := filepath.Dir(path)
	if os.MkdirAll(dir, 0o700) != nil {
		return
	}
	f, err := os.CreateTemp(dir, "git-version-")
	if err != nil {
		return
	}
	_, err = f.WriteString(text)
	if f.Close() != nil || err != nil || os.Rename(f.Name(), path) != nil {
		os.Remove(f.Name())
	}
}
