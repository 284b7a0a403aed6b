package cases

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gust/internal/gittest"
)

// A commandCase is one case of the public reports that is about commands: the script
// is run with git, and with gust called git, and prints the same.
type commandCase struct {
	id     string
	title  string
	script string
	want   []string // what is printed has these parts, in this order
	own    []string // commands that gust answers itself, and does not hand over

	newOnly bool // what is wanted is what a git of 2.51 or newer says
}

func commandCases() []commandCase {
	return []commandCase{
		{id: "C07", title: "switch in a sparse checkout", script: `
			git init -q r; cd r; for d in a b c; do mkdir $d; echo 1>$d/f; done; git add .; git commit -qm 1
			git switch -q -c other; echo 2>b/f; git commit -qam 2; git switch -q main
			git sparse-checkout set --cone a; git switch other; echo rc=$?; ls; git status -sb`,
			want: []string{"Switched to branch 'other'\nrc=0\na\n## other\n"}},
		{id: "C21", title: "describe after a touch", own: []string{"describe"}, script: `
			git init -q r; cd r; echo a>f; git add f; git commit -qm a; git tag -a -m t v1; touch -d '1 hour ago' f
			git describe --dirty; touch -d '2 hours ago' f; chmod a-w .git; git describe --dirty; chmod u+w .git`,
			want: []string{"v1\nv1\n"}},
		{id: "C15", title: "all untracked files", own: []string{"status"}, script: `
			git init -q r; cd r; git commit -q --allow-empty -m a; mkdir d; touch d/1 d/2 d/3
			git config status.showUntrackedFiles all; git status -s; git config status.showUntrackedFiles no; git status -s; git status`,
			want: []string{"?? d/1\n?? d/2\n?? d/3\nOn branch main\n"}},
		{id: "C24", title: "before the first commit", own: []string{"status"}, script: `
			git init -q r; cd r; echo a>f; git add f; echo b>g; git status --porcelain=v2 --branch; git status`,
			want: []string{"branch.oid (initial)\n# branch.head main\n1 A. ", "? g\n", "No commits yet\n"}},
		{id: "C25", title: "conflicts", own: []string{"status"}, script: `
			git init -q r; cd r; echo 0>f; echo 0>g; git add .; git commit -qm base
			git switch -q -c o; echo o>f; git rm -q g; echo oo>new; git add .; git commit -qam o
			git switch -q main; echo m>f; echo m>g; echo mm>new; git add .; git commit -qam m; git merge -q o
			git status --porcelain; git status`,
			want: []string{"UU f\nUD g\nAA new\n", "You have unmerged paths.\n", "deleted by them: g\n"}},
		{id: "C34", title: "a remote branch that is gone", own: []string{"status"}, script: `
			git init -q --bare up.git; git clone -q up.git r 2>/dev/null; cd r; git commit -q --allow-empty -m a
			git push -q -u origin HEAD; git switch -q -c topic; git push -q -u origin topic
			git push -q origin :topic; git fetch -q -p; git status --porcelain=v2 --branch; git status -sb; git status`,
			want: []string{"branch.upstream origin/topic\n## topic...origin/topic [gone]\n", "but the upstream is gone"}},
		{id: "C38", title: "stashes of a linked working tree", script: `
			git init -q r; cd r; echo a>f; git add f; git commit -qm a; echo b>f; git stash -q
			git worktree add -q ../w -b side; cd ../w; git status --porcelain=v2 --show-stash; git bisect start -q
			git status | head -2; git status --show-stash`, own: []string{"status"},
			want: []string{"# stash 1\n", "On branch side\nYou are currently bisecting", "Your stash currently has 1 entry\n"}},
		{id: "C46", title: "names that are quoted", own: []string{"status"}, script: `
			git init -q r; cd r; git commit -q --allow-empty -m a
			touch "$(printf 'a\nb')" 'tab	x' 'q"uote' ' lead' 'ünï' "$(printf 'bad\377')"
			git status --porcelain=v2; git -c core.quotePath=false status -s; git status -z | tr '\0' '|'`,
			want: []string{"?  lead\n? \"a\\nb\"\n? \"bad\\377\"\n", "?? \" lead\"\n", "?? ünï\n", "??  lead|?? a\nb|"}},
		{id: "C49", title: "a lock on the index", own: []string{"status"}, script: `
			git init -q r; cd r; echo a>f; git add f; git commit -qm a; touch -d '1 hour ago' f; : >.git/index.lock
			before="$(cat .git/index | sha1sum)"; git status -s; git status; test "$before" = "$(cat .git/index | sha1sum)"; echo same=$?`,
			want: []string{"working tree clean\nsame=0\n"}},
		{id: "C39", title: "tag stored under another name", own: []string{"describe"}, script: `
			git init -q r; cd r; git commit -q --allow-empty -m a; git tag -a -m t inner
			mv .git/refs/tags/inner .git/refs/tags/outer; git describe; echo rc=$?`,
			want: []string{"warning: tag 'outer' is externally known as 'inner'\ninner-0-g", "\nrc=0\n"}},
		{id: "C40", title: "no annotated tag", own: []string{"describe"}, script: `
			git init -q r; cd r; git commit -q --allow-empty -m a; git describe; echo $?; git tag l1; git tag l2
			git describe; echo $?; git describe --tags; git describe --always --match 'v9*'
			git commit -q --allow-empty -m b; git clone -q --depth 1 "file://$PWD" ../s; cd ../s
			git describe; echo $?; git describe --tags; echo $?; git describe --always`,
			want: []string{"fatal: No names found, cannot describe anything.\n128\n", "fatal: No annotated tags can describe", "try --tags.\n128\nl1\n"}},
		{id: "C41", title: "objects behind the boundary", own: []string{"rev-list"}, script: `
			git init -q s; cd s; echo a>f; git add f; git commit -qm 1; echo b>f; git commit -qam 2; echo a>f; git commit -qam 3
			git rev-list --count --objects HEAD~1..HEAD; git repack -qadb
			git rev-list --count --objects HEAD~1..HEAD; git rev-list --use-bitmap-index --count --objects HEAD~1..HEAD`,
			want: []string{"3\n3\n1\n"}},
		{id: "C42", title: "unpacked, filters, paths, a damaged bitmap", newOnly: true, script: `
			git init -q s; cd s; for i in 1 2 3 4 5 6; do echo $i>f$i; git add .; git commit -qm $i; git repack -qd; done
			git multi-pack-index write --bitmap; for i in 7 8; do echo $i>f$i; git add .; git commit -qm $i; done
			for o in "HEAD" "--filter=blob:none HEAD" "--max-count=1 HEAD" "HEAD -- f3" "--unpacked HEAD"; do
				git rev-list --count --objects $o; git rev-list --use-bitmap-index --count --objects $o; done
			for f in .git/objects/pack/multi-pack-index-*.bitmap; do chmod u+w $f; printf X | dd of=$f conv=notrunc status=none; done
			git rev-list --use-bitmap-index --count --objects HEAD`,
			want: []string{"24\n24\n16\n16\n10\n10\n3\n3\n6\n6\n", "orrupted bitmap", "24\n"}},
		{id: "C43", title: "switch between two names of a commit", own: []string{"switch"}, script: `
			git init -q r; cd r; for i in $(seq 50); do mkdir d$i; for j in $(seq 20); do echo $j>d$i/f$j; done; done
			git add .; git commit -qm a; git branch A; git branch B; touch ../before; sleep .05
			git switch -q A; git switch -q B; git checkout -q -b C; find . -path ./.git -prune -o -cnewer ../before -print; git status -sb`,
			want: []string{"## C\n"}},
	}
}

// spy stands behind gust as git: it notes which command it was asked for.
const spy = "#!/bin/sh\nprintf '%s\\n' \"$1\" >>'LOG'\nexec 'GIT' \"$@\"\n"

func TestCommandCases(t *testing.T) {
	gits := gittest.All(t)
	for _, c := range commandCases() {
		t.Run(c.id, func(t *testing.T) {
			t.Parallel()
			for _, git := range gits {
				if c.newOnly && !git.AtLeast(2, 51) {
					if git == gits[len(gits)-1] {
						t.Logf("NOT TESTED: %s (%s) needs a git of 2.51 or newer", c.id, c.title)
					}
					continue
				}
				t.Run(git.String(), func(t *testing.T) { c.run(t, git) })
			}
		})
	}
}

func (c commandCase) run(t *testing.T, git gittest.Git) {
	plain := gittest.New(t, git)
	want := c.printed(t, plain, plain.Environ())
	rest := want
	for _, part := range c.want {
		_, after, found := strings.Cut(rest, part)
		if !found {
			t.Errorf("%s does not print %q in\n%s", git, part, want)
			break
		}
		rest = after
	}

	env := gittest.New(t, git)
	top := filepath.Dir(env.Dir)
	log := filepath.Join(top, "handed-over")
	front, behind := filepath.Join(top, "front"), filepath.Join(top, "behind")
	for _, dir := range []string{front, behind} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(gust, filepath.Join(front, "git")); err != nil {
		t.Fatal(err)
	}
	real := git.Path
	text := strings.NewReplacer("LOG", log, "GIT", real).Replace(spy)
	if err := os.WriteFile(filepath.Join(behind, "git"), []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	got := c.printed(t, env, append(env.Environ(), "GUST_SERVER=0", "PATH="+front+":"+behind+":"+os.Getenv("PATH")))
	if got != want {
		t.Errorf("%s: %s\n%s\ngust prints\n%s\nand git\n%s", c.id, c.title, c.script, got, want)
	}
	handed, err := os.ReadFile(log)
	if err != nil {
		t.Fatalf("no command was handed over, so the spy was never found: %v", err)
	}
	for _, name := range c.own {
		if strings.Contains("\n"+string(handed), "\n"+name+"\n") {
			t.Errorf("%s: gust handed %s over", c.id, name)
		}
	}
}

// printed returns what the script prints, on both outputs.
func (c commandCase) printed(t *testing.T, e *gittest.Env, vars []string) string {
	t.Helper()
	sh := exec.Command("sh", "-c", c.script)
	sh.Dir, sh.Env = e.Dir, vars
	out, err := sh.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", c.id, err, out)
	}
	return strings.ReplaceAll(string(out), filepath.Dir(e.Dir), "TOP")
}
