package history

import (
	"strings"
	"testing"

	"gust/internal/gittest"
)

// TestCases runs commands that people reported trouble with, in repositories made
// by a script each.
func TestCases(t *testing.T) {
	commit := `c() { echo $1 >$1; git add .; git commit -qm $1; }; `
	tests := []struct {
		name, script string
		commands     []string
	}{
		{"tag-under-another-name", commit + `c a; git tag -a -m t inner; mv .git/refs/tags/inner .git/refs/tags/outer`,
			[]string{"describe", "describe --abbrev=0", "describe --all HEAD HEAD"}},
		{"no-annotated-tag", commit + `c a`, []string{"describe", "describe --tags", "describe --always", "describe --always --match v9*"}},
		{"light-tags", commit + `c a; git tag l1; git tag l2`, []string{"describe", "describe --tags", "describe --always --match v9*"}},
		{"shallow", commit + `c a; git tag -a -m t v1; c b; c c; git clone -q --depth 1 "file://$PWD" ../s; mv .git ../old; mv ../s/.git .git`,
			[]string{"describe", "describe --always", "describe --tags --always"}},
		{"dirty", commit + `c a; git tag -a -m t v1; echo b >a`, []string{"describe --dirty", "describe --dirty=-d", "describe --broken"}},
		{"touched", commit + `c a; git tag -a -m t v1; touch -d 2001-01-01 a`, []string{"describe --dirty", "describe --dirty --long"}},
		{"staged", commit + `c a; git tag -a -m t v1; echo b >b; git add b`, []string{"describe --dirty"}},
		{"untracked", commit + `c a; git tag -a -m t v1; echo b >b`, []string{"describe --dirty"}},
		{"abbrev", commit + `c a; git tag -a -m t v1; c b; git config core.abbrev 12`, []string{"describe", "describe --abbrev=5", "describe --long"}},
		{"abbrev-no", commit + `c a; git tag -a -m t v1; c b; git config core.abbrev no`, []string{"describe", "describe --abbrev=1"}},
		{"unborn", ``, []string{"describe", "describe --always"}},
	}
	gits := gittest.All(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			env := gittest.New(t, gits[len(gits)-1])
			env.Script(t, "git init -q r; cd r; "+tt.script)
			r := &Repo{Env: env, Dir: env.Path("r")}
			for _, c := range tt.commands {
				compare(t, r, gits, "", strings.Fields(c)...)
			}
		})
	}
}
