package repo

import (
	"strings"
	"testing"

	"gust/internal/gittest"
)

// TestGitDirConditionAgainstGit: includeIf.gitdir matches the git dir and the
// name by which it was reached, in the cases in which Git knows that.
func TestGitDirConditionAgainstGit(t *testing.T) {
	patterns := []string{"~/git/", "~/git/r/.git", "$D/mnt/", "$D/mnt/r/.git", "git/", "mnt/", "$D/w/", "r/", "$D/sep/", "$D/s/", "$D/mnt/r/.git/worktrees/", "$D/lw/"}
	const layout = "mkdir mnt; ln -s $D/mnt $HOME/git; git init -q mnt/r; git -C mnt/r commit -q --allow-empty -m a; mkdir -p mnt/r/x w/x; ln -s $D/mnt/r/.git w/.git; git init -q --separate-git-dir sep s; git -C mnt/r worktree add -q $D/lw; ln -s mnt/r rl; "
	dirs := []string{"../home/git/r", "../home/git/r/x", "mnt/r", "mnt/r/x", "w", "w/x", "s", "lw", "rl", "rl/x"}
	for _, g := range gittest.All(t) {
		t.Run(g.String(), func(t *testing.T) {
			e := gittest.New(t, g)
			e.Script(t, layout)
			for i, pattern := range patterns {
				e.Script(t, "git config --global includeIf.\"gitdir:"+pattern+"\".path inc"+string(rune('a'+i))+"; git config -f $HOME/inc"+string(rune('a'+i))+" in."+string(rune('a'+i))+" yes")
			}
			for _, given := range []string{"", "GIT_DIR=.git"} {
				for _, dir := range dirs {
					if given != "" && strings.HasSuffix(dir, "/x") {
						continue
					}
					// The shell's cd sets PWD as a user's does.
					want := e.Script(t, "cd "+dir+"; "+given+" git config --get-regexp '^in\\.' || true")
					env := EnvFrom(e.Environ())
					if given != "" {
						env["GIT_DIR"] = ".git"
					}
					loc, err := Locate(e.Dir+"/"+dir, false, env)
					if err != nil {
						t.Fatal(err)
					}
					r, err := Open(loc, env)
					if err != nil {
						t.Fatal(err)
					}
					got := ""
					for _, entry := range r.Config.All() {
						if strings.HasPrefix(entry.Key, "in.") {
							got += entry.Key + " " + entry.Value + "\n"
						}
					}
					if got != want {
						t.Errorf("%s %s: included %q; git says %q", dir, given, got, want)
					}
				}
			}
		})
	}
}
