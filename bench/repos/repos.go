// Package repos builds the repositories that bench measures on: deterministic
// ones, of any size, made by git itself and kept between runs.
package repos

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// version is part of a repository's folder name: a change of what the generators
// write must change it, so that no run measures what an older one left.
const version = 3

// A Store is the folder where generated repositories are kept.
type Store struct {
	Dir string    // made if it is missing
	Git string    // the program that builds
	Log io.Writer // told what is being built

	Rest time.Duration // how long files rest before they are measured; 0 means settle
}

// Env returns the environment in which git and gust are run on generated
// repositories: no configuration but the repository's own, no optional locks (a
// measured `git status` must not rewrite the index), and the store as home.
func (s *Store) Env() []string {
	env := []string{
		"HOME=" + filepath.Join(s.Dir, "home"), "GIT_CONFIG_NOSYSTEM=1", "GIT_OPTIONAL_LOCKS=0", "LC_ALL=C", "TZ=UTC",
		"GIT_AUTHOR_NAME=bench", "GIT_AUTHOR_EMAIL=bench@example.com", "GIT_COMMITTER_NAME=bench", "GIT_COMMITTER_EMAIL=bench@example.com",
	}
	for _, name := range []string{"PATH", "TMPDIR", "SYSTEMROOT"} {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// Tree returns the work tree of a clean repository of this shape: one commit, on
// main, whose upstream is at the same commit.
func (s *Store) Tree(ctx context.Context, shape Shape) (string, error) {
	return s.keep(ctx, fmt.Sprintf("tree-%d-%d", shape.Files, shape.Dirs), func(r *repo) error {
		if err := r.importStream(func(w *bufio.Writer) { writeTree(w, shape) }); err != nil {
			return err
		}
		return r.checkout()
	})
}

func writeTree(w *bufio.Writer, shape Shape) {
	for i := range distinctBlobs {
		text := content(i)
		fmt.Fprintf(w, "blob\nmark :%d\ndata %d\n%s\n", i+1, len(text), text)
	}
	fmt.Fprintf(w, "commit refs/heads/main\ncommitter bench <bench@example.com> 1700000000 +0000\ndata 5\ntree\n")
	for i, path := range shape.Paths() {
		fmt.Fprintf(w, "M 100644 :%d %s\n", i%distinctBlobs+1, path)
	}
	rules := "*.o\n*.tmp\n/build/\nnode_modules/\n"
	fmt.Fprintf(w, "M 100644 inline .gitignore\ndata %d\n%s\n", len(rules), rules)
	fmt.Fprint(w, "reset refs/remotes/origin/main\nfrom refs/heads/main\n\n")
}

// Tags returns the work tree of a repository with one file and n packed tags,
// every second one annotated. Exactly one of them, v-at-head, points to HEAD.
func (s *Store) Tags(ctx context.Context, n int) (string, error) {
	return s.keep(ctx, fmt.Sprintf("tags-%d", n), func(r *repo) error {
		err := r.importStream(func(w *bufio.Writer) {
			const commits = 1000 // shared by the tags: their number is what is measured
			writeLine(w, "main", 0, commits, "")
			for i := range n - 1 {
				from := i%(commits-1) + 1 // never the last, which is HEAD
				if i%2 == 0 {
					fmt.Fprintf(w, "reset refs/tags/v0.%d\nfrom :%d\n\n", i, from)
				} else {
					fmt.Fprintf(w, "tag v0.%d\nfrom :%d\ntagger bench <bench@example.com> 1700000000 +0000\ndata 1\nv\n", i, from)
				}
			}
			fmt.Fprintf(w, "tag v-at-head\nfrom :%d\ntagger bench <bench@example.com> 1700000000 +0000\ndata 1\nv\n", commits)
			fmt.Fprintf(w, "reset refs/remotes/origin/main\nfrom :%d\n\n", commits)
		})
		if err != nil {
			return err
		}
		if err := r.git("pack-refs", "--all"); err != nil {
			return err
		}
		return r.checkout()
	})
}

// Diverged returns the work tree of a repository whose main and its upstream are
// apart commits apart, half of them on each side, on top of as much shared
// history. Every 10th commit of a side is a merge of a short branch. With graph,
// a commit-graph is written; without, there is none.
func (s *Store) Diverged(ctx context.Context, apart int, graph bool) (string, error) {
	name := fmt.Sprintf("apart-%d", apart)
	if graph {
		name += "-graph"
	}
	return s.keep(ctx, name, func(r *repo) error {
		err := r.importStream(func(w *bufio.Writer) {
			side := apart / 2
			writeLine(w, "main", 0, side, "")
			fmt.Fprintf(w, "reset refs/remotes/origin/main\nfrom :%d\n\n", side)
			writeSide(w, "refs/heads/main", side, side)
			writeSide(w, "refs/remotes/origin/main", 3*side, side)
		})
		if err != nil {
			return err
		}
		if err := r.git("repack", "-a", "-d", "-q"); err != nil {
			return err
		}
		if graph {
			err = r.git("commit-graph", "write", "--reachable")
		} else {
			err = r.git("config", "core.commitGraph", "false")
		}
		if err != nil {
			return err
		}
		return r.checkout()
	})
}

// writeLine writes n commits in a row on a branch, with marks from mark+1. Each
// changes one of a few files.
func writeLine(w *bufio.Writer, branch string, mark, n int, parents string) {
	for i := mark + 1; i <= mark+n; i++ {
		writeCommit(w, "refs/heads/"+branch, i, parents)
		parents = ""
	}
}

// writeSide writes n commits on top of ref, with marks from mark+1: nine on the
// line, then a merge of one that forked five before it.
func writeSide(w *bufio.Writer, ref string, mark, n int) {
	for i := mark + 1; i <= mark+n; i++ {
		k := i - mark
		switch {
		case k%10 == 9 && k < n: // forks from the commit four before, merged by the next
			writeCommit(w, "refs/heads/side", i, fmt.Sprintf("from :%d\n", i-4))
		case k%10 == 0:
			writeCommit(w, ref, i, fmt.Sprintf("from :%d\nmerge :%d\n", i-2, i-1))
		default:
			writeCommit(w, ref, i, "")
		}
	}
	fmt.Fprint(w, "reset refs/heads/side\nfrom 0000000000000000000000000000000000000000\n\n")
}

// word returns word k of a language: one to three syllables.
func word(k int) string {
	h := mix("language", k)
	var w string
	for range 1 + h%3 {
		h /= 3
		w += syllables[h%uint64(len(syllables))]
		h /= uint64(len(syllables))
	}
	return w
}

// commitMessage returns what somebody wrote about a commit: a subject, and from
// none to a dozen lines of why, six on average, as in projects that are reviewed.
func commitMessage(mark int) []byte {
	message := fmt.Appendf(nil, "Change %d\n", mark)
	for line := range mix("message", mark) % 13 {
		if line == 0 {
			message = append(message, '\n')
		}
		for n := uint64(0); n < 12; n++ {
			h := mix("line", mark) ^ mix("word", int(100*line+n))
			message = append(append(message, word(int(h%60*(h>>32%60)))...), ' ') // a few words are frequent
		}
		message[len(message)-1] = '\n'
	}
	return message
}

func writeCommit(w *bufio.Writer, ref string, mark int, parents string) {
	message := commitMessage(mark)
	fmt.Fprintf(w, "commit %s\nmark :%d\ncommitter bench <bench@example.com> %d +0000\ndata %d\n%s%s", ref, mark, 1600000000+60*mark, len(message), message, parents)
	text := fmt.Sprintf("%d\n", mark)
	fmt.Fprintf(w, "M 100644 inline src/file%d.txt\ndata %d\n%s\n", mark%8, len(text), text)
}

// keep returns the folder called name, building it if it is not there. A
// repository is built beside its place and renamed, so a run that was broken off
// leaves none that looks whole.
func (s *Store) keep(ctx context.Context, name string, build func(*repo) error) (string, error) {
	dir := filepath.Join(s.Dir, fmt.Sprintf("v%d-%s", version, name))
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if err := os.MkdirAll(filepath.Join(s.Dir, "home"), 0o777); err != nil {
		return "", err
	}
	fmt.Fprintf(s.Log, "building %s …\n", dir)
	began := time.Now()
	r := &repo{ctx: ctx, dir: dir + ".new", store: s}
	if err := os.RemoveAll(r.dir); err != nil {
		return "", err
	}
	if err := r.git("init", "-q", "-b", "main", "."); err != nil {
		return "", err
	}
	for _, set := range [][2]string{
		{"remote.origin.url", "https://example.com/bench.git"}, {"remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*"},
		{"branch.main.remote", "origin"}, {"branch.main.merge", "refs/heads/main"}, {"gc.auto", "0"},
	} {
		if err := r.git("config", set[0], set[1]); err != nil {
			return "", err
		}
	}
	if err := build(r); err != nil {
		return "", fmt.Errorf("cannot build '%s': %w", name, err)
	}
	if err := os.Rename(r.dir, dir); err != nil {
		return "", err
	}
	fmt.Fprintf(s.Log, "built in %.0f s\n", time.Since(began).Seconds())
	return dir, nil
}

// A repo is a repository being built.
type repo struct {
	ctx   context.Context
	dir   string
	store *Store
}

func (r *repo) command(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(r.ctx, r.store.Git, args...)
	cmd.Dir, cmd.Env = r.dir, r.store.Env()
	return cmd
}

func (r *repo) git(args ...string) error {
	if err := os.MkdirAll(r.dir, 0o777); err != nil {
		return err
	}
	return run(r.command(args...))
}

// run runs cmd and puts what it said on standard error into the error.
func run(cmd *exec.Cmd) error {
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(cmd.Args, " "), err, strings.TrimSpace(stderr.String()))
	}
	return nil
}

// importStream feeds what write writes to git-fast-import(1).
func (r *repo) importStream(write func(*bufio.Writer)) error {
	cmd := r.command("fast-import", "--quiet")
	pr, pw := io.Pipe()
	cmd.Stdin = pr
	go func() {
		w := bufio.NewWriterSize(pw, 1<<20)
		write(w)
		pw.CloseWithError(w.Flush())
	}()
	err := run(cmd)
	pr.CloseWithError(io.ErrClosedPipe) // lets the writer go if git left early
	return err
}

// settle is how long a file must have been at rest when the index is written for
// nobody to doubt it: git's racy rule counts whole seconds (git-update-index(1),
// racy-git), and directory listings are doubted for two where time is coarse.
const settle = 3 * time.Second

func (s *Store) settle() {
	rest := s.Rest
	if rest == 0 {
		rest = settle
	}
	time.Sleep(rest)
}

// checkout writes the work tree of HEAD and, once its files have settled, the
// index anew: no entry is racily clean, every directory's time may be believed.
func (r *repo) checkout() error {
	if err := r.git("reset", "-q", "--hard"); err != nil {
		return err
	}
	r.store.settle()
	if err := r.git("update-index", "--force-write-index"); err != nil {
		return err
	}
	r.store.settle() // the git directory's own files
	return nil
}

// Past returns a mirror of the repository at from, whatever its history is, with a
// commit-graph and the bitmap of a multi-pack-index, with a lookup table.
func (s *Store) Past(ctx context.Context, from string) (string, error) {
	dir, err := s.keep(ctx, "past", func(r *repo) error {
		const mirror = "mirror.git"
		if err := r.git("clone", "-q", "--mirror", from, mirror); err != nil {
			return err
		}
		if err := r.git("-C", mirror, "commit-graph", "write", "--reachable", "--no-progress"); err != nil {
			return err
		}
		return r.git("-C", mirror, "-c", "pack.writeBitmapLookupTable=true", "multi-pack-index", "write", "--bitmap", "--no-progress")
	})
	return filepath.Join(dir, "mirror.git"), err
}
