package cases

import (
	"os/exec"
	"strings"
	"testing"
)

func lifeCases() []reported {
	return []reported{
		{id: "C49", title: "the index is never written", script: `
			git init -q r; cd r; echo a>f; git add f; git commit -qm a; touch -d '1 hour ago' f
			before="$(sha1sum .git/index; stat -c '%i %y %z' .git/index .git)"; ask $PWD
			must test "$before" = "$(sha1sum .git/index; stat -c '%i %y %z' .git/index .git)"`,
			noOracle: true, want: []string{"clean"}},
		{id: "C50", title: "git's fsmonitor and untracked cache", newOnly: true, script: `
			git init -q lib; git -C lib commit -q --allow-empty -m l; git init -q r; cd r; for i in $(seq 20); do echo $i>f$i; done
			git submodule --quiet add ../lib lib; git add .; git commit -qm a; git branch o; echo x>f1; git commit -qam b
			git config core.fsmonitor true; git config core.untrackedCache true; git status -s; git status -s
			git switch -q o; ask $PWD; git -C lib commit -q --allow-empty -m l2; echo y>f2; mv f3 g3; touch u; ask $PWD
			git status -s; ask $PWD; git fsmonitor--daemon stop`,
			want: []string{"branch=o clean", "unstaged=3 unstaged-deleted=1 untracked=2", "unstaged=3 unstaged-deleted=1 untracked=2"}},
		{id: "C51", title: "no watches left", wrap: fewWatches(), before: canLimitWatches, script: `
			git init -q r; cd r; for i in $(seq 60); do mkdir d$i; echo $i>d$i/f; done; git add .; git commit -qm a
			ask $PWD; echo x>>d59/f; touch d60/new; ask $PWD; rm d60/new; ask $PWD`,
			want: []string{"clean", "unstaged=1 untracked=1", "clean unstaged=1"}},
		{id: "C52", title: "a big untracked file, a big ignored directory", script: `
			git init -q r; cd r; git commit -q --allow-empty -m a; truncate -s 8G big; ask $PWD
			mkdir -p nm/x; for i in $(seq 20); do mkdir nm/x/$i; (cd nm/x/$i; touch $(seq 20)); done; echo nm/>.gitignore; ask $PWD
			touch nm/new; ask $PWD`,
			want: []string{"clean untracked=1", "clean untracked=2", "clean untracked=2"}},
	}
}

// fewWatches runs a command where a user may have 8 inotify watches.
func fewWatches() []string {
	return []string{"unshare", "-Ur", "sh", "-c", `echo 8 >/proc/sys/user/max_inotify_watches && exec "$@"`, "sh"}
}

func canLimitWatches(t *testing.T) bool {
	args := append(fewWatches(), "true")
	if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
		t.Logf("NOT TESTED: no user namespace to limit watches in: %v %s", err, strings.TrimSpace(string(out)))
		return false
	}
	return true
}
