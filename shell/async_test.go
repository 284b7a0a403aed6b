package shell_test

import (
	"strings"
	"testing"
)

// TestCallback waits for an answer in the line editor.
func TestCallback(t *testing.T) {
	for _, mode := range []string{"plain", "strict", "odd-options"} {
		t.Run(mode, func(t *testing.T) {
			e, f := newEnv(t), newFake(t)
			s := start(t, "zsh", e, f.env("late-all")...)
			s.source()
			s.must("gitstatus_start MY")
			s.must(`cb() { echo "$1 $VCS_STATUS_RESULT $VCS_STATUS_WORKDIR ${options[shwordsplit]}" >>called }`)
			switch mode {
			case "strict":
				s.must("set -eu")
			case "odd-options":
				s.must("setopt sh_word_split ksh_arrays glob_subst no_multibyte")
			}
			s.is("gitstatus_query -t 0.01 -c 'cb x' -d /one MY; echo $? $VCS_STATUS_RESULT ${VCS_STATUS_WORKDIR-unset}", "0 tout unset")
			f.open(t)
			want := "x ok-async /one " + map[bool]string{true: "on", false: "off"}[mode == "odd-options"] + "\n"
			s.await("the callback", func() bool { return strings.HasSuffix(read(t, e.Path("called")), "\n") })
			if got := read(t, e.Path("called")); got != want {
				t.Errorf("the callback wrote %q, want %q", got, want)
			}
			s.is("gitstatus_query -t 20 -c 'cb y' -d /two MY; echo $VCS_STATUS_RESULT $VCS_STATUS_WORKDIR", "ok-sync /two")
			s.is("gitstatus_process_results MY; echo $?; cat called", "0\n"+strings.TrimSuffix(want, "\n"))
		})
	}
}

// TestProcessResults takes a late answer without the line editor.
func TestProcessResults(t *testing.T) {
	e, f := newEnv(t), newFake(t)
	s := start(t, "zsh", e, f.env("late-all")...)
	s.source()
	s.is("gitstatus_process_results MY; echo $?", "1")
	s.must("gitstatus_start MY")
	s.is("gitstatus_process_results MY; echo $?", "0")
	s.is("gitstatus_process_results -t x MY 2>/dev/null; echo $?", "1")
	s.must("cb() { print called $VCS_STATUS_RESULT }")
	s.is("gitstatus_query -t 0 -c cb -d /one MY; gitstatus_process_results -t 0.01 MY; print $? $VCS_STATUS_RESULT", "0 tout")
	// Only one of the two, this or the line editor, may take it.
	s.must("cb() { print called $VCS_STATUS_RESULT >>called }")
	f.open(t)
	s.is("gitstatus_process_results -t 20 MY; print $?", "0")
	s.is("cat called", "called ok-async")
	// A callback that asks again does not prolong the wait.
	s.must("command rm " + f.dir + "/open called; cb() { print called >>called; gitstatus_query -t 0 -c cb -d /two MY }")
	s.must("gitstatus_query -t 0 -c cb -d /one MY")
	f.open(t)
	s.await("the callback", func() bool { return read(t, e.Path("called")) != "" })
	s.must("cb() { }; gitstatus_process_results MY")
}

// TestPidIsSet checks what themes look at to see whether there is a daemon.
func TestPidIsSet(t *testing.T) {
	f := newFake(t)
	s := start(t, "zsh", newEnv(t), f.env("ok")...)
	s.must("source " + s.plugin() + " _p9k_")
	s.is("print $+GITSTATUS_DAEMON_PID_MY", "0")
	s.is("gitstatus_start_p9k_ -a MY; print $+GITSTATUS_DAEMON_PID_MY", "1")
	pid := strings.TrimSpace(s.run("gitstatus_query_p9k_ MY; print $GITSTATUS_DAEMON_PID_MY"))
	if pids := running(t, f.path); len(pids) != 1 || pids[0] != pid {
		t.Errorf("the variable says %s, running are %q", pid, pids)
	}
	s.killDaemon()
	s.is("gitstatus_query_p9k_ MY; print $? $+GITSTATUS_DAEMON_PID_MY", "1 1")
	s.is("gitstatus_query_p9k_ MY; print $? $+GITSTATUS_DAEMON_PID_MY", "0 1")
	s.is("gitstatus_stop_p9k_ MY; print $+GITSTATUS_DAEMON_PID_MY", "0")
	s.is("GITSTATUS_DAEMON=/nowhere gitstatus_start_p9k_ MY 2>/dev/null; print $+GITSTATUS_DAEMON_PID_MY", "0")
}

// TestCallbackOfDeadDaemon kills the daemon while an answer is waited for.
func TestCallbackOfDeadDaemon(t *testing.T) {
	e, f := newEnv(t), newFake(t)
	s := start(t, "zsh", e, f.env("late-all")...)
	s.source()
	s.must("gitstatus_start MY; cb() { print >called }")
	s.is("gitstatus_query -t 0 -c cb -d /one MY; print $VCS_STATUS_RESULT", "tout")
	s.killDaemon()
	f.open(t)
	s.is("gitstatus_process_results MY; print $?", "1")
	s.is("gitstatus_query -d /one MY; print $VCS_STATUS_RESULT $VCS_STATUS_WORKDIR", "ok-sync /one")
	if read(t, e.Path("called")) != "" {
		t.Error("the callback was called without an answer")
	}
}

// TestSecondQuery asks again while an answer is waited for: the new question
// stands, and the old one's callback is not called.
func TestSecondQuery(t *testing.T) {
	e, f := newEnv(t), newFake(t)
	s := start(t, "zsh", e, f.env("late-all")...)
	s.source()
	s.must("gitstatus_start MY; cb() { print $1 $VCS_STATUS_WORKDIR >>called }")
	s.is("gitstatus_query -t 0 -c 'cb one' -d /one MY; print $VCS_STATUS_RESULT", "tout")
	s.is("gitstatus_query -t 0 -c 'cb two' -d /two MY; print $VCS_STATUS_RESULT", "tout")
	f.open(t)
	s.await("the callback", func() bool { return strings.Contains(read(t, e.Path("called")), "two") })
	s.is("gitstatus_query -d /three MY; cat called", "two /two")
}

// TestStartAsync starts without waiting, and queries at once.
func TestStartAsync(t *testing.T) {
	e, f := newEnv(t), newFake(t)
	s := start(t, "zsh", e, f.env("ok")...)
	s.source()
	s.is("gitstatus_start -a MY && gitstatus_query -d /one MY; print $VCS_STATUS_RESULT $VCS_STATUS_WORKDIR", "ok-sync /one")

	// A start that waits takes what was read together with the greeting.
	f = newFake(t)
	s = start(t, "zsh", e, f.env("late-all")...)
	s.source()
	s.is("gitstatus_start -a MY && gitstatus_query -t 0 -c 'print called $VCS_STATUS_WORKDIR >>called' -d /two MY; print $VCS_STATUS_RESULT", "tout")
	f.open(t)
	s.is("gitstatus_start MY; print $?", "0")
	s.await("the callback", func() bool { return read(t, e.Path("called")) == "called /two\n" })
}

// TestCallbackMayDoAnything stops and starts the daemon from a callback.
func TestCallbackMayDoAnything(t *testing.T) {
	e, f := newEnv(t), newFake(t)
	s := start(t, "zsh", e, f.env("late-all")...)
	s.source()
	s.must("gitstatus_start MY; cb() { gitstatus_stop MY; gitstatus_start MY; gitstatus_query -d /two MY; print $VCS_STATUS_WORKDIR >>called }")
	s.is("gitstatus_query -t 0 -c cb -d /one MY; print $VCS_STATUS_RESULT", "tout")
	f.open(t)
	s.await("the callback", func() bool { return read(t, e.Path("called")) == "/two\n" })
	s.is("gitstatus_query -d /three MY; print $VCS_STATUS_WORKDIR", "/three")
}

// TestChain asks from callbacks, again and again, as themes do that first want the
// branch and then the rest: no answer may be waited for in vain.
func TestChain(t *testing.T) {
	for _, daemon := range []string{"real", "fake"} {
		t.Run(daemon, func(t *testing.T) {
			t.Parallel()
			e, f := newEnv(t), newFake(t)
			e.Script(t, "git init -q r; cd r; echo u >u")
			vars := f.env("ok")
			if daemon == "real" {
				vars = []string{"GITSTATUS_DAEMON=" + realDaemon(t)}
			}
			s := start(t, "zsh", e, vars...)
			s.source()
			s.must("gitstatus_start MY; typeset -gi n=0; typeset -g got=")
			s.must(`cb() {
  [[ -n $1 ]] && got=$1
  (( ++n < 200 )) || { print $got $VCS_STATUS_NUM_UNTRACKED >done; return }
  local -a p=()
  (( n % 3 )) || p=(-p)
  gitstatus_query $p -d r -t 0 -c 'cb async' MY || { print failed >done; return }
  [[ $VCS_STATUS_RESULT == tout ]] || cb
}`)
			for i := range 3 {
				s.must("n=0; command rm -f done; cb; gitstatus_process_results -t 0.001 MY")
				s.await("the end of the chain", func() bool { return strings.HasSuffix(read(t, e.Path("done")), "\n") })
				if got := read(t, e.Path("done")); !strings.HasPrefix(got, "async ") {
					t.Errorf("round %d ended with %q", i, got)
				}
			}
		})
	}
}
