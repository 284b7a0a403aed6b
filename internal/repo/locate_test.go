package repo

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gust/internal/gittest"
)

// A place is a directory to ask about, in a repository that a script builds.
type place struct {
	name   string
	script string   // run in e.Dir, with D set to it
	dirs   []string // relative to e.Dir; each is asked about
	env    []string // NAME=value; @ stands for e.Dir
	global string   // added to the global configuration; @ stands for e.Dir
	newest bool     // only with a git of 2.51 or newer
	root   bool     // only as root
}

// set gives e the environment of p, and returns a function that takes it back.
func (p *place) set(t *testing.T, e *gittest.Env) (restore func()) {
	t.Helper()
	old := e.Environ()
	if p.global != "" {
		home := t.TempDir()
		standard, err := os.ReadFile(filepath.Join(e.Home, ".gitconfig"))
		if err != nil {
			t.Fatal(err)
		}
		text := string(standard) + strings.ReplaceAll(p.global, "@", e.Dir)
		if err := os.WriteFile(filepath.Join(home, ".gitconfig"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		e.Setenv("HOME", home)
	}
	for _, v := range p.env {
		name, value, _ := strings.Cut(strings.ReplaceAll(v, "@", e.Dir), "=")
		e.Setenv(name, value)
	}
	return func() {
		for _, v := range e.Environ() {
			name, _, _ := strings.Cut(v, "=")
			e.Unsetenv(name)
		}
		for _, v := range old {
			name, value, _ := strings.Cut(v, "=")
			e.Setenv(name, value)
		}
	}
}

// describe prints what matters of a repository, "none" where git status would
// not run.
func describe(gitDir, commonDir, workTree, index, objects, algo string) string {
	return fmt.Sprintf("git dir %s\ncommon dir %s\nwork tree %s\nindex %s\nobjects %s\nalgo %s\n", gitDir, commonDir, workTree, index, objects, algo)
}

// gitSays returns what git says about dir.
func gitSays(t *testing.T, e *gittest.Env, dir string) string {
	t.Helper()
	if _, err := e.Command(dir, "status", "--porcelain", "-uno").Output(); err != nil {
		return "none: " + stderr(err)
	}
	out, err := e.Command(dir, "rev-parse", "--path-format=absolute", "--git-dir", "--git-common-dir", "--show-toplevel",
		"--git-path", "index", "--git-path", "objects", "--show-object-format").Output()
	if err != nil {
		return "none: " + stderr(err)
	}
	line := strings.Split(string(out), "\n")
	return describe(line[0], line[1], line[2], line[3], line[4], line[5])
}

func stderr(err error) string {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return string(exit.Stderr)
	}
	return err.Error()
}

// gustSays returns the same from Locate and Open.
func gustSays(e *gittest.Env, dir string) string {
	env := EnvFrom(e.Environ())
	loc, err := Locate(dir, false, env)
	if err != nil {
		return "none: " + err.Error()
	}
	r, err := Open(loc, env)
	if err != nil {
		return "none: " + err.Error()
	}
	if r.WorkTree == "" {
		return "none: no working tree"
	}
	return describe(r.GitDir, r.CommonDir, r.WorkTree, r.IndexPath, real(r.ObjectDir), r.Algo.String())
}

// comparePlaces asks git and gust about every place.
func comparePlaces(t *testing.T, places []place) {
	outer := t
	for _, g := range gittest.All(t) {
		built := make(map[string]*gittest.Env) // by script: nothing here changes what it built
		for _, p := range places {
			t.Run(g.String()+"/"+p.name, func(t *testing.T) {
				if p.newest && !g.AtLeast(2, 51) {
					t.Skipf("NOT TESTED with %s, which does not know this", g)
				}
				if p.root && os.Geteuid() != 0 {
					t.Skip("NOT TESTED: only root can build this")
				}
				e := built[p.script]
				if e == nil {
					e = gittest.New(outer, g)
					e.Script(t, p.script)
					built[p.script] = e
				}
				defer p.set(t, e)()
				for _, dir := range p.dirs {
					want, got := gitSays(t, e, dir), gustSays(e, e.Path(dir))
					if strings.HasPrefix(want, "none: ") && strings.HasPrefix(got, "none: ") {
						t.Logf("%s: %s (git: %s)", dir, got, strings.TrimSpace(want))
						continue
					}
					if got != want {
						t.Errorf("%s:\ngust:\n%s\ngit:\n%s", dir, strings.ReplaceAll(got, e.Dir, "@"), strings.ReplaceAll(want, e.Dir, "@"))
					}
				}
			})
		}
	}
}

func TestLocateAgainstGit(t *testing.T) {
	comparePlaces(t, []place{
		{name: "plain", script: "git init -q r; mkdir -p r/a/b", dirs: []string{".", "r", "r/a", "r/a/b", "r/.git", "r/.git/objects", "r/.git/refs/heads"}},
		{name: "nested", script: "git init -q r; git init -q r/a/n; mkdir r/a/n/x", dirs: []string{"r/a", "r/a/n", "r/a/n/x"}},
		{name: "bare", script: "git init -q --bare r", dirs: []string{"r", "r/objects"}},
		{name: "bare-named-git", script: "git init -q --bare r/.git", dirs: []string{"r", "r/.git"}},
		{name: "bare-with-work-tree", script: "git init -q --bare b; mkdir w; git -C b config core.bare false; git -C b config core.worktree ../w; mkdir w/x", dirs: []string{"b", "w", "b/objects"}},
		{name: "bare-and-work-tree", script: "git init -q --bare b; mkdir w; git -C b config core.worktree ../w", dirs: []string{"b", "w"}},
		{name: "core-bare-in-work-tree", script: "git init -q r; git -C r config core.bare true", dirs: []string{"r", "r/.git"}},
		{name: "core-bare-bad", script: "git init -q r; git -C r config core.bare perhaps", dirs: []string{"r"}},
		{name: "core-bare-no-version", script: "git init -q r; printf '[core]\\nbare=true\\n' >r/.git/config", dirs: []string{"r"}},
		{name: "core-worktree-no-version", script: "git init -q r; mkdir w; printf '[core]\\nworktree=../../w\\n' >r/.git/config", dirs: []string{"r"}},
		{name: "core-bare-true-no-value", script: "git init -q r; printf '[core]\\nrepositoryformatversion=0\\nbare\\n' >r/.git/config", dirs: []string{"r"}},
		{name: "core-bare-no-value", script: "git init -q r; printf '[core]\\nbare\\n' >r/.git/config", dirs: []string{"r"}},
		{name: "core-worktree", script: "git init -q r; mkdir -p w/x; git -C r config core.worktree ../../w", dirs: []string{"r", "w", "r/.git"}},
		{name: "core-worktree-inside", script: "git init -q r; mkdir -p r/sub; git -C r config core.worktree ../sub", dirs: []string{"r", "r/sub"}},
		{name: "core-worktree-absolute", script: "git init -q r; mkdir -p w; git -C r config core.worktree $D/w/", dirs: []string{"r", "r/.git"}},
		{name: "core-worktree-missing", script: "git init -q r; git -C r config core.worktree ../../missing", dirs: []string{"r"}},
		{name: "core-worktree-file", script: "git init -q r; echo x >f; git -C r config core.worktree ../../f", dirs: []string{"r"}},
		{name: "core-worktree-link", script: "git init -q r; mkdir w; ln -s w l; git -C r config core.worktree ../../l", dirs: []string{"r"}},
		{name: "core-worktree-tilde", script: "git init -q r; git -C r config core.worktree '~/'", dirs: []string{"r"}},
		{name: "core-worktree-empty", script: "git init -q r; git -C r config core.worktree ''", dirs: []string{"r", "r/.git"}},
		{name: "core-worktree-no-value", script: "git init -q r; printf '[core]\\nworktree\\n' >r/.git/config", dirs: []string{"r"}},
		{name: "core-worktree-global", script: "git init -q r; mkdir w; git config --global core.worktree $D/w; mkdir r/x", dirs: []string{"r", "r/x"}},
		{name: "core-bare-global", script: "git init -q r; git -C r config --unset core.bare; git config --global core.bare true", dirs: []string{"r"}},
		{name: "core-worktree-included", script: "git init -q r; mkdir w; git -C r config include.path inc; git config -f r/.git/inc core.worktree ../../w", dirs: []string{"r"}},
		{name: "core-worktree-command", script: "git init -q r; mkdir w", env: []string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=core.worktree", "GIT_CONFIG_VALUE_0=@/w"}, dirs: []string{"r"}},
		{name: "no-config", script: "git init -q r; rm r/.git/config", dirs: []string{"r", "r/.git"}},
		{name: "empty-config", script: "git init -q r; : >r/.git/config", dirs: []string{"r", "r/.git"}},
		{name: "separate-git-dir", script: "git init -q --separate-git-dir g r; mkdir r/x", dirs: []string{"r", "r/x", "g"}},
		{name: "git-file-relative", script: "git init -q --bare b; git -C b config core.bare false; mkdir w; echo 'gitdir: ../b' >w/.git", dirs: []string{"w", "b"}},
		{name: "git-file-bare", script: "git init -q --bare .bare; echo 'gitdir: ./.bare' >.git; mkdir x", dirs: []string{".", "x", ".bare"}},
		{name: "git-file-bare-worktree", script: "git init -q s; git -C s commit -q --allow-empty -m a; git clone -q --bare s w/.bare; cd w; echo 'gitdir: ./.bare' >.git; git worktree add -q one; mkdir one/x", dirs: []string{"w", "w/one", "w/one/x", "w/.bare"}},
		{name: "git-file-no-newline", script: "git init -q g; mkdir w; printf 'gitdir: ../g/.git' >w/.git", dirs: []string{"w"}},
		{name: "git-file-crlf", script: "git init -q g; mkdir w; printf 'gitdir: ../g/.git\\r\\n\\n\\n' >w/.git", dirs: []string{"w"}},
		{name: "git-file-space-behind", script: "git init -q g; mkdir w; printf 'gitdir: ../g/.git \\n' >w/.git", dirs: []string{"w"}},
		{name: "git-file-spaces", script: "git init -q g; mkdir w; printf 'gitdir:  ../g/.git\\n' >w/.git", dirs: []string{"w"}},
		{name: "git-file-no-space", script: "git init -q g; mkdir w; printf 'gitdir:../g/.git\\n' >w/.git", dirs: []string{"w"}},
		{name: "git-file-slash", script: "git init -q g; mkdir w; printf 'gitdir: ../g/.git/\\n' >w/.git", dirs: []string{"w"}},
		{name: "git-file-junk", script: "git init -q .; mkdir w; echo junk >w/.git; mkdir w/x", dirs: []string{"w", "w/x"}},
		{name: "git-file-empty", script: "git init -q .; mkdir w; : >w/.git", dirs: []string{"w"}},
		{name: "git-file-no-path", script: "git init -q .; mkdir w; echo 'gitdir: ' >w/.git", dirs: []string{"w"}},
		{name: "git-file-nowhere", script: "git init -q .; mkdir w; echo 'gitdir: nowhere' >w/.git", dirs: []string{"w"}},
		{name: "git-file-two-lines", script: "git init -q g; mkdir w; printf 'gitdir: ../g/.git\\nmore\\n' >w/.git", dirs: []string{"w"}},
		{name: "git-file-to-file", script: "git init -q --separate-git-dir g r; mkdir w; echo 'gitdir: ../r/.git' >w/.git", dirs: []string{"w"}},
		{name: "git-file-large", script: "git init -q .; mkdir w; head -c 1100000 /dev/zero | tr '\\0' x >w/.git", dirs: []string{"w"}},
		{name: "git-file-link", script: "git init -q --separate-git-dir g r; mkdir -p a/w; cp r/.git a/f; ln -s ../f a/w/.git", dirs: []string{"a/w"}},
		{name: "git-file-link-relative", script: "git init -q a/g; echo 'gitdir: g/.git' >a/f; mkdir -p b; ln -s ../a/f b/.git", dirs: []string{"b"}},
		{name: "git-fifo", newest: true, script: "git init -q .; mkdir w; mkfifo w/.git", dirs: []string{"w"}},
		{name: "git-directory-empty", script: "git init -q .; mkdir -p w/.git", dirs: []string{"w", "w/.git"}},
		{name: "git-link-dangling", script: "git init -q .; mkdir w; ln -s nowhere w/.git", dirs: []string{"w"}},
		{name: "git-link-loop", newest: true, script: "git init -q .; mkdir w; ln -s .git w/.git", dirs: []string{"w"}},
		{name: "git-link", script: "git init -q g; mkdir -p w/x; ln -s ../g/.git w/.git", dirs: []string{"w", "w/x", "w/.git"}},
		{name: "git-link-absolute", script: "git init -q g; mkdir w; ln -s $D/g/.git w/.git", dirs: []string{"w"}},
		{name: "git-of-links", script: "git init -q a; git -C a commit -q --allow-empty -m x; mkdir -p rp/.git; for x in config objects refs info; do ln -s ../../a/.git/$x rp/.git/$x; done; echo 'ref: refs/heads/main' >rp/.git/HEAD; ln -s rp lnk", dirs: []string{"rp", "lnk"}},
		{name: "git-of-links-head", script: "git init -q a; git -C a commit -q --allow-empty -m x; mkdir -p rp/.git; for x in HEAD config objects refs info; do ln -s ../../a/.git/$x rp/.git/$x; done", dirs: []string{"rp"}},
		{name: "link-to-repository", script: "git init -q r; mkdir r/x; ln -s r l; ln -s r/x lx", dirs: []string{"l", "l/x", "lx"}},
		{name: "link-within", script: "git init -q r; mkdir -p r/x out; ln -s ../out r/o; ln -s x r/y", dirs: []string{"r/o", "r/y"}},

		{name: "head-missing", script: "git init -q .; git init -q r; rm r/.git/HEAD", dirs: []string{"r", "r/.git"}},
		{name: "head-empty", script: "git init -q .; git init -q r; : >r/.git/HEAD", dirs: []string{"r"}},
		{name: "head-junk", script: "git init -q r; echo junk >r/.git/HEAD", dirs: []string{"r"}},
		{name: "head-no-refs", script: "git init -q r; echo 'ref: heads/main' >r/.git/HEAD", dirs: []string{"r"}},
		{name: "head-spaces", script: "git init -q r; printf 'ref: \\t refs/heads/main  \\n' >r/.git/HEAD", dirs: []string{"r"}},
		{name: "head-no-space", script: "git init -q r; printf 'ref:refs/heads/main' >r/.git/HEAD", dirs: []string{"r"}},
		{name: "head-hash", script: "git init -q r; git -C r commit -q --allow-empty -m a; git -C r rev-parse HEAD >h; mv h r/.git/HEAD", dirs: []string{"r"}},
		{name: "head-hash-short", script: "git init -q r; printf 0123456789 >r/.git/HEAD", dirs: []string{"r"}},
		{name: "head-link", script: "git init -q r; rm r/.git/HEAD; ln -s refs/heads/main r/.git/HEAD", dirs: []string{"r"}},
		{name: "head-link-born", script: "git init -q r; git -C r commit -q --allow-empty -m a; rm r/.git/HEAD; ln -s refs/heads/main r/.git/HEAD", dirs: []string{"r"}},
		{name: "head-link-elsewhere", script: "git init -q r; mv r/.git/HEAD h; ln -s ../../h r/.git/HEAD", dirs: []string{"r"}},
		{name: "head-link-dangling", script: "git init -q r; rm r/.git/HEAD; ln -s nowhere r/.git/HEAD", dirs: []string{"r"}},
		{name: "head-directory", script: "git init -q r; rm r/.git/HEAD; mkdir r/.git/HEAD", dirs: []string{"r"}},
		{name: "head-long", script: "git init -q r; printf 'ref: refs/heads/%0300d' 1 >r/.git/HEAD", dirs: []string{"r"}},
		{name: "head-spaces-many", script: "git init -q r; printf 'ref: %0300d' 1 | tr 01 '  ' >r/.git/HEAD; echo refs/heads/main >>r/.git/HEAD", dirs: []string{"r"}},
		{name: "objects-missing", script: "git init -q .; git init -q r; rm -r r/.git/objects", dirs: []string{"r", "r/.git"}},
		{name: "objects-file", script: "git init -q r; rm -r r/.git/objects; : >r/.git/objects", dirs: []string{"r"}},
		{name: "refs-missing", script: "git init -q r; rm -r r/.git/refs", dirs: []string{"r"}},
		{name: "refs-link", script: "git init -q r; mv r/.git/refs x; ln -s ../../x r/.git/refs", dirs: []string{"r"}},

		{name: "worktree", script: "git init -q r; git -C r commit -q --allow-empty -m a; git -C r worktree add -q ../w; mkdir w/x", dirs: []string{"w", "w/x", "r", "r/.git/worktrees/w"}},
		{name: "worktree-core-bare", script: "git init -q r; git -C r commit -q --allow-empty -m a; git -C r worktree add -q ../w; git -C r config core.bare true", dirs: []string{"w", "r"}},
		{name: "worktree-core-worktree", script: "git init -q r; git -C r commit -q --allow-empty -m a; git -C r worktree add -q ../w; mkdir q; git -C r config core.worktree ../../q", dirs: []string{"w", "r"}},
		{name: "worktree-config", script: "git init -q r; git -C r commit -q --allow-empty -m a; git -C r worktree add -q ../w; mkdir q; git -C r config extensions.worktreeConfig true; git -C w config --worktree core.worktree $D/q", dirs: []string{"w", "r"}},
		{name: "worktree-config-bare", script: "git init -q --bare r; git -C r config extensions.worktreeConfig true; git -C r config --unset core.bare; git -C r config --worktree core.bare true; git -C r commit-tree -m a $(git -C r hash-object -wt tree /dev/null) >c; git -C r update-ref refs/heads/main $(cat c); git -C r worktree add -q ../w main", dirs: []string{"w", "r"}},
		{name: "worktree-config-off", script: "git init -q r; git config -f r/.git/config.worktree core.worktree ../../q; mkdir q", dirs: []string{"r"}},
		{name: "worktree-moved", script: "git init -q r; git -C r commit -q --allow-empty -m a; git -C r worktree add -q ../w; mv w v; mkdir z; mv r z", dirs: []string{"v"}},
		{name: "worktree-moved-main", script: "git init -q r; git -C r commit -q --allow-empty -m a; git -C r worktree add -q ../w; mv w v", dirs: []string{"v"}},
		{name: "worktree-relative", newest: true, script: "git init -q r; git -C r commit -q --allow-empty -m a; git -C r worktree add -q --relative-paths ../w; mkdir z; mv r w z", dirs: []string{"z/w", "z/r"}},
		{name: "commondir-missing", script: "git init -q r; git -C r commit -q --allow-empty -m a; git -C r worktree add -q ../w; rm r/.git/worktrees/w/commondir", dirs: []string{"w"}},
		{name: "commondir-nowhere", script: "git init -q r; git -C r commit -q --allow-empty -m a; git -C r worktree add -q ../w; echo nowhere >r/.git/worktrees/w/commondir", dirs: []string{"w"}},
		{name: "commondir-absolute", script: "git init -q r; git -C r commit -q --allow-empty -m a; git -C r worktree add -q ../w; echo $D/r/.git >r/.git/worktrees/w/commondir", dirs: []string{"w"}},
		{name: "commondir-crlf", script: "git init -q r; git -C r commit -q --allow-empty -m a; git -C r worktree add -q ../w; printf '../..\\r\\n\\n' >r/.git/worktrees/w/commondir", dirs: []string{"w"}},
		{name: "commondir-empty", script: "git init -q r; git -C r commit -q --allow-empty -m a; git -C r worktree add -q ../w; : >r/.git/worktrees/w/commondir", dirs: []string{"w"}},
		{name: "commondir-self", script: "git init -q r; echo . >r/.git/commondir", dirs: []string{"r"}},
		{name: "commondir-of-main", script: "git init -q c; git init -q r; echo ../../c/.git >r/.git/commondir", dirs: []string{"r"}},
		{name: "submodule", script: "git init -q lib; git -C lib commit -q --allow-empty -m a; git init -q r; cd r; git submodule --quiet add ../lib lib; mkdir lib/x", dirs: []string{"r", "r/lib", "r/lib/x", "r/.git/modules/lib"}},
		{name: "submodule-worktree", script: "git init -q lib; git -C lib commit -q --allow-empty -m a; git init -q r; cd r; git submodule --quiet add ../lib lib; git -C lib worktree add -q ../../w; mkdir ../w/x", dirs: []string{"w", "w/x", "r/lib"}},
		{name: "deep", script: "git init -q r; p=r; for i in $(seq 100); do p=$p/d; done; mkdir -p $p", dirs: []string{"r" + strings.Repeat("/d", 100)}},
		{name: "odd-name", script: "git init -q 'r  \\ x'; mkdir 'r  \\ x/*'", dirs: []string{"r  \\ x/*"}},
		{name: "gone", script: "git init -q r", dirs: []string{"r"}},
		{name: "sha256", script: "git init -q --object-format=sha256 r", dirs: []string{"r"}},
	})
}

func TestLocateEnvironmentAgainstGit(t *testing.T) {
	const layout = "git init -q r; git -C r commit -q --allow-empty -m a; mkdir -p r/x/y w/v; git init -q --bare b; git -C r worktree add -q ../l; git init -q --separate-git-dir sg s; ln -s r rl;"
	dirs := []string{".", "r", "r/x", "w", "b", "l", "r/.git"}
	comparePlaces(t, []place{
		{name: "git-dir", script: layout, env: []string{"GIT_DIR=@/r/.git"}, dirs: dirs},
		{name: "git-dir-relative", script: layout, env: []string{"GIT_DIR=../r/.git"}, dirs: dirs},
		{name: "git-dir-dot", script: layout, env: []string{"GIT_DIR=."}, dirs: []string{"r/.git", "b"}},
		{name: "git-dir-work-tree", script: layout, env: []string{"GIT_DIR=@/r"}, dirs: dirs},
		{name: "git-dir-file", script: layout, env: []string{"GIT_DIR=@/s/.git"}, dirs: dirs},
		{name: "git-dir-link", script: layout, env: []string{"GIT_DIR=@/rl/.git"}, dirs: dirs},
		{name: "git-dir-slash", script: layout, env: []string{"GIT_DIR=@/r/.git/"}, dirs: dirs},
		{name: "git-dir-up", script: layout, env: []string{"GIT_DIR=@/r/x/../.git"}, dirs: dirs},
		{name: "git-dir-missing", script: layout, env: []string{"GIT_DIR=@/missing"}, dirs: dirs},
		{name: "git-dir-empty", script: layout, env: []string{"GIT_DIR="}, dirs: dirs},
		{name: "git-dir-bare", script: layout, env: []string{"GIT_DIR=@/b"}, dirs: dirs},
		{name: "git-dir-linked", script: layout, env: []string{"GIT_DIR=@/r/.git/worktrees/l"}, dirs: dirs},
		{name: "git-dir-linked-file", script: layout, env: []string{"GIT_DIR=@/l/.git"}, dirs: dirs},
		{name: "git-dir-core-worktree", script: layout + "git -C r config core.worktree ../../w", env: []string{"GIT_DIR=@/r/.git"}, dirs: dirs},
		{name: "git-dir-core-worktree-bare", script: layout + "git -C b config core.worktree ../w", env: []string{"GIT_DIR=@/b"}, dirs: dirs},
		{name: "both", script: layout, env: []string{"GIT_DIR=@/r/.git", "GIT_WORK_TREE=@/w"}, dirs: dirs},
		{name: "both-bare", script: layout, env: []string{"GIT_DIR=@/b", "GIT_WORK_TREE=@/w"}, dirs: dirs},
		{name: "both-relative", script: layout, env: []string{"GIT_DIR=@/r/.git", "GIT_WORK_TREE=.."}, dirs: []string{"r/x", "r/x/y", "w/v"}},
		{name: "both-core-worktree", script: layout + "git -C r config core.worktree ../../b", env: []string{"GIT_DIR=@/r/.git", "GIT_WORK_TREE=@/w"}, dirs: dirs},
		{name: "both-core-bare", script: layout + "git -C r config core.bare true", env: []string{"GIT_DIR=@/r/.git", "GIT_WORK_TREE=@/w"}, dirs: dirs},
		{name: "work-tree", script: layout, env: []string{"GIT_WORK_TREE=@/w"}, dirs: dirs},
		{name: "work-tree-relative", script: layout, env: []string{"GIT_WORK_TREE=x"}, dirs: []string{"r", "r/x"}},
		{name: "work-tree-dot", script: layout, env: []string{"GIT_WORK_TREE=."}, dirs: []string{"r", "r/x", "r/.git", "b"}},
		{name: "work-tree-empty", script: layout, env: []string{"GIT_WORK_TREE="}, dirs: []string{"r", "r/x", "b"}},
		{name: "work-tree-missing", script: layout, env: []string{"GIT_WORK_TREE=@/missing"}, dirs: []string{"r", "r/x"}},
		{name: "work-tree-link", script: layout + "ln -s w wl", env: []string{"GIT_WORK_TREE=@/wl/"}, dirs: []string{"r", "r/x", "w"}},
		{name: "work-tree-core-worktree", script: layout + "git -C r config core.worktree ../../b", env: []string{"GIT_WORK_TREE=@/w"}, dirs: dirs},
		{name: "implicit-work-tree", script: layout, env: []string{"GIT_DIR=@/r/.git", "GIT_IMPLICIT_WORK_TREE=0"}, dirs: dirs},
		{name: "common-dir", script: layout, env: []string{"GIT_COMMON_DIR=@/r/.git"}, dirs: dirs},
		{name: "common-dir-both", script: layout + "git init -q q;", env: []string{"GIT_DIR=@/q/.git", "GIT_COMMON_DIR=@/r/.git"}, dirs: dirs},
		{name: "common-dir-relative", script: layout, env: []string{"GIT_COMMON_DIR=../r/.git"}, dirs: []string{"r", "w", "l", "r/x"}},
		{name: "common-dir-missing", script: layout, env: []string{"GIT_COMMON_DIR=@/missing"}, dirs: dirs},
		{name: "common-dir-empty", script: layout, env: []string{"GIT_COMMON_DIR="}, dirs: dirs},
		{name: "index-file", script: layout, env: []string{"GIT_INDEX_FILE=@/idx"}, dirs: dirs},
		{name: "index-file-relative", script: layout, env: []string{"GIT_INDEX_FILE=idx"}, dirs: dirs},
		{name: "index-file-empty", script: layout, env: []string{"GIT_INDEX_FILE="}, dirs: []string{"r"}},
		{name: "objects", script: layout, env: []string{"GIT_OBJECT_DIRECTORY=@/r/.git/objects"}, dirs: dirs},
		{name: "objects-relative", script: layout, env: []string{"GIT_OBJECT_DIRECTORY=.git/objects"}, dirs: []string{"r", "r/x", "w"}},
		{name: "objects-missing", script: layout, env: []string{"GIT_OBJECT_DIRECTORY=@/missing"}, dirs: dirs},
		{name: "objects-empty", script: layout, env: []string{"GIT_OBJECT_DIRECTORY="}, dirs: dirs},
		{name: "ceiling", script: layout, env: []string{"GIT_CEILING_DIRECTORIES=@/r"}, dirs: []string{"r", "r/x", "r/x/y"}},
		{name: "ceiling-above", script: layout, env: []string{"GIT_CEILING_DIRECTORIES=@"}, dirs: []string{"r", "r/x", "r/x/y"}},
		{name: "ceiling-below", script: layout, env: []string{"GIT_CEILING_DIRECTORIES=@/r/x"}, dirs: []string{"r", "r/x", "r/x/y"}},
		{name: "ceiling-itself", script: layout, env: []string{"GIT_CEILING_DIRECTORIES=@/r/x/y"}, dirs: []string{"r/x/y"}},
		{name: "ceiling-slash", script: layout, env: []string{"GIT_CEILING_DIRECTORIES=@/r/"}, dirs: []string{"r", "r/x", "r/x/y"}},
		{name: "ceiling-root", script: layout, env: []string{"GIT_CEILING_DIRECTORIES=/"}, dirs: []string{"r/x"}},
		{name: "ceiling-many", script: layout, env: []string{"GIT_CEILING_DIRECTORIES=/nowhere:@:@/r/x:relative"}, dirs: []string{"r/x", "r/x/y"}},
		{name: "ceiling-link", script: layout, env: []string{"GIT_CEILING_DIRECTORIES=@/rl"}, dirs: []string{"r/x", "rl/x"}},
		{name: "ceiling-link-unresolved", script: layout, env: []string{"GIT_CEILING_DIRECTORIES=:@/rl"}, dirs: []string{"r/x", "rl/x"}},
		{name: "ceiling-empty-in-the-middle", script: layout, env: []string{"GIT_CEILING_DIRECTORIES=@/rl::@/w"}, dirs: []string{"r/x", "rl/x"}},
		{name: "ceiling-dots", script: layout, env: []string{"GIT_CEILING_DIRECTORIES=@/w/../r"}, dirs: []string{"r/x"}},
		{name: "ceiling-missing", script: layout, env: []string{"GIT_CEILING_DIRECTORIES=@/missing"}, dirs: []string{"r/x"}},
		{name: "ceiling-prefix", script: layout, env: []string{"GIT_CEILING_DIRECTORIES=@/r/x/yy:@/r/"}, dirs: []string{"r/x/y"}},
		{name: "ceiling-git-dir", script: layout, env: []string{"GIT_CEILING_DIRECTORIES=@/r"}, dirs: []string{"r/.git", "r/.git/objects"}},
		{name: "across-bad", script: layout, env: []string{"GIT_DISCOVERY_ACROSS_FILESYSTEM=perhaps"}, dirs: []string{"r", "r/x"}},
		{name: "no-system-bad", script: layout, env: []string{"GIT_CONFIG_NOSYSTEM=perhaps"}, dirs: []string{"r"}},
	})
}

func TestLocateGone(t *testing.T) {
	e := gittest.New(t, gittest.System(t))
	e.Run(t, ".", "init", "-q", ".")
	for _, dir := range []string{"gone", "gone/deeper", strings.Repeat("d/", 3000)} {
		if loc, err := Locate(filepath.Join(e.Dir, dir), false, EnvFrom(e.Environ())); !errors.Is(err, ErrNotFound) {
			t.Errorf("Locate of a missing directory = %+v, %v, want ErrNotFound", loc, err)
		}
	}
}

// mountable reports whether this process may mount file systems.
func mountable(t *testing.T) bool {
	t.Helper()
	dir := t.TempDir()
	if err := exec.Command("mount", "-t", "tmpfs", "none", dir).Run(); err != nil {
		return false
	}
	if err := exec.Command("umount", dir).Run(); err != nil {
		t.Fatal(err)
	}
	return true
}

// TestLocateMountAgainstGit looks for repositories from below a mount point.
func TestLocateMountAgainstGit(t *testing.T) {
	if !mountable(t) {
		t.Skip("NOT TESTED: mounting takes privileges")
	}
	for _, g := range gittest.All(t) {
		for _, across := range []string{"", "0", "1", "true", "no"} {
			t.Run(g.String()+"/"+across, func(t *testing.T) {
				e := gittest.New(t, g)
				e.Script(t, "git init -q r; mkdir -p r/a/m/x r/b")
				e.Script(t, "mount -t tmpfs none r/a/m; mkdir -p r/a/m/x/y; git init -q r/a/m/x/n; git init -q s; mkdir s/m; mount --bind r/b s/m")
				defer e.Script(t, "umount r/a/m; umount s/m")
				if across != "" {
					e.Setenv("GIT_DISCOVERY_ACROSS_FILESYSTEM", across)
				}
				for _, dir := range []string{"r", "r/a", "r/a/m", "r/a/m/x", "r/a/m/x/y", "r/a/m/x/n", "s/m", "r/b"} {
					want, got := gitSays(t, e, dir), gustSays(e, e.Path(dir))
					if got != want && !(strings.HasPrefix(want, "none: ") && strings.HasPrefix(got, "none: ")) {
						t.Errorf("%s:\ngust:\n%s\ngit:\n%s", dir, got, want)
					}
				}
			})
		}
	}
}
