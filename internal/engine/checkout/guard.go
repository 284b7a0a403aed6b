package checkout

import (
	"os"
	"strings"

	"gust/internal/format/index"
	"gust/internal/pure/object"
)

// eligible refuses what depends on settings that this package does not follow.
func (m *Move) eligible() error {
	r := m.r
	if r.WorkTree == "" {
		return refuse("there is no working tree", "")
	}
	for _, key := range []string{"core.sparseCheckout", "core.splitIndex", "core.ignoreCase", "feature.manyFiles", "feature.experimental", "submodule.recurse"} {
		if on, _, err := r.Config.Bool(key); err != nil || on {
			return refuse(key+" is set", "")
		}
	}
	for _, key := range []string{"core.fsmonitor", "core.sharedRepository", "extensions.partialClone"} {
		if v, ok := r.Config.Get(key); ok && v != "false" && v != "umask" && v != "0" {
			return refuse(key+" is set", "")
		}
	}
	if v, ok := r.Config.Get("core.untrackedCache"); ok && v != "keep" && v != "false" {
		return refuse("core.untrackedCache is set", "")
	}
	if on, set, err := r.Config.Bool("core.symlinks"); err != nil || set && !on {
		return refuse("core.symlinks is set", "")
	}
	if on, _, err := r.Config.Bool("index.skipHash"); err != nil {
		return refuse("index.skipHash is no boolean", "")
	} else {
		m.write.SkipHash = on
	}
	if v, ok := r.Config.Get("core.fsync"); ok {
		sync, known := syncs(v)
		if !known {
			return refuse("core.fsync is set", "")
		}
		m.write.Sync = sync
	}
	for _, remote := range r.Config.Subsections("remote") {
		if on, _, err := r.Config.Bool("remote." + remote + ".promisor"); err != nil || on {
			return refuse("objects may have to be fetched", "")
		}
	}
	return nil
}

// syncs reports whether a value of core.fsync (git-config(1)) hardens the index;
// known is false where the value says more than that.
func syncs(v string) (index, known bool) {
	for word := range strings.SplitSeq(v, ",") {
		switch strings.TrimSpace(word) {
		case "none", "-index", "-added", "-all":
			index = false
		case "index", "added", "all":
			index = true
		case "committed", "objects", "loose-object", "pack", "pack-metadata", "commit-graph", "derived-metadata",
			"-committed", "-objects", "-loose-object", "-pack", "-pack-metadata", "-commit-graph", "-derived-metadata":
		default:
			return false, false // references are hardened elsewhere, or the word is not known
		}
	}
	return index, true
}

// eligibleIndex refuses an index that cannot be written as it is.
func eligibleIndex(ix *index.Index, force bool) error {
	switch {
	case ix.Split:
		return refuse("the index is split", "")
	case ix.Sparse:
		return refuse("the index is sparse", "")
	case ix.Unmerged > 0 && !force:
		return refuse("the index has unmerged entries", "")
	case ix.IntentToAdd > 0:
		return refuse("the index has intent-to-add entries", "")
	case ix.SkipWorktree > 0:
		return refuse("the index has skip-worktree entries", "")
	case ix.AssumeUnchanged > 0:
		return refuse("the index has assume-unchanged entries", "")
	}
	for _, sig := range ix.Unread {
		// How Git finds its way in a large file; and what it remembers of conflicts that
		// were resolved, which a switch forgets.
		if sig != "EOIE" && sig != "IEOT" {
			return refuse("the index has the extension "+sig, "")
		}
	}
	return nil
}

// checkPath refuses a path that must not be written: git says so in its own words.
func checkPath(path string, mode object.Mode) error {
	if mode == object.ModeGitlink {
		return refuse("is a submodule", path)
	}
	for name := range strings.SplitSeq(path, "/") {
		if name == "" || name == "." || name == ".." || strings.IndexByte(name, 0) >= 0 || dotGit(name) {
			return refuse("is no path to write to", path)
		}
		if mode == object.ModeSymlink && strings.HasPrefix(strings.ToLower(name), ".git") {
			return refuse("is a symbolic link that may stand for a file of Git's", path)
		}
		if os.PathSeparator == '\\' && strings.ContainsAny(name, `\:`) {
			return refuse("is no path to write to", path)
		}
	}
	return nil
}

// dotGit reports whether some file system may take name for .git, as
// core.protectNTFS and core.protectHFS (git-config(1)) mean it: in any case of
// letters, followed by spaces, dots or a stream, as a short name, or with
// characters that are ignored. It may be wrong about names that hold ".git" or
// "git~" and odd characters.
func dotGit(name string) bool {
	if len(name) > 0 && name[0] != '.' && name[0] != 'g' && name[0] != 'G' && name[0] < 0x80 && !strings.Contains(name, `\`) {
		return false
	}
	plain := strings.Map(func(r rune) rune {
		if r >= 0x80 {
			return -1
		}
		return r
	}, name)
	plain = strings.ToLower(plain)
	for part := range strings.SplitSeq(plain, `\`) {
		part, _, _ = strings.Cut(part, ":")
		part = strings.TrimRight(part, " .")
		if part == ".git" || part == "git~1" {
			return true
		}
	}
	return false
}
