// Package cli runs gust and git side by side: output, errors and exit codes of the
// commands that gust shares with git, and how everything else gets to git.
// It is for tests only.
package cli
