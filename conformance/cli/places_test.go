package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gust/internal/gittest"
)

// places makes repositories of many kinds; each word is a directory to ask in.
const places = `
	c() { echo "$1" >"f$1"; git add . && git commit -qm "$1"; }
	git init -q up; cd up; c 1; git tag -a -m t v1; mkdir -p a/b; c 2; git tag light; git branch side HEAD~1; cd ..
	git clone -q up r; cd r; mkdir -p a/b; git branch -q --track other origin/side; git worktree add -q ../linked -b linked; mkdir -p ../linked/x/y; cd ..
	git clone -q up packed; cd packed; git pack-refs --all; git gc -q; cd ..
	git clone -q up detached; git -C detached checkout -q HEAD~1
	git init -q unborn; mkdir unborn/d
	git init -q ambiguous; cd ambiguous; c 1; git branch heads/main HEAD; git branch x HEAD; git branch f1 HEAD; git tag main; git tag heads/x; git update-ref refs/x HEAD; echo f >main; git update-ref refs/remotes/o/HEAD HEAD; git update-ref refs/heads/HEAD HEAD; cd ..
	git init -q super; cd super; c 1; git submodule --quiet add "$PWD/../up" sub; git commit -qm sub; mkdir -p sub/deep; cd ..
	git clone -q --depth 1 "file://$PWD/up" shallow; : >packed/.git/shallow
	git init -q --bare bare; ln -s r link; git clone -q up loose-head; git -C loose-head symbolic-ref HEAD refs/remotes/origin/main
	git init -q --object-format=sha256 sha256; cd sha256; c 1; cd ..
	git init -q sym; cd sym; c 1; git symbolic-ref refs/heads/alias refs/heads/main; git symbolic-ref HEAD refs/heads/alias; cd ..
	git init -q dotgit; mv dotgit/.git elsewhere; ln -s ../elsewhere dotgit/.git
	git init -q moved; mkdir tree; git -C moved config core.worktree "$PWD/tree"
	git init -q stashed; cd stashed; c 1; echo x >f1; git stash -q; git config core.abbrev 9; cd ..
`

var placeNames = strings.Fields(`up r r/a/b linked linked/x/y packed detached unborn unborn/d ambiguous super super/sub super/sub/deep shallow bare
	link link/a loose-head sha256 sym dotgit moved tree stashed r/.git r/.git/refs .`)

// questions are asked in each of them.
var questions = []string{
	"rev-parse --git-dir", "rev-parse --show-toplevel", "rev-parse --show-cdup", "rev-parse --show-prefix", "rev-parse --absolute-git-dir",
	"rev-parse --git-common-dir", "rev-parse --is-inside-work-tree", "rev-parse --is-inside-git-dir", "rev-parse --is-bare-repository",
	"rev-parse --is-shallow-repository", "rev-parse --abbrev-ref HEAD", "rev-parse --abbrev-ref @", "rev-parse --symbolic-full-name HEAD",
	"rev-parse --abbrev-ref @{u}", "rev-parse --abbrev-ref --symbolic-full-name @{upstream}", "rev-parse --symbolic-full-name @{u}",
	"rev-parse --abbrev-ref main", "rev-parse --abbrev-ref x", "rev-parse --abbrev-ref heads/x", "rev-parse --abbrev-ref origin", "rev-parse --abbrev-ref o",
	"rev-parse --symbolic-full-name main", "rev-parse --symbolic-full-name v1", "rev-parse --abbrev-ref v1 light side", "rev-parse --abbrev-ref HEAD~1",
	"rev-parse HEAD", "rev-parse HEAD HEAD~1", "rev-parse HEAD^{tree}", "rev-parse v1 v1^{commit}", "rev-parse HEAD..side", "rev-parse ^HEAD", "rev-parse HEAD^@",
	"rev-parse HEAD HEAD^!", "rev-parse nothing", "rev-parse f1", "rev-parse HEAD f1", "rev-parse main", "rev-parse HEAD --", "rev-parse -- HEAD",
	"rev-parse --short HEAD", "rev-parse --short=4 HEAD", "rev-parse --short=2 HEAD", "rev-parse --short=100 HEAD", "rev-parse --short=0 HEAD", "rev-parse --short HEAD side", "rev-parse --short",
	"rev-parse --verify HEAD", "rev-parse --verify HEAD side", "rev-parse --verify -q refs/stash", "rev-parse --verify --quiet refs/heads/none", "rev-parse -q --verify none",
	"rev-parse --verify refs/stash", "rev-parse --verify HEAD --git-dir", "rev-parse --verify --abbrev-ref HEAD",
	"rev-parse --git-dir --is-inside-git-dir --is-bare-repository --is-inside-work-tree --short HEAD", "rev-parse --show-toplevel --abbrev-ref HEAD", "rev-parse HEAD --abbrev-ref HEAD",
	"rev-parse --show-superproject-working-tree", "rev-parse --show-object-format", "rev-parse --git-path index", "rev-parse", "rev-parse --nonsense", "rev-parse --abbrev-ref=strict main",
	"-C a rev-parse --show-prefix", "rev-parse --all", "rev-parse --short refs/heads/main", "rev-parse heads/main", "rev-parse --abbrev-ref heads/main refs/heads/main",
	"branch --show-current", "branch", "branch --show-current -q", "symbolic-ref HEAD", "symbolic-ref -q HEAD", "symbolic-ref --short HEAD", "symbolic-ref --short -q HEAD", "symbolic-ref refs/heads/alias",
}

// TestPlaces asks where one is, and what names stand for.
func TestPlaces(t *testing.T) {
	gits := gittest.All(t)
	for k, g := range gits {
		t.Run(g.String(), func(t *testing.T) {
			t.Parallel()
			e := gittest.New(t, g)
			e.Script(t, places)
			for i, dir := range placeNames {
				for j, q := range questions {
					if (i+j+k)%len(gits) != 0 {
						continue // the other git's turn
					}
					argv := append([]string{"git"}, strings.Fields(q)...)
					want := run(t, g.Path, argv, e.Path(dir), "", e.Environ())
					if got := run(t, gust, argv, e.Path(dir), "", e.Environ()); got != want {
						t.Errorf("git %s in %s: %+v, git %+v", q, dir, got, want)
					}
				}
			}
		})
	}
}

// TestPlacesAlone asks where no git is: what prompts ask is answered by gust itself.
func TestPlacesAlone(t *testing.T) {
	g := gittest.Newest(t)
	e := gittest.New(t, g)
	e.Script(t, places)
	empty := filepath.Join(e.Dir, "empty")
	if err := os.Mkdir(empty, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"r", "r/a/b", "linked/x/y", "super/sub", "sha256", "packed"} {
		for _, q := range []string{"rev-parse --git-dir --is-inside-git-dir --is-bare-repository --is-inside-work-tree --short HEAD", "rev-parse --show-toplevel",
			"rev-parse --abbrev-ref HEAD", "rev-parse --git-common-dir --show-cdup --show-prefix --absolute-git-dir --is-shallow-repository", "rev-parse --verify -q refs/stash",
			"rev-parse HEAD HEAD^{tree}", "symbolic-ref --short HEAD", "branch --show-current"} {
			argv := append([]string{"git"}, strings.Fields(q)...)
			want := run(t, g.Path, argv, e.Path(dir), "", e.Environ())
			if got := run(t, gust, argv, e.Path(dir), "", withPath(e.Environ(), empty)); got != want {
				t.Errorf("git %s in %s: %+v, git %+v", q, dir, got, want)
			}
		}
	}
}
