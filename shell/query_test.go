package shell_test

import (
	"fmt"
	"strings"
	"testing"

	"gust/internal/gittest"
)

// fieldVars are the variables that hold the fields of an answer, from field 3 on.
var fieldVars = []string{"WORKDIR", "COMMIT", "LOCAL_BRANCH", "REMOTE_BRANCH", "REMOTE_NAME", "REMOTE_URL", "ACTION", "INDEX_SIZE",
	"NUM_STAGED", "NUM_UNSTAGED", "NUM_CONFLICTED", "NUM_UNTRACKED", "COMMITS_AHEAD", "COMMITS_BEHIND", "STASHES", "TAG",
	"NUM_UNSTAGED_DELETED", "NUM_STAGED_NEW", "NUM_STAGED_DELETED", "PUSH_REMOTE_NAME", "PUSH_REMOTE_URL",
	"PUSH_COMMITS_AHEAD", "PUSH_COMMITS_BEHIND", "NUM_SKIP_WORKTREE", "NUM_ASSUME_UNCHANGED", "COMMIT_ENCODING", "COMMIT_SUMMARY"}

// show is a command that prints the variables that an answer sets, a line each.
func show() string {
	var b strings.Builder
	for _, name := range append([]string{"RESULT", "HAS_STAGED", "HAS_UNSTAGED", "HAS_CONFLICTED", "HAS_UNTRACKED"}, fieldVars...) {
		fmt.Fprintf(&b, "printf '%%s\\n' \"${VCS_STATUS_%s-unset}\"\n", name)
	}
	return b.String()
}

// busyRepository has something in every field of an answer.
const busyRepository = `
	git init -q --bare up.git; git init -q --bare mine.git
	git clone -q up.git r 2>/dev/null; cd r
	git remote add mine ../mine.git; git config remote.pushDefault mine
	for f in staged unstaged gone moved skip assume; do echo $f >$f; done
	git add .; git commit -qm 'one'; git push -q -u origin HEAD; git push -q mine HEAD
	git commit -q --allow-empty -m 'theirs'; git push -q origin HEAD; git reset -q --hard HEAD~1; git fetch -q
	git commit -q --allow-empty -m 'a subject %F{red} $(touch PWNED) \ back'
	git tag v1.0; echo x >>staged; git stash -q; echo x >>staged; git add staged; echo new >new; git add new
	echo x >>unstaged; rm gone; git rm -q --cached moved; echo u >untracked; mkdir dir; echo u >dir/u
	git update-index --skip-worktree skip; git update-index --assume-unchanged assume`

// TestQuery compares every variable with git's answer.
func TestQuery(t *testing.T) {
	eachShell(t, func(t *testing.T, shell string) {
		e := newEnv(t)
		e.Script(t, busyRepository)
		e.Script(t, "git init -q conflict; cd conflict; echo a >f; git add f; git commit -qm a; git switch -qc b; echo b >f; git commit -qam b; git switch -q main; echo c >f; git commit -qam c; git merge b >/dev/null || true")
		e.Script(t, "git init -q unborn; git init -q detached; cd detached; git commit -q --allow-empty -m a; git checkout -q --detach; mkdir -p deep/er")
		s := start(t, shell, e, "GITSTATUS_DAEMON="+realDaemon(t))
		s.source()
		s.must("gitstatus_start -s -1 -u -1 -c -1 -d -1" + s.name())
		oracle := gittest.NewOracle(e.Git, e.Environ(), t.TempDir())
		for _, dir := range []string{"r", "r/dir", "conflict", "unborn", "detached/deep/er", "."} {
			truths, err := oracle.Ask(gittest.Place{Dir: e.Path(dir)}, gittest.Unlimited())
			if err != nil {
				t.Fatal(err)
			}
			for _, index := range []bool{true, false} {
				flag := map[bool]string{false: " -p"}[index]
				got := strings.Split(s.run("gitstatus_query -d '"+e.Path(dir)+"'"+flag+s.name()+"\n"+show()), "\n")
				want := wanted(truths[0].Expect("1", gittest.Unlimited(), !index))
				if strings.Join(got, "\n") != strings.Join(want, "\n") {
					t.Errorf("%s%s:\ngot  %q\nwant %q", dir, flag, got, want)
				}
			}
		}
		// Without -d, the shell's directory.
		s.is("cd r/dir; gitstatus_query"+s.name()+"; echo $VCS_STATUS_RESULT $VCS_STATUS_WORKDIR; cd ../..", "ok-sync "+e.Path("r"))
		s.is("gitstatus_query -d r/dir"+s.name()+"; echo $VCS_STATUS_RESULT $VCS_STATUS_WORKDIR", "ok-sync "+e.Path("r"))
		s.exit()
	})
}

// wanted returns what show prints for the fields of a right answer.
func wanted(fields []string) []string {
	if len(fields) == 2 {
		out := []string{"norepo-sync"}
		for range 4 + len(fieldVars) {
			out = append(out, "unset")
		}
		return append(out, "")
	}
	out := []string{"ok-sync"}
	for _, n := range []int{11, 12, 13, 14} {
		out = append(out, map[bool]string{true: "1", false: "0"}[fields[n-1] != "0"])
	}
	return append(append(out, fields[2:]...), "")
}

// TestUnknown checks the -1 that stands for files which -m forbids to look at.
func TestUnknown(t *testing.T) {
	eachShell(t, func(t *testing.T, shell string) {
		e := newEnv(t)
		e.Script(t, "git init -q r; cd r; echo a >f; echo b >g; git add .; git commit -qm a; echo x >>f; echo u >u; echo n >n; git add n")
		has := `; echo $VCS_STATUS_HAS_STAGED $VCS_STATUS_HAS_UNSTAGED $VCS_STATUS_HAS_CONFLICTED $VCS_STATUS_HAS_UNTRACKED $VCS_STATUS_NUM_UNSTAGED`
		for limit, want := range map[string]string{"0": "1 -1 -1 -1 0", "2": "1 -1 -1 -1 0", "3": "1 1 0 1 1", "-1": "1 1 0 1 1"} {
			s := start(t, shell, e, "GITSTATUS_DAEMON="+realDaemon(t))
			s.source()
			s.must("gitstatus_start -m " + limit + s.name())
			s.is("gitstatus_query -d r"+s.name()+has, want)
			s.is("gitstatus_query -p -d r"+s.name()+has, "0 0 0 0 0")
		}
	})
}

// TestGitDir is case C31, and GIT_DIR in general: the request names it, -d has no
// effect, and Git's other variables reach the daemon.
func TestGitDir(t *testing.T) {
	eachShell(t, func(t *testing.T, shell string) {
		e := newEnv(t)
		e.Script(t, `git init -q --bare .dots; export GIT_DIR=$PWD/.dots GIT_WORK_TREE=$PWD
			echo a >.rc; git add .rc; git commit -qm a; echo b >>.rc`)
		e.Script(t, "git init -q other; git init -q -b elsewhere r; cd r; git commit -q --allow-empty -m a; echo u >u")
		s := start(t, shell, e, "GITSTATUS_DAEMON="+realDaemon(t))
		s.source()
		s.must("gitstatus_start" + s.name())
		ask := func(dir string) string { return "gitstatus_query -d '" + dir + "'" + s.name() + "\n" }
		say := `echo $VCS_STATUS_RESULT $VCS_STATUS_WORKDIR $VCS_STATUS_LOCAL_BRANCH $VCS_STATUS_NUM_UNSTAGED $VCS_STATUS_NUM_UNTRACKED`
		s.is("export GIT_DIR=$PWD/.dots GIT_WORK_TREE=$PWD\n"+ask(e.Path("other"))+say, "ok-sync "+e.Dir+" main 1 1")
		s.is("GIT_DIR=.dots; GIT_WORK_TREE=.\n"+ask(e.Path("other"))+say, "ok-sync "+e.Dir+" main 1 1")
		s.is("unset GIT_WORK_TREE; GIT_DIR=r/.git; cd r; GIT_DIR=.git\n"+ask("/")+say+"; cd ..", "ok-sync "+e.Path("r")+" elsewhere 0 1")
		s.is("GIT_DIR=$PWD/nothing\n"+ask(e.Path("r"))+say, "norepo-sync")
		s.is("unset GIT_DIR\n"+ask(e.Path("r"))+say, "ok-sync "+e.Path("r")+" elsewhere 0 1")
		// One variable that is set here only, and what was set at the daemon's start.
		s.is("export GIT_CEILING_DIRECTORIES="+e.Dir+"\nmkdir d; gitstatus_query -d r"+s.name()+"; "+say, "ok-sync "+e.Path("r")+" elsewhere 0 1")
		s.is("export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=status.showUntrackedFiles GIT_CONFIG_VALUE_0=no\n"+ask(e.Path("r"))+say,
			"ok-sync "+e.Path("r")+" elsewhere 0 0")
		s.is("unset GIT_CONFIG_COUNT\n"+ask(e.Path("r"))+say, "ok-sync "+e.Path("r")+" elsewhere 0 1")
	})
}

// TestInheritedEnvironment checks that a variable which was exported when the
// daemon started and is not any more has no effect.
func TestInheritedEnvironment(t *testing.T) {
	eachShell(t, func(t *testing.T, shell string) {
		e := newEnv(t)
		e.Script(t, "git init -q r; cd r; git commit -q --allow-empty -m a; echo u >u")
		s := start(t, shell, e, "GITSTATUS_DAEMON="+realDaemon(t),
			"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=status.showUntrackedFiles", "GIT_CONFIG_VALUE_0=no")
		s.source()
		s.must("gitstatus_start" + s.name())
		s.is("gitstatus_query -d r"+s.name()+"; echo $VCS_STATUS_NUM_UNTRACKED", "0")
		s.is("unset GIT_CONFIG_COUNT; gitstatus_query -d r"+s.name()+"; echo $VCS_STATUS_NUM_UNTRACKED", "1")
		s.is("export GIT_CONFIG_COUNT=1; gitstatus_query -d r"+s.name()+"; echo $VCS_STATUS_NUM_UNTRACKED", "0")
	})
}

// TestRequests looks at what is written into the pipe.
func TestRequests(t *testing.T) {
	eachShell(t, func(t *testing.T, shell string) {
		e, f := newEnv(t), newFake(t)
		s := start(t, shell, e, f.env("ok")...)
		s.source()
		s.must("gitstatus_start -t 5 -s 3 -u -1 -c 4 -d 5 -m 6 -eUWD" + s.name())
		s.must(map[string]string{"bash": `for v in "${!GIT_@}"; do unset "$v"; done`, "zsh": "unset -m 'GIT_*'"}[shell])
		s.must("gitstatus_query -d '/a b'" + s.name())
		s.must("gitstatus_query -d /c -p" + s.name())
		s.must("export GIT_WORK_TREE=/w GIT_EDITOR=vi GIT_INDEX_FILE=$'a%b\\x1ec\\x1fd'; GIT_NAMESPACE=unseen; gitstatus_query -d /d" + s.name())
		s.must("unset GIT_WORK_TREE GIT_INDEX_FILE; HOME=/nowhere gitstatus_query -d /e" + s.name())
		s.must("gitstatus_query -d $'/x\\x1ey' -t 1" + s.name() + " || :")
		lines := strings.Split(strings.TrimSpace(f.log(t)), "\n")
		if !strings.HasPrefix(lines[0], "start ") {
			t.Fatalf("the log begins with %q", lines[0])
		}
		for _, want := range []string{" -s 3 ", " -u -1 ", " -c 4 ", " -d 5 ", " -m 6 ", " -e ", " -U ", " -W ", " -D ", " -p ", " -v FATAL ", " --gust "} {
			if !strings.Contains(lines[0]+" ", want) {
				t.Errorf("options %q lack %q", lines[0], want)
			}
		}
		want := []string{"}hello|", "1|/a b|0", "2|/c|1", "3|/d|0|GIT_INDEX_FILE=a%25b%1Ec%1Fd|GIT_WORK_TREE=/w", "4|/e|0|HOME=/nowhere"}
		if got := lines[1:]; strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("requests:\ngot  %q\nwant %q", got, want)
		}
	})
}

// TestClassicDaemon checks that a daemon which does not know --gust is not given
// it, nor the fields that come with it.
func TestClassicDaemon(t *testing.T) {
	eachShell(t, func(t *testing.T, shell string) {
		e, f := newEnv(t), newFake(t)
		s := start(t, shell, e, f.env("classic")...)
		s.source()
		s.must("gitstatus_start" + s.name())
		s.is("export GIT_WORK_TREE=/w; gitstatus_query -d /a"+s.name()+"; echo $VCS_STATUS_RESULT", "ok-sync")
		if log := f.log(t); strings.Contains(log, "--gust") || !strings.Contains(log, "\n1|/a|0\n") {
			t.Errorf("a classic daemon was told %q", log)
		}
	})
}

// TestDaemonIsFound starts the daemon that belongs to the scripts, and the one
// that belongs to the gust on PATH.
func TestDaemonIsFound(t *testing.T) {
	eachShell(t, func(t *testing.T, shell string) {
		e := newEnv(t)
		s := start(t, shell, e)
		s.source()
		s.must("gitstatus_start" + s.name())
		s.is("gitstatus_query"+s.name()+"; echo $VCS_STATUS_RESULT", "norepo-sync")
		s.must("gitstatus_stop" + s.name())

		lone := t.TempDir()
		write(t, lone+"/plugin", read(t, s.plugin()))
		s = start(t, shell, e)
		s.must("source " + lone + "/plugin")
		if out := s.run("gitstatus_start" + s.name() + " && echo started"); !strings.Contains(out, "gitstatus_start: cannot run gitstatusd") {
			t.Errorf("without a daemon, gitstatus_start wrote %q", out)
		}
		s.must("PATH=" + prefix(t) + "/bin:$PATH; gitstatus_start" + s.name())
		s.is("gitstatus_query"+s.name()+"; echo $VCS_STATUS_RESULT", "norepo-sync")
		s.must("gitstatus_stop" + s.name())
	})
}

// TestBadArguments checks that mistakes are told, on standard error, with code 1.
func TestBadArguments(t *testing.T) {
	eachShell(t, func(t *testing.T, shell string) {
		e := newEnv(t)
		s := start(t, shell, e, "GITSTATUS_DAEMON="+realDaemon(t))
		s.source()
		for _, cmd := range []string{"gitstatus_start -x", "gitstatus_start -t never", "gitstatus_start -s one", "gitstatus_start -m",
			"gitstatus_query -x", "gitstatus_query -t soon", "gitstatus_query -d"} {
			out := s.run(cmd + s.name() + "; echo code=$?")
			name, _, _ := strings.Cut(cmd, " ")
			if !strings.HasPrefix(out, name+": ") || !strings.HasSuffix(out, "code=1\n") {
				t.Errorf("%s%s: wrote %q", cmd, s.name(), out)
			}
		}
		s.is("gitstatus_check"+s.name()+"; echo $?", "1")
		s.is("gitstatus_query"+s.name()+"; echo $? ${VCS_STATUS_RESULT-unset}", "1 unset")
		if shell == "zsh" {
			for _, cmd := range []string{"gitstatus_start", "gitstatus_start 'a b'", "gitstatus_query", "gitstatus_query a b"} {
				if out := s.run(cmd + "; echo code=$?"); !strings.HasSuffix(out, "code=1\n") || !strings.Contains(out, "NAME") {
					t.Errorf("%s: wrote %q", cmd, out)
				}
			}
		}
	})
}
