package repo

import (
	"fmt"
	"strings"
	"testing"

	"gust/internal/gittest"
)

// TestScopesAgainstGit compares all settings, and their scopes, with git config
// --list --show-scope.
func TestScopesAgainstGit(t *testing.T) {
	const layout = `git init -q r; cd r; git commit -q --allow-empty -m a; git worktree add -q ../w; git config extensions.worktreeConfig true
git config --worktree x.worktree main; git -C ../w config --worktree x.worktree linked; git config x.local 1
mkdir -p $HOME/.config/git $HOME/xdg/git; git config -f $HOME/.config/git/config x.xdg standard; git config -f $HOME/xdg/git/config x.xdg other
git config --global x.global 1; git config -f $D/sys x.system 1; git config -f $D/glob x.given 1; cp $D/glob $D/r/relative; cp $D/glob $D/w/relative
`
	for _, g := range gittest.All(t) {
		e := gittest.New(t, g)
		e.Script(t, layout)
		for _, vars := range []string{
			"", "GIT_CONFIG_SYSTEM=@/sys GIT_CONFIG_NOSYSTEM=0", "GIT_CONFIG_SYSTEM=@/sys GIT_CONFIG_NOSYSTEM=yes", "GIT_CONFIG_SYSTEM=@/none GIT_CONFIG_NOSYSTEM=0",
			"GIT_CONFIG_GLOBAL=@/glob", "GIT_CONFIG_GLOBAL=@/none", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_GLOBAL=", "GIT_CONFIG_GLOBAL=relative",
			"XDG_CONFIG_HOME=~/xdg", "XDG_CONFIG_HOME=", "XDG_CONFIG_HOME=/none", "HOME=/none", "HOME= XDG_CONFIG_HOME=~/xdg",
			"GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=x.command GIT_CONFIG_VALUE_0=1", "GIT_CONFIG_PARAMETERS='x.command=2'", "GIT_CONFIG_NOSYSTEM=",
		} {
			old := e.Environ()
			for _, v := range strings.Fields(strings.NewReplacer("@", e.Dir, "~", e.Home).Replace(vars)) {
				name, value, _ := strings.Cut(v, "=")
				e.Setenv(name, value)
			}
			for _, dir := range []string{"r", "w"} {
				want := strings.ReplaceAll(e.Run(t, dir, "config", "--list", "--show-scope", "-z"), "\x00", "|")
				var got strings.Builder
				for _, entry := range mustOpen(t, e, dir).Config.All() {
					fmt.Fprintf(&got, "%s|%s", entry.Scope, entry.Key)
					if !entry.NoValue {
						fmt.Fprintf(&got, "\n%s", entry.Value)
					}
					got.WriteByte('|')
				}
				if got.String() != want {
					t.Errorf("%s: %s in %s:\ngust: %s\ngit:  %s", g, vars, dir, got.String(), want)
				}
			}
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
}
