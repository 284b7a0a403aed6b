package status

import (
	"fmt"
	"strings"

	"gust/internal/format/config"
	"gust/internal/repo"
	"gust/internal/worktree/scan"
)

// settings are the configuration values that a status depends on.
type settings struct {
	stat           scan.StatRules
	ignoreCase     bool
	sparseCheckout bool
	sparseIndex    bool               // the index may have whole directories for entries
	untracked      scan.UntrackedMode // status.showUntrackedFiles
	bashDirty      bool               // bash.showDirtyState
	bashUntracked  bool               // bash.showUntrackedFiles
	excludesFile   string             // path; "" if there is none
	attributesFile string
	ignoreSubs     string // diff.ignoreSubmodules
}

// readSettings reads the settings of r. A value that Git would refuse is an
// error.
func readSettings(r *repo.Repository) (settings, error) {
	b := boolReader{config: r.Config}
	s := settings{
		stat: scan.StatRules{
			IgnoreExec:  !b.get("core.fileMode", true),
			NoSymlinks:  !b.get("core.symlinks", true),
			IgnoreCtime: !b.get("core.trustctime", true),
		},
		ignoreCase:     b.get("core.ignoreCase", false),
		sparseCheckout: b.get("core.sparseCheckout", false) && !b.get("sparse.expectFilesOutsideOfPatterns", false),
		bashDirty:      b.get("bash.showDirtyState", true),
		bashUntracked:  b.get("bash.showUntrackedFiles", true),
	}
	s.sparseIndex = b.get("core.sparseCheckout", false) && b.get("core.sparseCheckoutCone", false) && b.get("index.sparse", false)
	if b.err != nil {
		return s, b.err
	}
	if v, ok := r.Config.Get("core.checkStat"); ok {
		s.stat.Minimal = strings.EqualFold(v, "minimal")
	}
	if v, ok := r.Config.Get("core.useNanosec"); ok && v != "auto" {
		s.stat.Nanosec = scan.NanosecFalse
		if on, _, err := r.Config.Bool("core.useNanosec"); err != nil {
			return s, err
		} else if on {
			s.stat.Nanosec = scan.NanosecTrue
		}
	}
	s.ignoreSubs, _ = r.Config.Get("diff.ignoreSubmodules")
	var err error
	if s.untracked, err = untrackedMode(r.Config); err != nil {
		return s, err
	}
	if s.excludesFile, err = r.UserFile("core.excludesFile", "ignore"); err != nil {
		return s, err
	}
	s.attributesFile, err = r.UserFile("core.attributesFile", "attributes")
	return s, err
}

// untrackedMode reads status.showUntrackedFiles, a word or a boolean.
func untrackedMode(c *config.Config) (scan.UntrackedMode, error) {
	const key = "status.showUntrackedFiles"
	switch v, _ := c.Get(key); v {
	case "no":
		return scan.UntrackedNo, nil
	case "normal":
		return scan.UntrackedNormal, nil
	case "all":
		return scan.UntrackedAll, nil
	}
	on, set, err := c.Bool(key)
	if err != nil {
		return scan.UntrackedNormal, fmt.Errorf("invalid untracked files mode: %w", err)
	}
	if set && !on {
		return scan.UntrackedNo, nil
	}
	return scan.UntrackedNormal, nil
}

// A boolReader reads booleans until one is bad.
type boolReader struct {
	config *config.Config
	err    error
}

func (b *boolReader) get(key string, standard bool) bool {
	v, set, err := b.config.Bool(key)
	if err != nil && b.err == nil {
		b.err = err
	}
	if !set {
		return standard
	}
	return v
}
