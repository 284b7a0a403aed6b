package repo

import (
	"errors"
	"os"
	"os/exec"
	"testing"

	"gust/internal/gittest"
)

// other is a user that is not root.
const other = "65534"

func TestSafeDirectoryAgainstGit(t *testing.T) {
	const layout = "git init -q r; git -C r commit -q --allow-empty -m a; mkdir -p r/x; git init -q --bare b; git -C r worktree add -q ../w; git init -q --separate-git-dir sg s; ln -s r l; "
	const theirs = layout + "chown -R 65534 r b w sg s; "
	dirs := []string{"r", "r/x", "w", "b", "s", "l", "l/x", "r/.git", "b/objects"}
	all := []place{
		{name: "theirs", script: theirs, dirs: dirs},
		{name: "git-dir-theirs", script: layout + "chown 65534 r/.git", dirs: dirs},
		{name: "work-tree-theirs", script: layout + "chown 65534 r w s", dirs: dirs},
		{name: "git-file-theirs", script: layout + "chown 65534 w/.git s/.git", dirs: dirs},
		{name: "git-file-target-theirs", script: layout + "chown 65534 sg r/.git/worktrees/w", dirs: dirs},
		{name: "content-theirs", script: layout + "chown -R 65534 r/.git/refs r/.git/HEAD r/.git/config r/x", dirs: dirs},
		{name: "git-dir-given", script: theirs, env: []string{"GIT_DIR=@/r/.git"}, dirs: []string{"r", "w", "."}},
		{name: "work-tree-given", script: theirs, env: []string{"GIT_WORK_TREE=@/r"}, dirs: []string{"r", "b"}},
		{name: "sudo", script: theirs, env: []string{"SUDO_UID=65534"}, dirs: dirs},
		{name: "sudo-other", script: theirs, env: []string{"SUDO_UID=65533"}, dirs: dirs},
		{name: "sudo-root-owned", script: layout, env: []string{"SUDO_UID=65534"}, dirs: dirs},
		{name: "sudo-mixed", script: layout + "chown 65534 r", env: []string{"SUDO_UID=65534"}, dirs: dirs},
		{name: "sudo-junk", script: theirs, env: []string{"SUDO_UID=65534x"}, dirs: dirs},
		{name: "sudo-empty", script: theirs, env: []string{"SUDO_UID="}, dirs: dirs},
		{name: "sudo-overflow", script: theirs, env: []string{"SUDO_UID=4295032830"}, dirs: dirs},
		{name: "sudo-space", script: theirs, env: []string{"SUDO_UID= 65534"}, dirs: dirs},
		{name: "sudo-negative", script: theirs, env: []string{"SUDO_UID=-1"}, dirs: dirs},
		{name: "link-theirs", script: layout + "chown -h 65534 l; mkdir q; ln -s ../r/.git q/.git; chown -h 65534 q/.git", dirs: []string{"l", "q"}},
		{name: "local-does-not-count", script: theirs + "git config -f r/.git/config safe.directory '*'", dirs: []string{"r"}},
		{name: "assume-different", script: layout, env: []string{"GIT_TEST_ASSUME_DIFFERENT_OWNER=0"}, dirs: dirs},
	}
	safe := func(name string, newest bool, values ...string) {
		global := "[safe]\n"
		for _, v := range values {
			global += "directory = \"" + v + "\"\n"
		}
		all = append(all, place{name: "safe-" + name, script: theirs, global: global, dirs: dirs, newest: newest})
	}
	safe("star", false, "*")
	safe("path", false, "@/r")
	safe("git-dir", false, "@/r/.git")
	safe("bare", false, "@/b")
	safe("worktree", false, "@/w")
	safe("slash", true, "@/r/")
	safe("link", true, "@/l")
	safe("unclean", true, "@/w/../r")
	safe("missing", true, "@/missing")
	safe("parent", false, "@")
	safe("below", true, "@/*")
	safe("below-git", true, "@/r/*")
	safe("below-link", true, "@/l/*")
	safe("below-deep", true, "@/../*")
	safe("below-root", true, "/*")
	safe("below-no-star", true, "@/r*")
	safe("empty", false, "")
	safe("reset", false, "*", "")
	safe("reset-then-path", false, "*", "", "@/r")
	safe("several", false, "@/q", "@/b", "@/r")
	safe("tilde-other", true, "~/r")
	safe("tilde-user", true, "~no-such-user-xyz/r")
	safe("case", false, "@/R")
	safe("dot", true, ".")
	safe("relative", true, "r")
	all = append(all,
		place{name: "safe-no-value", script: theirs, global: "[safe]\ndirectory\n", dirs: []string{"r"}},
		place{name: "safe-environment", script: theirs, env: []string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=@/r"}, dirs: dirs, newest: true},
		place{name: "safe-included", script: theirs + "git config --global include.path inc; git config -f $HOME/inc safe.directory $D/r", dirs: []string{"r"}},
		place{name: "safe-included-gitdir", script: theirs + "git config -f $D/inc safe.directory '*'", global: "[includeIf \"gitdir:**\"]\npath=@/inc\n", dirs: []string{"r"}},
		place{name: "safe-included-onbranch", script: theirs + "git config -f $D/inc safe.directory '*'", global: "[includeIf \"onbranch:**\"]\npath=@/inc\n", dirs: []string{"r"}},
		place{name: "safe-bad-config", script: theirs, global: "!\n", dirs: []string{"r"}},
	)
	for i := range all {
		all[i].root = true
	}
	comparePlaces(t, all)
}

func TestSafeBareRepositoryAgainstGit(t *testing.T) {
	const layout = "git init -q --bare b; git init -q r; git -C r commit -q --allow-empty -m a; git -C r worktree add -q ../w; mkdir wt; git -C b config core.bare false; git -C b config core.worktree $D/wt; git -C r config core.worktree $D/r; git init -q lib; git -C lib commit -q --allow-empty -m a; git -C r submodule --quiet add ../lib lib; git init -q --bare r/sub; git -C r/sub config core.bare false; git -C r/sub config core.worktree ../../wt; git init -q --bare r/.git/inside; git -C r/.git/inside config core.bare false;  git -C r/.git/inside config core.worktree $D/wt; "
	dirs := []string{"b", "b/objects", "r", "w", "r/lib", "r/.git", "r/.git/refs", "r/.git/worktrees/w", "r/.git/modules/lib", "r/sub", "r/.git/inside"}
	comparePlaces(t, []place{
		{name: "default", script: layout, dirs: dirs},
		{name: "all", script: layout, global: "[safe]\nbareRepository=all\n", dirs: dirs},
		{name: "explicit", newest: true, script: layout, global: "[safe]\nbareRepository=explicit\n", dirs: dirs},
		{name: "explicit-case", script: layout, global: "[safe]\nbareRepository=Explicit\n", dirs: dirs},
		{name: "junk", script: layout, global: "[safe]\nbareRepository=junk\n", dirs: dirs},
		{name: "last-wins", script: layout, global: "[safe]\nbareRepository=explicit\nbareRepository=all\n", dirs: dirs},
		{name: "local", script: layout + "git -C b config safe.bareRepository explicit", dirs: dirs},
		{name: "given", script: layout, global: "[safe]\nbareRepository=explicit\n", env: []string{"GIT_DIR=@/b"}, dirs: []string{"b", "r"}},
		{name: "work-tree-given", script: layout, global: "[safe]\nbareRepository=explicit\n", env: []string{"GIT_WORK_TREE=@/wt"}, dirs: []string{"b", "r"}},
		{name: "environment", newest: true, script: layout, env: []string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.bareRepository", "GIT_CONFIG_VALUE_0=explicit"}, dirs: dirs},
	})
}

// TestUnsafe checks that the error says so.
func TestUnsafe(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("NOT TESTED: only root can make repositories of others")
	}
	e := gittest.New(t, gittest.System(t))
	e.Script(t, "git init -q r; chown -R "+other+" r")
	if _, err := Locate(e.Path("r"), false, EnvFrom(e.Environ())); !errors.Is(err, ErrUnsafe) {
		t.Errorf("Locate = %v, want ErrUnsafe", err)
	}
}

// TestUnprivileged runs the tests of unreadable files again without the right to
// read everything, which root has.
func TestUnprivileged(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("the tests run without privileges anyway")
	}
	setpriv, err := exec.LookPath("setpriv")
	if err != nil {
		t.Skip("NOT TESTED: as root, setpriv(1) is needed to give privileges up")
	}
	cmd := exec.Command(setpriv, "--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-all", os.Args[0], "-test.run=^TestDenied", "-test.v")
	cmd.Env = append(os.Environ(), "GUST_UNPRIVILEGED=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v:\n%s", err, out)
	}
}

// denied skips a test that root would pass without its meaning anything.
func denied(t *testing.T) {
	t.Helper()
	if os.Geteuid() == 0 && os.Getenv("GUST_UNPRIVILEGED") == "" {
		t.Skip("TestUnprivileged runs this without privileges")
	}
	if err := os.WriteFile(t.TempDir()+"/f", nil, 0); err != nil {
		t.Fatal(err)
	}
}

func TestDeniedAgainstGit(t *testing.T) {
	denied(t)
	const repo = "git init -q r; git -C r commit -q --allow-empty -m a; mkdir -p r/x/y; "
	dirs := []string{"r", "r/x"}
	comparePlaces(t, []place{
		{name: "git-dir", script: repo + "chmod 0 r/.git", dirs: dirs},
		{name: "git-dir-unlistable", script: repo + "chmod 111 r/.git", dirs: dirs},
		{name: "git-dir-unsearchable", script: repo + "chmod 444 r/.git", dirs: dirs},
		{name: "git-dir-nested", script: "git init -q .; " + repo + "chmod 0 r/.git", dirs: dirs},
		{name: "head", script: repo + "chmod 0 r/.git/HEAD", dirs: dirs},
		{name: "head-nested", script: "git init -q .; " + repo + "chmod 0 r/.git/HEAD", dirs: dirs},
		{name: "objects", script: repo + "chmod 0 r/.git/objects", dirs: dirs},
		{name: "objects-unlistable", script: repo + "chmod 111 r/.git/objects", dirs: dirs},
		{name: "refs", script: repo + "chmod 0 r/.git/refs", dirs: dirs},
		{name: "config", script: repo + "chmod 0 r/.git/config", dirs: dirs},
		{name: "global-config", script: repo + "chmod 0 $HOME/.gitconfig", dirs: dirs},
		{name: "global-xdg", script: repo + "mkdir -p $HOME/.config/git; echo '[core]bare=perhaps' >$HOME/.config/git/config; chmod 0 $HOME/.config/git", dirs: dirs},
		{name: "global-directory", script: repo + "rm $HOME/.gitconfig; mkdir $HOME/.gitconfig", dirs: dirs},
		{name: "system", script: repo + ": >sys; chmod 0 sys", env: []string{"GIT_CONFIG_SYSTEM=@/sys", "GIT_CONFIG_NOSYSTEM=0"}, dirs: dirs},
		{name: "include", script: repo + ": >r/.git/inc; chmod 0 r/.git/inc; git -C r config include.path inc", dirs: dirs},
		{name: "include-directory", script: repo + "mkdir r/.git/inc; chmod 0 r/.git/inc; git -C r config include.path inc/x", dirs: dirs},
		{name: "global-include", script: repo + ": >$HOME/inc; chmod 0 $HOME/inc; git config --global include.path inc", dirs: dirs},
		{name: "work-tree", script: repo + "chmod 0 r", dirs: dirs},
		{name: "work-tree-unlistable", script: repo + "chmod 111 r", dirs: dirs},
		{name: "subdirectory", script: repo + "chmod 0 r/x", dirs: []string{"r", "r/x/y"}},
		{name: "git-file", script: "git init -q --separate-git-dir g r; chmod 0 r/.git", dirs: []string{"r"}},
		{name: "git-file-target", script: "git init -q --separate-git-dir g r; chmod 0 g", dirs: []string{"r"}},
		{name: "commondir", script: repo + "git -C r worktree add -q ../w; chmod 0 r/.git/worktrees/w/commondir", dirs: []string{"w"}},
		{name: "core-worktree", script: repo + "mkdir v; git -C r config core.worktree $D/v; chmod 0 v", dirs: []string{"r"}},
		{name: "config-worktree", script: repo + "git -C r config extensions.worktreeConfig true; : >r/.git/config.worktree; chmod 0 r/.git/config.worktree", dirs: []string{"r"}},
	})
}
